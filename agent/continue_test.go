package agent

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"alisio/agent/output"
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

// Symptom: a request id answered any other task, with the first one's answer and
// exit 0. Trigger: the run that has the id went on where a dead process stopped, so
// that the prompt is no message of its own.
func TestARequestIDStandsForOneTaskAfterAnInterruption(t *testing.T) {
	ctx := context.Background()
	image := llm.Attachment{MIMEType: "image/png", Data: picture(t)}
	form, err := output.New(versionSchema)
	if err != nil {
		t.Fatal(err)
	}
	first := llm.Message{Role: llm.RoleUser, Text: form.Prompt("go"), Display: "go", Attachments: []llm.Attachment{image}}
	question := llm.Message{Role: llm.RoleUser, Text: "[output schema] The answer does not fit the JSON Schema that was asked for:\n- x" +
		"\nAnswer once more, with the whole JSON value and nothing else: no text around it and no code fence."}
	bad := llm.Message{Role: llm.RoleAssistant, Text: "no"}
	now := time.Now()
	for _, c := range []struct {
		name  string
		store func(t *testing.T, s *Store)
	}{
		{"not yet continued", func(t *testing.T, s *Store) { beginRun(t, s, "r1", "q", "", now, first) }},
		{"continued", func(t *testing.T, s *Store) {
			beginRun(t, s, "r1", "q", "", now, first)
			interruptRuns(t, s)
			beginRun(t, s, "r2", "q", "r1", now)
		}},
		{"continued twice, behind another task", func(t *testing.T, s *Store) {
			beginRun(t, s, "r0", "", "", now, llm.Message{Role: llm.RoleUser, Text: "before"})
			endRun(t, s, "r0")
			beginRun(t, s, "r1", "q", "", now, first)
			interruptRuns(t, s)
			beginRun(t, s, "r2", "q", "r1", now)
			interruptRuns(t, s)
			beginRun(t, s, "r3", "q", "r2", now)
		}},
		{"with context before it, and continued with a text that was queued", func(t *testing.T, s *Store) {
			beginRun(t, s, "r1", "q", "", now, llm.Message{Role: llm.RoleUser, Text: "told", Context: "a/b"}, first)
			interruptRuns(t, s)
			beginRun(t, s, "r2", "q", "r1", now)
			say(t, s, "r2", llm.Message{Role: llm.RoleAssistant, Text: "half", Interrupted: true})
			say(t, s, "r2", llm.Message{Role: llm.RoleUser, Text: "and quickly"})
		}},
		{"continued with a question for a better answer", func(t *testing.T, s *Store) {
			beginRun(t, s, "r1", "q", "", now, first, bad)
			interruptRuns(t, s)
			beginRun(t, s, "r2", "q", "r1", now, question)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &replies{texts: []string{`{"version":1}`}}
			a := stored(t, t.TempDir(), p)
			s := a.store.(*Store)
			if err := s.Create(ctx, session.Session{ID: "s", Workspace: a.root}); err != nil {
				t.Fatal(err)
			}
			c.store(t, s)
			ask := func(prompt string, schema json.RawMessage, images ...llm.Attachment) (Outcome, error) {
				return a.Run(ctx, "", prompt, RunOptions{RequestID: "q", OutputSchema: schema, Attachments: images})
			}
			refused := func(when string) {
				t.Helper()
				_, prompt := ask("stop", versionSchema, image)
				_, schema := ask("go", nil, image)
				_, images := ask("go", versionSchema)
				for want, err := range map[string]error{"another prompt": prompt, "another output schema": schema, "other images": images} {
					if llm.CauseOf(err) != llm.CauseBadRequest || !strings.Contains(err.Error(), want) {
						t.Errorf("%s: %s: got %v", when, want, err)
					}
				}
			}
			refused("interrupted")
			for i := range 2 {
				out, err := ask("go", versionSchema, image)
				if err != nil || out.Text != `{"version":1}` || out.Replayed != (i == 1) || len(p.asked) != 1 {
					t.Errorf("the task itself: got %+v, %v, asked %d times", out, err, len(p.asked))
				}
			}
			refused("at its end")
		})
	}
}

// Symptom: a request id answered another task. Trigger: a prompt in the words of
// the program's own question for a better answer.
func TestARequestIDStandsForAPromptThatLooksLikeARepair(t *testing.T) {
	ctx := context.Background()
	const begins = "[output schema] The answer does not fit the JSON Schema that was asked for:"
	const ends = "\nAnswer once more, with the whole JSON value and nothing else: no text around it and no code fence."
	for _, prompt := range []string{begins + " why?", begins + "\n- x" + ends} {
		for _, schema := range []json.RawMessage{nil, versionSchema} {
			p := &replies{texts: []string{`{"version":1}`}}
			a := stored(t, t.TempDir(), p)
			for i := range 2 {
				out, err := a.Run(ctx, "", prompt, RunOptions{RequestID: "q", OutputSchema: schema})
				if err != nil || out.Replayed != (i == 1) || out.Text != `{"version":1}` {
					t.Errorf("%q: got %+v, %v", prompt, out, err)
				}
			}
			_, err := a.Run(ctx, "", prompt+" else", RunOptions{RequestID: "q", OutputSchema: schema})
			if llm.CauseOf(err) != llm.CauseBadRequest || !strings.Contains(err.Error(), "another prompt") || len(p.asked) != 1 {
				t.Errorf("%q: got %v, asked %d times", prompt, err, len(p.asked))
			}
		}
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
