package agent

import (
	"context"
	"errors"
	"time"

	"alisio/agent/host"
	"alisio/agent/session"
	"alisio/plug"
)

// between reports what happens in a session outside a run: it has a run id of its
// own, numbers from 1, and no row among the runs (spec events.md, "Delivery").
type between struct {
	a       *App
	session string
	run     string
	seq     int64
}

func (a *App) between(sessionID string) *between {
	return &between{a: a, session: sessionID, run: NewID()}
}

// next makes the next event.
func (b *between) next(p plug.Payload) plug.Event {
	b.seq++
	return plug.Event{RunID: b.run, SessionID: b.session, Seq: b.seq, Time: time.Now(), Data: p}
}

// emit stores an event and then shows it to observers. That the session is not
// stored, since nothing was said in it yet, is no error: then nothing is kept of it.
func (b *between) emit(ctx context.Context, p plug.Payload) error {
	e := b.next(p)
	if !p.EventType().Ephemeral() {
		id, err := b.a.store.AddEvent(context.WithoutCancel(ctx), e)
		switch {
		case errors.Is(err, session.ErrNotFound):
			return nil
		case err != nil:
			return session.Caused(err)
		}
		e.ID = id
	}
	b.a.host.Publish(e)
	return nil
}

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
	b := a.between(sessionID)
	for _, f := range a.host.End(ctx, a.info(ctx, c)) {
		if err := b.emit(ctx, failed(f)); err != nil {
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
