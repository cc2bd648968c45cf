package cli

import (
	"context"
	"errors"

	"alisio/agent"
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
// name. It need not be there any more.
func (c *call) pinWorkspace(ctx context.Context) (int, error) {
	dir, err := c.absolute(c.sessions.workspace)
	if err != nil {
		return exitUsage, err
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
	c.notice("workspace %s is %s", root, c.pinned())
	return exitDone, nil
}
