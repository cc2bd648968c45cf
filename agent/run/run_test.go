package run

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"alisio/agent/perm"
	"alisio/agent/session"
	"alisio/llm"
	"alisio/plug"
)

func TestAnswerWithoutCalls(t *testing.T) {
	p := &fake{answers: []answerFunc{says("hello")}}
	b := newBench(t, p, perm.Policy{}, nil)
	out := b.run(context.Background(), "hi")
	if out.Status != Completed || out.Text != "hello" || out.Turns != 1 || out.Usage.Input != 10 {
		t.Errorf("got %+v", out)
	}
	want := []plug.EventType{plug.TypeRunStarted, plug.TypeTextDelta, plug.TypeTurnCompleted, plug.TypeRunCompleted}
	if got := b.types(); !slices.Equal(got, want) {
		t.Errorf("events: got %v, want %v", got, want)
	}
}

func TestStablePrefix(t *testing.T) {
	p := &fake{answers: []answerFunc{says("a", call("1", "look", `{}`)), says("b", call("2", "look", `{}`)), says("c")}}
	b := newBench(t, p, perm.Policy{}, nil, newToy("look", plug.EffectRead, ok("seen")), newToy("again", plug.EffectRead, ok("x")))
	b.run(context.Background(), "go")
	for i := 1; i < len(p.requests); i++ {
		was, is := p.requests[i-1], p.requests[i]
		if was.Instructions != is.Instructions || fmt.Sprint(was.Tools) != fmt.Sprint(is.Tools) {
			t.Errorf("request %d differs in its fixed part", i)
		}
		if got := fmt.Sprint(is.Messages[:len(was.Messages)]); got != fmt.Sprint(was.Messages) {
			t.Errorf("request %d does not begin with the messages of the one before", i)
		}
	}
	if got := []string{p.requests[0].Tools[0].Name, p.requests[0].Tools[1].Name}; !slices.IsSorted(got) {
		t.Errorf("tools are not sorted: %v", got)
	}
}

func TestTurnLimit(t *testing.T) {
	n := 0
	count := newToy("count", plug.EffectRead, func(context.Context, *plug.Call) (plug.Result, error) {
		n++
		return plug.Text(fmt.Sprint(n)), nil
	})
	p := &fake{answers: []answerFunc{says("", call("", "count", `{}`))}}
	b := newBench(t, p, perm.Policy{}, nil, count)
	b.o.Limits.MaxTurns = 3
	out := b.run(context.Background(), "go")
	if out.Status != TurnsExceeded || out.Code != llm.CauseTurns || n != 3 || len(p.requests) != 3 {
		t.Errorf("got %+v, %d calls, %d requests", out, n, len(p.requests))
	}
	out = b.run(context.Background(), "go on")
	if out.Status != TurnsExceeded || n != 6 {
		t.Errorf("prompted again: got %+v, %d calls", out, n)
	}
}

func TestOutputCap(t *testing.T) {
	for _, c := range []struct {
		limits Limits
		perRun int
		model  llm.Model
		want   int
		source plug.OutputSource
	}{
		{want: 16_384, source: plug.SourceDefault},
		{model: llm.Model{MaxOutputTokens: 8_000}, want: 8_000, source: plug.SourceModel},
		{model: llm.Model{MaxOutputTokens: 500_000}, want: 65_536, source: plug.SourceModel},
		{limits: Limits{MaxOutputTokens: 100_000}, model: llm.Model{MaxOutputTokens: 8_000}, want: 100_000, source: plug.SourceUser},
		{limits: Limits{MaxOutputTokens: 100_000}, perRun: 7, want: 7, source: plug.SourceUser},
		{model: llm.Model{ContextWindow: 8_192}, want: 2_048, source: plug.SourceDefault},
		{limits: Limits{MaxOutputTokens: 4_000}, model: llm.Model{ContextWindow: 8_192}, want: 2_048, source: plug.SourceUser},
		{limits: Limits{OutputCeiling: 900_000}, want: 16_384, source: plug.SourceDefault},
		{limits: Limits{OutputCeiling: 900}, want: 900, source: plug.SourceUser},
		{limits: Limits{OutputCeiling: 900}, perRun: 7_000, want: 900, source: plug.SourceUser},
		{model: llm.Model{ContextWindow: 2}, want: 1, source: plug.SourceDefault},
	} {
		got, source := c.limits.output(c.perRun, c.model)
		if got != c.want || source != c.source {
			t.Errorf("%+v: got %d %s", c, got, source)
		}
	}
}

// between are the types of what happens between runs, which the engine emits:
// TestModelChangedIsOfNoRun of package agent sees them.
func between() []plug.EventType {
	return []plug.EventType{plug.TypeModelChanged, plug.TypeUsageRecorded}
}

// TestEventContract drives the runner until every type of event was seen that a run
// has, and none that a run has not; bench.check decodes each one strictly.
func TestEventContract(t *testing.T) { synctest.Test(t, eventContract) }

func eventContract(t *testing.T) {
	reasons := func(_ context.Context, _ llm.Request, yield func(llm.Event, error) bool) {
		m := llm.Message{Text: "half", Truncated: true}
		_ = yield(llm.Event{Kind: llm.ReasoningDelta, Text: "hm"}, nil) &&
			yield(llm.Event{Kind: llm.TextDelta, Text: "half"}, nil) &&
			yield(llm.Event{Kind: llm.Completed, Message: &m}, nil)
	}
	shout := newToy("shout", plug.EffectProcess, func(_ context.Context, c *plug.Call) (plug.Result, error) {
		c.Progress("ah")
		return plug.Text("done").WithSummary("loud"), nil
	})
	plan := newToy("plan", plug.EffectRead, func(ctx context.Context, c *plug.Call) (plug.Result, error) {
		_, err := c.Ask(ctx, plug.Question{Kind: plug.AskPlan, Review: plug.Review{Title: "t", Text: "do it"}})
		return plug.Text("asked"), err
	})
	ctx, cancel := context.WithCancel(context.Background())
	p := &fake{answers: []answerFunc{
		says("", call("1", "shout", `{}`), call("1p", "plan", `{}`)), reasons, // completed, cut
		breaks("", llm.Errorf(llm.CauseUnreachable, "away")), breaks("half", llm.Errorf(llm.CauseStream, "lost")), // tried again
		message(llm.Message{Truncated: true}), breaks("", llm.Errorf(llm.CauseQuota, "used up")), // failed
		says("", call("2", "shout", `{}`)), // turns exceeded
		func(ctx context.Context, _ llm.Request, yield func(llm.Event, error) bool) { // cancelled
			cancel()
			yield(llm.Event{}, ctx.Err())
		},
	}}
	b := newBench(t, p, perm.Policy{}, &asking{answer: plug.Answer{Decision: plug.Once}}, shout, plan)
	b.o.Start = func(context.Context) ([]Injected, []HookFailure) {
		return []Injected{{Source: "p/start", Text: "hello"}}, []HookFailure{{Source: "q", Hook: "OnStart", Error: "slow"}}
	}
	b.fresh = &session.Session{ID: "new"}
	seen := map[plug.EventType]bool{}
	for _, typ := range compactionTypes(t) {
		seen[typ] = true
	}
	for _, maxTurns := range []int{5, 5, 1, 5} {
		b.o.Limits.MaxTurns = maxTurns
		b.run(ctx, "go")
		for _, typ := range b.types() {
			seen[typ] = true
		}
	}
	for _, typ := range plug.EventTypes() {
		if seen[typ] == slices.Contains(between(), typ) {
			t.Errorf("%s was seen: %v", typ, seen[typ])
		}
	}
}
