package sessions

import (
	"context"
	"errors"
	"fmt"
	"os"

	"alisio/agent"
	"alisio/agent/text"
	"alisio/tui/cli/base"
)

// Pin marks a session, or with --workspace a workspace.
func Pin(ctx context.Context, c *Call) (int, error) {
	switch {
	case c.Workspace != "" && len(c.Args) > 0:
		return base.ExitUsage, errors.New("alisio sessions pin takes the id of a session or --workspace DIR, not both")
	case c.Workspace != "":
		return c.pinWorkspace(ctx)
	case c.Label != nil:
		return base.ExitUsage, errors.New("--label names a workspace: it needs --workspace DIR")
	}
	return c.WithSession(ctx, func(store *agent.Store, s agent.Session) error {
		if err := store.Pin(ctx, s.ID, !c.Off); err != nil {
			return err
		}
		c.Notice("session %s is %s", s.ID, c.pinned())
		return nil
	})
}

func (c *Call) pinned() string {
	if c.Off {
		return "not pinned any more"
	}
	return "pinned"
}

// pinWorkspace marks the workspace that a directory belongs to, and gives it a
// name. To take that back it need not be there any more.
func (c *Call) pinWorkspace(ctx context.Context) (int, error) {
	dir, err := c.Absolute(c.Workspace)
	if err != nil {
		return base.ExitUsage, err
	}
	switch info, err := os.Stat(dir); {
	case err != nil && !c.Off:
		return base.ExitUsage, fmt.Errorf("--workspace: %w", base.FileError(c.Workspace, err))
	case err == nil && !info.IsDir():
		return base.ExitUsage, fmt.Errorf("--workspace: %s is not a directory", c.Workspace)
	}
	root := agent.Root(dir, c.Getenv("HOME"))
	store, code, err := c.Database(ctx)
	if err != nil {
		return code, err
	}
	defer store.Close()
	on := !c.Off
	if err := store.PinWorkspace(ctx, root, c.Label, &on); err != nil {
		return base.ExitFailed, err
	}
	places, err := workspaces(ctx, store)
	if err != nil {
		return base.ExitFailed, err
	}
	called := ""
	if label := places[root].label; label != "" {
		called = fmt.Sprintf(", called %q,", label)
	}
	c.Notice("workspace %s%s is %s", root, called, c.pinned())
	return base.ExitDone, nil
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
