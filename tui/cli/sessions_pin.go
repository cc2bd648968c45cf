package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"alisio/agent"
	"alisio/agent/text"
)

// runPin marks a session, or with --workspace a workspace.
func runPin(ctx context.Context, c *call) (int, error) {
	switch {
	case c.sessions.workspace != "" && len(c.args) > 0:
		return exitUsage, errors.New("alisio sessions pin takes the id of a session or --workspace DIR, not both")
	case c.sessions.workspace != "":
		return c.pinWorkspace(ctx)
	case c.sessions.label != nil:
		return exitUsage, errors.New("--label names a workspace: it needs --workspace DIR")
	}
	return c.withSession(ctx, func(store *agent.Store, s agent.Session) error {
		if err := store.Pin(ctx, s.ID, !c.sessions.off); err != nil {
			return err
		}
		c.notice("session %s is %s", s.ID, c.pinned())
		return nil
	})
}

func (c *call) pinned() string {
	if c.sessions.off {
		return "not pinned any more"
	}
	return "pinned"
}

// pinWorkspace marks the workspace that a directory belongs to, and gives it a
// name. To take that back it need not be there any more.
func (c *call) pinWorkspace(ctx context.Context) (int, error) {
	dir, err := c.absolute(c.sessions.workspace)
	if err != nil {
		return exitUsage, err
	}
	switch info, err := os.Stat(dir); {
	case err != nil && !c.sessions.off:
		return exitUsage, fmt.Errorf("--workspace: %w", fileError(c.sessions.workspace, err))
	case err == nil && !info.IsDir():
		return exitUsage, fmt.Errorf("--workspace: %s is not a directory", c.sessions.workspace)
	}
	root := agent.Root(dir, c.Getenv("HOME"))
	store, code, err := c.database(ctx)
	if err != nil {
		return code, err
	}
	defer store.Close()
	on := !c.sessions.off
	if err := store.PinWorkspace(ctx, root, c.sessions.label, &on); err != nil {
		return exitFailed, err
	}
	places, err := workspaces(ctx, store)
	if err != nil {
		return exitFailed, err
	}
	called := ""
	if label := places[root].label; label != "" {
		called = fmt.Sprintf(", called %q,", label)
	}
	c.notice("workspace %s%s is %s", root, called, c.pinned())
	return exitDone, nil
}

// place is what is kept of a workspace; its label is safe to print.
type place struct {
	label  string
	pinned bool
}

// workspaces are the known ones by their paths.
func workspaces(ctx context.Context, store *agent.Store) (map[string]place, error) {
	list, err := store.Workspaces(ctx)
	if err != nil {
		return nil, err
	}
	places := make(map[string]place, len(list))
	for _, w := range list {
		places[w.Path] = place{text.Line(w.Label), w.Pinned}
	}
	return places, nil
}
