package run

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"alisio/agent/compact"
	"alisio/agent/perm"
	"alisio/llm"
	"alisio/plug"
)

// isSummary reports whether a request asks for a checkpoint.
func isSummary(r llm.Request) bool {
	last := r.Messages[max(0, len(r.Messages)-2):] // a notice may stand behind it
	return strings.Contains(texts(last), "is about to be replaced by a checkpoint")
}

// model answers requests for checkpoints by one function and all others by another;
// it reports a usage of four characters a token, and refuses what does not fit.
type model struct {
	window    int
	summary   func(n int) llm.Message
	answer    func(n int, r llm.Request) llm.Message
	summaries []llm.Request
	requests  []llm.Request
}

func (m *model) do(_ context.Context, r llm.Request, yield func(llm.Event, error) bool) {
	in := len(r.Instructions)/4 + compact.Tokens(r.Messages...)
	if m.window > 0 && in+r.MaxOutputTokens > m.window {
		yield(llm.Event{}, llm.Errorf(llm.CauseContextLength, "%d tokens and %d of output do not fit", in, r.MaxOutputTokens))
		return
	}
	var out llm.Message
	if isSummary(r) {
		m.summaries = append(m.summaries, r)
		out = m.summary(len(m.summaries))
	} else {
		m.requests = append(m.requests, r)
		out = m.answer(len(m.requests), r)
	}
	if out.Text != "" && !yield(llm.Event{Kind: llm.TextDelta, Text: out.Text}, nil) {
		return
	}
	yield(llm.Event{Kind: llm.Completed, Message: &out, Usage: &llm.Usage{Input: in, Output: compact.Tokens(out)}}, nil)
}

func wrote(goal string) func(int) llm.Message {
	return func(n int) llm.Message {
		return llm.Message{Text: fmt.Sprintf(`{"goal":%q,"accomplished":["step %d"]}`, goal, n)}
	}
}

// compactBench is a session with a window, and a tool whose results have 4 KB.
func compactBench(t *testing.T, m *model, window int) *bench {
	look := newToy("look", plug.EffectRead, ok(strings.Repeat("data ", 800)))
	b := newBench(t, &fake{answers: []answerFunc{m.do}}, perm.Policy{}, nil, look)
	m.window = window
	b.o.Model.ContextWindow = window
	b.o.Compaction.KeepTurns = 2
	return b
}

// C152. Symptom: the threshold is checked between prompts only; a long tool loop runs
// into the wall. Trigger: one prompt, 50 calls of 4 KB, a window of 32k.
func TestC152EveryRequestIsChecked(t *testing.T) {
	m := &model{summary: wrote("look fifty times")}
	m.answer = func(n int, _ llm.Request) llm.Message {
		if n > 50 {
			return llm.Message{Text: "all seen"}
		}
		return llm.Message{Calls: []llm.ToolCall{call(fmt.Sprint(n), "look", fmt.Sprintf(`{"n":%d}`, n))}}
	}
	b := compactBench(t, m, 32_000)
	out := b.run(t.Context(), "look, and never say banana")
	if out.Status != Completed || out.Text != "all seen" || len(m.summaries) < 1 {
		t.Fatalf("got %+v, %d checkpoints", out, len(m.summaries))
	}
	for _, r := range m.requests {
		if !strings.Contains(texts(r.Messages), "never say banana") {
			t.Fatal("what the person said is gone")
		}
		if err := valid(r.Messages); err != nil {
			t.Fatal(err)
		}
	}
	// C148: the request for a checkpoint is one that servers take.
	for _, r := range m.summaries {
		if err := valid(r.Messages); err != nil {
			t.Fatal(err)
		}
	}
	done := told[plug.CompactionCompleted](b)
	if len(done) != len(m.summaries) || done[0].Reason != plug.CompactAuto || !done[0].Structured || done[0].After >= done[0].Before {
		t.Errorf("got %+v", done)
	}
	if got := told[plug.CompactionStarted](b); len(got) != len(done) {
		t.Errorf("started %+v", got)
	}
	// Nothing of a checkpoint is shown.
	for _, d := range told[plug.Delta](b) {
		if strings.Contains(d.Delta, "goal") {
			t.Errorf("shown: %q", d.Delta)
		}
	}
}

func texts(messages []llm.Message) string {
	var all []string
	for _, m := range messages {
		all = append(all, m.PlainText())
	}
	return strings.Join(all, "\n")
}

// A request for a checkpoint begins with the bytes of the request before it.
func TestCheckpointsAreAskedForBehindTheSamePrefix(t *testing.T) {
	m := &model{summary: wrote("g"), answer: func(n int, _ llm.Request) llm.Message {
		return llm.Message{Text: strings.Repeat(fmt.Sprintf("answer %d ", n), 300)}
	}}
	b := compactBench(t, m, 8_000)
	for i := 0; len(m.summaries) == 0; i++ {
		b.run(t.Context(), fmt.Sprintf("prompt %d", i))
	}
	s, r := m.summaries[0], m.requests[len(m.requests)-2]
	if s.Instructions != r.Instructions || !slices.EqualFunc(s.Tools, r.Tools, sameTool) {
		t.Error("instructions or tools differ")
	}
	for i := range s.Messages[:len(s.Messages)-1] {
		if s.Messages[i].Text != r.Messages[i].Text {
			t.Fatalf("message %d differs: %d and %d bytes", i, len(s.Messages[i].Text), len(r.Messages[i].Text))
		}
	}
}

// C038, C039. Symptom: an overflow that the server reports ends the run. Right: one
// compaction, and one request more.
func TestC038OverflowIsCompactedOnce(t *testing.T) {
	for name, stays := range map[string]bool{"helps": false, "does not help": true} {
		t.Run(name, func(t *testing.T) {
			sent := 0
			m := &model{summary: wrote("g"), answer: func(n int, _ llm.Request) llm.Message { return llm.Message{Text: strings.Repeat("answer ", 200)} }}
			b := compactBench(t, m, 0)
			for i := range 4 {
				b.run(t.Context(), fmt.Sprintf("prompt %d", i))
			}
			b.o.Provider = &fake{answers: []answerFunc{func(ctx context.Context, r llm.Request, yield func(llm.Event, error) bool) {
				if sent++; sent == 1 || stays && !isSummary(r) {
					yield(llm.Event{}, llm.Errorf(llm.CauseContextLength, "prompt too long; exceeded max context length by 3 tokens"))
					return
				}
				m.do(ctx, r, yield)
			}}}
			out := b.run(t.Context(), "go on")
			if stays && (out.Code != llm.CauseContextLength || sent != 3) || !stays && (out.Status != Completed || sent != 3) {
				t.Errorf("got %+v after %d requests", out, sent)
			}
			if got := told[plug.CompactionCompleted](b); len(got) != 1 {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// C151. Symptom: 211 compactions with nothing done in between. Right: a reason, and an
// end.
func TestC151NoLoopOfCompactions(t *testing.T) {
	huge := strings.Repeat("w", 40_000)
	m := &model{summary: func(int) llm.Message { return llm.Message{Text: huge} }, answer: func(n int, _ llm.Request) llm.Message {
		return llm.Message{Text: "short"}
	}}
	b := compactBench(t, m, 0)
	b.o.Limits.MaxContextChars = 30_000
	b.run(t.Context(), "one")
	b.run(t.Context(), "two")
	b.run(t.Context(), "three")
	out := b.run(t.Context(), strings.Repeat("p", 26_000))
	if out.Status != Failed || out.Code != llm.CauseContextLength || len(m.summaries) > 2 {
		t.Errorf("got %+v, %d checkpoints", out, len(m.summaries))
	}
}

// overflowing is a session whose fourth run begins with a compaction, for which a model
// has this answer.
func overflowing(t *testing.T, summary llm.Message) (*model, *bench) {
	m := &model{summary: func(int) llm.Message { return summary }, answer: func(int, llm.Request) llm.Message {
		return llm.Message{Text: strings.Repeat("a", 4_000)}
	}}
	b := compactBench(t, m, 0)
	b.o.Limits.MaxContextChars = 15_000
	for range 3 {
		b.run(t.Context(), "go")
	}
	b.run(t.Context(), strings.Repeat("p", 1_000))
	return m, b
}

func TestAnUnusableCheckpointFails(t *testing.T) {
	for name, tt := range map[string]struct {
		summary llm.Message
		says    string
	}{
		"cut":                       {llm.Message{Truncated: true}, "compaction.maxOutputTokens"},
		"nothing":                   {llm.Message{}, "wrote no checkpoint"},
		"blanks":                    {llm.Message{Text: " \n"}, "wrote no checkpoint"},
		"a form":                    {llm.Message{Text: "{}"}, "wrote no checkpoint"},
		"calls":                     {llm.Message{Calls: []llm.ToolCall{call("1", "look", "{}")}}, "wrote no checkpoint"},
		"a call and what it is for": {llm.Message{Text: "I look.", Calls: []llm.ToolCall{call("1", "look", "{}")}}, "wrote no checkpoint"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, b := overflowing(t, tt.summary)
				failed := told[plug.CompactionFailed](b)
				if len(failed) != 1 || !strings.Contains(failed[0].Error, tt.says) || len(told[plug.CompactionCompleted](b)) > 0 {
					t.Errorf("got %+v", failed)
				}
			})
		})
	}
}

func TestPartialAndTextOnlyCheckpoints(t *testing.T) {
	for name, tt := range map[string]struct {
		summary             llm.Message
		structured, partial bool
		says                string
	}{
		"partial": {llm.Message{Text: `{"goal":"the goal","nextSteps":["a","b`, Truncated: true}, true, true, "- the goal"},
		"text":    {llm.Message{Text: "we were going on"}, false, false, "> we were going on"},
	} {
		m, b := overflowing(t, tt.summary)
		done := told[plug.CompactionCompleted](b)
		if len(done) != 1 || done[0].Structured != tt.structured || done[0].Partial != tt.partial {
			t.Errorf("%s: got %+v", name, done)
		}
		if r := m.requests[len(m.requests)-1]; !r.Messages[0].Summary || !strings.Contains(r.Messages[0].Text, tt.says) {
			t.Errorf("%s: the request begins with %+v", name, r.Messages[0])
		}
	}
}

// What is too long without anything older to leave is shortened in place.
func TestContextIsReduced(t *testing.T) {
	m := &model{summary: wrote("g"), answer: func(n int, _ llm.Request) llm.Message {
		if n <= 3 {
			return llm.Message{Calls: []llm.ToolCall{call(fmt.Sprint(n), "look", fmt.Sprintf(`{"n":%d}`, n))}}
		}
		return llm.Message{Text: "done"}
	}}
	b := compactBench(t, m, 0)
	b.o.Compaction.Off = true
	b.o.Limits.MaxContextChars = 6_000
	out := b.run(t.Context(), "go")
	if out.Status != Completed {
		t.Fatalf("got %+v", out)
	}
	if got := told[plug.ContextReduced](b); len(got) == 0 || got[0].Messages < 1 {
		t.Errorf("got %+v", got)
	}
	if got := told[plug.PrefixChanged](b); len(got) == 0 || got[0].Cause != plug.PrefixClip {
		t.Errorf("got %+v", got)
	}
	for _, r := range m.requests {
		if n := compact.Chars(r.Messages...); n > 6_000 {
			t.Errorf("a request has %d characters", n)
		}
	}
}

// Plugins say what they want of a checkpoint, get it, and what they say joins the
// conversation; what fails of it stops nothing.
func TestCompactionHooks(t *testing.T) {
	m := &model{answer: func(n int, _ llm.Request) llm.Message { return llm.Message{Text: strings.Repeat("a", 4_000)} }}
	m.summary = func(int) llm.Message { return llm.Message{Text: `{"goal":"g","notes":["n1"]}`} }
	b := compactBench(t, m, 0)
	b.o.Limits.MaxContextChars = 15_000
	b.o.Compaction.Before = func(_ context.Context, reason plug.CompactionReason, replaced []llm.Message) ([]compact.Wish, []HookFailure) {
		if reason != plug.CompactAuto || len(replaced) == 0 {
			t.Errorf("asked for %s with %d messages", reason, len(replaced))
		}
		return []compact.Wish{{Instructions: "be brief", Fields: map[string]string{"notes": "what to keep"}}}, []HookFailure{{Source: "q", Hook: "BeforeCompact", Error: "slow"}}
	}
	b.o.Compaction.After = func(_ context.Context, _ plug.CompactionReason, raw json.RawMessage, structured bool, fields map[string]json.RawMessage) ([]Injected, map[string]string, []HookFailure) {
		if !structured || string(fields["notes"]) != `["n1"]` || !strings.Contains(string(raw), `"goal":"g"`) {
			t.Errorf("got %s, %v, %s", raw, structured, fields)
		}
		return []Injected{{Source: "p/memory", Text: "remember"}}, map[string]string{"p": "kept 1"}, nil
	}
	for range 3 {
		b.run(t.Context(), "go")
	}
	b.run(t.Context(), strings.Repeat("p", 1_000))
	if ask := texts(m.summaries[0].Messages); !strings.Contains(ask, "be brief") || !strings.Contains(ask, `"notes": "what to keep"`) {
		t.Errorf("asked %s", ask)
	}
	if r := m.requests[len(m.requests)-1]; !strings.Contains(texts(r.Messages), "remember") {
		t.Error("what the plugin says is not told")
	}
	if got := told[plug.CompactionCompleted](b); len(got) != 1 || got[0].Plugins["p"] != "kept 1" {
		t.Errorf("got %+v", got)
	}
	if got := told[plug.PluginHookFailed](b); len(got) != 1 || got[0].Hook != "BeforeCompact" {
		t.Errorf("got %+v", got)
	}
}

// A session of 300 turns that is compacted again and again still holds what stood in
// its first message.
func TestThreeHundredTurns(t *testing.T) {
	m := &model{summary: wrote("chat"), answer: func(n int, _ llm.Request) llm.Message {
		return llm.Message{Text: strings.Repeat("words ", 200)}
	}}
	b := compactBench(t, m, 16_000)
	b.run(t.Context(), "My launch code is 7-tango-31.")
	for i := range 299 {
		if out := b.run(t.Context(), fmt.Sprintf("question %d", i)); out.Status != Completed {
			t.Fatalf("turn %d: %+v", i, out)
		}
	}
	if len(m.summaries) < 4 {
		t.Errorf("%d compactions", len(m.summaries))
	}
	if !strings.Contains(texts(m.requests[len(m.requests)-1].Messages), "7-tango-31") {
		t.Error("the first message is gone")
	}
}

// compactionTypes are the types of events that tell of conversations which became too
// long, as runs show them.
func compactionTypes(t *testing.T) (seen []plug.EventType) {
	m := &model{summary: func(n int) llm.Message {
		if n > 1 {
			return llm.Message{Truncated: true}
		}
		return llm.Message{Text: "we went on"}
	}}
	m.answer = func(n int, _ llm.Request) llm.Message { return llm.Message{Text: strings.Repeat("a", 4_000)} }
	b := compactBench(t, m, 0)
	for i := range 8 {
		b.o.Limits.MaxContextChars = 12_000
		prompt := "go"
		if i == 0 {
			prompt = strings.Repeat("p", 11_000) // nothing is older: skipped
		}
		b.run(t.Context(), prompt)
		seen = append(seen, b.types()...)
	}
	b.o.Limits.MaxContextChars, b.o.Compaction.Off = 5_000, true
	b.run(t.Context(), "go")
	return append(seen, b.types()...)
}
