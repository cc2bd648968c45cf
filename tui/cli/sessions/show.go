package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"alisio/agent"
	"alisio/agent/text"
	"alisio/plug"
	"alisio/tui/cli/base"
	"alisio/tui/plain"
)

const (
	// showPage is how many rows are held at once. A message with its images can
	// have some ten megabytes.
	showPage = 16
	// maxRuns is the most runs that are read, the newest: how earlier ones ended is
	// not told.
	maxRuns = 10_000
)

// Show prints a session's conversation.
func Show(ctx context.Context, c *Call) (int, error) {
	if c.Usage && c.Prefix {
		return base.ExitUsage, errors.New("--usage and --prefix are two tables: ask for one of them")
	}
	return c.LookSession(ctx, func(store *agent.Store, s agent.Session) error {
		if c.Usage {
			return c.showUsage(ctx, store, s.ID)
		}
		if c.Prefix {
			return c.showPrefix(ctx, store, s.ID)
		}
		sum, err := store.Summary(ctx, s.ID)
		if err != nil {
			return err
		}
		places, err := workspaces(ctx, store)
		if err != nil {
			return err
		}
		if c.JSON {
			return c.showJSON(ctx, store, sum, places)
		}
		return c.showText(ctx, store, sum, places)
	})
}

// showText prints what was said, page by page. What a person has to know of the
// session goes to standard error, behind all else, where a pager does not hide it.
func (c *Call) showText(ctx context.Context, store *agent.Store, s agent.Summary, places map[string]place) error {
	head := base.Title(s.Session) + "\nsession " + text.Line(s.ID) + "\nworkspace " + text.Line(s.Workspace)
	if label := places[s.Workspace].label; label != "" {
		head += " (" + label + ")"
	}
	if s.Model != "" {
		head += "\nmodel " + text.Line(s.Model)
	}
	if !s.Created.IsZero() {
		head += "\nbegun " + s.Created.Local().Format("2006-01-02 15:04")
	}
	if m := marks(s); len(m) > 0 {
		head += "\n[" + strings.Join(m, ", ") + "]"
	}
	if err := c.Print(head + "\n"); err != nil {
		return err
	}
	runs, err := store.Runs(ctx, s.ID, maxRuns)
	if err != nil {
		return err
	}
	t := plain.Transcript{Print: c.Print, Ends: plain.BadEnds(runs, s.BusyPID != 0)}
	if err = eachMessage(ctx, store, s.ID, t.Message); err == nil {
		err = t.Close()
	}
	switch {
	case err != nil:
		return err
	case s.Uncertain:
		c.Notice("it is not known of some call whether it took effect: %s", c.Command("sessions recover "+text.ShellWord(s.ID)))
	case interrupted(s):
		c.Notice("the last run was interrupted; all that it had stored is here")
	}
	return nil
}

// eachMessage hands over the messages of a session in order, bounded in memory.
func eachMessage(ctx context.Context, store *agent.Store, id string, do func(agent.Stored) error) error {
	for after := int64(0); ; {
		page, err := store.MessagesPage(ctx, id, after, showPage)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, m := range page {
			if err := do(m); err != nil {
				return err
			}
			after = m.Seq
		}
	}
}

// storedMessage is a message as --json prints it: its body as it is stored.
type storedMessage struct {
	Kind      string          `json:"kind"`
	Seq       int64           `json:"seq"`
	RunID     string          `json:"runId,omitempty"`
	Compacted bool            `json:"compacted,omitempty"`
	CopyOf    int64           `json:"copyOf,omitempty"`
	Body      json.RawMessage `json:"body,omitempty"`
	// Error and Raw tell of a row that can not be read.
	Error string `json:"error,omitempty"`
	Raw   string `json:"raw,omitempty"`
}

// storedEvent is an event as --json prints it: the envelope, and its kind.
type storedEvent struct {
	kind  string
	event plug.Event
}

// MarshalJSON puts the kind in front of what the event says itself.
func (e storedEvent) MarshalJSON() ([]byte, error) {
	data, err := json.Marshal(e.event)
	if err != nil {
		return nil, err
	}
	rest, ok := strings.CutPrefix(string(data), "{")
	if !ok {
		return nil, errors.New("encode event: it is no object")
	}
	return []byte(`{"kind":"` + e.kind + `",` + rest), nil
}

// showJSON prints the session, its messages and its events, a line each, in this
// order: messages carry no time by which they could be mixed.
func (c *Call) showJSON(ctx context.Context, store *agent.Store, s agent.Summary, places map[string]place) error {
	if err := c.PrintJSON(json.Marshal(entryOf(s, places))); err != nil {
		return err
	}
	err := eachMessage(ctx, store, s.ID, func(m agent.Stored) error {
		o := storedMessage{Kind: "message", Seq: m.Seq, RunID: m.RunID, Compacted: m.Compacted, CopyOf: m.CopyOf, Body: m.Body}
		if m.Err != nil {
			o.Error = m.Err.Error()
		}
		if !json.Valid(m.Body) {
			o.Body, o.Raw = nil, string(m.Body)
		}
		return c.PrintJSON(json.Marshal(o))
	})
	if err != nil {
		return err
	}
	for after := int64(0); ; {
		page, err := store.EventsPage(ctx, s.ID, after, 8*showPage)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, e := range page {
			if err := c.PrintJSON(json.Marshal(storedEvent{"event", e})); err != nil {
				return err
			}
			after = e.ID
		}
	}
}
