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
	name := c.Args
	if len(name) > 1 {
		name = name[:1]
	}
	if c.Last {
		name = nil
	}
	title := strings.TrimSpace(strings.Join(c.Args[len(name):], " "))
	if title == "" {
		return base.ExitUsage, errors.New("alisio sessions rename needs the id of a session, or --last, and a title")
	}
	own := c.Call
	own.Args = name
	return own.WithSession(ctx, func(store *agent.Store, s agent.Session) error {
		if err := store.Rename(ctx, s.ID, title); err != nil {
			return err
		}
		s, err := store.Session(ctx, s.ID)
		if err == nil {
			c.Notice("session %s is called %q now", s.ID, base.Title(s))
		}
		return err
	})
}
