package run

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"alisio/agent/perm"
	"alisio/llm"
	"alisio/plug"
)

// talk is a history in short: u, a and t for its messages with their texts.
func talk(messages []llm.Message) string {
	var all []string
	for _, m := range messages {
		all = append(all, string(m.Role[0])+":"+m.PlainText())
	}
	return strings.Join(all, " ")
}

func (b *bench) enqueue(texts ...string) {
	b.t.Helper()
	for _, text := range texts {
		if err := b.store.Enqueue(context.Background(), b.id, text); err != nil {
			b.t.Error(err)
		}
	}
}

func (b *bench) queued() []string {
	b.t.Helper()
	texts, err := b.store.Queued(context.Background(), b.id)
	if err != nil {
		b.t.Fatal(err)
	}
	return texts
}

// during answers like another, and does something first.
func during(do func(), then answerFunc) answerFunc {
	return func(ctx context.Context, req llm.Request, yield func(llm.Event, error) bool) {
		do()
		then(ctx, req, yield)
	}
}

func TestQueuedTextsJoinTheNextTurn(t *testing.T) {
	var b *bench
	look := newToy("look", plug.EffectRead, func(context.Context, *plug.Call) (plug.Result, error) {
		b.enqueue("three")
		return plug.Text("seen"), nil
	})
	p := &fake{answers: []answerFunc{
		says("", call("1", "look", `{}`)),
		during(func() { b.enqueue("four", "five") }, says("done?")), // no calls: it goes on
		says("done"),
	}}
	b = newBench(t, p, perm.Policy{}, nil, look)
	b.now.Context = []Injected{{"a/b", "ctx"}}
	r := b.record()
	b.enqueue("one", "two")
	out := b.run(context.Background(), "go")
	const ctx = "u:<context source=\"a/b\">\nctx\n</context> "
	want := "u:go u:one u:two " + ctx + "a: t:seen u:three a:done? u:four u:five a:done"
	if got := talk(b.history()); got != want || out.Text != "done" || out.Turns != 3 || out.Status != Completed {
		t.Errorf("got %s, %+v\nwant %s", got, out, want)
	}
	if got := talk(p.requests[2].Messages); got != strings.TrimSuffix(want, " a:done") {
		t.Errorf("the last request: %s", got)
	}
	// The answer that was to be the last is stored before what came for it.
	if at := slices.Index(r.log, "event turn_completed with assistant"); at < 0 || len(b.queued()) > 0 {
		t.Errorf("log %q, queued %q", r.log, b.queued())
	}
}

func TestTheTurnLimitLeavesTheQueue(t *testing.T) {
	var b *bench
	b = newBench(t, &fake{answers: []answerFunc{during(func() { b.enqueue("later") }, says("done"))}}, perm.Policy{}, nil)
	b.o.Limits.MaxTurns = 1
	if out := b.run(context.Background(), "go"); out.Status != Completed || out.Turns != 1 || !slices.Equal(b.queued(), []string{"later"}) {
		t.Errorf("got %+v, queued %q", out, b.queued())
	}
	b.run(context.Background(), "again")
	if got := talk(b.history()); got != "u:go a:done u:again u:later a:done" {
		t.Errorf("got %s", got)
	}
}

// What was said of the answer before, that it was cut or had to be asked for again,
// is not said of the last one.
func TestAnAnswerAfterQueuedTextIsJudgedForItself(t *testing.T) {
	var b *bench
	cut := message(llm.Message{Text: "hal", Truncated: true})
	b = newBench(t, &fake{answers: []answerFunc{during(func() { b.enqueue("go on") }, cut), says("whole")}}, perm.Policy{}, nil)
	b.run(context.Background(), "go")
	if d := b.events[len(b.events)-1].Data.(plug.RunCompleted); d.Truncated || d.Text != "whole" {
		t.Errorf("got %+v", d)
	}
	b = newBench(t, &fake{answers: []answerFunc{
		says("bad"), during(func() { b.enqueue("and another") }, says(`{"version":1}`)), says("bad"), says(`{"version":2}`),
	}}, perm.Policy{}, nil)
	if out := b.formed("go"); out.Status != Completed || out.Text != `{"version":2}` || out.Turns != 4 {
		t.Errorf("got %+v", out)
	}
}

// A run that goes on without a prompt of its own says first what it owed: a text
// in front of its answer would be taken for its prompt.
func TestARunThatGoesOnTakesQueuedTextsBehindItsAnswer(t *testing.T) {
	for _, c := range []struct{ history, want, left string }{
		{"go", "u:go a:new u:later a:new", ""},
		{"go old", "u:go a:old", "later"}, // it asks nobody
	} {
		p := &fake{answers: []answerFunc{says("new")}}
		b := newBench(t, p, perm.Policy{}, nil)
		b.record()
		for i, text := range strings.Fields(c.history) {
			role := []llm.Role{llm.RoleUser, llm.RoleAssistant}[i]
			if err := b.store.Append(context.Background(), "s", "dead", llm.Message{Role: role, Text: text}); err != nil {
				t.Fatal(err)
			}
		}
		b.enqueue("later")
		out, err := Do(context.Background(), b.o, Input{SessionID: "s", Continues: "dead"})
		if got := talk(b.history()); err != nil || out.Status != Completed || got != c.want || strings.Join(b.queued(), " ") != c.left {
			t.Errorf("got %s and %q, %+v, %v\nwant %s", got, b.queued(), out, err, c.want)
		}
	}
}

// breaking is a store whose queue can not be read or emptied.
type breaking struct {
	*recorder
	queued, drain error
}

func (b *breaking) Queued(ctx context.Context, id string) ([]string, error) {
	texts, err := b.recorder.Queued(ctx, id)
	return texts, errors.Join(err, b.queued)
}

func (b *breaking) Drain(ctx context.Context, id, run string) ([]llm.Message, error) {
	if b.drain != nil {
		return nil, b.drain
	}
	return b.recorder.Drain(ctx, id, run)
}

func TestAQueueThatBreaksEndsTheRun(t *testing.T) {
	for _, c := range []breaking{{queued: errFull}, {drain: errFull}} {
		p := &fake{answers: []answerFunc{says("done")}}
		b := newBench(t, p, perm.Policy{}, nil)
		c.recorder = b.record()
		b.o.Store = &c
		b.enqueue("x")
		out := b.run(context.Background(), "go")
		if out.Status != Failed || out.Code != llm.CauseStore || len(p.requests) > 0 || !slices.Equal(b.queued(), []string{"x"}) {
			t.Errorf("got %+v, %d requests, queued %q", out, len(p.requests), b.queued())
		}
	}
}

// Whatever is queued while runs begin, go on, end and are stopped, is said once or
// waits for the next run.
func TestQueuedTextsAreNeverLostAndNeverSaidTwice(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 40 {
		p := &fake{}
		b := newBench(t, p, perm.Policy{}, nil, newToy("look", plug.EffectRead, ok("seen")))
		var sent []string
		for range 3 {
			ctx, cancel := context.WithCancel(context.Background())
			var wg sync.WaitGroup
			var sending []func()
			p.answers = slices.Repeat([]answerFunc{says("")}, len(p.requests))
			for range 3 {
				then := says("done")
				if r.IntN(2) == 0 {
					then = says("", call("", "look", fmt.Sprintf(`{"n":%d}`, r.IntN(1000))))
				}
				stops := r.IntN(4) == 0
				var texts []string
				for range r.IntN(3) {
					text := fmt.Sprintf("text %d", len(sent))
					texts, sent = append(texts, text), append(sent, text)
				}
				send := sync.OnceFunc(func() {
					wg.Go(func() { b.enqueue(texts...) }) // at any moment of what follows
					if stops {
						cancel()
					}
				})
				sending = append(sending, send)
				p.answers = append(p.answers, during(send, then))
			}
			b.o.Limits.MaxTurns = 2 + r.IntN(3)
			b.run(ctx, "go")
			for _, send := range sending {
				send() // the run may have ended before
			}
			wg.Wait()
			cancel()
		}
		times := map[string]int{}
		for _, text := range b.queued() {
			times[text]++
		}
		for _, m := range b.history() {
			times[m.Text]++
		}
		for _, text := range sent {
			if times[text] != 1 {
				t.Errorf("%s is there %d times", text, times[text])
			}
		}
	}
}
