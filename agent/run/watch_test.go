package run

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"alisio/agent/perm"
	"alisio/llm"
	"alisio/plug"
)

// ruled runs a prompt in a bubble of virtual time, with limits and answers, and then
// looks at what came of it.
func ruled(t *testing.T, l Limits, answers []answerFunc, look func(t *testing.T, b *bench, p *fake, out Outcome), tools ...plug.Tool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &fake{answers: answers}
		b := newBench(t, p, all, nil, tools...)
		b.o.Limits = l
		look(t, b, p, b.run(context.Background(), "go"))
	})
}

var hangs = steps(silence(forever))

// A server that says nothing: the request is given up at the limit, sent once more as
// it was, and then the run fails with all that is known of it.
func TestFirstTokenLimitResendsOnceThenFails(t *testing.T) {
	ruled(t, defaults(), []answerFunc{hangs}, func(t *testing.T, b *bench, p *fake, out Outcome) {
		same(t, "retries", told[plug.RequestRetry](b), []plug.RequestRetry{{Attempt: 1, Of: 1, Reason: plug.RetryFirstToken}})
		f := b.failed()
		same(t, "timeout", f.Timeout, &plug.Timeout{
			Kind: plug.TimeoutFirstToken, Ms: 120_000, Model: "m", Provider: "fake", Stage: plug.StageWaiting, FirstRequest: true, Attempts: 2,
		})
		if out.Status != Failed || out.Code != llm.CauseTimeout || f.Code != llm.CauseTimeout || f.Truncation != nil {
			t.Errorf("got %+v, %+v", out, f)
		}
		if want := "fake said nothing for 2 min (limits.firstTokenTimeoutMs), after 2 tries"; f.Error != want || f.Hint == "" {
			t.Errorf("got %q, want %q", f.Error, want)
		}
		if b.took != 4*time.Minute || len(p.requests) != 2 || len(b.tail()) != 0 || len(told[plug.TurnCompleted](b)) != 0 {
			t.Errorf("took %v, %d requests, kept %+v", b.took, len(p.requests), b.tail())
		}
		same(t, "the second request", p.requests[1], p.requests[0])
	})
}

// A resend is no turn, and nothing is appended for it.
func TestFirstTokenLimitIsNoTurn(t *testing.T) {
	ruled(t, but(func(l *Limits) { l.MaxTurns = 1 }), []answerFunc{hangs, says("hello")}, func(t *testing.T, b *bench, p *fake, out Outcome) {
		if out.Status != Completed || out.Turns != 1 || b.took != 2*time.Minute {
			t.Errorf("got %+v after %v", out, b.took)
		}
		same(t, "kept", b.tail(), []llm.Message{answered("hello")})
		same(t, "the second request", p.requests[1], p.requests[0])
		same(t, "notices", p.notices(), []string{"", ""})
	})
}

func TestFirstTokenRetriesAreConfigurable(t *testing.T) {
	for _, c := range []struct {
		retries, sends int
		error          string
	}{
		{0, 1, "fake said nothing for 10 s (limits.firstTokenTimeoutMs)"},
		{1, 2, "fake said nothing for 10 s (limits.firstTokenTimeoutMs), after 2 tries"},
		{3, 4, "fake said nothing for 10 s (limits.firstTokenTimeoutMs), after 4 tries"},
	} {
		l := but(func(l *Limits) { l.FirstToken, l.FirstTokenRetries = 10*time.Second, c.retries })
		ruled(t, l, []answerFunc{hangs}, func(t *testing.T, b *bench, p *fake, _ Outcome) {
			var want []plug.RequestRetry
			for i := range c.sends - 1 {
				want = append(want, plug.RequestRetry{Attempt: i + 1, Of: c.sends - 1, Reason: plug.RetryFirstToken})
			}
			same(t, "retries", told[plug.RequestRetry](b), want)
			f := b.failed()
			if f.Error != c.error || f.Timeout.Attempts != c.sends || f.Timeout.Ms != 10_000 {
				t.Errorf("got %q %+v, want %q", f.Error, f.Timeout, c.error)
			}
			if len(p.requests) != c.sends || b.took != time.Duration(c.sends)*10*time.Second {
				t.Errorf("%d requests in %v", len(p.requests), b.took)
			}
		})
	}
}

// The limit that is off, and everything that comes in time: one request, no word.
func TestFirstTokenLimitLetsPass(t *testing.T) {
	done := completes(answered("hello"))
	for name, c := range map[string]struct {
		l      Limits
		answer answerFunc
		took   time.Duration
	}{
		"off":                       {but(func(l *Limits) { l.FirstToken = 0 }), steps(later(24*time.Hour, done)), 24 * time.Hour},
		"off, with typed events":    {but(func(l *Limits) { l.FirstToken = 0 }), steps(typed(), later(24*time.Hour, typed()), later(24*time.Hour, done)), 48 * time.Hour},
		"in the last moment":        {defaults(), steps(later(2*time.Minute-1, done)), 2*time.Minute - 1},
		"a typed event":             {but(func(l *Limits) { l.FirstToken = 10 * time.Second }), steps(later(9*time.Second, typed()), later(119*time.Second, done)), 128 * time.Second},
		"reasoning":                 {but(func(l *Limits) { l.FirstToken = 10 * time.Second }), steps(later(9*time.Second, reasoning("hm")), later(119*time.Second, done)), 128 * time.Second},
		"a piece of a call":         {but(func(l *Limits) { l.FirstToken = 10 * time.Second }), steps(later(9*time.Second, piece()), later(119*time.Second, done)), 128 * time.Second},
		"both off":                  {but(func(l *Limits) { l.FirstToken, l.Idle = 0, 0 }), steps(later(time.Hour, spoken("hel")), later(time.Hour, done)), 2 * time.Hour},
		"a typed event, idle off":   {but(func(l *Limits) { l.FirstToken, l.Idle = time.Second, 0 }), steps(typed(), later(time.Hour, done)), time.Hour},
		"progress in time":          {but(func(l *Limits) { l.FirstToken = 10 * time.Second }), steps(later(9*time.Second, spoken("a")), later(100*time.Second, spoken("b")), later(100*time.Second, done)), 209 * time.Second},
		"an answer without a delta": {but(func(l *Limits) { l.FirstToken = 10 * time.Second }), steps(later(9*time.Second, done)), 9 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			ruled(t, c.l, []answerFunc{c.answer}, func(t *testing.T, b *bench, p *fake, out Outcome) {
				if out.Status != Completed || out.Text != "hello" || len(p.requests) != 1 || b.took != c.took {
					t.Errorf("got %+v, %v, %d requests after %v", out, out.Err, len(p.requests), b.took)
				}
			})
		})
	}
}

// With a later request of a run the object says so, and it names the server.
func TestFirstTokenLimitOfALaterRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fake{answers: []answerFunc{says("", call("1", "look", `{}`)), hangs}}
		b := newBench(t, p, perm.Policy{}, nil, newToy("look", plug.EffectRead, ok("seen")))
		b.o.Server = "llm.example:8443"
		b.run(context.Background(), "go")
		f := b.failed()
		same(t, "timeout", f.Timeout, &plug.Timeout{
			Kind: plug.TimeoutFirstToken, Ms: 120_000, Model: "m", Provider: "llm.example:8443", Stage: plug.StageWaiting, Attempts: 2,
		})
		if !strings.HasPrefix(f.Error, "llm.example:8443 said nothing") || len(b.results()) != 1 {
			t.Errorf("got %q, results %q", f.Error, b.results())
		}
	})
}

// Once anything was received, silence is of the idle limit, and no request is sent
// again as it was.
func TestTypedEventsCountAsReceived(t *testing.T) {
	l := but(func(l *Limits) { l.FirstToken, l.Idle = 10*time.Second, 30*time.Second })
	answers := []answerFunc{steps(later(5*time.Second, typed()), silence(forever)), says("hello")}
	ruled(t, l, answers, func(t *testing.T, b *bench, p *fake, out Outcome) {
		same(t, "retries", told[plug.RequestRetry](b), []plug.RequestRetry(nil))
		same(t, "recoveries", told[plug.StreamRecovery](b), []plug.StreamRecovery{{Attempt: 1, Of: 2, Reason: plug.RecoveryIdle}})
		if out.Text != "hello" || b.took < 35*time.Second || b.took > 36*time.Second {
			t.Errorf("got %+v after %v", out, b.took)
		}
		same(t, "notices", p.notices(), []string{"", ""}) // there is nothing to go on with
	})
}

// The model stops in mid-stream: what came is kept, and a fresh request goes on.
func TestIdleLimitGoesOn(t *testing.T) {
	answers := []answerFunc{steps(spoken("H"), later(20*time.Second, spoken("él")), silence(forever)), says("lo")}
	ruled(t, but(func(l *Limits) { l.Idle = 30 * time.Second }), answers, func(t *testing.T, b *bench, p *fake, out Outcome) {
		same(t, "recoveries", told[plug.StreamRecovery](b), []plug.StreamRecovery{{Attempt: 1, Of: 2, Reason: plug.RecoveryIdle, KeptChars: 3}})
		same(t, "kept", b.tail(), []llm.Message{broken("Hél"), answered("lo")})
		same(t, "notices", p.notices(), []string{"", noticeOn})
		if out.Status != Completed || out.Text != "Héllo" || out.Turns != 1 || b.took < 50*time.Second || b.took > 51*time.Second {
			t.Errorf("got %+v after %v", out, b.took)
		}
	})
}

// Progress of the model starts the time anew; what the server says by itself does not.
func TestOnlyProgressResetsTheIdleLimit(t *testing.T) {
	for name, c := range map[string]struct {
		kind     step
		progress bool
	}{
		"text": {spoken("b"), true}, "reasoning": {reasoning("b"), true}, "a piece of a call": {piece(), true}, "a typed event": {typed(), false},
	} {
		t.Run(name, func(t *testing.T) {
			every := later(20*time.Second, c.kind)
			answers := []answerFunc{steps(spoken("a"), every, every, every, every, later(20*time.Second, completes(answered("done")))), says("again")}
			ruled(t, but(func(l *Limits) { l.Idle = 30 * time.Second }), answers, func(t *testing.T, b *bench, p *fake, out Outcome) {
				if c.progress && (out.Text != "done" || len(p.requests) != 1 || b.took != 100*time.Second) {
					t.Errorf("got %+v, %d requests after %v", out, len(p.requests), b.took)
				}
				if !c.progress && (out.Text != "aagain" || len(p.requests) != 2 || p.times[1].Sub(p.times[0]) < 30*time.Second ||
					p.times[1].Sub(p.times[0]) > 31*time.Second) {
					t.Errorf("got %+v, requests at %v", out, p.times)
				}
			})
		})
	}
}

// A surface that takes long to show what came is not the server's silence.
func TestTheTimeOfASlowSurfaceIsNotTheServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fake{answers: []answerFunc{steps(
			later(9*time.Second, spoken("he")), later(29*time.Second, spoken("llo")), later(29*time.Second, completes(answered("hello"))))}}
		b := newBench(t, p, perm.Policy{}, nil)
		b.o.Limits = but(func(l *Limits) { l.FirstToken, l.Idle = 10*time.Second, 30*time.Second })
		b.show = func(e plug.Event) {
			if e.Data.EventType() == plug.TypeTextDelta {
				time.Sleep(time.Hour)
			}
		}
		out := b.run(context.Background(), "go")
		if out.Status != Completed || len(p.requests) != 1 || b.took != 2*time.Hour+67*time.Second {
			t.Errorf("got %+v, %v, %d requests after %v", out, out.Err, len(p.requests), b.took)
		}
	})
}

func TestIdleLimitOffAndByDefault(t *testing.T) {
	answers := []answerFunc{steps(spoken("a"), later(time.Hour, completes(answered("a"))))}
	for limit, want := range map[time.Duration]Status{0: Completed, defaults().Idle: Failed} {
		ruled(t, but(func(l *Limits) { l.Idle = limit }), answers, func(t *testing.T, b *bench, _ *fake, out Outcome) {
			if out.Status != want {
				t.Errorf("limit %v: got %+v", limit, out)
			}
			if want == Completed {
				return
			}
			f := b.failed()
			wantError := "the model sent nothing more for 2 min in the middle of its answer (limits.idleTimeoutMs), after 3 tries"
			if f.Code != llm.CauseStream || f.Error != wantError || !strings.Contains(f.Hint, "limits.idleTimeoutMs") || f.Timeout != nil {
				t.Errorf("got %+v, want %q", f, wantError)
			}
			if b.took < 6*time.Minute || b.took > 6*time.Minute+2*time.Second || out.Text != "aaa" {
				t.Errorf("got %q after %v", out.Text, b.took)
			}
		})
	}
}

// Silence and faults of one request are counted apart, and told together.
func TestSilenceAmongFaults(t *testing.T) {
	away := breaks("", llm.Errorf(llm.CauseUnreachable, "away"))
	answers := []answerFunc{away, hangs, away, hangs}
	ruled(t, but(func(l *Limits) { l.FirstToken = time.Second }), answers, func(t *testing.T, b *bench, p *fake, out Outcome) {
		var got []string
		for _, r := range told[plug.RequestRetry](b) {
			got = append(got, fmt.Sprintf("%s %d/%d", r.Reason, r.Attempt, r.Of))
		}
		same(t, "retries", got, []string{"connection 1/4", "first_token_timeout 1/1", "connection 2/4"})
		if f := b.failed(); f.Timeout == nil || f.Timeout.Attempts != 4 || !strings.HasSuffix(f.Error, ", after 4 tries") {
			t.Errorf("got %+v", f)
		}
	})
}
