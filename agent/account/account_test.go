package account

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"alisio/agent/session"
	"alisio/llm"
	"alisio/plug"
)

// store is one of func fields' plain kind: events and children by session.
type store struct {
	events   map[string][]plug.Payload
	children map[string][]session.Session
	pages    int
}

func (s *store) EventsPage(_ context.Context, id string, after int64, limit int) (page []plug.Event, err error) {
	s.pages++
	for i, p := range s.events[id] {
		if n := int64(i + 1); n > after && len(page) < limit {
			page = append(page, plug.Event{ID: n, SessionID: id, RunID: "r", Data: p})
		}
	}
	return page, nil
}

func (s *store) Children(_ context.Context, id string) ([]session.Session, error) {
	return s.children[id], nil
}

func turn(n, tokens int, u *plug.Usage, spent ...plug.Spent) plug.TurnCompleted {
	return plug.TurnCompleted{Turn: n, Tokens: tokens, Usage: u, Beside: plug.Beside{Spent: spent}}
}

func spent(reason plug.SpentOn, by string, in, out int) plug.Spent {
	return plug.Spent{For: reason, By: by, Usage: plug.Usage{Input: in, Output: out}}
}

// Of what a child asked, and of requests beside which nothing is known, nothing counts.
func TestSharedBytes(t *testing.T) {
	sent := func(bytes int, shared ...int) plug.TurnCompleted {
		d := turn(1, 9, nil)
		d.Sent = &plug.Sent{Bytes: bytes}
		for _, n := range shared {
			d.Sent.Shared = &n
		}
		return d
	}
	s := &store{
		events:   map[string][]plug.Payload{"root": {turn(1, 9, nil), sent(100), sent(200, 90), sent(300, 0)}, "kid": {sent(7, 7)}},
		children: map[string][]session.Session{"root": {{ID: "kid"}}},
	}
	if a, err := Of(t.Context(), s, "root"); err != nil || a.Bytes != 500 || a.Shared != 90 {
		t.Errorf("got %d of %d bytes, %v", a.Shared, a.Bytes, err)
	}
}

func TestOf(t *testing.T) {
	s := &store{
		events: map[string][]plug.Payload{
			"root": {
				plug.RunStarted{},
				turn(1, 110, &plug.Usage{Input: 100, Output: 10, CachedInput: 60, Cost: 0.5}),
				turn(2, 190, nil, spent(plug.SpentOnRetry, "", 20, 5)), // 55 are the turn's, by estimate
				plug.CompactionCompleted{SummarizedTokens: 40, CheckpointTokens: 4},
				plug.CompactionFailed{Beside: plug.Beside{Spent: []plug.Spent{spent(plug.SpentOnCompaction, "", 7, 1)}}},
				plug.RunCompleted{Beside: plug.Beside{Spent: []plug.Spent{
					spent(plug.SpentOnPlugin, "toy\x1b[2J", 3, 1), spent(plug.SpentOnQuestion, "", 2, 1), spent("later", "", 1, 0),
				}}},
				plug.RunFailed{}, plug.RunCancelled{}, plug.RunTurnsExceeded{},
			},
			"kid":      {turn(1, 33, &plug.Usage{Input: 30, Output: 3})},
			"grandkid": {turn(1, 5, &plug.Usage{Input: 4, Output: 1}), plug.RunFailed{Beside: plug.Beside{Spent: []plug.Spent{spent(plug.SpentOnRetry, "", 9, 0)}}}},
		},
		children: map[string][]session.Session{"root": {{ID: "kid", Agent: "explore"}}, "kid": {{ID: "grandkid", Agent: "deep"}}},
	}
	a, err := Of(t.Context(), s, "root")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range a.Rows {
		got = append(got, fmt.Sprintf("%s %d %d/%d %v", r.What, r.Requests, r.Usage.Input, r.Usage.Output, r.Estimated))
	}
	want := []string{
		"turns 2 155/10 true", "retries 1 20/5 false", "compactions 2 47/5 false", "questions 1 2/1 false", "plugin toy 1 3/1 false",
		"for later 1 1/0 false", "child explore 3 43/4 false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if a.Total.Usage != (llm.Usage{Input: 271, Output: 26, CachedInput: 60}) || a.Total.Requests != 11 || a.Total.Cost != 0.5 {
		t.Errorf("total %+v", a.Total)
	}
	if len(a.Turns) != 2 || a.Turns[0].Turn != 1 || a.Turns[0].Tokens != 110 {
		t.Errorf("turns %+v", a.Turns)
	}
	table := a.Table().String()
	for _, want := range []string{"~155", "0.5", "share", "total"} {
		if !strings.Contains(table, want) {
			t.Errorf("%q is not in\n%s", want, table)
		}
	}
	if strings.ContainsRune(table, '\x1b') {
		t.Error("a name commands the terminal")
	}
}

// What a run used before it was interrupted: turns without a report, what others asked
// and what came of the cache count as they did in its budget.
func TestUsed(t *testing.T) {
	var events []plug.Event
	for _, d := range []plug.Payload{
		turn(1, 300, nil, spent(plug.SpentOnPlugin, "toy", 60, 5)),
		plug.CompactionFailed{Beside: plug.Beside{Spent: []plug.Spent{spent(plug.SpentOnCompaction, "", 40, 10)}}},
		turn(2, 800, &plug.Usage{Input: 400, CachedInput: 300, Output: 50, Cost: 0.25}),
		turn(3, 900, nil),
	} {
		events = append(events, plug.Event{RunID: "r", Data: d})
	}
	if tokens, cost := Used(events); tokens != 300+65+50+150+100 || cost != 0.25 {
		t.Errorf("%d tokens, %v", tokens, cost)
	}
}

// What can not be is bounded: children that are their own parents, and long histories.
func TestBounds(t *testing.T) {
	s := &store{events: map[string][]plug.Payload{}, children: map[string][]session.Session{"a": {{ID: "b"}}, "b": {{ID: "a"}}}}
	for i := range 3 * pageSize {
		s.events["a"] = append(s.events["a"], turn(i, i, &plug.Usage{Input: 1}))
	}
	a, err := Of(t.Context(), s, "a")
	if err != nil || a.Rows[0].Requests != 3*pageSize || s.pages > 4*(maxDepth+2) {
		t.Errorf("got %+v in %d pages, %v", a.Rows, s.pages, err)
	}
}

// pages are the stored messages of a session.
type pages []session.Stored

func (p pages) MessagesPage(_ context.Context, _ string, after int64, limit int) (page []session.Stored, err error) {
	for _, m := range p {
		if m.Seq > after && len(page) < limit {
			page = append(page, m)
		}
	}
	return page, nil
}

func TestResults(t *testing.T) {
	var p pages
	add := func(copyOf int64, m llm.Message) {
		p = append(p, session.Stored{Seq: int64(len(p) + 1), CopyOf: copyOf, Message: m})
	}
	result := func(id, text string) llm.Message {
		return llm.Message{Role: llm.RoleTool, CallID: id, Parts: []llm.Part{{Type: llm.PartText, Text: text}}}
	}
	for i := range 20 {
		id := fmt.Sprint("c", i)
		add(0, llm.Message{Role: llm.RoleAssistant, Calls: []llm.ToolCall{{ID: id, Name: []string{"read_file", "sh\x1bell"}[i%2]}}})
		add(0, result(id, strings.Repeat("x", 40*(1+i%2))))
	}
	add(2, result("c0", strings.Repeat("x", 4_000))) // a copy
	add(0, result("nobody", "1234"))
	got, err := Results(t.Context(), p, "s")
	want := []Tool{{"shell", 10, 200}, {"read_file", 10, 100}, {"unknown", 1, 1}}
	if len(got) == 3 && strings.HasPrefix(got[0].Name, "sh") && !strings.ContainsRune(got[0].Name, '\x1b') {
		got[0].Name = "shell" // however the control character is shown
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// What others asked beside a run is no part of turn_completed.tokens, and what a checkpoint
// took is, though an event before it tells of that: a turn without a report is what is left.
func TestATurnWithoutAReportIsWhatIsLeft(t *testing.T) {
	s := &store{events: map[string][]plug.Payload{"root": {
		turn(1, 100, nil, spent(plug.SpentOnPlugin, "toy", 60, 5)),
		plug.CompactionFailed{Beside: plug.Beside{Spent: []plug.Spent{spent(plug.SpentOnCompaction, "", 40, 10)}}},
		turn(2, 250, nil, spent(plug.SpentOnQuestion, "", 70, 7)),
	}}}
	a, err := Of(t.Context(), s, "root")
	if err != nil || a.Rows[0].What != "turns" || a.Rows[0].Usage.Input != 200 {
		t.Errorf("got %+v, %v", a.Rows, err)
	}
}

// Symptom: what children far below a session took was not in its table. Trigger: children
// may be 16 levels deep.
func TestTheDeepestChildCounts(t *testing.T) {
	s := &store{events: map[string][]plug.Payload{}, children: map[string][]session.Session{}}
	for i := range 17 {
		id := fmt.Sprint(i)
		s.events[id] = []plug.Payload{turn(1, 10, &plug.Usage{Input: 9, Output: 1})}
		s.children[id] = []session.Session{{ID: fmt.Sprint(i + 1)}}
	}
	a, err := Of(t.Context(), s, "0")
	if err != nil || a.Total.Requests != 17 {
		t.Errorf("got %+v, %v", a.Total, err)
	}
}
