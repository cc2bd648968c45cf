package plain

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"alisio/llm"
	"alisio/plug"
)

// show runs payloads through a text surface.
func show(payloads ...plug.Payload) (answer, notes string) {
	var a, n bytes.Buffer
	s := NewText(TextOptions{Answer: &a, Notes: &n, Stop: func() {}})
	for _, p := range payloads {
		s.Event(plug.Event{Data: p})
	}
	return a.String(), n.String()
}

func deltas(parts ...string) []plug.Payload {
	var all []plug.Payload
	for _, p := range parts {
		all = append(all, plug.Delta{Delta: p})
	}
	return append(all, plug.TurnCompleted{}, plug.RunCompleted{})
}

func TestTheAnswerIsClean(t *testing.T) {
	for _, c := range []struct {
		name  string
		parts []string
		want  string
	}{
		{"plain", []string{"Hel", "lo"}, "Hello\n"},
		{"ends in a newline", []string{"Hello\n"}, "Hello\n"},
		{"lines", []string{"a\nb", "c\n", "\nd"}, "a\nbc\n\nd\n"},
		{"escape over deltas", []string{"x\x1b", "[31", "mred\x1b[0m"}, "xred\n"},
		{"title", []string{"a\x1b]0;owned\x07b"}, "ab\n"},
		{"rune over deltas", []string{"\xe5", "\x8f\xb0"}, "台\n"},
		{"bidi", []string{"a\u202eb"}, "ab\n"},
		{"redraw", []string{"10%", "\r20%"}, "10%\n20%\n"},
		{"nothing", nil, ""},
	} {
		if got, _ := show(deltas(c.parts...)...); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// In a pipe an answer that broke off goes on where it was.
func TestARecoveredAnswerIsOneInPipes(t *testing.T) {
	got, notes := show(plug.Delta{Delta: "Hello wor"}, plug.StreamRecovery{Attempt: 1, Of: 2, Reason: plug.RecoveryLost, KeptChars: 9},
		plug.Delta{Delta: "ld!"}, plug.TurnCompleted{}, plug.RunCompleted{})
	if got != "Hello world!\n" || !strings.Contains(notes, "9 characters are kept") {
		t.Errorf("got %q, %q", got, notes)
	}
}

func TestTextArrivesAtOnce(t *testing.T) {
	var a bytes.Buffer
	s := NewText(TextOptions{Answer: &a, Stop: func() {}})
	s.Event(plug.Event{Data: plug.Delta{Delta: "no newline yet"}})
	if got := a.String(); got != "no newline yet" {
		t.Errorf("got %q", got)
	}
}

func TestToolLines(t *testing.T) {
	answer, notes := show(
		plug.Delta{Delta: "I look."}, plug.TurnCompleted{},
		plug.ToolStarted{ID: "1", Title: "“func\x1b[2J TestTotal”"}, plug.ToolStarted{ID: "2", Title: "go test ./tax"}, plug.ToolStarted{ID: "3"},
		plug.ToolCompleted{ID: "2", Name: "shell", IsError: true, Summary: "exit 1", DurationMs: 2100},
		plug.ToolCompleted{ID: "1", Name: "search_text", Summary: "1 match", DurationMs: 9},
		plug.ToolCompleted{ID: "3", Name: "write_file", IsError: true, Preview: "not allowed: --allow-write allows it\nmore"},
		plug.Delta{Delta: "Done."}, plug.TurnCompleted{}, plug.RunCompleted{Denied: 1},
	)
	if want := "I look.\nDone.\n"; answer != want {
		t.Errorf("answer: got %q, want %q", answer, want)
	}
	want := "shell go test ./tax · exit 1 · 2.1 s\n" +
		"search_text “func TestTotal” · 1 match\n" +
		"write_file · not allowed: --allow-write allows it\n" +
		"notice: 1 call was not allowed\n"
	if notes != want {
		t.Errorf("notes:\n got %q\nwant %q", notes, want)
	}
}

func TestAClosedAnswerStops(t *testing.T) {
	stopped := 0
	s := NewText(TextOptions{Answer: &broken{}, Stop: func() { stopped++ }})
	for _, p := range deltas("a", "b", "c") {
		s.Event(plug.Event{Data: p})
	}
	if stopped != 1 || s.Err() == nil {
		t.Errorf("stopped %d times, error %v", stopped, s.Err())
	}
}

func TestFailure(t *testing.T) {
	one, two := errors.New("one"), errors.New("two\nlines")
	for _, c := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("run: %w", llm.Errorf(llm.CauseUnreachable, "refused\x1b[2J").WithHint("is the server running?")),
			"error: run: refused\nhint:  is the server running?\n"},
		{llm.Errorf(llm.CauseStore, "several:\na\n\nb").WithHint("this\nor that"),
			"error: several:\n       a\n\n       b\nhint:  this\n       or that\n"},
		{errors.Join(one, two), "error: one\nerror: two\n       lines\n"},
		{errors.Join(errors.Join(one, two), nil, one), "error: one\nerror: two\n       lines\nerror: one\n"},
		{errors.Join(one, nil), "error: one\n"},
		{fmt.Errorf("%w: %w", one, two), "error: one: two\n       lines\n"},
	} {
		var b bytes.Buffer
		if Failure(&b, c.err); b.String() != c.want {
			t.Errorf("%v: got %q, want %q", c.err, b.String(), c.want)
		}
	}
}

func TestACutAnswerNamesWhatBoundedIt(t *testing.T) {
	for bound, want := range map[plug.OutputBound]string{
		"":               "notice: the answer was cut at 700 output tokens (limits.maxOutputTokens)\n",
		plug.BoundWindow: "notice: the answer was cut at 700 output tokens (the model's window leaves no more)\n",
		plug.BoundBudget: "notice: the answer was cut at 700 output tokens (the budget of this run leaves no more)\n",
	} {
		if _, got := show(plug.ResponseTruncated{Turn: 1, MaxOutputTokens: 700, Bound: bound}); got != want {
			t.Errorf("%q: got %q, want %q", bound, got, want)
		}
	}
}

func TestNotices(t *testing.T) {
	var b bytes.Buffer
	log := slog.New(NewNotices(&b))
	log.Info("not shown")
	log.With("plugin", "toy").Warn("left out", "error", "line 1\nline 2")
	if got, want := b.String(), "notice: left out: plugin toy, error line 1 line 2\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Symptom: minutes in which nothing was to be seen. Trigger: a call that takes long. The
// time in which a person thinks about it is none of its own.
func TestALongCallIsToldOfWhileItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n bytes.Buffer
		screen := make(chan struct{}, 1) // a lock that a bubble waits for
		hold := func() func() {
			screen <- struct{}{}
			return func() { <-screen }
		}
		s := NewText(TextOptions{Answer: io.Discard, Notes: &n, Stop: func() {}, Hold: hold})
		event := func(p plug.Payload) {
			defer hold()()
			s.Event(plug.Event{Data: p})
		}
		later := func(d time.Duration, want string) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			defer hold()()
			if got := n.String(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			n.Reset()
		}
		event(plug.ToolStarted{ID: "1", Name: "shell", Title: "go test"})
		event(plug.ApprovalRequested{ID: "1", Name: "shell"})
		later(time.Hour, "")
		event(plug.ApprovalResolved{ID: "1", Name: "shell"})
		later(slow-1, "")
		later(1, "shell go test · running\n")
		later(time.Hour, "") // once
		event(plug.ToolCompleted{ID: "1", Name: "shell", Summary: "exit 0", DurationMs: 3_601_000})
		event(plug.ToolStarted{ID: "2", Name: "read_file"})
		event(plug.ToolCompleted{ID: "2", Name: "read_file"})
		event(plug.ToolStarted{ID: "3", Name: "read_file"})
		later(0, "shell go test · exit 0 · 3601.0 s\nread_file\n")
		release := hold() // a question stands, and the run is stopped while it does
		time.Sleep(time.Minute)
		s.Close()
		release()
		later(time.Hour, "")
	})
}

func TestAFailedHookIsTold(t *testing.T) {
	_, notes := show(plug.PluginHookFailed{Source: "mem\x1b[2Jory", Hook: "OnStart", Error: "no\nroom", Continued: true}, plug.RunCompleted{})
	if !strings.Contains(notes, "notice: hook OnStart of plugin mem") || !strings.Contains(notes, "failed: no room; the run goes on without it\n") || strings.Contains(notes, "\x1b") {
		t.Errorf("got %q", notes)
	}
}
