package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

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
}

func TestMemory(t *testing.T) {
	suite(t, func(t *testing.T) Store { return NewMemory() })
}
