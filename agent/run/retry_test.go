package run

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"alisio/llm"
	"alisio/plug"
)

func fault(cause llm.Cause, status int) *llm.Error {
	return &llm.Error{Cause: cause, Status: status, Message: fmt.Sprintf("the server answered %d", status)}
}

// throttled is a rate limit with a wait that the server asks for.
func throttled(d time.Duration) *llm.Error {
	e := fault(llm.CauseRateLimited, 429)
	e.RetryAfter = d
	return e
}

// sendsAre checks when each request came: behind each retry the wait that its event
// tells, to the millisecond, with nothing else in between.
func sendsAre(t *testing.T, b *bench, p *fake) {
	t.Helper()
	retries := told[plug.RequestRetry](b)
	if len(p.times) != len(retries)+1 {
		t.Fatalf("%d sends for %d retries", len(p.times), len(retries))
	}
	for i, r := range retries {
		if got := p.times[i+1].Sub(p.times[i]).Milliseconds(); got != r.AfterMs {
			t.Errorf("retry %d came after %d ms, told were %d", i+1, got, r.AfterMs)
		}
	}
}

// Each status of the list, and the connection that was not made or broke before
// anything came, is tried again; with an event, the same request, and no turn.
func TestTransportFaultsAreRetried(t *testing.T) {
	type row struct {
		err    *llm.Error
		reason plug.RetryReason
	}
	rows := map[string]row{
		"429":                {fault(llm.CauseRateLimited, 429), plug.RetryRateLimited},
		"refused":            {llm.Errorf(llm.CauseUnreachable, "connection refused"), plug.RetryConnection},
		"reset":              {&llm.Error{Cause: llm.CauseStream, Stream: llm.StreamLost, Message: "reset"}, plug.RetryConnection},
		"in-band":            {&llm.Error{Cause: llm.CauseServer, Stream: llm.StreamFailed, Message: "overloaded"}, plug.RetryServerError},
		"in-band rate limit": {&llm.Error{Cause: llm.CauseRateLimited, Stream: llm.StreamFailed, Message: "slow down"}, plug.RetryRateLimited},
	}
	for _, status := range []int{408, 409, 421, 425, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529} {
		rows[fmt.Sprint(status)] = row{fault(llm.CauseServer, status), plug.RetryServerError}
	}
	for name, c := range rows {
		t.Run(name, func(t *testing.T) {
			ruled(t, but(func(l *Limits) { l.MaxTurns = 1 }), []answerFunc{breaks("", c.err), says("hello")}, func(t *testing.T, b *bench, p *fake, out Outcome) {
				got := told[plug.RequestRetry](b)
				if len(got) != 1 || got[0].Attempt != 1 || got[0].Of != 4 || got[0].Reason != c.reason {
					t.Fatalf("retries: %+v", got)
				}
				sendsAre(t, b, p)
				if out.Status != Completed || out.Text != "hello" || out.Turns != 1 {
					t.Errorf("got %+v", out)
				}
				same(t, "the second request", p.requests[1], p.requests[0])
				same(t, "kept", b.tail(), []llm.Message{answered("hello")})
			})
		})
	}
}

// What the account or the request is refused for is never sent again.
func TestRefusalsAreNotRetried(t *testing.T) {
	rows := map[string]error{
		"quota":         fault(llm.CauseQuota, 429),
		"certificate":   &llm.Error{Cause: llm.CauseUnreachable, Permanent: true, Message: "certificate"},
		"filtered":      fault(llm.CauseFiltered, 0),
		"not ours":      context.DeadlineExceeded,
		"in-band quota": &llm.Error{Cause: llm.CauseQuota, Stream: llm.StreamFailed, Message: "used up"},
		"501":           fault(llm.CauseServer, 501),
	}
	for status, cause := range map[int]llm.Cause{
		400: llm.CauseBadRequest, 401: llm.CauseAuth, 403: llm.CauseAuth, 404: llm.CauseBadRequest, 413: llm.CauseContextLength, 422: llm.CauseBadRequest,
	} {
		rows[fmt.Sprint(status)] = fault(cause, status)
	}
	for name, err := range rows {
		t.Run(name, func(t *testing.T) {
			ruled(t, defaults(), []answerFunc{breaks("", err)}, func(t *testing.T, b *bench, p *fake, out Outcome) {
				f := b.failed()
				if out.Status != Failed || f.Code != llm.CauseOf(err) || f.Error != err.Error() {
					t.Errorf("got %+v", f)
				}
				want := []plug.EventType{plug.TypeRunStarted, plug.TypeRunFailed}
				if f.Code == llm.CauseContextLength { // nothing is older that could leave
					want = slices.Insert(want, 1, plug.TypeCompactionSkipped)
				}
				same(t, "events", b.types(), want)
				if len(p.requests) != 1 || b.took != 0 {
					t.Errorf("%d requests in %v", len(p.requests), b.took)
				}
			})
		})
	}
}

// Five sends, each wait twice the one before and up to a quarter less; behind rate
// limits four times as long, and never more than 16 seconds.
func TestBackoffGrowsOverFiveSends(t *testing.T) {
	const ms = time.Millisecond
	for cause, waits := range map[llm.Cause][]time.Duration{
		llm.CauseServer:      {500 * ms, 1000 * ms, 2000 * ms, 4000 * ms},
		llm.CauseUnreachable: {500 * ms, 1000 * ms, 2000 * ms, 4000 * ms},
		llm.CauseRateLimited: {2000 * ms, 4000 * ms, 8000 * ms, 16000 * ms},
	} {
		ruled(t, defaults(), []answerFunc{breaks("", fault(cause, 0))}, func(t *testing.T, b *bench, p *fake, out Outcome) {
			got := told[plug.RequestRetry](b)
			if len(got) != 4 || len(p.requests) != 5 {
				t.Fatalf("%s: %d retries, %d requests", cause, len(got), len(p.requests))
			}
			sendsAre(t, b, p)
			for i, r := range got {
				if most := waits[i].Milliseconds(); r.Attempt != i+1 || r.Of != 4 || r.AfterMs > most || r.AfterMs < most*3/4 {
					t.Errorf("%s: %+v, want %d ms or up to a quarter less", cause, r, most)
				}
			}
			if out.Code != cause || out.Err.Message != "the server answered 0, after 5 tries" {
				t.Errorf("got %+v, %v", out, out.Err)
			}
		})
	}
}

// Two programs that met the same fault do not come back in the same moment.
func TestBackoffHasJitter(t *testing.T) {
	for _, e := range []*llm.Error{fault(llm.CauseServer, 503), throttled(10 * time.Second)} {
		seen := make(map[time.Duration]bool)
		for range 50 {
			seen[backoff(e, 0)] = true
		}
		if len(seen) < 10 {
			t.Errorf("%v: %d different waits of 50", e.RetryAfter, len(seen))
		}
	}
	for n := range 100 { // no shift that overflows
		if got := backoff(fault(llm.CauseRateLimited, 429), n); got < firstRateWait*3/4 || got > lastWait {
			t.Errorf("wait %d: %v", n, got)
		}
	}
}

// C034. Symptom: a 429 with a long Retry-After is answered with short retries, all
// inside the cool-down. Trigger: 429 with 3 s, then a normal stream.
func TestC034RetryAfterIsHonoured(t *testing.T) {
	for _, wait := range []time.Duration{time.Millisecond, 3 * time.Second, 59500 * time.Millisecond, time.Minute} {
		ruled(t, defaults(), []answerFunc{breaks("", throttled(wait)), says("hello")}, func(t *testing.T, b *bench, p *fake, out Outcome) {
			sendsAre(t, b, p)
			most := min(wait+min(wait/10, time.Second), time.Minute)
			if out.Status != Completed || len(p.requests) != 2 || b.took < wait || b.took > most {
				t.Errorf("%v: got %+v, %d requests after %v", wait, out, len(p.requests), b.took)
			}
		})
	}
}

// C035. Symptom: a plain 429 is not retried, yet the message says that a limit of
// retries was passed. Trigger: one 429 without headers, then 200.
func TestC035PlainRateLimit(t *testing.T) {
	limited := breaks("", fault(llm.CauseRateLimited, 429))
	ruled(t, defaults(), []answerFunc{limited, says("hello")}, func(t *testing.T, b *bench, p *fake, out Outcome) {
		if out.Status != Completed || len(p.requests) != 2 {
			t.Errorf("got %+v after %d requests", out, len(p.requests))
		}
	})
	// The attempts that were made are told, when others came first too.
	refused := breaks("", fault(llm.CauseUnreachable, 0))
	ruled(t, but(func(l *Limits) { l.FirstToken = time.Second }), []answerFunc{limited, refused, hangs, limited}, func(t *testing.T, b *bench, p *fake, out Outcome) {
		if want := "the server answered 429, after 5 tries"; out.Err.Message != want || len(p.requests) != 5 {
			t.Errorf("got %q after %d requests, want %q", out.Err.Message, len(p.requests), want)
		}
	})
}

// C042. Symptom: the run waits for days without a word. Trigger: Retry-After of
// 1382400 s.
func TestC042ALongRetryAfterFailsAtOnce(t *testing.T) {
	for name, answers := range map[string][]answerFunc{
		"at first":   {breaks("", throttled(1382400*time.Second))},
		"later":      {breaks("", throttled(time.Millisecond)), breaks("", throttled(time.Minute+1))},
		"mid-stream": {breaks("half", throttled(1382400*time.Second))},
	} {
		t.Run(name, func(t *testing.T) {
			ruled(t, defaults(), answers, func(t *testing.T, b *bench, p *fake, out Outcome) {
				var e *llm.Error
				for in, err := range map[string]*llm.Error{"16 days": throttled(1382400 * time.Second), "1 min": throttled(time.Minute + 1)} {
					if at := time.Now().Add(err.RetryAfter).Format("2006-01-02 15:04 MST"); strings.HasSuffix(out.Err.Message, "it asks to wait until "+at+", in "+in) {
						e = err
					}
				}
				if e == nil || out.Code != llm.CauseRateLimited || b.took > 2*time.Millisecond || len(p.requests) != len(answers) {
					t.Errorf("got %+v, %v, %d requests after %v", out, out.Err, len(p.requests), b.took)
				}
				if n := len(told[plug.RequestRetry](b)); n != len(answers)-1 || len(told[plug.StreamRecovery](b)) != 0 {
					t.Errorf("%d retries for %d requests", n, len(answers))
				}
				if name == "mid-stream" {
					same(t, "kept", b.tail(), []llm.Message{broken("half")})
				}
			})
		})
	}
}

// C043. Symptom: a used-up quota is retried through the whole budget, and the screen
// shows nothing. Trigger: 429 with insufficient_quota.
func TestC043QuotaIsNeverRetried(t *testing.T) {
	used := fault(llm.CauseQuota, 429)
	used.RetryAfter = time.Second // whatever it says
	away := breaks("", llm.Errorf(llm.CauseUnreachable, "away"))
	ruled(t, defaults(), []answerFunc{away, breaks("", used)}, func(t *testing.T, b *bench, p *fake, out Outcome) {
		if out.Code != llm.CauseQuota || len(p.requests) != 2 || len(told[plug.RequestRetry](b)) != 1 {
			t.Errorf("got %+v after %d requests, events %v", out, len(p.requests), b.types())
		}
	})
}

// C048. Symptom: a server that answers 500 for ever is asked for ever.
func TestC048ServerErrorsAreBounded(t *testing.T) {
	ruled(t, defaults(), []answerFunc{breaks("", fault(llm.CauseServer, 500))}, func(t *testing.T, b *bench, p *fake, out Outcome) {
		if out.Code != llm.CauseServer || len(p.requests) != 5 || b.took > 8*time.Second {
			t.Errorf("got %+v, %d requests after %v", out, len(p.requests), b.took)
		}
	})
}

// No request is sent again later than five minutes behind its first send, however
// long each takes to fail, or the server asks to wait.
func TestFiveMinutesInAll(t *testing.T) {
	slow := func(d time.Duration, err error) answerFunc { return steps(later(d, fails(err))) }
	for name, c := range map[string]struct {
		answer answerFunc
		sends  int
	}{
		"slow to fail":  {slow(100*time.Second, fault(llm.CauseServer, 503)), 3},
		"slow to serve": {slow(time.Second, throttled(time.Minute)), 5},
		"both":          {slow(50*time.Second, throttled(58*time.Second)), 3},
		"once":          {slow(6*time.Minute, fault(llm.CauseServer, 503)), 1},
	} {
		t.Run(name, func(t *testing.T) {
			ruled(t, but(func(l *Limits) { l.FirstToken = 0 }), []answerFunc{c.answer}, func(t *testing.T, b *bench, p *fake, out Outcome) {
				last := p.times[len(p.times)-1].Sub(p.times[0])
				if len(p.requests) != c.sends || last > 5*time.Minute || out.Status != Failed {
					t.Errorf("got %+v, %d requests, the last after %v", out, len(p.requests), last)
				}
				if count := fmt.Sprintf(", after %d tries", c.sends); strings.HasSuffix(out.Err.Message, count) == (c.sends == 1) {
					t.Errorf("got %q for %d sends", out.Err.Message, c.sends)
				}
			})
		})
	}
}

// What was tried for one request does not count for the next, of the same turn or
// another one.
func TestRetriesAreCountedByRequest(t *testing.T) {
	away := breaks("", llm.Errorf(llm.CauseUnreachable, "away"))
	four := []answerFunc{away, away, away, away}
	answers := slices.Concat(four, []answerFunc{says("", call("1", "look", `{}`))}, four, []answerFunc{breaks("hel", &llm.Error{
		Cause: llm.CauseStream, Stream: llm.StreamLost, Message: "lost",
	})}, four, []answerFunc{says("lo")})
	look := newToy("look", plug.EffectRead, ok("seen"))
	ruled(t, defaults(), answers, func(t *testing.T, b *bench, p *fake, out Outcome) {
		if out.Status != Completed || out.Text != "hello" || out.Turns != 2 || len(p.requests) != len(answers) {
			t.Errorf("got %+v, %v after %d requests", out, out.Err, len(p.requests))
		}
		for i, r := range told[plug.RequestRetry](b) {
			if r.Attempt != i%4+1 {
				t.Errorf("retry %d: %+v", i, r)
			}
		}
		// A request that is sent again is the same, notice and all.
		want := make([]string, len(answers))
		for i := 10; i < 15; i++ {
			want[i] = noticeOn
		}
		same(t, "notices", p.notices(), want)
	}, look)
}

// A refusal behind faults ends the run with its own cause.
func TestARefusalBehindFaults(t *testing.T) {
	answers := []answerFunc{breaks("", fault(llm.CauseServer, 503)), breaks("", fault(llm.CauseAuth, 401))}
	ruled(t, defaults(), answers, func(t *testing.T, b *bench, p *fake, out Outcome) {
		if out.Code != llm.CauseAuth || out.Err.Message != "the server answered 401" || len(p.requests) != 2 {
			t.Errorf("got %+v, %v", out, out.Err)
		}
	})
}

// A typed event is no answer of the model: what fails in-band behind it was not begun.
func TestInBandErrorsBeforeTheFirstDeltaAreFaults(t *testing.T) {
	for _, cause := range []llm.Cause{llm.CauseServer, llm.CauseStream} { // the second is of no kind
		failed := &llm.Error{Cause: cause, Stream: llm.StreamFailed, Message: "overloaded"}
		answers := []answerFunc{steps(typed(), fails(failed)), says("hello")}
		ruled(t, defaults(), answers, func(t *testing.T, b *bench, p *fake, out Outcome) {
			got := told[plug.RequestRetry](b)
			if len(got) != 1 || got[0].Reason != plug.RetryServerError || len(told[plug.StreamRecovery](b)) != 0 || out.Text != "hello" {
				t.Errorf("%s: got %+v, retries %+v", cause, out, got)
			}
			same(t, "the second request", p.requests[1], p.requests[0])
		})
	}
}

func TestMinutes(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"2 min": 90 * time.Second, "59 min": 59 * time.Minute, "1 h 0 min": time.Hour, "47 h 59 min": 48*time.Hour - time.Minute, "2 days": 48 * time.Hour,
	} {
		if got := minutes(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}
