package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"alisio/agent/perm"
	"alisio/agent/prefix"
	"alisio/agent/run"
	"alisio/agent/session"
	"alisio/agent/session/child"
	"alisio/agent/workspace"
	"alisio/llm"
	"alisio/plug"
)

// openChildren makes the service of child sessions, over a store that can keep them.
func (a *App) openChildren() {
	a.locks = child.NewLocks(a.store.Lock)
	store, ok := a.store.(child.Store)
	if !ok {
		return
	}
	a.children = child.New(child.Options{
		Store: store, Run: a.runChild, Ceiling: func(string) perm.Ceiling { return a.rootCeiling() }, Hold: a.locks.Hold,
		Tools: func() []string {
			var names []string
			for _, t := range a.host.Tools() {
				names = append(names, t.Spec().Name)
			}
			return names
		},
		Resolve: func(ctx context.Context, root, name string) (llm.Model, error) {
			c, err := a.modelFor(ctx, root, name)
			return c.Model, err
		},
		Workspace: a.childWorkspace, NewID: NewID,
	})
}

// rootCeiling is the most that a root session may do by what was allowed before.
func (a *App) rootCeiling() perm.Ceiling {
	left := func(e plug.Effect) perm.Cap {
		switch a.o.Policy.Decide(string(e)).Decision {
		case perm.Allow:
			return perm.CapNone
		case perm.Ask:
			return perm.CapAsk
		}
		return perm.CapDeny
	}
	return a.o.Policy.Ceiling.Meet(perm.Ceiling{
		ReadOnly: a.o.Policy.ReadOnly,
		Write:    left(plug.EffectWrite), Process: left(plug.EffectProcess), External: left(plug.EffectExternal),
	})
}

// childWorkspace checks a directory for a child: inside the parent's directories, or
// one below the cache, where plugins have their worktrees.
func (a *App) childWorkspace(ctx context.Context, parent, dir string) (string, error) {
	if !filepath.IsAbs(dir) {
		return "", fmt.Errorf("%q is not absolute", dir)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(real); err == nil && info.IsDir() && a.worktree(real) {
		return real, nil
	}
	above, err := a.children.Workspace(ctx, parent)
	if err != nil {
		return "", err
	}
	t, err := a.files.Resolve(real)
	switch {
	case a.worktree(above) || above != a.root && !contains(above, real):
		return "", fmt.Errorf("%q is not in the parent's workspace %q", dir, above)
	case err != nil:
		return "", err
	case !t.Inside || !t.Dir:
		return "", fmt.Errorf("%q is no directory of the workspace", dir)
	}
	return real, nil
}

// worktree reports whether a path, links followed, lies below the directory in which
// plugins put worktrees.
func (a *App) worktree(path string) bool {
	if a.o.Dirs.Cache == "" {
		return false
	}
	all := realPath(filepath.Join(a.o.Dirs.Cache, "worktrees"))
	path = realPath(path)
	return path != all && contains(all, path)
}

// childConversation is what the engine holds of a child for one run.
func (a *App) childConversation(r child.Request) (c *conversation, done func(), err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, nil, llm.Errorf(llm.CauseInternal, "the application is closed")
	}
	parent := ""
	if len(r.Ancestors) > 0 {
		parent = r.Ancestors[0]
	}
	t := a.treeOf(r.Root)
	c = &conversation{
		id: r.Session, parent: parent, tree: t, label: r.Label, spec: r.Spec, ceiling: r.Ceiling, dir: a.o.Dir, files: t.files,
		plans: &run.Plans{}, last: &prefix.Last{}, texts: make(map[string]string),
	}
	if was := a.sessions[r.Session]; was != nil { // of its last run: who still holds it sees no change
		was.mu.Lock()
		c.plans, c.last, c.texts, c.hasFiles = was.plans, was.last, was.texts, was.hasFiles
		was.mu.Unlock()
	}
	if r.Workspace != "" {
		files, err := workspace.Open(r.Workspace)
		if err != nil {
			return nil, nil, err
		}
		a.guard(files, r.Workspace)
		c.dir, c.files = r.Workspace, files
	}
	a.sessions[r.Session] = c
	return c, func() {
		a.mu.Lock()
		c.over = true
		c.last.Forget() // there can be many
		a.mu.Unlock()
		if r.Workspace != "" {
			c.files.Close()
		}
	}, nil
}

// runChild carries out a run of a child (child.Options.Run).
func (a *App) runChild(ctx context.Context, r child.Request) (plug.ChildOutcome, error) {
	unlock, err := a.locks.Run(ctx, r.Session)
	if err != nil {
		return plug.ChildOutcome{}, err
	}
	defer unlock()
	out, err := a.work(ctx, r, run.Input{SessionID: r.Session, Prompt: r.Prompt}, nil)
	return childOutcome(out), err
}

// work runs an input in a child that is locked.
func (a *App) work(ctx context.Context, r child.Request, in run.Input, onEvent func(plug.Event)) (run.Outcome, error) {
	choice, err := a.modelFor(ctx, r.Root, r.Model)
	if err != nil {
		return run.Outcome{}, err
	}
	c, done, err := a.childConversation(r)
	if err != nil {
		return run.Outcome{}, err
	}
	defer done()
	if in.MaxOutputTokens == 0 {
		in.MaxOutputTokens = r.Spec.MaxOutputTokens
	}
	in.OnEvent = onEvent
	return a.do(ctx, c, choice, in)
}

// childOutcome is how a run ended, in the words of children.
func childOutcome(out run.Outcome) plug.ChildOutcome {
	c := plug.ChildOutcome{
		RunID: out.RunID, Text: out.Text, Usage: out.Usage, Turns: out.Turns, Code: out.Code, Status: plug.ChildFailed,
	}
	switch out.Status {
	case run.Completed:
		c.Status = plug.ChildCompleted
	case run.TurnsExceeded:
		c.Status, c.TurnLimit = plug.ChildCompleted, true
	case run.Cancelled:
		c.Status = plug.ChildCancelled
	}
	if out.Err != nil {
		c.Error = out.Err.Message
	} else if c.Status == plug.ChildCancelled {
		c.Error = run.Stopped
	}
	return c
}

// childRun works on a prompt of a person in a session that is a child: it is bound
// by its ancestors as ever.
func (a *App) childRun(ctx context.Context, head session.Session, in run.Input) (run.Outcome, error) {
	if a.children == nil {
		return run.Outcome{}, llm.Errorf(llm.CauseBadRequest, "session %s is a child of another, which this store does not keep", head.ID)
	}
	ctx, request, end, err := a.children.Begin(ctx, head.ID, in.Prompt)
	if err != nil {
		return run.Outcome{}, session.Caused(err)
	}
	broken := plug.ChildOutcome{Status: plug.ChildFailed, Error: "the run could not be started"}
	defer func() { _, _ = end(broken) }() // the first call counts
	out, err := a.work(ctx, request, in, in.OnEvent)
	if err != nil {
		return out, err
	}
	_, err = end(childOutcome(out))
	return out, session.Caused(err)
}
