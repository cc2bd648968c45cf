package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// head is a session as "sessions list --json" prints it.
type head struct {
	ID        string `json:"id"`
	Title     string `json:"title"`
	Messages  int    `json:"messages"`
	LastRun   string `json:"lastRun"`
	BusyPID   int    `json:"busyPid"`
	Uncertain bool   `json:"uncertain"`
}

// message is a stored message (spec store.md).
type message struct {
	Role  string `json:"role"`
	Text  string `json:"text"`
	Calls []struct {
		ID        string `json:"id"`
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"calls"`
	CallID string       `json:"callId"`
	Result storedResult `json:"result"`
}

type storedResult struct {
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	IsError bool `json:"isError"`
}

// said is the text of a message's result.
func (m message) said() string { return m.Result.text() }

func (r storedResult) text() string {
	var all []string
	for _, c := range r.Content {
		all = append(all, c.Text)
	}
	return strings.Join(all, "\n")
}

// event is an event's envelope (spec events.md).
type event struct {
	RunID         string          `json:"runId"`
	SessionID     string          `json:"sessionId"`
	Seq           int64           `json:"seq"`
	Type          string          `json:"type"`
	Timestamp     string          `json:"timestamp"`
	EventID       string          `json:"eventId"`
	CorrelationID string          `json:"correlationId"`
	Data          json.RawMessage `json:"data"`
}

func (e event) String() string {
	return fmt.Sprintf("%s of run %s, session %s, seq %d, %s, correlation %q: %s", e.Type, e.RunID, e.SessionID, e.Seq, e.Timestamp, e.CorrelationID, e.Data)
}

// same reports whether two events say the same, however their JSON is escaped.
func (e event) same(o event) bool {
	a, b := plain(e.Data), plain(o.Data)
	e.Data, o.Data = nil, nil
	return a == b && e.RunID == o.RunID && e.SessionID == o.SessionID && e.Seq == o.Seq && e.Type == o.Type &&
		e.Timestamp == o.Timestamp && e.EventID == o.EventID && e.CorrelationID == o.CorrelationID
}

// plain writes JSON in the one form that this program's encoder gives it.
func plain(data json.RawMessage) string {
	var v any
	if json.Unmarshal(data, &v) != nil {
		return string(data)
	}
	out, err := json.Marshal(v)
	if err != nil {
		return string(data)
	}
	return string(out)
}

// conversation is a session as "sessions show --json" prints it.
type conversation struct {
	head
	messages []message
	events   []event
}

// list returns all sessions, the newest first.
func (w *world) list(ctx context.Context) ([]head, error) {
	e, err := w.must(ctx, "sessions", "list", "--json", "--all", "--limit", "10000")
	if err != nil {
		return nil, err
	}
	var out []head
	for line := range strings.Lines(e.stdout) {
		var h head
		if err := json.Unmarshal([]byte(line), &h); err != nil {
			return nil, fmt.Errorf("sessions list printed %q: %w", line, err)
		}
		out = append(out, h)
	}
	return out, nil
}

// find returns the session whose first prompt was the given one.
func (w *world) find(ctx context.Context, title string) (head, bool, error) {
	list, err := w.list(ctx)
	if err != nil {
		return head{}, false, err
	}
	i := slices.IndexFunc(list, func(h head) bool { return h.Title == title })
	if i < 0 {
		return head{}, false, nil
	}
	return list[i], true, nil
}

// show reads a session whole.
func (w *world) show(ctx context.Context, id string) (conversation, error) {
	e, err := w.must(ctx, "sessions", "show", id, "--json")
	if err != nil {
		return conversation{}, err
	}
	return conversationOf(e.stdout)
}

func conversationOf(lines string) (conversation, error) {
	var c conversation
	for line := range strings.Lines(lines) {
		var kind struct {
			Kind  string  `json:"kind"`
			Error string  `json:"error"`
			Body  message `json:"body"`
		}
		err := json.Unmarshal([]byte(line), &kind)
		switch {
		case err != nil:
		case kind.Error != "":
			err = errors.New(kind.Error)
		case kind.Kind == "session":
			err = json.Unmarshal([]byte(line), &c.head)
		case kind.Kind == "message":
			c.messages = append(c.messages, kind.Body)
		case kind.Kind == "event":
			var ev event
			err = json.Unmarshal([]byte(line), &ev)
			c.events = append(c.events, ev)
		}
		if err != nil {
			return c, fmt.Errorf("sessions show printed %q: %w", short(line), err)
		}
	}
	return c, nil
}

// pairs checks that calls and results pair in order. Calls at the very end may
// be open when a process was killed.
func (c conversation) pairs(mayBeOpen bool) error {
	var open []string
	for i, m := range c.messages {
		if m.Role == "tool" {
			if len(open) == 0 || open[0] != m.CallID {
				return fmt.Errorf("message %d answers %s where %q are open", i, m.CallID, open)
			}
			open = open[1:]
			continue
		}
		if len(open) > 0 {
			return fmt.Errorf("message %d is of %s where %q are open", i, m.Role, open)
		}
		for _, call := range m.Calls {
			open = append(open, call.ID)
		}
	}
	if len(open) > 0 && !mayBeOpen {
		return fmt.Errorf("%q have no result", open)
	}
	return nil
}

// once checks that no id of a call is used twice.
func (c conversation) once() error {
	used := map[string]bool{}
	for i, m := range c.messages {
		for _, call := range m.Calls {
			if used[call.ID] {
				return fmt.Errorf("message %d uses the id %q again", i, call.ID)
			}
			used[call.ID] = true
		}
	}
	return nil
}

// commands are the results of the calls whose command writes a mark, by the mark.
func (c conversation) commands() map[string]storedResult {
	marks := map[string]string{}
	all := map[string]storedResult{}
	for _, m := range c.messages {
		for _, call := range m.Calls {
			if _, rest, ok := strings.Cut(call.Arguments, "echo m"); ok && call.Name == "shell" {
				mark, _, _ := strings.Cut(rest, " ")
				marks[call.ID] = "m" + mark
			}
		}
		if mark := marks[m.CallID]; mark != "" {
			all[mark] = m.Result
		}
	}
	return all
}

// numbered checks that event ids grow and that each run's seq grows from 1.
func (c conversation) numbered() error {
	last := int64(0)
	seqs := map[string]int64{}
	for _, e := range c.events {
		id, err := strconv.ParseInt(e.EventID, 10, 64)
		switch {
		case err != nil:
			return fmt.Errorf("event %+v: %w", e, err)
		case id <= last:
			return fmt.Errorf("event %d comes after %d", id, last)
		case e.Seq <= seqs[e.RunID], seqs[e.RunID] == 0 && (e.Seq != 1 || e.Type != "run_started"):
			return fmt.Errorf("run %s: %s has seq %d after %d", e.RunID, e.Type, e.Seq, seqs[e.RunID])
		}
		last, seqs[e.RunID] = id, e.Seq
	}
	return nil
}

// holds checks that every durable event that a process showed is stored as it
// was shown. The last line may be torn.
func (c conversation) holds(jsonl string) error {
	byID := map[string]event{}
	for _, e := range c.events {
		byID[e.EventID] = e
	}
	for line := range strings.Lines(jsonl) {
		if !strings.HasSuffix(line, "\n") {
			break
		}
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return fmt.Errorf("the run printed %q: %w", short(line), err)
		}
		if e.EventID == "" {
			continue
		}
		if stored, ok := byID[e.EventID]; !ok || !stored.same(e) {
			return fmt.Errorf("event %s was shown as %s and is stored as %s", e.EventID, e, stored)
		}
	}
	return nil
}

// doctor checks the database.
func (w *world) doctor(ctx context.Context) error {
	e, err := w.must(ctx, "doctor", "--store", "--json")
	if err != nil {
		return err
	}
	for line := range strings.Lines(e.stdout) {
		var f struct {
			Level string `json:"level"`
		}
		if err := json.Unmarshal([]byte(line), &f); err != nil || f.Level == "problem" || f.Level == "" {
			return fmt.Errorf("doctor printed %q (%v)", short(line), err)
		}
	}
	return nil
}
