package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"alisio/agent/session/codec"
	"alisio/llm"
	"alisio/plug"
)

// suite is what every Store must do.
func suite(t *testing.T, open func(t *testing.T) Store) {
	ctx := context.Background()
	t.Run("unknown session", func(t *testing.T) {
		s := open(t)
		_, err := s.Session(ctx, "none")
		_, err2 := s.Messages(ctx, "none")
		_, err3 := s.AddEvent(ctx, plug.Event{SessionID: "none", Data: plug.RunStarted{}})
		_, err4 := s.Events(ctx, "none")
		err5 := s.Append(ctx, "none", "", llm.Message{Role: llm.RoleUser})
		for i, err := range []error{err, err2, err3, err4, err5} {
			if !errors.Is(err, ErrNotFound) {
				t.Errorf("call %d: got %v, want ErrNotFound", i, err)
			}
		}
	})
	t.Run("create once", func(t *testing.T) {
		s := open(t)
		head := Session{ID: "a", Workspace: "/w", Model: "m", Title: "t", Created: time.UnixMilli(7)}
		if err := s.Create(ctx, head); err != nil {
			t.Fatal(err)
		}
		if err := s.Create(ctx, Session{ID: "a"}); !errors.Is(err, ErrExists) {
			t.Errorf("second create: got %v, want ErrExists", err)
		}
		got, err := s.Session(ctx, "a")
		if err != nil || got != head {
			t.Errorf("got %+v %v, want %+v", got, err, head)
		}
	})
	t.Run("messages keep their order and are the caller's", func(t *testing.T) {
		s := open(t)
		s.Create(ctx, Session{ID: "a"})
		s.Append(ctx, "a", "", llm.Message{Role: llm.RoleUser, Text: "1"}, llm.Message{Role: llm.RoleAssistant, Text: "2"})
		first, _ := s.Messages(ctx, "a")
		first[0].Text = "changed"
		s.Append(ctx, "a", "", llm.Message{Role: llm.RoleUser, Text: "3"})
		got, err := s.Messages(ctx, "a")
		if err != nil || len(got) != 3 || got[0].Text != "1" || got[2].Text != "3" {
			t.Errorf("got %+v %v", got, err)
		}
	})
	t.Run("messages come with what tells of them", func(t *testing.T) {
		s := open(t)
		s.Create(ctx, Session{ID: "a"})
		if n, err := s.AddEvent(ctx, plug.Event{SessionID: "a", Data: plug.TurnCompleted{}}, user("1"), user("2")); err != nil || n == 0 {
			t.Fatalf("event %d, %v", n, err)
		}
		done := Call{Session: "a", ID: "c", Result: plug.Text("r")}
		if _, err := s.EndCall(ctx, done, plug.Event{SessionID: "a", Data: plug.ToolCompleted{ID: "c"}}, ResultMessage("c", done.Result)); err != nil {
			t.Fatal(err)
		}
		got, err := s.Messages(ctx, "a")
		if err != nil || len(got) != 3 || got[0].Text != "1" || got[2].CallID != "c" {
			t.Errorf("got %+v, %v", got, err)
		}
		if _, err := s.AddEvent(ctx, plug.Event{SessionID: "none", Data: plug.TurnCompleted{}}, user("3")); !errors.Is(err, ErrNotFound) {
			t.Errorf("an unknown session: %v", err)
		}
	})
	t.Run("event numbers grow over sessions", func(t *testing.T) {
		s := open(t)
		var wg sync.WaitGroup
		for i := range 4 {
			id := fmt.Sprint(i)
			s.Create(ctx, Session{ID: id})
			wg.Go(func() {
				var last int64
				for n := range 50 {
					got, err := s.AddEvent(ctx, plug.Event{SessionID: id, Seq: int64(n + 1), Data: plug.RunStarted{Model: id}})
					if err != nil || got <= last {
						t.Errorf("event %d of %s: got %d after %d, %v", n, id, got, last, err)
					}
					last = got
				}
			})
		}
		wg.Wait()
		seen := map[int64]bool{}
		for i := range 4 {
			events, err := s.Events(ctx, fmt.Sprint(i))
			if err != nil || len(events) != 50 {
				t.Fatalf("session %d: %d events, %v", i, len(events), err)
			}
			for n, e := range events {
				if seen[e.ID] || e.ID == 0 || e.Seq != int64(n+1) {
					t.Fatalf("session %d event %d: number %d, seq %d", i, n, e.ID, e.Seq)
				}
				seen[e.ID] = true
			}
		}
	})
	t.Run("messages of every kind come back", func(t *testing.T) { messagesComeBack(t, open(t)) })
	t.Run("journal", func(t *testing.T) { journalHolds(t, open(t)) })
	t.Run("events", func(t *testing.T) { eventsComeBack(t, open(t)) })
	t.Run("lock", func(t *testing.T) {
		s := open(t)
		unlock, err := s.Lock(ctx, "not there yet")
		if err != nil {
			t.Fatal(err)
		}
		var busy *BusyError
		if _, err := s.Lock(ctx, "not there yet"); !errors.As(err, &busy) || busy.Session != "not there yet" {
			t.Errorf("second lock: got %v, want a *BusyError", err)
		}
		other, err := s.Lock(ctx, "other")
		if err != nil {
			t.Errorf("another session: %v", err)
		} else {
			other()
		}
		unlock()
		unlock() // twice is once
		if unlock, err = s.Lock(ctx, "not there yet"); err != nil {
			t.Fatalf("after unlock: %v", err)
		}
		unlock()
	})
}

func messagesComeBack(t *testing.T, s Store) {
	ctx := context.Background()
	s.Create(ctx, Session{ID: "a"})
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	want := []llm.Message{
		{Role: llm.RoleUser, Text: "¿Dónde? 在哪里? a\u2028b\u0085c", Attachments: []llm.Attachment{{MIMEType: "image/png", Data: []byte("\x89PNG\x00"), Width: 2, Height: 1}}},
		{
			Role: llm.RoleAssistant, Text: "x", Calls: []llm.ToolCall{{ID: "2", Name: "f", Arguments: `{"a":`}, {ID: "1", Name: "g", Arguments: "{}"}},
			ProviderData: []json.RawMessage{raw(`{"type":"reasoning", "z":1.0,"a":"\u00e9"}`), raw(`{"type":"message"}`), raw(`{"type":"call"}`)},
			Origin:       llm.Origin{Provider: "p", API: "responses", Model: "m"}, Truncated: true,
		},
		{Role: llm.RoleTool, CallID: "2", IsError: true, Parts: []llm.Part{
			{Type: llm.PartText, Text: "t"}, {Type: llm.PartImage, MIMEType: "image/gif", Data: []byte("GIF")}, {Type: llm.PartUI, Block: raw(`{"kind": "code"}`)},
		}},
		{Role: llm.RoleTool, CallID: "1"},
		{Role: llm.RoleAssistant, Text: "cut", Interrupted: true},
		{Role: llm.RoleUser, Text: "told", Context: "plugin/name"},
		{Role: llm.RoleUser, Text: "kept", Stored: raw(`{"role":"user","x":[1],"text":"kept"}`)},
	}
	if err := s.Append(ctx, "a", "run", want...); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(ctx, "a", ""); err != nil {
		t.Errorf("append nothing: %v", err)
	}
	got, err := s.Messages(ctx, "a")
	if err != nil || len(got) != len(want) {
		t.Fatalf("got %d messages, %v", len(got), err)
	}
	for i := range want {
		if !codec.Same(got[i], want[i]) || string(got[i].Stored) != string(want[i].Stored) {
			t.Errorf("message %d: got  %+v\nwant %+v", i, got[i], want[i])
		}
	}
}

func journalHolds(t *testing.T, s Store) {
	ctx := context.Background()
	s.Create(ctx, Session{ID: "a"})
	s.Create(ctx, Session{ID: "b"})
	begun := Call{Session: "a", ID: "1", RunID: "r", Name: "shell", Effect: plug.EffectProcess, Started: time.UnixMilli(5)}
	if _, err := s.BeginCall(ctx, begun); err != nil {
		t.Fatal(err)
	}
	if _, err := s.BeginCall(ctx, begun); err == nil {
		t.Error("begun twice: got no error")
	}
	if _, err := s.BeginCall(ctx, Call{Session: "b", ID: "1", Effect: plug.EffectRead}); err != nil {
		t.Errorf("the same id in another session: %v", err)
	}
	if _, err := s.BeginCall(ctx, Call{Session: "none", ID: "1"}); !errors.Is(err, ErrNotFound) {
		t.Errorf("unknown session: got %v, want ErrNotFound", err)
	}
	if got, err := s.Pending(ctx, "a"); err != nil || len(got) != 1 || !sameCall(got[0], begun) {
		t.Errorf("pending: got %+v %v, want %+v", got, err, begun)
	}
	if _, err := s.Pending(ctx, "none"); !errors.Is(err, ErrNotFound) {
		t.Errorf("pending of no session: got %v, want ErrNotFound", err)
	}
	got, err := s.Calls(ctx, "a", "1", "2")
	if err != nil || len(got) != 1 || !sameCall(got[0], begun) {
		t.Fatalf("pending: got %+v %v, want %+v", got, err, begun)
	}
	end := begun
	end.Done, end.Ended, end.Result = true, time.UnixMilli(9), plug.Error("no").WithBlock(plug.Block{Kind: plug.BlockCode, Code: "c"})
	number, err := s.EndCall(ctx, end, plug.Event{SessionID: "a", RunID: "r", Seq: 1, Data: plug.ToolCompleted{ID: "1", Result: &end.Result}})
	if err != nil || number == 0 {
		t.Fatalf("end: got %d %v", number, err)
	}
	alone := Call{Session: "a", ID: "2", Name: "read_file", Effect: plug.EffectRead, Done: true, Result: plug.Text("x"), Ended: time.UnixMilli(1)}
	if number, err := s.EndCall(ctx, alone, plug.Event{}); err != nil || number != 0 {
		t.Errorf("end of a call that was not begun, without an event: got %d %v, want 0", number, err)
	}
	if _, err := s.EndCall(ctx, Call{Session: "none", ID: "1"}, plug.Event{SessionID: "none", Data: plug.RunStarted{}}); !errors.Is(err, ErrNotFound) {
		t.Errorf("unknown session: got %v, want ErrNotFound", err)
	}
	got, err = s.Calls(ctx, "a", "2", "none", "1")
	slices.SortFunc(got, func(a, b Call) int { return strings.Compare(a.ID, b.ID) })
	if err != nil || len(got) != 2 || !sameCall(got[0], end) || !sameCall(got[1], alone) {
		t.Errorf("got %+v %v\nwant %+v\nand  %+v", got, err, end, alone)
	}
	if got, err := s.Pending(ctx, "a"); err != nil || len(got) != 0 {
		t.Errorf("pending when all have ended: got %+v %v", got, err)
	}
	events, err := s.Events(ctx, "a")
	if err != nil || len(events) != 1 || events[0].ID == 0 {
		t.Fatalf("got %+v %v, want the one event of the call", events, err)
	}
	if d, ok := events[0].Data.(plug.ToolCompleted); !ok || d.ID != "1" || d.Result != nil {
		t.Errorf("got %+v, want the event without the result", events[0].Data)
	}
}

func sameCall(a, b Call) bool {
	return a.Session == b.Session && a.ID == b.ID && a.RunID == b.RunID && a.Name == b.Name && a.Effect == b.Effect && a.Done == b.Done &&
		a.Started.Equal(b.Started) && a.Ended.Equal(b.Ended) && a.Result.IsError == b.Result.IsError &&
		codec.Same(llm.Message{Role: llm.RoleTool, Parts: a.Result.Parts}, llm.Message{Role: llm.RoleTool, Parts: b.Result.Parts})
}

func eventsComeBack(t *testing.T, s Store) {
	ctx := context.Background()
	s.Create(ctx, Session{ID: "a"})
	for i, data := range []plug.Payload{
		plug.RunStarted{Model: "m<é"},
		plug.Unknown{Type: "some_future_event", Body: json.RawMessage(`{"a": 1}`)},
		plug.Unknown{Type: plug.TypeRunCompleted, Body: json.RawMessage(`{"tokens":1,"text":"","later":true}`)},
		plug.RunFailed{Error: "e", Code: llm.CauseStore},
	} {
		want := plug.Event{SessionID: "a", RunID: "r", Seq: int64(i + 3), Time: time.UnixMilli(1700000000123), CorrelationID: "c", Data: data}
		id, err := s.AddEvent(ctx, want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Events(ctx, "a")
		if err != nil || len(got) != i+1 {
			t.Fatalf("got %d events, %v", len(got), err)
		}
		want.ID = id
		a, errA := json.Marshal(got[i])
		b, errB := json.Marshal(want)
		if errA != nil || errB != nil || string(a) != string(b) {
			t.Errorf("got  %s %v\nwant %s %v", a, errA, b, errB)
		}
	}
}

func TestMemory(t *testing.T) {
	suite(t, func(t *testing.T) Store { return NewMemory() })
}
