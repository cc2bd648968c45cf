package cli

import (
	"context"
	"fmt"
	"strings"

	"alisio/agent"
	"alisio/agent/text"
)

// runDelete shows what belongs to a session, and with --yes deletes it (spec
// store.md: nothing is deleted without a preview and a record). The preview needs no
// right to write.
func runDelete(ctx context.Context, c *call) (int, error) {
	if !c.sessions.yes {
		return c.lookSession(ctx, func(store *agent.Store, s agent.Session) error {
			holds, err := store.Contents(ctx, s.ID)
			if err != nil {
				return err
			}
			if err := c.print("would delete " + described(s, holds) + "\n"); err != nil {
				return err
			}
			c.notice("nothing is deleted yet; --yes does it")
			return nil
		})
	}
	return c.withSession(ctx, func(store *agent.Store, s agent.Session) error {
		gone, err := store.Delete(ctx, s.ID)
		if err != nil {
			return err
		}
		return c.print("deleted " + described(s, gone) + "\n")
	})
}

// described says what a session holds.
func described(s agent.Session, h agent.Contents) string {
	var parts []string
	for _, p := range []struct {
		n         int
		one, many string
	}{
		{h.Messages, "message", "messages"}, {h.Events, "event", "events"}, {h.Calls, "call", "calls"},
		{h.Runs, "run", "runs"}, {h.Children, "session of an agent", "sessions of agents"},
		{h.Blobs, "reference to a stored result or image", "references to stored results or images"},
	} {
		switch p.n {
		case 0:
		case 1:
			parts = append(parts, "1 "+p.one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.many))
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "nothing in it")
	}
	return fmt.Sprintf("session %s, %q: %s, %s", text.Line(s.ID), title(s), strings.Join(parts, ", "), size(h.Bytes))
}
