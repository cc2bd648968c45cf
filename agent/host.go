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
	"alisio/agent/gate"
	"alisio/agent/host"
	"alisio/agent/ports"
	"alisio/agent/proc"
	"alisio/agent/run"
	"alisio/agent/session"
	"alisio/agent/text"
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
		Complete: a.complete,
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
	return a.effectOf(ctx, plugin, c, "exec", plan, func(ctx context.Context, secrets []string) (plug.Exit, error) {
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
	return a.effectOf(ctx, plugin, c, "git", plan, func(ctx context.Context, secrets []string) (plug.Exit, error) {
		e, err := proc.GitChange(ctx, proc.Command{Dir: dir, Redact: llm.NewRedaction(secrets...), Impersonal: a.o.Hermetic}, may, args...)
		return plug.Exit(e), err
	})
}

// effectOf carries out an effect that a plugin wants in a session: the gate decides,
// the journal has it before it begins, and its end is told. It keeps the session from
// other processes, to which the call would look like a dead one's.
func (a *App) effectOf(ctx context.Context, plugin string, c *conversation, tool string, plan plug.Plan,
	do func(context.Context, []string) (plug.Exit, error),
) (plug.Exit, error) {
	sessionID := c.id
	if sessionID == "" {
		return plug.Exit{}, llm.Errorf(llm.CauseBadRequest, "nothing was said yet: the session does not exist")
	}
	release, err := a.locks.Hold(ctx, c.tree.root)
	if err != nil {
		return plug.Exit{}, session.Caused(err)
	}
	defer release()
	plan.Title = text.OneLine(plan.Title, maxTold)
	b := a.between(sessionID)
	call := session.Call{
		Session: sessionID, ID: "plugin-" + NewID(), RunID: b.run, Name: plugin + "/" + tool, Effect: plan.Effect, Started: time.Now(),
	}
	told := func(p plug.Payload) {
		if err := b.emit(ctx, p); err != nil {
			a.o.Log.Warn("an event of a plugin's call is not kept", "error", err)
		}
	}
	told(plug.ToolStarted{ID: call.ID, Name: call.Name, Arguments: "{}", Effect: plan.Effect, Title: plan.Title})
	release, err = a.allowed(ctx, c, gate.Request{
		SessionID: sessionID, CallID: call.ID, Tool: call.Name, Plan: plan, Observe: told,
	})
	defer release()
	if err == nil {
		defer a.lives(call.ID)()
		_, err = a.store.BeginCall(ctx, call)
	}
	if err != nil {
		told(plug.ToolCompleted{ID: call.ID, Name: call.Name, IsError: true, Preview: err.Error()})
		return plug.Exit{}, err
	}
	exit, failed := do(ctx, a.models.Secrets())
	call.Done, call.Ended = true, time.Now()
	call.Result = plug.Text(exit.Output).WithSummary("exit %d", exit.Code)
	if failed != nil {
		call.Result = plug.Error("%s", failed)
	}
	e := b.next(plug.ToolCompleted{
		ID: call.ID, Name: call.Name, IsError: failed != nil || exit.Code != 0, DurationMs: call.Ended.Sub(call.Started).Milliseconds(),
		Preview: text.Short(call.Result.PlainText(), maxTold), Summary: call.Result.Summary,
	})
	if e.ID, err = a.store.EndCall(context.WithoutCancel(ctx), call, e); err != nil {
		return exit, session.Caused(err)
	}
	a.host.Publish(e)
	return exit, failed
}

// allowed asks the gate, and again when a directory was opened on the way: what was
// approved holds until release.
func (a *App) allowed(ctx context.Context, c *conversation, r gate.Request) (release func(), err error) {
	g := a.gateOf(c, plug.Agent{})
	v, err := g.Decide(ctx, r)
	release = v.Release
	if err == nil && v.Opened {
		first := v.Release
		v, err = g.Decide(ctx, r)
		release = func() { v.Release(); first() }
	}
	if err == nil && !v.Allowed {
		err = fmt.Errorf("not allowed: %s", v.Reason)
	}
	return release, err
}

// lives notes that a call of a plugin is under way, until end.
func (a *App) lives(id string) (end func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.live[id] = true
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.live, id)
	}
}

func (a *App) alive(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.live[id]
}

// maxTold bounds what is told of a plugin's call, in characters.
const maxTold = 2000
