package run

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"alisio/agent/perm"
	"alisio/llm"
	"alisio/plug"
)

func TestATurnWorksWithWhatThereIsNow(t *testing.T) {
	late := newToy("late", plug.EffectRead, ok("here by now"))
	look := newToy("look", plug.EffectRead, ok("seen"))
	p := &fake{answers: []answerFunc{
		says("", call("1", "look", `{}`), call("2", "late", `{}`)), says("", call("3", "late", `{"n":1}`)),
		says("", call("4", "look", `{"n":2}`)), says("done"),
	}}
	b := newBench(t, p, perm.Policy{}, nil)
	turns := 0
	b.o.Turn = func(context.Context) (Turn, error) {
		turns++
		now := b.now
		now.Tools = []plug.Tool{look}
		if turns >= 2 {
			now.Tools = []plug.Tool{look, late}
		}
		if turns >= 4 {
			now.Instructions = "be brief"
		}
		return now, nil
	}
	b.run(context.Background(), "go")
	if got, want := fmt.Sprint(b.results()), "[seen unknown tool \"late\"; the tools are: look here by now seen]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for i, want := range []string{"look be good", "late look be good", "late look be good", "late look be brief"} {
		var names []string
		for _, tool := range p.requests[i].Tools {
			names = append(names, tool.Name)
		}
		if got := strings.Join(names, " ") + " " + p.requests[i].Instructions; got != want {
			t.Errorf("request %d: got %q, want %q", i, got, want)
		}
	}
	if &p.requests[1].Tools[0] != &p.requests[2].Tools[0] || turns != 4 {
		t.Errorf("the same tools were made anew, or %d turns were asked for", turns)
	}
}

func TestOnlyWhatChangedIsMadeAnew(t *testing.T) {
	look, other := newToy("look", plug.EffectRead, ok("")), newToy("other", plug.EffectRead, ok(""))
	b := newBench(t, &fake{}, perm.Policy{}, nil, look, other)
	l, err := newLoop(context.Background(), b.o, Input{SessionID: "s", Prompt: "go"})
	if err != nil {
		t.Fatal(err)
	}
	renew := func() (offered []llm.Tool, tools map[string]*tool) {
		if err := l.renew(); err != nil {
			t.Fatal(err)
		}
		return l.offered, l.tools
	}
	offered, tools := renew()
	look.spec.Description = "better"
	for _, c := range []struct {
		tools []plug.Tool
		same  bool
	}{{[]plug.Tool{other, newToy("look", plug.EffectRead, ok(""))}, true}, {[]plug.Tool{look, other}, false}} {
		b.now.Tools = c.tools
		now, by := renew()
		if (&now[0] == &offered[0]) != c.same || by["look"].schema != tools["look"].schema {
			t.Errorf("%v: offered anew, or a schema was compiled again", c)
		}
	}
	look.spec.Schema = json.RawMessage(`{"type":"object"}`)
	b.now.Tools = []plug.Tool{look, other}
	if _, by := renew(); by["look"].schema == tools["look"].schema || by["other"].schema != tools["other"].schema {
		t.Error("another schema was not compiled, or the same one was")
	}
}

// bad is a tool that does not say what it is.
type bad struct{ toy }

func (bad) Spec() plug.ToolSpec { panic("who am I") }

func TestATurnThatCanNotBeMadeEndsTheRun(t *testing.T) {
	broken := newToy("broken", plug.EffectRead, ok(""))
	broken.spec.Schema = json.RawMessage(`{"type":7}`)
	for name, c := range map[string]struct {
		turn  func(Turn) (Turn, error)
		cause llm.Cause
		says  string
	}{
		"an error":        {func(now Turn) (Turn, error) { return now, llm.Errorf(llm.CauseBudget, "too dear") }, llm.CauseBudget, "too dear"},
		"a broken schema": {func(now Turn) (Turn, error) { now.Tools = []plug.Tool{broken}; return now, nil }, llm.CauseInternal, "tool broken"},
		"a panic":         {func(now Turn) (Turn, error) { now.Tools = []plug.Tool{bad{}}; return now, nil }, llm.CauseInternal, "who am I"},
	} {
		p := &fake{answers: []answerFunc{says("", call("1", "look", `{}`)), says("done")}}
		b := newBench(t, p, perm.Policy{}, nil, newToy("look", plug.EffectRead, ok("seen")))
		turns := 0
		b.o.Turn = func(context.Context) (Turn, error) {
			if turns++; turns == 2 {
				return c.turn(b.now)
			}
			return b.now, nil
		}
		out := b.run(context.Background(), "go")
		if out.Status != Failed || out.Code != c.cause || !strings.Contains(out.Err.Message, c.says) || len(p.requests) != 1 {
			t.Errorf("%s: got %+v after %d requests", name, out, len(p.requests))
		}
	}
}

func BenchmarkRenew(b *testing.B) {
	var tools []plug.Tool
	for i := range 30 {
		one := newToy(fmt.Sprintf("tool_%d", i), plug.EffectRead, ok(""))
		one.spec.Description = strings.Repeat("d", 300)
		one.spec.Schema = json.RawMessage(`{"type":"object","properties":{` + strings.Repeat(`"a":{"type":"string"},`, 30) + `"n":{"type":"integer"}}}`)
		tools = append(tools, one)
	}
	bench := newBench(b, &fake{}, perm.Policy{}, nil, tools...)
	l, err := newLoop(context.Background(), bench.o, Input{SessionID: "s", Prompt: "go"})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := l.renew(); err != nil {
			b.Fatal(err)
		}
	}
}
