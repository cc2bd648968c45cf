package plain

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"alisio/plug"
)

func TestWhatIsTriedAgainIsTold(t *testing.T) {
	for _, c := range []struct {
		data plug.Payload
		want string
	}{
		{plug.RequestRetry{Attempt: 2, Of: 4, Reason: plug.RetryRateLimited, AfterMs: 20_000}, "too many requests: trying again in 20 s (2 of 4)"},
		{plug.RequestRetry{Attempt: 1, Of: 4, Reason: plug.RetryServerError, AfterMs: 1}, "the server is in trouble: trying again in 1 s (1 of 4)"},
		{plug.RequestRetry{Attempt: 1, Of: 4, Reason: plug.RetryConnection, AfterMs: 1001}, "the connection failed: trying again in 2 s (1 of 4)"},
		{plug.RequestRetry{Attempt: 1, Of: 1, Reason: plug.RetryFirstToken}, "the server said nothing in time: trying again (1 of 1)"},
		{plug.RequestRetry{Attempt: 1, Of: 1, Reason: "\x1b[2J", AfterMs: 125_000}, "the request failed: trying again in 2 min 5 s (1 of 1)"},
		{plug.StreamRecovery{Attempt: 1, Of: 2, Reason: plug.RecoveryLost, KeptChars: 312},
			"the connection broke off: 312 characters are kept, and the model is asked to go on (1 of 2)"},
		{plug.StreamRecovery{Attempt: 2, Of: 2, Reason: plug.RecoveryIdle, KeptChars: 1},
			"the answer came to a halt: 1 character is kept, and the model is asked to go on (2 of 2)"},
		{plug.StreamRecovery{Attempt: 1, Of: 2, Reason: plug.RecoveryIncomplete}, "the answer ended before it was whole: asking again (1 of 2)"},
		{plug.StreamRecovery{Attempt: 1, Of: 1, Reason: plug.RecoveryEmpty}, "the answer was empty: asking again (1 of 1)"},
		{plug.StreamRecovery{Attempt: 1, Of: 2, Reason: plug.RecoveryError}, "the server broke the answer off with an error: asking again (1 of 2)"},
		{plug.StreamRecovery{Attempt: 1, Of: 2, Reason: "\x1b[2J"}, "the answer broke off: asking again (1 of 2)"},
		{plug.TruncationRecovery{Attempt: 1, Of: 2, Reason: plug.CutCall, MaxOutputTokens: 4096},
			"a call was cut at 4096 output tokens, and did not run: asking again (1 of 2)"},
		{plug.TruncationRecovery{Attempt: 2, Of: 2, Reason: plug.CutEmpty, MaxOutputTokens: 10, Effort: "lo\x1b[2J\nw"},
			"the answer was cut at 10 output tokens; with effort lo<U+001B>[2J<U+000A>w now: asking again (2 of 2)"},
	} {
		answer, notes := show(plug.RunStarted{}, plug.Delta{Delta: "half"}, c.data, plug.Delta{Delta: "more"}, plug.RunCompleted{})
		whole := "half\nmore\n"
		if _, goesOn := c.data.(plug.StreamRecovery); goesOn {
			whole = "halfmore\n"
		}
		if notes != "notice: "+c.want+"\n" || answer != whole {
			t.Errorf("got %q beside %q, want %q", notes, answer, c.want)
		}
	}
	s := NewText(TextOptions{Answer: &bytes.Buffer{}, Stop: func() {}}) // as with --quiet: nowhere to tell it
	s.Event(plug.Event{Data: plug.RequestRetry{Attempt: 1, Of: 1, AfterMs: 1}})
}

// watched is a text surface on one screen for answer and notes, in a bubble.
type watched struct {
	*testing.T
	s      *Text
	screen bytes.Buffer
	ticket chan struct{}
}

func watch(t *testing.T, live bool) *watched {
	w := &watched{T: t, ticket: make(chan struct{}, 1)}
	w.s = NewText(TextOptions{Answer: &w.screen, Notes: &w.screen, Stop: func() {}, Hold: w.hold, Shared: true, Live: live})
	return w
}

func (w *watched) hold() func() {
	w.ticket <- struct{}{}
	return func() { <-w.ticket }
}

// gets shows an event and looks at what is new on the screen, then or after a time.
func (w *watched) gets(p plug.Payload, after time.Duration, want string) {
	w.Helper()
	if p != nil {
		release := w.hold()
		w.s.Event(plug.Event{Data: p})
		release()
	}
	time.Sleep(after)
	synctest.Wait()
	defer w.hold()()
	if got := w.screen.String(); got != want {
		w.Errorf("got %q, want %q", got, want)
	}
	w.screen.Reset()
}

// Symptom: a wait that a server asked for, with nothing to be seen (C034). Trigger: 429
// with Retry-After, in a conversation on a terminal. The line is written again in its
// place, and in the end there is one, as in a file.
func TestC034AWaitIsCountedDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, true)
		line := func(in string) string { return "notice: too many requests: trying again in " + in + " (1 of 4)" }
		retry := plug.RequestRetry{Attempt: 1, Of: 4, Reason: plug.RetryRateLimited, AfterMs: 2500}
		w.gets(plug.RunStarted{}, 0, "")
		w.gets(retry, 0, redraw+line("3 s"))
		w.gets(nil, 500*time.Millisecond, redraw+line("2 s"))
		w.gets(nil, time.Second, redraw+line("1 s"))
		w.gets(nil, time.Second, redraw+line("3 s")+"\n")
		w.gets(nil, silent-1, "")
		w.gets(nil, 1, redraw+"waiting for the model: 10 s")
		w.gets(retry, 0, redraw+redraw+line("3 s"))
		w.gets(plug.Delta{Delta: "soon"}, 0, redraw+line("3 s")+"\nsoon")
		w.gets(nil, time.Hour, "") // the line is the answer's
		w.gets(plug.RunFailed{}, time.Hour, "\n")
	})
}

// Symptom: 0 bytes on both streams while a server sends nothing, until it is killed
// (C041). Trigger: headers, and no body.
func TestC041ASilentModelIsToldOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, true)
		w.gets(nil, time.Hour, "") // no run, no model
		w.gets(plug.RunStarted{}, silent-1, "")
		w.gets(plug.ReasoningText{Delta: "hm"}, silent-1, "")
		w.gets(nil, 1, redraw+"waiting for the model: 10 s")
		w.gets(nil, time.Second, redraw+"waiting for the model: 11 s")
		release := w.hold()
		w.s.erase() // for a notice of somebody else
		release()
		w.gets(nil, time.Second, redraw+redraw+"waiting for the model: 12 s")
		w.gets(plug.Delta{Delta: "Hi\n"}, 0, redraw+"Hi\n")
		w.gets(plug.TurnCompleted{Calls: 1}, 0, "")
		w.gets(plug.ToolStarted{ID: "1", Name: "shell"}, time.Hour, "\nshell · running\n")
		w.gets(plug.ToolCompleted{ID: "1", Name: "shell"}, silent, "shell\n"+redraw+"waiting for the model: 10 s")
		release = w.hold()
		resume := w.s.pause() // a question
		release()
		w.gets(nil, time.Hour, redraw)
		release = w.hold()
		resume()
		release()
		w.gets(nil, silent, redraw+"waiting for the model: 10 s")
		w.gets(plug.RunCancelled{}, time.Hour, redraw)
		release = w.hold()
		w.s.pause()() // of a run that is over
		release()
		w.gets(nil, time.Hour, "")
	})
}

// In pipes nothing is written again: a wait has one line, silence one a minute.
func TestASilentModelInAPipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, false)
		w.gets(plug.RunStarted{}, rare-1, "")
		w.gets(nil, 1, "waiting for the model: 60 s\n")
		w.gets(nil, rare-1, "")
		w.gets(nil, 1, "waiting for the model: 2 min\n")
		w.gets(plug.RequestRetry{Attempt: 1, Of: 4, Reason: plug.RetryConnection, AfterMs: 5000}, rare-1,
			"notice: the connection failed: trying again in 5 s (1 of 4)\n")
		w.gets(plug.RunCompleted{}, time.Hour, "")
	})
}
