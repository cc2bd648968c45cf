package run

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"alisio/agent/compact"
	"alisio/agent/perm"
	"alisio/llm"
	"alisio/plug"
)

// strict is a server with a small window, whose tokenizer finds more tokens than we
// estimate, and which refuses what does not fit with its answer (C153).
type strict struct {
	window   int
	density  float64 // characters a token
	refused  int
	requests int
	least    int // of the output caps
	silent   bool
	answer   func(n int) llm.Message
}

func (s *strict) do(_ context.Context, r llm.Request, yield func(llm.Event, error) bool) {
	chars := len(r.Instructions) + compact.Chars(r.Messages...)
	for _, t := range r.Tools {
		chars += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	in := int(float64(chars)/s.density) + 4*len(r.Messages)
	if in+r.MaxOutputTokens > s.window {
		s.refused++
		yield(llm.Event{}, llm.Errorf(llm.CauseContextLength, "%d tokens and %d of output are more than %d", in, r.MaxOutputTokens, s.window))
		return
	}
	if s.least == 0 || r.MaxOutputTokens < s.least {
		s.least = r.MaxOutputTokens
	}
	m := llm.Message{Text: `{"goal":"read on","accomplished":["` + strings.Repeat("a step of the work ", 20) + `"]}`}
	if !isSummary(r) {
		s.requests++
		m = s.answer(s.requests)
	}
	m.Role = llm.RoleAssistant
	if m.Text != "" && !yield(llm.Event{Kind: llm.TextDelta, Text: m.Text}, nil) {
		return
	}
	u := &llm.Usage{Input: in, Output: int(float64(compact.Chars(m)) / s.density)}
	if s.silent {
		u = nil
	}
	yield(llm.Event{Kind: llm.Completed, Message: &m, Usage: u}, nil)
}

// task gives a task of 40 turns to the server, with results of 4 to 48 KB and calls in
// parallel.
func (s *strict) task(t *testing.T) (*bench, Outcome) {
	t.Helper()
	s.answer = func(n int) llm.Message {
		if n > 40 {
			return llm.Message{Text: "all read"}
		}
		m := llm.Message{Text: "reading on"}
		for i := range 1 + n%3 {
			m.Calls = append(m.Calls, call(fmt.Sprint(n, "-", i), "look", fmt.Sprintf(`{"n":%d}`, n*10+i)))
		}
		return m
	}
	sizes := []int{4_000, 48_000, 9_000, 20_000, 500}
	var seen atomic.Int64
	look := newToy("look", plug.EffectRead, func(context.Context, *plug.Call) (plug.Result, error) {
		n := int(seen.Add(1))
		return plug.Text(strings.Repeat("some data\n", sizes[n%len(sizes)]/10)), nil
	})
	b := newBench(t, &fake{answers: []answerFunc{s.do}}, perm.Policy{}, nil, look)
	b.now.Instructions = strings.Repeat("Work with care. ", 250)
	b.o.Model.ContextWindow = s.window
	return b, b.run(t.Context(), "read all of it, and never say banana")
}

// A window of 8k, 16k or 32k works through the task, and no request is refused, that for a
// checkpoint included, however much more the server counts than is estimated (C153).
func TestC153SmallWindowsWorkThroughATask(t *testing.T) {
	for _, window := range []int{8_192, 16_384, 32_768} {
		for _, density := range []float64{4.5, 4, 3.6, 3, 2.5, 2, 1.5, 1} {
			t.Run(fmt.Sprintf("%d at %v", window, density), func(t *testing.T) {
				s := &strict{window: window, density: density}
				b, out := s.task(t)
				if out.Status != Completed || out.Text != "all read" || s.refused > 0 || s.requests != 41 {
					t.Errorf("%s %v after %d requests, %d refused, %d compactions", out.Status, out.Err, s.requests, s.refused, len(told[plug.CompactionCompleted](b)))
				}
				if len(told[plug.CompactionCompleted](b)) == 0 {
					t.Error("nothing was compacted: the task is too small to tell")
				}
				if s.least < leastCheckpoint {
					t.Errorf("an answer was capped at %d tokens", s.least)
				}
			})
		}
	}
}

// A server that counts more than is estimated and never says how much refuses some
// requests; what is made of them fits.
func TestC153AServerThatReportsNothing(t *testing.T) {
	for _, density := range []float64{4.5, 3, 2, 1.5} {
		s := &strict{window: 16_384, density: density, silent: true}
		_, out := s.task(t)
		if out.Status != Completed || out.Text != "all read" || s.refused > 3 {
			t.Errorf("%v: %s %v after %d requests, %d refused", density, out.Status, out.Err, s.requests, s.refused)
		}
	}
}

// C153. Symptom: input and the output that is asked for are more than the window. Trigger:
// a long prompt that no compaction can make shorter.
func TestC153TheAnswerIsCappedToWhatIsLeft(t *testing.T) {
	for name, c := range map[string]struct {
		chars, requests, output int
	}{
		"short":         {4_000, 1, 2_048},
		"long":          {26_000, 1, 8_192 - 6_500 - compact.Margin - 3},
		"hardly":        {27_800, 1, leastCheckpoint},
		"can never fit": {60_000, 0, 0},
	} {
		s := &strict{window: 8_192, density: 4, answer: func(int) llm.Message { return llm.Message{Text: "done"} }}
		b := newBench(t, &fake{answers: []answerFunc{s.do}}, perm.Policy{}, nil)
		b.now.Instructions = "Work with care."
		b.o.Model.ContextWindow = s.window
		out := b.run(t.Context(), strings.Repeat("p", c.chars))
		if s.requests != c.requests || s.refused > 0 || s.least != c.output || (out.Status == Completed) != (c.requests == 1) {
			t.Errorf("%s: %s %v after %d requests, %d refused, at most %d tokens", name, out.Status, out.Err, s.requests, s.refused, s.least)
		}
		if c.requests == 0 && (out.Code != llm.CauseContextLength || !strings.Contains(out.Err.Error(), "the conversation takes about 15003 tokens, and the window of")) {
			t.Errorf("%s: got %v", name, out.Err)
		}
	}
}

// C153 in the request for a checkpoint: when it is refused as too long, a shorter one goes.
func TestC153ARefusedCheckpointIsAskedForShorter(t *testing.T) {
	m := &model{summary: wrote("look")}
	m.answer = func(n int, _ llm.Request) llm.Message { return llm.Message{Text: strings.Repeat("answer ", 1_000)} }
	refused := 0
	p := &fake{answers: []answerFunc{func(ctx context.Context, r llm.Request, yield func(llm.Event, error) bool) {
		if isSummary(r) && refused == 0 {
			refused = compact.Chars(r.Messages...)
			yield(llm.Event{}, llm.Errorf(llm.CauseContextLength, "too long"))
			return
		}
		m.do(ctx, r, yield)
	}}}
	b := newBench(t, p, perm.Policy{}, nil)
	b.o.Model.ContextWindow = 16_384
	for i := range 9 {
		if out := b.run(t.Context(), fmt.Sprint("prompt ", i)); out.Status != Completed {
			t.Fatalf("%d: %v", i, out.Err)
		}
	}
	if len(m.summaries) == 0 || refused == 0 || compact.Chars(m.summaries[0].Messages...) >= refused*9/10 {
		t.Errorf("%d checkpoints, %d characters refused", len(m.summaries), refused)
	}
}

// C149. Symptom: compaction runs between a call and its result and drops the call.
// Trigger: the usage in the answer with the calls already reports 99 % of the window.
func TestC149CompactionWaitsForTheResults(t *testing.T) {
	const window = 32_000
	m := &model{summary: wrote("look")}
	m.answer = func(n int, _ llm.Request) llm.Message { return llm.Message{Text: "done"} }
	p := &fake{answers: []answerFunc{
		func(_ context.Context, _ llm.Request, yield func(llm.Event, error) bool) {
			out := llm.Message{Role: llm.RoleAssistant, Calls: []llm.ToolCall{call("1", "look", `{"n":1}`), call("2", "look", `{"n":2}`)}}
			yield(llm.Event{Kind: llm.Completed, Message: &out, Usage: &llm.Usage{Input: window * 99 / 100, Output: 10}}, nil)
		},
		m.do,
	}}
	b := newBench(t, p, perm.Policy{}, nil, newToy("look", plug.EffectRead, ok(strings.Repeat("data ", 4_000))))
	b.replaced = true
	b.record()
	for i := range 4 {
		err := b.store.Append(t.Context(), "s", "before", llm.Message{Role: llm.RoleUser, Text: fmt.Sprint("prompt ", i, strings.Repeat(" words", 900))},
			llm.Message{Role: llm.RoleAssistant, Text: "answer"})
		if err != nil {
			t.Fatal(err)
		}
	}
	b.o.Model.ContextWindow = window
	out := b.run(t.Context(), "look twice")
	if out.Status != Completed || len(m.summaries) != 1 {
		t.Fatalf("%s, %v, %d checkpoints", out.Status, out.Err, len(m.summaries))
	}
	results := 0
	for _, e := range b.events {
		switch e.Data.(type) {
		case plug.ToolCompleted:
			results++
		case plug.CompactionStarted:
			if results != 2 {
				t.Errorf("it began after %d results", results)
			}
		}
	}
	for _, r := range append(m.summaries, m.requests...) {
		if err := valid(r.Messages); err != nil {
			t.Error(err)
		}
	}
	last := m.requests[len(m.requests)-1]
	calls := 0
	for _, m := range last.Messages {
		calls += len(m.Calls)
	}
	if calls != 2 {
		t.Errorf("%d calls are left", calls)
	}
}
