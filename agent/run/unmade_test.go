package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"alisio/agent/session"
	"alisio/llm"
	"alisio/plug"
)

// looking is a model that calls a tool with 4 KB so many times.
func looking(times int, summary func(int) llm.Message) *model {
	m := &model{summary: summary}
	m.answer = func(n int, _ llm.Request) llm.Message {
		if n > times {
			return llm.Message{Text: "done"}
		}
		return llm.Message{Calls: []llm.ToolCall{call(fmt.Sprint(n), "look", fmt.Sprintf(`{"n":%d}`, n))}}
	}
	return m
}

// Symptom: a session is lost for good, each later run ends at once. Trigger: a checkpoint
// that is longer than what it stands for. It is not taken, and the next one can be.
func TestALongerCheckpointIsNotTaken(t *testing.T) {
	m := &model{summary: func(int) llm.Message { return llm.Message{Text: strings.Repeat("w ", 60_000)} }}
	m.answer = func(int, llm.Request) llm.Message { return llm.Message{Text: strings.Repeat("answer ", 1_000)} }
	b := compactBench(t, m, 16_000)
	out := b.run(t.Context(), "go")
	for range 20 {
		if out.Status == Completed {
			out = b.run(t.Context(), "go on")
		}
	}
	if out.Code != llm.CauseContextLength || len(told[plug.CompactionFailed](b)) != 1 || len(told[plug.CompactionCompleted](b)) != 0 {
		t.Errorf("got %+v, events %v", out, b.types())
	}
	if _, _, err := b.store.LastCompaction(t.Context(), "s"); !errors.Is(err, session.ErrNoCompaction) {
		t.Errorf("it was stored: %v", err)
	}
	m.summary = wrote("g")
	if out = b.run(t.Context(), "go on"); out.Status != Completed || len(told[plug.CompactionCompleted](b)) != 1 {
		t.Errorf("with another checkpoint: got %+v", out)
	}
}

// Symptom: a conversation that still fits ends, at each prompt anew. Trigger: the server
// refuses the request for a checkpoint, and no other.
func TestARefusedCheckpointEndsNoRun(t *testing.T) {
	for _, cause := range []llm.Cause{llm.CauseBadRequest, llm.CauseFiltered, llm.CauseContextLength} {
		m := looking(12, nil)
		b := compactBench(t, m, 16_000)
		b.o.Provider = &fake{answers: []answerFunc{func(ctx context.Context, r llm.Request, yield func(llm.Event, error) bool) {
			if isSummary(r) {
				yield(llm.Event{}, llm.Errorf(cause, "no"))
				return
			}
			m.do(ctx, r, yield)
		}}}
		out := b.run(t.Context(), "look")
		if out.Status != Completed || len(told[plug.CompactionFailed](b)) == 0 {
			t.Errorf("%s: got %+v, %v", cause, out, b.types())
		}
	}
}

// C151. Symptom: a request for a checkpoint goes with each other one, for nothing. Trigger:
// a model that writes none, in a long turn. It is told what to write, once.
func TestC151AModelWithoutCheckpointsIsNotAskedForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := looking(60, func(int) llm.Message { return llm.Message{} })
		b := compactBench(t, m, 16_000)
		out := b.run(t.Context(), "look")
		failed := len(told[plug.CompactionFailed](b))
		if out.Status != Completed || failed < 2 || failed > 7 || len(m.summaries) != 2*failed {
			t.Fatalf("got %+v, %d checkpoints asked for, %d failed", out, len(m.summaries), failed)
		}
		again := m.summaries[1].Messages
		if last := again[len(again)-1].Text; last != noticeNone {
			t.Errorf("asked again with %q", last)
		}
	})
}

// Symptom: a request that was refused as too long is sent once more as it was. Trigger: no
// checkpoint comes of the compaction in between.
func TestARefusedRequestIsNotSentAsItWas(t *testing.T) {
	m := looking(3, func(int) llm.Message { return llm.Message{Text: " "} })
	b := compactBench(t, m, 0)
	b.run(t.Context(), "look")
	refused := 0
	b.o.Provider = &fake{answers: []answerFunc{func(ctx context.Context, r llm.Request, yield func(llm.Event, error) bool) {
		if isSummary(r) {
			m.do(ctx, r, yield)
			return
		}
		refused++
		yield(llm.Event{}, llm.Errorf(llm.CauseContextLength, "prompt is too long"))
	}}}
	out := b.run(t.Context(), "go on")
	if out.Code != llm.CauseContextLength || refused != 1 || !strings.Contains(fmt.Sprint(told[plug.RunFailed](b)), "provider.contextWindow") {
		t.Errorf("got %+v after %d requests", out, refused)
	}
}

// Symptom: the run ends, since its conversation "takes about 536870912 tokens", or it is
// compacted at each turn. Trigger: usage that can not be that of one request: nonsense, or
// the sum of the session.
func TestUsageBeyondTheWindowIsNotBelieved(t *testing.T) {
	for name, usage := range map[string]llm.Usage{
		"input": {Input: 1 << 40, Output: 1}, "output": {Input: 900, Output: 1 << 40}, "a little": {Input: 41_000, Output: 10},
	} {
		m := looking(8, wrote("g"))
		b := compactBench(t, m, 32_000)
		b.o.Provider = &fake{answers: []answerFunc{func(ctx context.Context, r llm.Request, yield func(llm.Event, error) bool) {
			m.do(ctx, r, func(e llm.Event, err error) bool {
				if e.Kind == llm.Completed {
					e.Usage = &usage
				}
				return yield(e, err)
			})
		}}}
		if out := b.run(t.Context(), "look"); out.Status != Completed || len(m.summaries) > 0 {
			t.Errorf("%s: got %+v, %d checkpoints", name, out, len(m.summaries))
		}
	}
}

// Symptom: two refused requests and two checkpoints at each turn. Trigger: the window is
// smaller than was said. What the server counts and refuses tells how small.
func TestAWindowSmallerThanWasSaidIsLearned(t *testing.T) {
	m := looking(60, wrote("g"))
	b := compactBench(t, m, 16_000)
	m.window = 6_000
	out := b.run(t.Context(), "look, and never say banana")
	if out.Status != Completed {
		t.Fatalf("got %+v", out)
	}
	if n := len(m.summaries); n > 30 {
		t.Errorf("%d checkpoints in 60 turns", n)
	}
	if !slices.ContainsFunc(m.requests, func(r llm.Request) bool { return r.MaxOutputTokens <= 6_000/4+500 }) {
		t.Error("answers are still capped for a larger window")
	}
}

// Symptom: a session that no run and no /compact helps any more: the request for a
// checkpoint is refused, too, each time. Trigger: clipping makes it not short enough.
func TestWhatIsTooLongForACheckpointIsSummedUpInParts(t *testing.T) {
	m := &model{summary: wrote("g"), answer: func(n int, _ llm.Request) llm.Message {
		return llm.Message{Text: fmt.Sprint("answer ", n, strings.Repeat("w", 350))}
	}}
	b := compactBench(t, m, 16_000)
	for i := range 40 {
		b.run(t.Context(), fmt.Sprint("prompt ", i))
	}
	m.window = 4_000
	b.run(t.Context(), "go on")
	if done := told[plug.CompactionCompleted](b); len(done) != 1 || done[0].Replaced < 10 || done[0].Replaced > 50 {
		t.Errorf("got %+v, %v", done, b.types())
	}
	for i := 1; i < len(m.summaries); i++ {
		if a, b := m.summaries[i-1], m.summaries[i]; texts(a.Messages) == texts(b.Messages) {
			t.Error("the same is asked twice")
		}
	}
}
