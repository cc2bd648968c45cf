package run

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"alisio/agent/clock"
	"alisio/agent/gate"
	"alisio/agent/session"
	"alisio/llm"
	"alisio/plug"
)

// A stop ends the run at once wherever it is: as cancelled, with the text that was
// received, a result for every call, and no further request.
func TestCancelWhereverTheRunIs(t *testing.T) {
	const stopped = "stopped: the run was cancelled while this call was running; it may have done a part of its work"
	half := []llm.Message{broken("half")}
	for name, c := range map[string]struct {
		answers  []answerFunc
		requests int
		kept     []llm.Message
		results  []string
	}{
		"before the first byte":       {[]answerFunc{hangs}, 1, nil, nil},
		"behind a typed event":        {[]answerFunc{steps(typed(), silence(forever))}, 1, nil, nil},
		"in mid-stream":               {[]answerFunc{steps(spoken("ha"), reasoning("hm"), spoken("lf"), piece(), silence(forever))}, 1, half, nil},
		"in a resend":                 {[]answerFunc{breaks("", fault(llm.CauseServer, 503)), hangs}, 2, nil, nil},
		"in a pause before a resend":  {[]answerFunc{breaks("", throttled(50*time.Second))}, 1, nil, nil},
		"in a pause before going on":  {[]answerFunc{breaks("half", throttled(50*time.Second))}, 1, half, nil},
		"going on":                    {[]answerFunc{breaks("ha", lost), steps(spoken("lf"), silence(forever))}, 2, []llm.Message{broken("ha"), broken("lf")}, nil},
		"behind an empty answer":      {[]answerFunc{steps(completes(llm.Message{})), hangs}, 2, nil, nil},
		"behind a cut call":           {[]answerFunc{cutCall("half"), hangs}, 2, []llm.Message{clipped("half")}, nil},
		"in a tool":                   {[]answerFunc{says("", call("1", "wait", `{"n":1}`), call("2", "wait", `{"n":2}`))}, 1, nil, []string{stopped, "not run: the run was stopped"}},
		"in reads":                    {[]answerFunc{says("", call("1", "look", `{"n":1}`), call("2", "look", `{"n":2}`))}, 1, nil, []string{stopped, stopped}},
		"while a person is asked":     {[]answerFunc{says("", call("1", "asked", `{"n":1}`), call("2", "wait", `{}`))}, 1, nil, []string{"not run: the run was stopped", "not run: the run was stopped"}},
		"in a tool, with a lost call": {[]answerFunc{cutCall("", call("1", "wait", `{"n":1}`))}, 1, nil, []string{stopped}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &fake{answers: c.answers}
				wait, look := slow("wait", plug.EffectProcess, forever), slow("look", plug.EffectRead, forever)
				b := newBench(t, p, all, nil, wait, look, slow("asked", plug.EffectExternal, forever))
				policy := all
				policy.AllowExternal = false
				b.now.Gate = gate.New(gate.Options{Policy: policy, Files: b.files, Tree: gate.NewTree(absent{}, &clock.HumanWaits{})})
				ctx, cancel := context.WithCancel(context.Background())
				time.AfterFunc(10*time.Second, cancel)
				out := b.run(ctx, "go")
				if out.Status != Cancelled || out.Code != "" || out.Err != nil || b.took < 10*time.Second || b.took > 11*time.Second {
					t.Errorf("got %+v after %v", out, b.took)
				}
				if end, ok := b.end().(plug.RunCancelled); !ok || end.Error != "the run was stopped" || len(p.requests) != c.requests {
					t.Errorf("the event says %+v after %d requests", b.end(), len(p.requests))
				}
				if same(t, "results", b.results(), c.results); c.results == nil {
					same(t, "kept", append([]llm.Message(nil), b.tail()...), c.kept)
				}
				want := ""
				for _, m := range c.kept {
					want += m.Text
				}
				if out.Text != want {
					t.Errorf("the outcome says %q, want %q", out.Text, want)
				}
				// The next prompt finds a history that stands.
				p.answers = append(p.answers[:c.requests:c.requests], says("fine"))
				if out := b.run(context.Background(), "again"); out.Status != Completed {
					t.Errorf("the next prompt: %+v, %v", out, out.Err)
				}
			})
		})
	}
}

// The whole answer had come when the run was stopped: what was paid for is counted.
func TestCancelBehindTheLastByte(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p := &fake{answers: []answerFunc{func(_ context.Context, _ llm.Request, yield func(llm.Event, error) bool) {
		cancel()
		step := completes(llm.Message{Text: "hello", Calls: []llm.ToolCall{call("1", "wait", `{}`)}})
		yield(step.event, nil)
	}}}
	b := newBench(t, p, all, nil, slow("wait", plug.EffectProcess, 0))
	out := b.run(ctx, "go")
	if h := b.tail(); out.Status != Cancelled || out.Usage.Input != 10 || len(h) != 1 || h[0].Text != "hello" || !h[0].Interrupted || len(h[0].Calls) != 0 {
		t.Errorf("got %+v, kept %+v", out, h)
	}
}

// dying is a store that breaks at the n-th of all its writes, for good.
type dying struct {
	*session.Memory
	left  int
	calls int
}

func (d *dying) write() error {
	d.calls++
	if d.left--; d.left < 0 {
		return errors.New("disk is full")
	}
	return nil
}

func (d *dying) Append(ctx context.Context, id, run string, messages ...llm.Message) error {
	if err := d.write(); err != nil {
		return err
	}
	return d.Memory.Append(ctx, id, run, messages...)
}

func (d *dying) AddEvent(ctx context.Context, e plug.Event, messages ...llm.Message) (int64, error) {
	if err := d.write(); err != nil {
		return 0, err
	}
	return d.Memory.AddEvent(ctx, e, messages...)
}

func (d *dying) BeginCall(ctx context.Context, c session.Call, events ...plug.Event) ([]int64, error) {
	if err := d.write(); err != nil {
		return nil, err
	}
	return d.Memory.BeginCall(ctx, c, events...)
}

func (d *dying) EndCall(ctx context.Context, c session.Call, e plug.Event, messages ...llm.Message) (int64, error) {
	if err := d.write(); err != nil {
		return 0, err
	}
	return d.Memory.EndCall(ctx, c, e, messages...)
}

// A store that breaks at any write of a run that goes through every recovery ends it
// with that cause, without a hang, a wait or a further request or effect, and with
// nothing shown that is not stored.
func TestAStoreThatBreaksAnywhere(t *testing.T) {
	attempt := func(t *testing.T, left int) (out Outcome, err error, b *bench, p *fake, d *dying) {
		p = &fake{answers: []answerFunc{
			breaks("", fault(llm.CauseServer, 503)), hangs, breaks("a", lost), steps(completes(llm.Message{})), cutCall("b"),
			says("", call("1", "change", `{"n":1}`), call("2", "change", `{"n":2}`)), breaks("", throttled(30*time.Second)), steps(spoken("d"), silence(forever)), says("done"),
		}}
		b = newBench(t, p, all, nil, slow("change", plug.EffectWrite, time.Second))
		d = &dying{Memory: b.store, left: left}
		b.o.Store = d
		out, err = Do(context.Background(), b.o, Input{SessionID: "s", Prompt: "go", OnEvent: func(e plug.Event) { b.events = append(b.events, e) }})
		return out, err, b, p, d
	}
	writes, requests := 0, 0
	synctest.Test(t, func(t *testing.T) {
		out, err, _, p, d := attempt(t, 1000)
		if writes, requests = d.calls, len(p.requests); err != nil || out.Status != Completed || out.Text != "ddone" || requests != 9 {
			t.Fatalf("got %+v, %v, %d requests", out, err, requests)
		}
	})
	before := 0
	for left := range writes {
		synctest.Test(t, func(t *testing.T) {
			out, err, b, p, _ := attempt(t, left)
			if left == 0 { // the prompt itself
				if llm.CauseOf(err) != llm.CauseStore || len(p.requests) != 0 {
					t.Errorf("got %+v, %v", out, err)
				}
				return
			}
			if err != nil || out.Status != Failed || out.Code != llm.CauseStore || !strings.Contains(out.Err.Message, "disk is full") {
				t.Fatalf("write %d: got %+v, %v", left, out, err)
			}
			if f := b.failed(); f.Code != llm.CauseStore {
				t.Errorf("write %d: the event says %+v", left, f)
			}
			stored, err := b.store.Events(context.Background(), "s")
			if err != nil {
				t.Fatal(err)
			}
			shown := 0
			for _, e := range b.events {
				if e.ID != 0 {
					shown++
				}
			}
			if shown != len(stored) {
				t.Errorf("write %d: %d events shown, %d stored", left, shown, len(stored))
			}
			if n := len(p.requests); n < before || n > before+1 || n > requests {
				t.Errorf("write %d: %d requests, %d with one write less", left, n, before)
			} else {
				before = n
			}
		})
	}
}

// A provider that panics is its own failure: what it had said is kept, and the program
// goes on.
func TestAProviderThatPanicsInMidStream(t *testing.T) {
	panics := func(begun ...step) answerFunc {
		return func(ctx context.Context, r llm.Request, yield func(llm.Event, error) bool) {
			steps(begun...)(ctx, r, yield)
			panic("index out of range")
		}
	}
	for name, c := range map[string]struct {
		answer answerFunc
		kept   []llm.Message
	}{
		"at once":     {panics(), nil},
		"behind text": {panics(spoken("ha"), spoken("lf"), piece()), []llm.Message{broken("half")}},
	} {
		t.Run(name, func(t *testing.T) {
			ruled(t, defaults(), []answerFunc{c.answer, says("fine")}, func(t *testing.T, b *bench, p *fake, out Outcome) {
				f := b.failed()
				if out.Code != llm.CauseInternal || f.Error != "provider fake: panic: index out of range" || len(p.requests) != 1 || b.took != 0 {
					t.Errorf("got %+v, %+v", out, f)
				}
				same(t, "kept", append([]llm.Message(nil), b.tail()...), c.kept)
				if out := b.run(context.Background(), "again"); out.Text != "fine" {
					t.Errorf("the next prompt: %+v", out)
				}
			})
		})
	}
}
