package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"alisio/llm"
)

// queueStore is a Store with a Queue.
type queueStore interface {
	Store
	Queue
}

func TestMemoryQueue(t *testing.T) {
	queueSuite(t, func(t *testing.T) queueStore { return NewMemory() })
}

// queueSuite is what every Store with a Queue must do.
func queueSuite(t *testing.T, open func(t *testing.T) queueStore) {
	ctx := context.Background()
	fresh := func(t *testing.T) queueStore {
		s := open(t)
		for _, id := range []string{"a", "b"} {
			if err := s.Create(ctx, Session{ID: id}); err != nil {
				t.Fatal(err)
			}
		}
		return s
	}
	texts := func(messages []llm.Message) (all []string) {
		for _, m := range messages {
			if m.Role != llm.RoleUser || m.Context != "" || m.Display != "" {
				t.Errorf("drained %+v", m)
			}
			all = append(all, m.Text)
		}
		return all
	}
	t.Run("unknown session", func(t *testing.T) {
		s := open(t)
		_, err := s.Drain(ctx, "none", "r")
		_, err2 := s.Queued(ctx, "none")
		for i, err := range []error{s.Enqueue(ctx, "none", "x"), err, err2} {
			if !errors.Is(err, ErrNotFound) {
				t.Errorf("call %d: got %v, want ErrNotFound", i, err)
			}
		}
	})
	t.Run("in order, once, of one session", func(t *testing.T) {
		s := fresh(t)
		must(t, s.Append(ctx, "a", "r", user("before")))
		must(t, s.Enqueue(ctx, "b", "other"))
		var want []string
		for _, text := range []string{"one", "two\n", "one", "th\xffree \u2028"} {
			must(t, s.Enqueue(ctx, "a", text))
			want = append(want, strings.ToValidUTF8(text, "\uFFFD"))
		}
		if got, err := s.Queued(ctx, "a"); err != nil || !slices.Equal(got, want) {
			t.Errorf("queued: got %q, %v", got, err)
		}
		got, err := s.Drain(ctx, "a", "r")
		if err != nil || !slices.Equal(texts(got), want) {
			t.Errorf("drained: got %q, %v", texts(got), err)
		}
		if got, err := s.Drain(ctx, "a", "r"); err != nil || len(got) != 0 {
			t.Errorf("drained again: got %+v, %v", got, err)
		}
		if got, err := s.Queued(ctx, "a"); err != nil || len(got) != 0 {
			t.Errorf("queued after: got %q, %v", got, err)
		}
		messages, err := s.Messages(ctx, "a")
		if err != nil || !slices.Equal(texts(messages), append([]string{"before"}, want...)) {
			t.Errorf("the history: got %q, %v", texts(messages), err)
		}
		if got, err := s.Queued(ctx, "b"); err != nil || !slices.Equal(got, []string{"other"}) {
			t.Errorf("the other session: got %q, %v", got, err)
		}
	})
	t.Run("bounds", func(t *testing.T) {
		s := fresh(t)
		long := strings.Repeat("é", MaxQueuedChars)
		for text, want := range map[string]string{"": "empty", " \n": "empty", long + "x": "50001 characters, more than 50000"} {
			if err := s.Enqueue(ctx, "a", text); !errors.Is(err, ErrQueueText) || !strings.Contains(err.Error(), want) {
				t.Errorf("%.10q: got %v, want %q", text, err, want)
			}
		}
		for i := range MaxQueued {
			if err := s.Enqueue(ctx, "a", long); err != nil {
				t.Fatalf("text %d: %v", i, err)
			}
		}
		if err := s.Enqueue(ctx, "a", "x"); !errors.Is(err, ErrQueueFull) || !strings.Contains(err.Error(), "20 texts wait") {
			t.Errorf("one too many: got %v", err)
		}
		must(t, s.Enqueue(ctx, "b", "x"))
		if got, err := s.Drain(ctx, "a", "r"); err != nil || len(got) != MaxQueued {
			t.Errorf("drained %d, %v", len(got), err)
		}
		must(t, s.Enqueue(ctx, "a", "x"))
	})
	t.Run("at once", func(t *testing.T) {
		s := fresh(t)
		var wg sync.WaitGroup
		for w := range 4 {
			wg.Go(func() {
				for i := 0; i < 20; {
					err := s.Enqueue(ctx, "a", fmt.Sprintf("%d/%d", w, i))
					switch {
					case err == nil:
						i++
					case !errors.Is(err, ErrQueueFull):
						t.Error(err)
						return
					}
					if i%3 == 0 || err != nil {
						if _, err := s.Drain(ctx, "a", "r"); err != nil {
							t.Error(err)
							return
						}
					}
				}
			})
		}
		wg.Wait()
		if _, err := s.Drain(ctx, "a", "r"); err != nil {
			t.Fatal(err)
		}
		messages, err := s.Messages(ctx, "a")
		if err != nil || len(messages) != 80 {
			t.Fatalf("%d messages, %v", len(messages), err)
		}
		next := map[byte]int{}
		for _, m := range messages {
			if want := fmt.Sprintf("%c/%d", m.Text[0], next[m.Text[0]]); m.Text != want {
				t.Errorf("got %s, want %s", m.Text, want)
			}
			next[m.Text[0]]++
		}
	})
}
