package agent

import (
	"context"

	"alisio/agent/host"
	"alisio/plug"
)

// Leave calls the end hooks of a session that a person leaves: by /clear, /exit or
// the end of the program. One in which this program ran nothing, and a child, has
// none. It takes as long as the hooks may, and less when ctx ends.
func (a *App) Leave(ctx context.Context, sessionID string) {
	a.mu.Lock()
	c := a.sessions[sessionID]
	a.mu.Unlock()
	if c == nil || c.parent != "" {
		return
	}
	c.mu.Lock()
	leaves := c.used && !c.left
	c.left = true
	c.mu.Unlock()
	if !leaves {
		return
	}
	events := a.outside.Events(sessionID)
	for _, f := range a.host.End(ctx, a.info(ctx, c)) {
		if err := events.Emit(ctx, failed(f)); err != nil {
			a.o.Log.Warn("a failed hook is not recorded", "error", err)
		}
	}
}

func failed(f host.Failure) plug.PluginHookFailed {
	return plug.PluginHookFailed{Source: f.Source, Hook: f.Hook, Error: f.Err.Error(), Continued: true}
}

// info describes a session to hooks.
func (a *App) info(ctx context.Context, c *conversation) plug.SessionInfo {
	model, _, err := a.ModelOf(ctx, c.id)
	if err != nil {
		model.ID = ""
	}
	return plug.SessionInfo{
		SessionID: c.id, Parent: c.parent, Workspace: a.root, Model: model.ID, Agent: a.AgentOf(c.id),
	}
}
