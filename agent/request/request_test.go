package request

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"alisio/agent/run"
	"alisio/agent/session"
	"alisio/db"
	"alisio/llm"
	"alisio/plug"
)

// book is one of a database of its own, in which the session s was asked "go" as the
// request r, by the run one: it has the answer "done", or is under way.
func book(t *testing.T, ended bool) Book {
	t.Helper()
	dir := t.TempDir()
	s, err := session.OpenSQLite(t.Context(), db.Options{Path: filepath.Join(dir, "sessions.sqlite"), Home: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	unlock, err := s.Lock(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	_, _, err = s.BeginRun(t.Context(), session.Begin{
		Run:      session.Run{ID: "one", Session: "s", Status: session.RunRunning, RequestID: "r", Created: now, Started: now},
		Fresh:    &session.Session{ID: "s", Workspace: "/w", Created: now, Updated: now},
		Messages: []llm.Message{{Role: llm.RoleUser, Text: "go"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	b := Book{Store: s, Workspace: "/w", Log: slog.New(slog.DiscardHandler)}
	if !ended {
		t.Cleanup(unlock) // before the store is closed
		return b
	}
	defer unlock()
	e := plug.Event{RunID: "one", SessionID: "s", Seq: 1, Time: time.Now(), Data: plug.RunCompleted{Text: "done"}}
	_, err = s.EndRun(t.Context(), session.RunEnd{
		ID: "one", Status: session.RunCompleted, Messages: []llm.Message{{Role: llm.RoleAssistant, Text: "done"}},
	}, e)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestOnce(t *testing.T) {
	for _, c := range []struct {
		name  string
		ended bool
		in    run.Input
		// tried is the session and the run to go on with of the attempt, empty: there was
		// none.
		tried, wantErr string
	}{
		{"without an id", true, run.Input{SessionID: "s", Prompt: "go"}, "s ", ""},
		{"an id that nobody used", true, run.Input{Prompt: "go", RequestID: "other"}, " ", ""},
		{"shown again", true, run.Input{Prompt: "go", RequestID: "r"}, "", ""},
		{"shown again in its session", true, run.Input{SessionID: "s", Prompt: "go", RequestID: "r"}, "", ""},
		{"another prompt", true, run.Input{Prompt: "stop", RequestID: "r"}, "", "was made with another prompt, in session s"},
		{"other images", true, run.Input{Prompt: "go", RequestID: "r", Attachments: []llm.Attachment{{MIMEType: "image/png"}}}, "", "with other images"},
		{"under way", false, run.Input{Prompt: "go", RequestID: "r"}, "s ", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := book(t, c.ended)
			tried, said := "", ""
			c.in.OnEvent = func(e plug.Event) {
				if d, ok := e.Data.(plug.Delta); ok {
					said += d.Delta
				}
			}
			out, err := b.Once(t.Context(), c.in, func(in run.Input) (Outcome, error) {
				tried = in.SessionID + " " + in.Continues
				return Outcome{}, nil
			})
			if tried != c.tried || (err == nil) != (c.wantErr == "") || err != nil && !strings.Contains(err.Error(), c.wantErr) {
				t.Fatalf("tried %q, got %v; want %q, %q", tried, err, c.tried, c.wantErr)
			}
			again := c.tried == "" && c.wantErr == ""
			if out.Replayed != again || again && (out.Text != "done" || said != "done" || out.SessionID != "s" || out.Status != run.Completed) {
				t.Errorf("got %+v, said %q", out, said)
			}
		})
	}
}

// Who is busy is waited for, a while, where an id says that one answer is enough.
func TestOnceWaitsForWhoIsBusy(t *testing.T) {
	busy, doubtful := &session.BusyError{Session: "s", PID: 1}, &session.BusyError{Session: "s", PID: 1, Doubtful: true}
	for _, c := range []struct {
		name string
		id   string
		err  error
		// tries is how often it is tried at least, took how long all of it takes.
		tries int
		took  time.Duration
		words string
	}{
		{"with an id", "new", busy, 50, requestPatience, "request new is being worked on"},
		{"without", "", busy, 1, 0, "in use by process 1"},
		{"a doubtful owner", "new", doubtful, 1, 0, "may be in use"},
		{"another failure", "new", errors.New("no disk"), 1, 0, "no disk"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := Book{Store: runless{session.NewMemory()}, Workspace: "/w", Log: slog.New(slog.DiscardHandler)}
				tries, begun := 0, time.Now()
				_, err := b.Once(t.Context(), run.Input{Prompt: "go", RequestID: c.id}, func(run.Input) (Outcome, error) {
					tries++
					return Outcome{}, c.err
				})
				if err == nil || !strings.Contains(err.Error(), c.words) || !errors.Is(err, c.err) {
					t.Errorf("got %v, want %q", err, c.words)
				}
				if took := time.Since(begun); tries < c.tries || c.tries == 1 && tries > 1 || took < c.took || took > c.took+time.Second {
					t.Errorf("%d tries in %s, want %d in %s", tries, took, c.tries, c.took)
				}
			})
		})
	}
}

// runless keeps runs, and has none.
type runless struct{ *session.Memory }

func (runless) BeginRun(context.Context, session.Begin) (session.Run, []int64, error) {
	return session.Run{}, nil, nil
}

func (runless) EndRun(context.Context, session.RunEnd, ...plug.Event) ([]int64, error) {
	return nil, nil
}

func (runless) RunByRequest(context.Context, session.RequestKey) (session.Run, error) {
	return session.Run{}, session.ErrNotFound
}

func TestAStoreWithoutRunsTakesNoID(t *testing.T) {
	b := Book{Store: session.NewMemory(), Log: slog.New(slog.DiscardHandler)}
	try := func(run.Input) (Outcome, error) { return Outcome{SessionID: "s"}, nil }
	if _, err := b.Once(t.Context(), run.Input{RequestID: "r"}, try); llm.CauseOf(err) != llm.CauseBadRequest {
		t.Errorf("got %v", err)
	}
	if out, err := b.Once(t.Context(), run.Input{}, try); err != nil || out.SessionID != "s" {
		t.Errorf("without an id: got %+v, %v", out, err)
	}
}

func TestStands(t *testing.T) {
	b := book(t, true)
	for _, c := range []struct {
		runID string
		want  bool
	}{{"one", true}, {"two", false}, {"", false}} {
		if got, err := b.Stands(t.Context(), "s", c.runID); err != nil || got != c.want {
			t.Errorf("%q: got %t, %v", c.runID, got, err)
		}
	}
	if err := b.Store.Append(t.Context(), "s", "two", llm.Message{Role: llm.RoleUser, Text: "more"}); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Stands(t.Context(), "s", "one"); err != nil || got {
		t.Errorf("behind another's message: got %t, %v", got, err)
	}
}
