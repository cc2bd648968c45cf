package agent

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"alisio/agent/config"
	"alisio/agent/host"
	"alisio/agent/outside"
	"alisio/agent/ports"
	"alisio/agent/proc"
	"alisio/agent/run"
	"alisio/agent/session"
	"alisio/llm"
	"alisio/plug"
)

// hostOptions hands the engine to the plugin host, function by function.
func (a *App) hostOptions() host.Options {
	limits, own := a.o.Config.PluginHooks, a.o.Dirs
	if a.o.Hermetic {
		own = config.Dirs{}
	}
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	var children plug.Sessions
	if a.children != nil {
		children = a.children.API()
	}
	return host.Options{
		Config: a.o.Config, Log: a.o.Log, Dirs: own, ClosedOff: a.ownFiles(),
		Limits:   host.Limits{Hook: ms(limits.TimeoutMs), SessionEnd: ms(limits.SessionEndTimeoutMs), Dispose: ms(limits.DisposeTimeoutMs)},
		Register: a.providers.Register, CheckTool: run.CheckTool,
		HTTP:  func(p plug.Purpose) *http.Client { return a.clients.Client(string(p)) },
		State: a.pluginState(),
		Exec:  a.pluginExec, Git: a.pluginGit,
		Complete: func(ctx context.Context, plugin string, q plug.Completion) (plug.Completed, error) {
			return a.complete(ctx, plug.SpentOnPlugin, plugin, q)
		},
		Models: plug.Models{
			List: func(ctx context.Context) ([]llm.Model, error) {
				c, err := a.Models(ctx, false)
				return c.Models, err
			},
			Resolve: func(ctx context.Context, name string) (llm.Model, error) {
				c, err := a.modelFor(ctx, "", name)
				return c.Model, err
			},
		},
		Sessions:    children,
		Ask:         a.pluginAsk,
		Interactive: func() bool { return a.o.Asker != nil },
		After:       a.eventsAfter,
	}
}

// pluginState is where plugins keep values, if the store has room for them.
func (a *App) pluginState() host.State {
	s, ok := a.store.(session.States)
	if !ok {
		return nil
	}
	return ports.States{Store: s}
}

// ownKey is under what the application's own tools keep values: no plugin has an id
// with this sign.
const ownKey = "alisio:tools"

// ownState keeps values of one session for the application's own tools.
func (a *App) ownState(sessionID string) plug.State {
	s, ok := a.store.(session.States)
	if !ok {
		return plug.State{}
	}
	return ports.States{Store: s}.Below(ownKey, sessionID+"/")
}

// pluginAsk puts a plugin's question into the queue of the session's tree.
func (a *App) pluginAsk(ctx context.Context, q plug.Question) (plug.Answer, error) {
	c, err := a.sessionOf(ctx, q.SessionID)
	if err != nil {
		return plug.Answer{Decision: plug.Deny}, err
	}
	return a.gateOf(c, plug.Agent{}).Ask(ctx, q)
}

// sessionOf finds what the engine holds of a session, a child that runs or a root;
// without an id, of the next new one.
func (a *App) sessionOf(ctx context.Context, id string) (*conversation, error) {
	a.mu.Lock()
	c := a.sessions[id]
	over := c != nil && c.over
	a.mu.Unlock()
	if c != nil && !over || id == "" {
		return a.conversation(id)
	}
	head, err := a.store.Session(ctx, id)
	switch {
	case err != nil:
		return nil, session.Caused(err)
	case head.Parent != "":
		return nil, llm.Errorf(llm.CauseBadRequest, "session %s is a child that does not run", id)
	}
	return a.conversation(id)
}

// eventsAfter reads what an observer has missed.
func (a *App) eventsAfter(ctx context.Context, sessionID string, eventID int64) ([]plug.Event, error) {
	const most = 256
	if s, ok := a.store.(interface {
		EventsPage(ctx context.Context, id string, after int64, limit int) ([]plug.Event, error)
	}); ok {
		return s.EventsPage(ctx, sessionID, eventID, most)
	}
	all, err := a.store.Events(ctx, sessionID)
	if err != nil {
		return nil, err
	}
	for i, e := range all {
		if e.ID > eventID {
			return all[i:], nil
		}
	}
	return nil, nil
}

// pluginExec runs a program for a plugin in a session, as a call of the journal.
func (a *App) pluginExec(ctx context.Context, plugin, sessionID string, cmd plug.Command) (plug.Exit, error) {
	c, err := a.sessionOf(ctx, sessionID)
	if err != nil {
		return plug.Exit{}, err
	}
	cmd.Dir = cmp.Or(cmd.Dir, c.dir)
	plan := plug.Plan{
		Effect: plug.EffectProcess, Title: "for plugin " + plugin, Argv: cmd.Argv, Shell: cmd.Shell, Dir: cmd.Dir, Stdin: cmd.Stdin,
	}
	return a.effect(ctx, plugin, c, "exec", plan, func(ctx context.Context, secrets []string) (plug.Exit, error) {
		return ports.Exec(c.files, secrets, a.o.Hermetic).Run(ctx, cmd, nil)
	})
}

// pluginGit runs the host's git for a plugin. What only reads needs no permission.
// A worktree is made, and taken away, below the cache, or where the session may write.
func (a *App) pluginGit(ctx context.Context, plugin, sessionID, dir string, args ...string) (plug.Exit, error) {
	changes, path, err := proc.GitChanges(args)
	if err != nil {
		return plug.Exit{}, err
	}
	c, err := a.sessionOf(ctx, sessionID)
	if err != nil {
		return plug.Exit{}, err
	}
	if dir = cmp.Or(dir, c.dir); !filepath.IsAbs(dir) {
		return plug.Exit{}, fmt.Errorf("git: the directory %q is not absolute", dir)
	}
	in := ports.Inside(c.files)
	may := func(path string) bool { return a.worktree(path) || in(path) }
	if !changes {
		e, err := proc.Git(ctx, proc.Command{Dir: dir, Redact: llm.NewRedaction(a.models.Secrets()...), Impersonal: a.o.Hermetic}, may, args...)
		return plug.Exit(e), err
	}
	plan := plug.Plan{
		Effect: plug.EffectWrite, Title: "git " + strings.Join(args, " ") + " for plugin " + plugin, Dir: dir, Key: "git of " + plugin,
	}
	if a.worktree(dir) {
		plan.Dir = "" // of this program's own directories, which nobody is asked for
	}
	if path != "" && !a.worktree(path) {
		plan.Paths = []plug.PlanPath{{Path: realPath(path), Access: plug.AccessWrite}}
	}
	return a.effect(ctx, plugin, c, "git", plan, func(ctx context.Context, secrets []string) (plug.Exit, error) {
		e, err := proc.GitChange(ctx, proc.Command{Dir: dir, Redact: llm.NewRedaction(secrets...), Impersonal: a.o.Hermetic}, may, args...)
		return plug.Exit(e), err
	})
}

// effect carries out what a plugin wants in a session; do is given the secrets that are
// to be taken out of what comes of it.
func (a *App) effect(ctx context.Context, plugin string, c *conversation, tool string, plan plug.Plan,
	do func(ctx context.Context, secrets []string) (plug.Exit, error),
) (plug.Exit, error) {
	return a.outside.Carry(ctx, outside.Effect{
		Session: c.id, Root: c.tree.root, Plugin: plugin, Tool: tool, Plan: plan, Gate: a.gateOf(c, plug.Agent{}),
		Do: func(ctx context.Context) (plug.Exit, error) { return do(ctx, a.models.Secrets()) },
	})
}
