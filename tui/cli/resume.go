package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"alisio/agent"
	"alisio/llm"
)

var (
	errNoSession = errors.New(`no session is named; use: alisio resume SESSION "what is to be done", or --last`)
	errNoMore    = &llm.Error{
		Message: `no task is given; use: alisio resume SESSION "what is to be done"`,
		Hint:    "alisio sessions show SESSION prints what was said",
	}
)

// runResume gives one more task to a stored session, in the directory that it
// worked in, whatever directory it is called from: what was said is about the files
// there.
func runResume(ctx context.Context, c *call) (int, error) {
	ctx, stop := withSignals(ctx)
	defer stop()
	words := c.args
	if !c.task.last {
		if len(words) == 0 || words[0] == "-" {
			return exitUsage, errNoSession
		}
		words = words[1:]
	}
	prompt, err := c.prompt(ctx, words, errNoMore)
	switch {
	case ctx.Err() != nil:
		return exitCancelled, errCancelled
	case err != nil:
		return exitUsage, err
	}
	return c.start(ctx, prompt, func(store *agent.Store, o *agent.Options) (agent.Session, int, error) {
		s, code, err := c.resumed(ctx, store, o.Dir)
		if err != nil || c.cwd != "" {
			return s, code, err
		}
		o.Dir = s.Workspace
		return s, exitUsage, workspaceIsThere(s)
	})
}

// resumed finds the session that is to go on.
func (c *call) resumed(ctx context.Context, store *agent.Store, here string) (agent.Session, int, error) {
	if !c.task.last {
		return c.session(ctx, store, c.args[0])
	}
	root := agent.Root(here, c.Getenv("HOME"))
	s, err := store.Last(ctx, root)
	switch {
	case errors.Is(err, agent.ErrNotFound):
		return s, exitUsage, &llm.Error{
			Message: fmt.Sprintf("no session of %s is stored", root), Hint: "alisio sessions list lists those of all workspaces",
		}
	case err != nil:
		return s, exitFailed, err
	}
	return s, exitDone, nil
}

// workspaceIsThere complains about a workspace that is gone: a session goes on
// in another one only when somebody says so.
func workspaceIsThere(s agent.Session) error {
	info, err := os.Stat(s.Workspace)
	if err == nil && info.IsDir() {
		return nil
	}
	return &llm.Error{
		Message: fmt.Sprintf("the session's workspace %s is not there any more", s.Workspace),
		Hint:    "--cwd DIR goes on in another directory",
	}
}
