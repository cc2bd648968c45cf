package sessions

import (
	"context"
	"errors"
	"strings"

	"alisio/agent"
	"alisio/tui/cli/base"
)

// Rename gives a session another title.
func Rename(ctx context.Context, c *Call) (int, error) {
	if len(c.Args) < 2 || strings.TrimSpace(strings.Join(c.Args[1:], " ")) == "" {
		return base.ExitUsage, errors.New("alisio sessions rename needs the id of a session and a title")
	}
	store, code, err := c.Database(ctx)
	if err != nil {
		return code, err
	}
	return c.With(store, c.ByName(ctx, store, c.Args[0]), func(store *agent.Store, s agent.Session) error {
		if err := store.Rename(ctx, s.ID, strings.Join(c.Args[1:], " ")); err != nil {
			return err
		}
		s, err := store.Session(ctx, s.ID)
		if err == nil {
			c.Notice("session %s is called %q now", s.ID, base.Title(s))
		}
		return err
	})
}
