package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"alisio/agent"
	"alisio/agent/text"
	"alisio/tui/cli/base"
	"alisio/tui/plain"
)

// Delete shows what belongs to a session, and with --yes deletes it (spec
// store.md: nothing is deleted without a preview and a record). The preview needs no
// right to write.
func Delete(ctx context.Context, c *Call) (int, error) {
	if !c.Yes {
		return c.previews(ctx)
	}
	return c.WithSessions(ctx, c.Database, func(store *agent.Store, s agent.Session) error {
		gone, err := store.Delete(ctx, s.ID)
		if err != nil {
			return err
		}
		if err := agent.ForgetInSearch(ctx, store); err != nil {
			c.Notice("its words are still in the search index: %v", err)
		}
		if c.JSON {
			return c.PrintJSON(json.Marshal(deletionOf(s, gone, true)))
		}
		return c.Print("deleted " + described(s, gone) + "\n")
	})
}

// previews tells what a deletion would take away, and what would hinder it.
func (c *Call) previews(ctx context.Context) (int, error) {
	free := 0
	code, err := c.WithSessions(ctx, c.Look, func(store *agent.Store, s agent.Session) error {
		sum, err := store.Summary(ctx, s.ID)
		if err != nil {
			return err
		}
		if sum.BusyPID == 0 {
			free++
		}
		return c.preview(ctx, store, s, sum.BusyPID)
	})
	if err == nil && free > 0 {
		c.Notice("nothing is deleted yet; --yes does it")
	}
	return code, err
}

func (c *Call) preview(ctx context.Context, store *agent.Store, s agent.Session, busy int) error {
	holds, err := store.Contents(ctx, s.ID)
	if err != nil {
		return err
	}
	if c.JSON {
		err = c.PrintJSON(json.Marshal(deletionOf(s, holds, false)))
	} else {
		err = c.Print("would delete " + described(s, holds) + "\n")
	}
	if err != nil {
		return err
	}
	if busy != 0 {
		c.Notice("session %s is in use by process %d: until that has ended, --yes is refused", s.ID, busy)
	}
	return nil
}

// deletion is what would go, or is gone, as --json prints it.
type deletion struct {
	Kind     string `json:"kind"`
	ID       string `json:"id"`
	Title    string `json:"title"`
	Deleted  bool   `json:"deleted"`
	Messages int    `json:"messages"`
	Events   int    `json:"events"`
	Calls    int    `json:"calls"`
	Runs     int    `json:"runs"`
	Children int    `json:"children"`
	Blobs    int    `json:"blobs"`
	Bytes    int64  `json:"bytes"`
}

func deletionOf(s agent.Session, h agent.Contents, deleted bool) deletion {
	return deletion{
		Kind: "deletion", ID: s.ID, Title: s.Title, Deleted: deleted, Messages: h.Messages, Events: h.Events, Calls: h.Calls,
		Runs: h.Runs, Children: h.Children, Blobs: h.Blobs, Bytes: h.Bytes,
	}
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
		if p.n > 0 {
			parts = append(parts, plain.Count(p.n, p.one, p.many))
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "nothing in it")
	}
	return fmt.Sprintf("session %s, %q: %s, %s", text.Line(s.ID), base.Title(s), strings.Join(parts, ", "), plain.Size(h.Bytes))
}
