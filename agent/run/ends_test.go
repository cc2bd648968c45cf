package run

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"alisio/agent/perm"
	"alisio/agent/session"
	"alisio/llm"
	"alisio/plug"
)

// C029. Symptom: an in-band error after text becomes a success with half an
// answer. Right: the upstream message; the text is kept apart, marked.
func TestC029BrokenStreamKeepsTheTextMarked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fake{answers: []answerFunc{breaks("Hel", llm.Errorf(llm.CauseServer, "capacity"))}}
		b := newBench(t, p, perm.Policy{}, nil)
		out := b.run(context.Background(), "hi")
		if out.Status != Failed || out.Code != llm.CauseServer || !strings.HasPrefix(out.Err.Message, "capacity") {
			t.Errorf("got %+v", out)
		}
		same(t, "kept", b.tail(), []llm.Message{broken("Hel"), broken("Hel"), broken("Hel")})
		p.answers = []answerFunc{says("Hello")}
		if out := b.run(context.Background(), "again"); out.Text != "Hello" {
			t.Errorf("the next prompt: %+v", out)
		}
	})
}

// C050. Symptom: calls of a broken stream stay without results, and the error
// is empty. Trigger: the connection ends right after the last call's delta.
func TestC050CallsOfABrokenStreamAreNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cut := func(_ context.Context, _ llm.Request, yield func(llm.Event, error) bool) {
			if yield(llm.Event{Kind: llm.CallDelta}, nil) {
				yield(llm.Event{}, llm.Errorf(llm.CauseStream, "read stream: connection reset by peer"))
			}
		}
		p := &fake{answers: []answerFunc{cut}}
		b := newBench(t, p, perm.Policy{}, nil)
		out := b.run(context.Background(), "hi")
		if out.Status != Failed || !strings.Contains(out.Err.Message, "connection reset") || len(p.requests) != 3 {
			t.Errorf("got %+v, %d requests", out, len(p.requests))
		}
		p.answers = []answerFunc{says("fine")}
		if out := b.run(context.Background(), "again"); out.Status != Completed {
			t.Errorf("the next prompt: %+v", out)
		}
		for _, m := range b.history() {
			if len(m.Calls) > 0 {
				t.Errorf("kept: %+v", m)
			}
		}
	})
}

// Symptom: a call runs of which the model had not said a word. Trigger: the output limit
// before the first byte of its arguments. In a whole answer they are none (C028).
func TestACallCutBeforeItsArgumentsIsNotRun(t *testing.T) {
	for truncated, want := range map[bool]int{true: 0, false: 1} {
		ran := 0
		look := newToy("look", plug.EffectRead, func(context.Context, *plug.Call) (plug.Result, error) {
			ran++
			return plug.Text("seen"), nil
		})
		p := &fake{answers: []answerFunc{
			message(llm.Message{Text: "I look.", Truncated: truncated, Calls: []llm.ToolCall{call("1", "look", " ")}}),
			says("done"),
		}}
		if out := newBench(t, p, perm.Policy{}, nil, look).run(context.Background(), "go"); out.Status != Completed || ran != want {
			t.Errorf("truncated %v: got %+v, ran %d, want %d", truncated, out, ran, want)
		}
	}
}

func TestPanickingProvider(t *testing.T) {
	p := &fake{answers: []answerFunc{func(context.Context, llm.Request, func(llm.Event, error) bool) { panic("oh") }}}
	b := newBench(t, p, perm.Policy{}, nil)
	if out := b.run(context.Background(), "hi"); out.Code != llm.CauseInternal || !strings.Contains(out.Err.Message, "panic: oh") {
		t.Errorf("got %+v", out)
	}
}

func TestCancel(t *testing.T) {
	t.Run("in mid-stream", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		p := &fake{answers: []answerFunc{func(ctx context.Context, _ llm.Request, yield func(llm.Event, error) bool) {
			yield(llm.Event{Kind: llm.TextDelta, Text: "I was say"}, nil)
			cancel()
			yield(llm.Event{}, ctx.Err())
		}}}
		b := newBench(t, p, perm.Policy{}, nil)
		out := b.run(ctx, "hi")
		h := b.history()
		if last := h[len(h)-1]; out.Status != Cancelled || last.Text != "I was say" || !last.Interrupted {
			t.Errorf("got %+v, kept %+v", out, last)
		}
	})
	t.Run("in a tool", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		wait := newToy("wait", plug.EffectProcess, func(ctx context.Context, _ *plug.Call) (plug.Result, error) {
			cancel()
			<-ctx.Done()
			return plug.Result{}, ctx.Err()
		})
		p := &fake{answers: []answerFunc{says("", call("1", "wait", `{}`), call("2", "wait", `{"n":1}`))}}
		b := newBench(t, p, all, nil, wait)
		out := b.run(ctx, "hi")
		got := b.results()
		if out.Status != Cancelled || len(got) != 2 || !strings.Contains(got[0], "while this call was running") || !strings.Contains(got[1], "not run") {
			t.Errorf("got %+v, results %q", out, got)
		}
	})
	t.Run("before the start", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		b := newBench(t, &fake{answers: []answerFunc{breaks("", context.Canceled)}}, perm.Policy{}, nil)
		if out := b.run(ctx, "hi"); out.Status != Cancelled {
			t.Errorf("got %+v", out)
		}
	})
}

// failing is a store that breaks at the n-th write.
type failing struct {
	*session.Memory
	left int
}

func (f *failing) AddEvent(ctx context.Context, e plug.Event, messages ...llm.Message) (int64, error) {
	if f.left--; f.left < 0 {
		return 0, errors.New("disk is full")
	}
	return f.Memory.AddEvent(ctx, e, messages...)
}

func (f *failing) BeginCall(ctx context.Context, c session.Call, events ...plug.Event) ([]int64, error) {
	if f.left--; f.left < 0 {
		return nil, errors.New("disk is full")
	}
	return f.Memory.BeginCall(ctx, c, events...)
}

func TestABrokenStoreEndsTheRunBeforeTheNextEffect(t *testing.T) {
	for left := range 6 {
		ran := 0
		write := newToy("change", plug.EffectWrite, func(context.Context, *plug.Call) (plug.Result, error) {
			ran++
			return plug.Text("changed"), nil
		})
		p := &fake{answers: []answerFunc{says("", call("", "change", `{}`))}}
		b := newBench(t, p, all, nil, write)
		b.o.Store = &failing{Memory: b.store, left: left}
		out, err := Do(context.Background(), b.o, Input{SessionID: "s", Prompt: "go"})
		if err != nil || out.Status != Failed || out.Code != llm.CauseStore || !strings.Contains(out.Err.Message, "disk is full") {
			t.Errorf("left %d: got %+v, %v", left, out, err)
		}
		// Writes before the first execution: run_started, turn_completed, the call's
		// begin; before each further one: turn_completed, begin.
		if want := max(0, left-1) / 2; ran != want {
			t.Errorf("left %d: the tool ran %d times", left, ran)
		}
	}
}

func TestInterruptedHistoryIsMended(t *testing.T) {
	b := newBench(t, &fake{answers: []answerFunc{says("fine")}}, perm.Policy{}, nil)
	b.store.Append(context.Background(), "s", "",
		llm.Message{Role: llm.RoleUser, Text: "go"},
		llm.Message{Role: llm.RoleAssistant, Calls: []llm.ToolCall{call("1", "look", `{}`), call("2", "look", `{}`)}},
		llm.Message{Role: llm.RoleTool, CallID: "1", Parts: []llm.Part{{Type: llm.PartText, Text: "seen"}}})
	if out := b.run(context.Background(), "again"); out.Status != Completed {
		t.Errorf("got %+v", out)
	}
	if got := b.results(); len(got) != 2 || !strings.Contains(got[1], "not executed") {
		t.Errorf("got %q", got)
	}
}
