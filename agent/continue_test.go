package agent

import (
	"context"
	"testing"
	"time"

	"alisio/agent/session"
	"alisio/llm"
	"alisio/plug"
)

// Which run came last was told by the clock, and the last message of a session
// was taken for the answer of the run that is continued, whoever had said it.
func TestAContinuedRunTakesItsOwnAnswerAlone(t *testing.T) {
	ctx := context.Background()
	prompt := llm.Message{Role: llm.RoleUser, Text: "go"}
	answer := func(text string) llm.Message { return llm.Message{Role: llm.RoleAssistant, Text: text} }
	now := time.Now()
	for _, c := range []struct {
		name  string
		store func(t *testing.T, s *Store)
		// asked is how often the model is asked, prompts how many are stored.
		asked   int64
		prompts int
		text    string
	}{
		{"it had its answer", func(t *testing.T, s *Store) {
			beginRun(t, s, "r1", "q", "", now, prompt)
			say(t, s, "r1", answer("mine"))
		}, 0, 1, "mine"},
		{"it had none", func(t *testing.T, s *Store) {
			beginRun(t, s, "r1", "q", "", now, prompt)
		}, 1, 1, "answer 1"},
		{"the clock was set back", func(t *testing.T, s *Store) {
			beginRun(t, s, "r0", "", "", now.Add(time.Hour), llm.Message{Role: llm.RoleUser, Text: "before"})
			say(t, s, "r0", answer("old"))
			endRun(t, s, "r0")
			beginRun(t, s, "r1", "q", "", now, prompt)
			say(t, s, "r1", answer("mine"))
		}, 0, 2, "mine"},
		{"its prompt is lost, another's answer is the last", func(t *testing.T, s *Store) {
			beginRun(t, s, "r0", "", "", now, llm.Message{Role: llm.RoleUser, Text: "before"})
			say(t, s, "r0", answer("old"))
			endRun(t, s, "r0")
			beginRun(t, s, "r1", "q", "", now)
		}, 1, 2, "answer 1"},
		{"another was asked since", func(t *testing.T, s *Store) {
			beginRun(t, s, "r1", "q", "", now, prompt)
			beginRun(t, s, "r2", "", "", now, llm.Message{Role: llm.RoleUser, Text: "other"})
			say(t, s, "r2", answer("other"))
			endRun(t, s, "r2")
		}, 1, 3, "answer 1"},
		{"it was continued before", func(t *testing.T, s *Store) {
			beginRun(t, s, "r1", "q", "", now, prompt)
			say(t, s, "r1", answer("mine"))
			interruptRuns(t, s)
			beginRun(t, s, "r2", "", "r1", now)
		}, 0, 1, "mine"},
		{"results were stored in the name of no run", func(t *testing.T, s *Store) {
			beginRun(t, s, "r1", "q", "", now, prompt)
			say(t, s, "r1", llm.Message{Role: llm.RoleAssistant, Calls: []llm.ToolCall{{ID: "c", Name: "x", Arguments: "{}"}}})
			say(t, s, "", session.ResultMessage("c", plug.Text("recovered")))
		}, 1, 1, "answer 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, p := t.TempDir(), &counting{}
			a := stored(t, dir, p)
			s := a.store.(*Store)
			if err := s.Create(ctx, session.Session{ID: "s", Workspace: a.root}); err != nil {
				t.Fatal(err)
			}
			c.store(t, s)
			out, err := a.Run(ctx, "s", "go", RunOptions{RequestID: "q"})
			if err != nil || out.Status != Completed || out.Text != c.text || p.asked.Load() != c.asked {
				t.Errorf("got %q, %s, %v, asked %d times; want %q, %d times", out.Text, out.Status, err, p.asked.Load(), c.text, c.asked)
			}
			messages, err := s.Messages(ctx, "s")
			prompts := 0
			for _, m := range messages {
				if m.Role == llm.RoleUser {
					prompts++
				}
			}
			if err != nil || prompts != c.prompts {
				t.Errorf("%d prompts are stored, %v; want %d", prompts, err, c.prompts)
			}
		})
	}
}

// beginRun stores the begin of a run of this process, which has no end: the next
// lock of the session finds it interrupted.
func beginRun(t *testing.T, s *Store, id, request, continues string, created time.Time, messages ...llm.Message) {
	t.Helper()
	_, _, err := s.BeginRun(context.Background(), session.Begin{
		Run: session.Run{ID: id, Session: "s", RequestID: request, Created: created}, Messages: messages, Continues: continues,
	})
	if err != nil {
		t.Fatal(err)
	}
}

func say(t *testing.T, s *Store, run string, m llm.Message) {
	t.Helper()
	if err := s.Append(context.Background(), "s", run, m); err != nil {
		t.Fatal(err)
	}
}

func endRun(t *testing.T, s *Store, id string) {
	t.Helper()
	if _, err := s.EndRun(context.Background(), session.RunEnd{ID: id, Status: Completed}); err != nil {
		t.Fatal(err)
	}
}

func interruptRuns(t *testing.T, s *Store) {
	t.Helper()
	unlock, err := s.Lock(context.Background(), "s")
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}
