package run

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"alisio/llm"
	"alisio/plug"
)

func streamEnd(cause llm.Cause, end llm.StreamEnd) *llm.Error {
	return &llm.Error{Cause: cause, Stream: end, Message: "it ended"}
}

var lost = streamEnd(llm.CauseStream, llm.StreamLost)

// ranOf counts the executions of a tool, look, that reads.
func ranOf(n *int) toy {
	return newToy("look", plug.EffectRead, func(context.Context, *plug.Call) (plug.Result, error) {
		*n++
		return plug.Text(fmt.Sprint("seen ", *n)), nil
	})
}

// Behind the first delta each end of a stream that is no success keeps what was
// received, marked, and one fresh request goes on; nothing is sent again silently.
func TestABrokenStreamGoesOn(t *testing.T) {
	for name, c := range map[string]struct {
		end    step
		reason plug.RecoveryReason
	}{
		"lost":                {fails(lost), plug.RecoveryLost},
		"connection":          {fails(llm.Errorf(llm.CauseUnreachable, "reset")), plug.RecoveryLost},
		"incomplete":          {fails(streamEnd(llm.CauseStream, llm.StreamIncomplete)), plug.RecoveryIncomplete},
		"no end mark":         {silence(0), plug.RecoveryIncomplete},
		"in-band":             {fails(streamEnd(llm.CauseServer, llm.StreamFailed)), plug.RecoveryError},
		"in-band rate limit":  {fails(streamEnd(llm.CauseRateLimited, llm.StreamFailed)), plug.RecoveryError},
		"in-band, of no kind": {fails(streamEnd(llm.CauseStream, llm.StreamFailed)), plug.RecoveryError},
		"502 in the middle":   {fails(fault(llm.CauseServer, 502)), plug.RecoveryError},
		"idle":                {silence(forever), plug.RecoveryIdle},
	} {
		t.Run(name, func(t *testing.T) {
			answers := []answerFunc{steps(spoken("Hé"), reasoning("hm"), spoken("l"), piece(), c.end), says("lo")}
			ruled(t, but(func(l *Limits) { l.MaxTurns = 1 }), answers, func(t *testing.T, b *bench, p *fake, out Outcome) {
				same(t, "recoveries", told[plug.StreamRecovery](b), []plug.StreamRecovery{{Attempt: 1, Of: 2, Reason: c.reason, KeptChars: 3}})
				same(t, "retries", told[plug.RequestRetry](b), []plug.RequestRetry(nil))
				same(t, "kept", b.tail(), []llm.Message{broken("Hél"), answered("lo")})
				same(t, "notices", p.notices(), []string{"", noticeOn})
				if out.Status != Completed || out.Text != "Héllo" || out.Turns != 1 {
					t.Errorf("got %+v", out)
				}
				if end := b.end().(plug.RunCompleted); end.Text != "Héllo" {
					t.Errorf("the event says %+v", end)
				}
				wait := p.times[1].Sub(p.times[0])
				if c.reason == plug.RecoveryIdle {
					wait -= 2 * time.Minute
				}
				if wait < 375*time.Millisecond || wait > 2*time.Second { // never a hot loop
					t.Errorf("the fresh request came %v later", wait)
				}
			})
		})
	}
}

// Reasoning and pieces of calls are deltas, but nothing that the model could go on
// with: the fresh request has no notice.
func TestABrokenStreamWithoutText(t *testing.T) {
	for name, begun := range map[string]step{"reasoning": reasoning("hm"), "a piece of a call": piece(), "a typed event": typed()} {
		t.Run(name, func(t *testing.T) {
			ruled(t, defaults(), []answerFunc{steps(begun, fails(lost)), says("hello")}, func(t *testing.T, b *bench, p *fake, out Outcome) {
				same(t, "recoveries", told[plug.StreamRecovery](b), []plug.StreamRecovery{{Attempt: 1, Of: 2, Reason: plug.RecoveryLost}})
				same(t, "kept", b.tail(), []llm.Message{answered("hello")})
				same(t, "the second request", p.requests[1], p.requests[0])
			})
		})
	}
}

// An error in-band behind reasoning, or a piece of a call, is behind the first delta: the
// request is not sent again silently.
func TestInBandErrorsBehindAnyDelta(t *testing.T) {
	for name, begun := range map[string]step{"reasoning": reasoning("hm"), "a piece of a call": piece(), "text": spoken("a")} {
		t.Run(name, func(t *testing.T) {
			answers := []answerFunc{steps(begun, fails(streamEnd(llm.CauseServer, llm.StreamFailed))), says("hello")}
			ruled(t, defaults(), answers, func(t *testing.T, b *bench, _ *fake, out Outcome) {
				got := told[plug.StreamRecovery](b)
				if len(got) != 1 || got[0].Reason != plug.RecoveryError || len(told[plug.RequestRetry](b)) != 0 || out.Status != Completed {
					t.Errorf("got %+v, recoveries %+v", out, got)
				}
			})
		})
	}
}

// What can not be tried again ends the run with its cause; the text stays.
func TestAStreamThatFailsForGood(t *testing.T) {
	for _, cause := range []llm.Cause{llm.CauseQuota, llm.CauseFiltered, llm.CauseBadRequest, llm.CauseContextLength} {
		answers := []answerFunc{breaks("Hel", streamEnd(cause, llm.StreamFailed))}
		ruled(t, defaults(), answers, func(t *testing.T, b *bench, p *fake, out Outcome) {
			if f := b.failed(); f.Code != cause || f.Error != "it ended" || out.Text != "Hel" || len(p.requests) != 1 || b.took != 0 {
				t.Errorf("got %+v, %+v", out, f)
			}
			same(t, "kept", b.tail(), []llm.Message{broken("Hel")})
		})
	}
}

// C021. Symptom: an error event in a stream of HTTP 200 is skipped, and half an answer
// is reported as success. Trigger: an error behind one text delta.
func TestC021InBandErrorAfterText(t *testing.T) {
	failed := llm.Errorf(llm.CauseServer, "upstream overloaded")
	failed.Stream, failed.Status = llm.StreamFailed, 502
	ruled(t, defaults(), []answerFunc{breaks("half", failed)}, func(t *testing.T, b *bench, p *fake, out Outcome) {
		if f := b.failed(); f.Code != llm.CauseServer || f.Error != "upstream overloaded, after 3 tries" || len(p.requests) != 3 {
			t.Errorf("got %+v after %d requests", f, len(p.requests))
		}
	})
}

// At most twice in a row, and then the run fails with everything kept.
func TestRecoveriesAreBounded(t *testing.T) {
	answers := []answerFunc{breaks("a", lost), breaks("bc", lost), breaks("d", lost), says("never")}
	ruled(t, defaults(), answers, func(t *testing.T, b *bench, p *fake, out Outcome) {
		same(t, "recoveries", told[plug.StreamRecovery](b), []plug.StreamRecovery{
			{Attempt: 1, Of: 2, Reason: plug.RecoveryLost, KeptChars: 1}, {Attempt: 2, Of: 2, Reason: plug.RecoveryLost, KeptChars: 2},
		})
		same(t, "kept", b.tail(), []llm.Message{broken("a"), broken("bc"), broken("d")})
		same(t, "notices", p.notices(), []string{"", noticeOn, noticeOn})
		if f := b.failed(); f.Code != llm.CauseStream || f.Error != "it ended, after 3 tries" || out.Text != "abcd" {
			t.Errorf("got %+v, %+v", out, f)
		}
		first, second := p.times[1].Sub(p.times[0]), p.times[2].Sub(p.times[1])
		if first > 500*time.Millisecond || second < 750*time.Millisecond || second > time.Second {
			t.Errorf("waits %v and %v", first, second)
		}
	})
}

// The next turn begins anew, and so does the next prompt: each time two are allowed.
func TestRecoveriesOfATurnDoNotCountForTheNext(t *testing.T) {
	ran := 0
	twice := []answerFunc{breaks("a", lost), breaks("b", lost)}
	answers := append(append([]answerFunc{}, twice...), says("c", call("1", "look", `{}`)))
	answers = append(append(answers, twice...), says("done"))
	ruled(t, defaults(), answers, func(t *testing.T, b *bench, p *fake, out Outcome) {
		if out.Status != Completed || out.Text != "abdone" || out.Turns != 2 || ran != 1 || len(p.requests) != 6 {
			t.Errorf("got %+v, %v after %d requests, %d calls ran", out, out.Err, len(p.requests), ran)
		}
		same(t, "notices", p.notices(), []string{"", noticeOn, noticeOn, "", noticeOn, noticeOn})
		p.answers = append(append(p.answers, twice...), says("fine"))
		if out := b.run(context.Background(), "again"); out.Status != Completed || out.Text != "abfine" || len(p.requests) != 9 {
			t.Errorf("the next prompt: %+v", out)
		}
		if got := p.notices()[6]; got != "" {
			t.Errorf("the next prompt tells %q", got)
		}
	}, ranOf(&ran))
}

// A run that failed in mid-stream is told of by the prompt that follows alone: the
// text stands in the history, and what the person says comes behind it.
func TestThePromptBehindABrokenStream(t *testing.T) {
	answers := []answerFunc{breaks("half", streamEnd(llm.CauseFiltered, llm.StreamFailed)), says("fine")}
	ruled(t, defaults(), answers, func(t *testing.T, b *bench, p *fake, _ Outcome) {
		if out := b.run(context.Background(), "again"); out.Text != "fine" {
			t.Errorf("got %+v", out)
		}
		same(t, "told", p.requests[1].Messages, []llm.Message{
			{Role: llm.RoleUser, Text: "go"}, broken("half"), {Role: llm.RoleUser, Text: "again"},
		})
	})
}

// C014, C015, C023. Symptom: an answer of nothing is taken for a finished turn.
// Right: asked for once more, with a word to the model, and then a failure that says
// what came.
func TestC023EmptyAnswersAreAskedForOnce(t *testing.T) {
	for name, c := range map[string]struct {
		answer answerFunc
		error  string
		// input is what is counted of both requests, first of the one without a notice.
		input, first int
	}{
		"C023 nothing in the stream": {steps(fails(streamEnd(llm.CauseStream, llm.StreamEmpty))), "it ended, after 2 tries", 0, 0},
		"C023 no event at all":       {steps(), "the answer of fake ended without an end mark, after 2 tries", 0, 0},
		"C023 typed events alone":    {steps(typed()), "the answer of fake ended without an end mark, after 2 tries", 22, 2}, // an estimate
		"C014 a completed nothing":   {steps(completes(llm.Message{})), "the model returned neither text nor a tool call, after 2 tries", 20, 10},
		"C015 reasoning alone": {steps(reasoning("hm"), completes(llm.Message{})),
			"the model ended its turn after reasoning, without any visible output, after 2 tries", 20, 10},
	} {
		t.Run(name, func(t *testing.T) {
			ruled(t, defaults(), []answerFunc{c.answer}, func(t *testing.T, b *bench, p *fake, out Outcome) {
				same(t, "recoveries", told[plug.StreamRecovery](b), []plug.StreamRecovery{{Attempt: 1, Of: 1, Reason: plug.RecoveryEmpty}})
				same(t, "retries", told[plug.RequestRetry](b), []plug.RequestRetry(nil))
				same(t, "notices", p.notices(), []string{"", noticeEmpty})
				if f := b.failed(); f.Code != llm.CauseStream || f.Error != c.error || len(b.tail()) != 0 {
					t.Errorf("got %+v, kept %+v", f, b.tail())
				}
				if out.Usage.Input != c.input || b.took < 375*time.Millisecond || b.took > 500*time.Millisecond {
					t.Errorf("got %+v after %v", out, b.took)
				}
			})
			ruled(t, but(func(l *Limits) { l.MaxTurns = 1 }), []answerFunc{c.answer, says("hello")}, func(t *testing.T, b *bench, p *fake, out Outcome) {
				if out.Status != Completed || out.Text != "hello" || out.Turns != 1 || out.Usage.Input != 10+c.first {
					t.Errorf("got %+v, %v", out, out.Err)
				}
			})
		})
	}
}

// Causes that take turns do not start each other's count anew: a turn has no more
// sends than all of them together allow.
func TestMixedCausesStayBounded(t *testing.T) {
	away, cut := breaks("", fault(llm.CauseServer, 503)), steps(spoken("x"), completes(llm.Message{
		Text: "x", Truncated: true, Calls: []llm.ToolCall{call("1", "look", `{"n":`)},
	}))
	empty, broke := steps(completes(llm.Message{})), breaks("x", lost)
	fresh, sends := 1+maxRecoveries+maxEmpties+defaults().TruncationRecoveries, maxSends
	bound := fresh * sends
	var worst []answerFunc
	for _, end := range []answerFunc{broke, empty, cut, broke, cut, broke} {
		worst = append(worst, away, hangs, away, away, end)
	}
	ruled(t, but(func(l *Limits) { l.FirstToken = time.Second }), append(worst, says("never")), func(t *testing.T, b *bench, p *fake, out Outcome) {
		if out.Status != Failed || len(p.requests) != bound || bound != 30 {
			t.Errorf("got %+v, %d requests, want %d", out, len(p.requests), bound)
		}
	})
	kinds := []answerFunc{away, hangs, broke, empty, cut, steps(typed(), fails(lost)), steps(typed(), silence(forever))}
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 6))
		random := func(ctx context.Context, req llm.Request, yield func(llm.Event, error) bool) {
			kinds[r.IntN(len(kinds))](ctx, req, yield)
		}
		ruled(t, but(func(l *Limits) { l.FirstToken, l.Idle = time.Second, time.Second }), []answerFunc{random}, func(t *testing.T, b *bench, p *fake, out Outcome) {
			if out.Status != Failed || len(p.requests) > bound || out.Turns != 1 || b.took > time.Duration(bound)*(lastWait+time.Second) {
				t.Errorf("seed %d: got %+v, %d requests after %v", seed, out, len(p.requests), b.took)
			}
		})
	}
}

// A call that was complete when its stream broke off does not run: the model is asked
// to go on, and what it calls then runs, once.
func TestIncompleteCallsNeverRun(t *testing.T) {
	ran := 0
	answers := []answerFunc{
		steps(spoken("I look."), piece(), fails(streamEnd(llm.CauseStream, llm.StreamIncomplete))),
		says("Now.", call("1", "look", `{}`)), says("done"),
	}
	ruled(t, defaults(), answers, func(t *testing.T, b *bench, p *fake, out Outcome) {
		same(t, "results", b.results(), []string{"seen 1"})
		same(t, "notices", p.notices(), []string{"", noticeOn, ""})
		if out.Status != Completed || out.Text != "done" || out.Turns != 2 || ran != 1 {
			t.Errorf("got %+v, %d calls ran", out, ran)
		}
		if kept := b.tail()[0]; len(kept.Calls) != 0 || !kept.Interrupted {
			t.Errorf("kept %+v", kept)
		}
	}, ranOf(&ran))
}

// What an answer took that broke off is counted: what the server reported, or an
// estimate, which is said to be one.
func TestWhatBrokeOffIsCounted(t *testing.T) {
	reported := fault(llm.CauseStream, 0)
	reported.Usage = &llm.Usage{Input: 100_000, Output: 5_000}
	for name, c := range map[string]struct {
		first   answerFunc
		input   int
		guessed bool
	}{
		"reported":  {breaks("half", reported), 100_010, false},
		"estimated": {breaks("half", lost), 12, true},
		"nothing":   {breaks("", fault(llm.CauseServer, 503)), 10, false},
	} {
		ruled(t, defaults(), []answerFunc{c.first, says("done")}, func(t *testing.T, b *bench, p *fake, out Outcome) {
			if out.Status != Completed || out.Usage.Input != c.input || out.Guessed != c.guessed {
				t.Errorf("%s: got %+v", name, out)
			}
		})
	}
}

// C015. Symptom: blanks are taken for an answer. Right: they are none, and are stored
// nowhere; the model is asked to go on as long as there is something to go on with.
func TestC015BlanksAreNoAnswer(t *testing.T) {
	ruled(t, defaults(), []answerFunc{says("\n\n"), breaks(" ", lost), says("done")}, func(t *testing.T, b *bench, p *fake, out Outcome) {
		same(t, "kept", b.tail(), []llm.Message{answered("done")})
		same(t, "notices", p.notices(), []string{"", noticeEmpty, noticeEmpty})
	})
	ruled(t, defaults(), []answerFunc{breaks("The answer ", lost), says(""), says("is 4.")}, func(t *testing.T, b *bench, p *fake, out Outcome) {
		same(t, "notices", p.notices(), []string{"", noticeOn, noticeOn})
		if out.Text != "The answer is 4." {
			t.Errorf("got %+v", out)
		}
	})
}
