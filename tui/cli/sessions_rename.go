package cli

import (
	"context"
	"errors"
	"strings"

	"alisio/agent"
)

// runRename gives a session another title.
func runRename(ctx context.Context, c *call) (int, error) {
	if len(c.args) < 2 || strings.TrimSpace(strings.Join(c.args[1:], " ")) == "" {
		return exitUsage, errors.New("alisio sessions rename needs the id of a session and a title")
	}
	store, code, err := c.database(ctx)
	if err != nil {
		return code, err
	}
	return c.with(store, c.byName(ctx, store, c.args[0]), func(store *agent.Store, s agent.Session) error {
		if err := store.Rename(ctx, s.ID, strings.Join(c.args[1:], " ")); err != nil {
			return err
		}
		s, err := store.Session(ctx, s.ID)
		if err == nil {
			c.notice("session %s is called %q now", s.ID, title(s))
		}
		return err
	})
}
