package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"alisio/agent/ledger"
	"alisio/llm"
	"alisio/plug"
)

// clipped is an assistant message as it is stored of an answer that the limit cut.
func clipped(text string) llm.Message {
	return llm.Message{Role: llm.RoleAssistant, Text: text, Truncated: true, Origin: llm.Origin{Provider: "fake", Model: "m"}}
}

// cutCall answers with a text and a call whose arguments are cut.
func cutCall(text string, more ...llm.ToolCall) answerFunc {
	calls := append(slices.Clone(more), call("cut", "look", `{"n":1`))
	return message(llm.Message{Text: text, Truncated: true, Calls: calls, Origin: llm.Origin{Provider: "fake", Model: "m"}})
}

// Each form in which a cut answer without anything usable comes: the turn is asked for
// twice more, with a word to the model that nobody keeps, and then the run fails.
func TestTruncationComesInFourForms(t *testing.T) {
	for name, answer := range map[string]answerFunc{
		"a completed message": message(llm.Message{Truncated: true}),
		"the cause":           breaks("", llm.Errorf(llm.CauseOutputTruncated, "cut")),
		"the typed error":     breaks("", fmt.Errorf("answer: %w", &llm.OutputTruncatedError{})),
		"the words of older plugins": breaks("",
			errors.New("plugin p: the response was cut off by max output tokens before any usable content (status 200)")),
	} {
		t.Run(name, func(t *testing.T) {
			ruled(t, defaults(), []answerFunc{answer}, func(t *testing.T, b *bench, p *fake, out Outcome) {
				same(t, "recoveries", told[plug.TruncationRecovery](b), []plug.TruncationRecovery{
					{Attempt: 1, Of: 2, Reason: plug.CutEmpty, MaxOutputTokens: 16_384},
					{Attempt: 2, Of: 2, Reason: plug.CutEmpty, MaxOutputTokens: 16_384},
				})
				same(t, "notices", p.notices(), []string{"", noticeCut, noticeCut})
				f := b.failed()
				same(t, "truncation", f.Truncation, &plug.Truncation{Attempts: 3, MaxOutputTokens: 16_384, Source: plug.SourceDefault, Model: "m"})
				want := "the answer was cut before it said anything, after 3 tries (output limit: 16384 tokens)"
				if out.Code != llm.CauseOutputTruncated || f.Code != out.Code || f.Error != want || f.Hint == "" || f.Timeout != nil {
					t.Errorf("got %+v, want %q", f, want)
				}
				if len(b.tail()) != 0 || len(told[plug.TurnCompleted](b)) != 0 || len(told[plug.StreamRecovery](b)) != 0 || b.took != 0 {
					t.Errorf("kept %+v, events %v, after %v", b.tail(), b.types(), b.took)
				}
			})
		})
	}
}

// A provider that fails with the cut behind text: the text is kept and gone on from, and
// nobody is told that there was none.
func TestTextBeforeACutThatIsAnError(t *testing.T) {
	answer := breaks("half ", llm.Errorf(llm.CauseOutputTruncated, "cut"))
	ruled(t, defaults(), []answerFunc{answer, says("and half")}, func(t *testing.T, b *bench, p *fake, out Outcome) {
		same(t, "notices", p.notices(), []string{"", noticeOn})
		same(t, "kept", b.tail(), []llm.Message{clipped("half "), answered("and half")})
		if out.Status != Completed || out.Text != "half and half" {
			t.Errorf("got %+v", out)
		}
	})
	ruled(t, but(func(l *Limits) { l.TruncationRecoveries = 0 }), []answerFunc{answer}, func(t *testing.T, b *bench, _ *fake, _ Outcome) {
		if got, want := b.failed().Error, "the answer was cut before it was usable (output limit: 16384 tokens)"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// A recovery is no turn: with a limit of one the run completes.
func TestTruncationRecoveryIsNoTurn(t *testing.T) {
	answers := []answerFunc{message(llm.Message{Truncated: true}), cutCall("I look."), says("done")}
	ran := 0
	ruled(t, but(func(l *Limits) { l.MaxTurns = 1 }), answers, func(t *testing.T, b *bench, p *fake, out Outcome) {
		if out.Status != Completed || out.Text != "done" || out.Turns != 1 || ran != 0 {
			t.Errorf("got %+v, %d calls ran", out, ran)
		}
		done := told[plug.TurnCompleted](b)
		if len(done) != 1 || done[0].Turn != 1 || done[0].Tokens != 45 || out.Usage.Input != 30 || out.Usage.Output != 15 {
			t.Errorf("told %+v, used %+v: what was cut was paid for too", done, out.Usage)
		}
	}, ranOf(&ran))
}

// C053 and C054. Symptom: a router renames the finish reason, and a cut write overwrites
// a file. Right: a cut call is neither run nor stored, alone or behind a text, whatever
// the finish reason was named; the text stays, as what was said.
func TestC053ACutCallIsAskedForAgain(t *testing.T) {
	renamed := message(llm.Message{Text: "I look.", Calls: []llm.ToolCall{call("cut", "look", `{"n":1`)}, Origin: llm.Origin{Provider: "fake", Model: "m"}})
	for name, c := range map[string]struct {
		answer answerFunc
		kept   []llm.Message
	}{
		"alone":                           {cutCall(""), nil},
		"with text":                       {cutCall("I look."), []llm.Message{clipped("I look.")}},
		"with a renamed reason (C053)":    {renamed, []llm.Message{clipped("I look.")}},
		"with the provider's data of all": {withData(cutCall("I look.")), []llm.Message{clipped("I look.")}},
	} {
		t.Run(name, func(t *testing.T) {
			ran := 0
			answers := []answerFunc{c.answer, says("Now.", call("cut", "look", `{"n":1}`)), says("done")}
			ruled(t, defaults(), answers, func(t *testing.T, b *bench, p *fake, out Outcome) {
				same(t, "recoveries", told[plug.TruncationRecovery](b), []plug.TruncationRecovery{
					{Attempt: 1, Of: 2, Reason: plug.CutCall, MaxOutputTokens: 16_384},
				})
				same(t, "notices", p.notices(), []string{"", noticeCall, ""})
				same(t, "kept", b.tail()[:len(c.kept)], append([]llm.Message{}, c.kept...))
				same(t, "results", b.results(), []string{"seen 1"})
				if out.Status != Completed || out.Text != "done" || out.Turns != 2 || ran != 1 {
					t.Errorf("got %+v, %d calls ran", out, ran)
				}
			}, ranOf(&ran))
		})
	}
}

// withData has an answer carry the output items of its provider.
func withData(answer answerFunc) answerFunc {
	return func(ctx context.Context, r llm.Request, yield func(llm.Event, error) bool) {
		answer(ctx, r, func(e llm.Event, err error) bool {
			if e.Kind == llm.Completed {
				e.Message.ProviderData = []json.RawMessage{json.RawMessage(`{"tool_calls":[{"id":"cut","function":{"arguments":"{\"n\":1"}}]}`)}
			}
			return yield(e, err)
		})
	}
}

// Exhausted: everything that was said is kept, none of the calls.
func TestCutCallsUntilTheRunFails(t *testing.T) {
	ran := 0
	ruled(t, but(func(l *Limits) { l.MaxOutputTokens = 500 }), []answerFunc{cutCall("a"), cutCall("b"), cutCall("c")}, func(t *testing.T, b *bench, p *fake, out Outcome) {
		same(t, "kept", b.tail(), []llm.Message{clipped("a"), clipped("b"), clipped("c")})
		f := b.failed()
		same(t, "truncation", f.Truncation, &plug.Truncation{Attempts: 3, MaxOutputTokens: 500, Source: plug.SourceUser, Model: "m"})
		want := "the answer was cut in the middle of a tool call, which was not run, after 3 tries (output limit: 500 tokens)"
		if f.Error != want || out.Text != "c" || ran != 0 || out.Usage.Input != 30 {
			t.Errorf("got %q, %+v, %d calls ran, want %q", f.Error, out, ran, want)
		}
		for _, r := range p.requests { // the value that is told is the one that is sent
			if r.MaxOutputTokens != 500 {
				t.Errorf("a request has %d", r.MaxOutputTokens)
			}
		}
	}, ranOf(&ran))
}

// Complete calls of a cut answer run; the next request alone says that one was lost.
func TestCompleteCallsBesideACutOne(t *testing.T) {
	ran := 0
	away := breaks("", llm.Errorf(llm.CauseUnreachable, "away"))
	answers := []answerFunc{
		cutCall("I look.", call("1", "look", `{"n":1}`), call("2", "look", `{"n":2}`)),
		away, says("", call("3", "look", `{"n":3}`)), says("done"),
	}
	ruled(t, defaults(), answers, func(t *testing.T, b *bench, p *fake, out Outcome) {
		same(t, "results", b.results(), []string{"seen 1", "seen 2", "seen 3"})
		same(t, "notices", p.notices(), []string{"", noticeMore, noticeMore, ""})
		same(t, "recoveries", told[plug.TruncationRecovery](b), []plug.TruncationRecovery(nil))
		if out.Status != Completed || out.Turns != 3 || ran != 3 || len(b.tail()[0].Calls) != 2 {
			t.Errorf("got %+v, %d calls ran, kept %+v", out, ran, b.tail()[0])
		}
	}, newToy("look", plug.EffectWrite, func(context.Context, *plug.Call) (plug.Result, error) { // one after another
		ran++
		return plug.Text(fmt.Sprint("seen ", ran)), nil
	}))
}

// Text without calls is of use as it is: the run completes, with a mark, and nothing
// is asked for again.
func TestUsableTextOfACutAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fake{answers: []answerFunc{message(llm.Message{Role: llm.RoleAssistant, Text: "half", Truncated: true})}}
		b := newBench(t, p, all, nil)
		b.o.Model.MaxOutputTokens = 700
		out := b.run(context.Background(), "go")
		same(t, "marks", told[plug.ResponseTruncated](b), []plug.ResponseTruncated{{Turn: 1, MaxOutputTokens: 700, Source: plug.SourceModel}})
		same(t, "kept", b.tail(), []llm.Message{{Role: llm.RoleAssistant, Text: "half", Truncated: true}})
		if end := b.end().(plug.RunCompleted); out.Text != "half" || !end.Truncated || len(p.requests) != 1 || p.requests[0].MaxOutputTokens != 700 {
			t.Errorf("got %+v, %+v", out, end)
		}
		b.run(context.Background(), "more")
		if got := notice(p.requests[1]); got != "" {
			t.Errorf("the next prompt tells %q", got)
		}
	})
}

// Symptom: a person raises limits.maxOutputTokens, and the answers stay as short. Trigger:
// it was the window, or the budget, that left no more, and the notice named that key.
func TestACutAnswerTellsWhatBoundedIt(t *testing.T) {
	for _, c := range []struct {
		window, limit, budget int
		want                  plug.OutputBound
	}{
		{0, 700, 0, ""},
		{8_000, 2_000, 0, ""},
		{8_000, 2_001, 0, plug.BoundWindow},
		{8_000, 0, 0, plug.BoundWindow},
		{0, 4_000, 2_000, plug.BoundBudget},
		{8_000, 4_000, 1_500, plug.BoundBudget},
		{8_000, 700, 100_000, ""},
	} {
		p := &fake{answers: []answerFunc{message(llm.Message{Role: llm.RoleAssistant, Text: "half", Truncated: true})}}
		b := newBench(t, p, all, nil)
		b.o.Model.ContextWindow, b.o.Limits.MaxOutputTokens = c.window, c.limit
		b.o.Ledger = ledger.New(ledger.Limits{MaxTokens: c.budget})
		b.run(t.Context(), "go")
		if got := told[plug.ResponseTruncated](b); len(got) != 1 || got[0].Bound != c.want {
			t.Errorf("window %d, limit %d, budget %d: got %+v, want bound %q", c.window, c.limit, c.budget, got, c.want)
		}
	}
}

func TestTruncationRecoveriesAreConfigurable(t *testing.T) {
	for limit, sends := range map[int]int{0: 1, 1: 2, 2: 3, 5: 6} {
		ruled(t, but(func(l *Limits) { l.TruncationRecoveries = limit }), []answerFunc{message(llm.Message{Truncated: true})},
			func(t *testing.T, b *bench, p *fake, out Outcome) {
				got := told[plug.TruncationRecovery](b)
				if len(p.requests) != sends || len(got) != sends-1 || b.failed().Truncation.Attempts != sends {
					t.Errorf("limit %d: %d requests, %+v", limit, len(p.requests), b.failed().Truncation)
				}
				for i, r := range got {
					if r.Attempt != i+1 || r.Of != sends-1 {
						t.Errorf("limit %d: %+v", limit, r)
					}
				}
			})
	}
}

// What was recovered in one turn does not count for the next.
func TestTruncationRecoveriesOfATurnDoNotCountForTheNext(t *testing.T) {
	ran := 0
	answers := []answerFunc{cutCall(""), cutCall(""), says("", call("1", "look", `{}`)), cutCall(""), cutCall(""), says("done")}
	ruled(t, defaults(), answers, func(t *testing.T, b *bench, p *fake, out Outcome) {
		var got []int
		for _, r := range told[plug.TruncationRecovery](b) {
			got = append(got, r.Attempt)
		}
		same(t, "attempts", got, []int{1, 2, 1, 2})
		if out.Status != Completed || out.Turns != 2 {
			t.Errorf("got %+v", out)
		}
	}, ranOf(&ran))
}

// The effort sinks by one of the levels that the model declares with each recovery of
// the turn, and is what it was with the next turn. Without levels nothing is said.
func TestTruncationLowersTheEffort(t *testing.T) {
	for name, c := range map[string]struct {
		levels     []string
		effort     string
		sent, told []string
	}{
		"from the highest":  {[]string{"low", "medium", "high"}, "high", []string{"high", "medium", "low", "high"}, []string{"medium", "low"}},
		"from the lowest":   {[]string{"low", "medium", "high"}, "low", []string{"low", "low", "low", "low"}, []string{"", ""}},
		"from the server's": {[]string{"low", "medium", "high"}, "", []string{"", "low", "low", ""}, []string{"low", ""}},
		"one level":         {[]string{"low"}, "low", []string{"low", "low", "low", "low"}, []string{"", ""}},
		"no levels":         {nil, "", []string{"", "", "", ""}, []string{"", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ran := 0
				p := &fake{answers: []answerFunc{cutCall(""), message(llm.Message{Truncated: true}), says("", call("1", "look", `{}`)), says("done")}}
				b := newBench(t, p, all, nil, ranOf(&ran))
				b.o.Model.Efforts, b.o.Effort = c.levels, c.effort
				b.run(context.Background(), "go")
				var sent, said []string
				for _, r := range p.requests {
					sent = append(sent, r.Effort)
				}
				for _, r := range told[plug.TruncationRecovery](b) {
					said = append(said, r.Effort)
				}
				same(t, "efforts", sent, c.sent)
				same(t, "told", said, c.told)
			})
		})
	}
}

// An answer that has to fit a schema and broke off fits in one piece, or as a whole
// that was said again.
func TestAnAnswerThatFitsGoesOnWhereItBrokeOff(t *testing.T) {
	for name, c := range map[string]struct {
		answers []answerFunc
		want    string
	}{
		"goes on":          {[]answerFunc{breaks(`{"ver`, lost), says(`sion":1}`)}, `{"version":1}`},
		"goes on twice":    {[]answerFunc{breaks("```json\n{\"ver", lost), breaks(`sion"`, lost), says(":1}\n```")}, `{"version":1}`},
		"begins again":     {[]answerFunc{breaks(`{"ver`, lost), says(`{"version":2}`)}, `{"version":2}`},
		"after a cut call": {[]answerFunc{cutCall("I look."), says(`{"version":3}`)}, `{"version":3}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &fake{answers: c.answers}
				b := newBench(t, p, all, nil, newToy("look", plug.EffectRead, ok("seen")))
				out := b.formed("which version?")
				if out.Status != Completed || out.Text != c.want || out.Turns != 1 || len(p.requests) != len(c.answers) {
					t.Errorf("got %+v, %v after %d requests", out, out.Err, len(p.requests))
				}
				if end := b.end().(plug.RunCompleted); end.Text != c.want {
					t.Errorf("the event says %+v", end)
				}
			})
		})
	}
}

// What is left of a run that died behind a recovery is no answer: the run that
// continues it asks the model to go on.
func TestAPartIsNoAnswerOfARunThatIsContinued(t *testing.T) {
	for name, part := range map[string]llm.Message{"done": clipped("I look."), "I look.done": broken("I look.")} {
		p := &fake{answers: []answerFunc{says("done")}}
		b := newBench(t, p, all, nil)
		if err := b.store.Append(context.Background(), "s", "r1", llm.Message{Role: llm.RoleUser, Text: "go"}, part); err != nil {
			t.Fatal(err)
		}
		out, err := Do(context.Background(), b.o, Input{SessionID: "s", Continues: "r1"})
		if err != nil || out.Text != name || len(p.requests) != 1 || notice(p.requests[0]) != noticeOn {
			t.Errorf("%s: got %+v, %v, notices %q", name, out, err, p.notices())
		}
	}
}
