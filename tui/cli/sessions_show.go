package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"alisio/agent"
	"alisio/agent/text"
	"alisio/llm"
	"alisio/plug"
)

const (
	// showPage is how many rows are held at once. A message with its images can
	// have some ten megabytes.
	showPage = 16
	// maxCall and maxResult bound the arguments and the result of a call in a
	// conversation that is shown, in cells.
	maxCall   = 120
	maxResult = 120
)

// runShow prints a session's conversation.
func runShow(ctx context.Context, c *call) (int, error) {
	return c.lookSession(ctx, func(store *agent.Store, s agent.Session) error {
		sum, err := store.Summary(ctx, s.ID)
		if err != nil {
			return err
		}
		if c.json {
			return c.showJSON(ctx, store, sum)
		}
		return c.showText(ctx, store, sum)
	})
}

// showText prints what was said, page by page. What a person has to know of the
// session goes to standard error, behind all else, where a pager does not hide it.
func (c *call) showText(ctx context.Context, store *agent.Store, s agent.Summary) error {
	head := title(s.Session) + "\nsession " + text.Line(s.ID) + "\nworkspace " + text.Line(s.Workspace)
	if s.Model != "" {
		head += "\nmodel " + text.Line(s.Model)
	}
	if !s.Created.IsZero() {
		head += "\nbegun " + s.Created.Local().Format("2006-01-02 15:04")
	}
	if m := marks(s); len(m) > 0 {
		head += "\n[" + strings.Join(m, ", ") + "]"
	}
	if err := c.print(head + "\n"); err != nil {
		return err
	}
	t := transcript{print: c.print}
	err := eachMessage(ctx, store, s.ID, t.message)
	if err == nil {
		err = t.close()
	}
	switch {
	case err != nil:
		return err
	case s.Uncertain:
		c.notice("calls of this session may have had their effect: alisio sessions recover %s", s.ID)
	case interrupted(s):
		c.notice("the last run was interrupted; all that it had stored is here")
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

// transcript prints messages for a person: who said what, a line a call. Of a
// message that was copied the first is printed.
type transcript struct {
	print func(string) error
	// open are the calls of the last answer that have no result yet.
	open []llm.ToolCall
}

// message prints one row. Results stand behind the calls that they answer; the
// calls of an answer are told of when their result comes, or when it is clear that
// none does.
func (t *transcript) message(m agent.Stored) error {
	switch {
	case m.CopyOf != 0:
		return nil
	case m.Err != nil:
		return t.print(fmt.Sprintf("\n[row %d is left out: %s]\n", m.Seq, text.Line(m.Err.Error())))
	case m.Message.Role == llm.RoleTool:
		return t.result(m.Message)
	}
	if err := t.close(); err != nil {
		return err
	}
	who := "you"
	if m.Message.Role == llm.RoleAssistant {
		who = "assistant"
	}
	if m.Compacted {
		who += " (compacted)"
	}
	var b strings.Builder
	if body := strings.TrimRight(text.Plain(m.Message.Text), "\n"); body != "" {
		b.WriteString(body + "\n")
	}
	for _, a := range m.Message.Attachments {
		b.WriteString("[" + imageLine(a.MIMEType, len(a.Data)) + "]\n")
	}
	if m.Message.Truncated {
		b.WriteString("[cut at the output limit]\n")
	}
	if m.Message.Interrupted {
		b.WriteString("[interrupted]\n")
	}
	t.open = m.Message.Calls
	if b.Len() == 0 {
		return nil
	}
	return t.print("\n" + who + ":\n" + b.String())
}

// result prints the line of a call that has its result.
func (t *transcript) result(m llm.Message) error {
	var c llm.ToolCall
	for i, o := range t.open {
		if o.ID == m.CallID {
			c = o
			t.open = append(append([]llm.ToolCall{}, t.open[:i]...), t.open[i+1:]...)
			break
		}
	}
	said := text.Clip(text.Line(firstLine(m.PlainText())), maxResult)
	for _, p := range m.Parts {
		if p.Type == llm.PartImage {
			said = strings.TrimSpace(said + " [" + imageLine(p.MIMEType, len(p.Data)) + "]")
		}
	}
	if m.IsError {
		said = "failed: " + said
	}
	return t.print("\n" + strings.TrimRight(callLine(c)+" · "+said, " ·") + "\n")
}

// close prints the calls that have no result.
func (t *transcript) close() error {
	for _, c := range t.open {
		if err := t.print("\n" + callLine(c) + " · no result is stored\n"); err != nil {
			return err
		}
	}
	t.open = nil
	return nil
}

// callLine is a call on one line. A result whose call is not in the answer before
// it was written by another program, or its row is damaged.
func callLine(c llm.ToolCall) string {
	if c.Name == "" {
		return "tool: (unknown call)"
	}
	return text.Clip(text.Line("tool: "+c.Name+" "+c.Arguments), maxCall)
}

// firstLine is the first line of a text that holds something.
func firstLine(s string) string {
	s = strings.TrimLeft(s, " \t\r\n")
	s, _, _ = strings.Cut(s, "\n")
	return s
}

func imageLine(mime string, bytes int) string {
	return fmt.Sprintf("%s, %s", text.Line(mime), size(int64(bytes)))
}

// size writes a number of bytes in decimal units.
func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000*1000:
		return fmt.Sprintf("%d kB", (n+500)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
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
func (c *call) showJSON(ctx context.Context, store *agent.Store, s agent.Summary) error {
	if err := printJSON(c, entryOf(s)); err != nil {
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
		return printJSON(c, o)
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
			if err := printJSON(c, storedEvent{"event", e}); err != nil {
				return err
			}
			after = e.ID
		}
	}
}
