package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"alisio/agent/callid"
	"alisio/agent/perm"
	"alisio/llm"
	"alisio/plug"
)

func TestReadsRunTogetherEffectsOneAfterAnother(t *testing.T) {
	// Four reads meet each other, which they can only if they run at once; the
	// writes see that nobody else runs.
	var meeting sync.WaitGroup
	meeting.Add(4)
	var running atomic.Int32
	read := newToy("look", plug.EffectRead, func(context.Context, *plug.Call) (plug.Result, error) {
		meeting.Done()
		meeting.Wait()
		return plug.Text("seen"), nil
	})
	write := newToy("change", plug.EffectWrite, func(context.Context, *plug.Call) (plug.Result, error) {
		defer running.Add(-1)
		if n := running.Add(1); n != 1 {
			return plug.Error("%d run at once", n), nil
		}
		return plug.Text("changed"), nil
	})
	p := &fake{answers: []answerFunc{
		says("", call("1", "look", `{}`), call("2", "look", `{"n":1}`), call("3", "look", `{"n":2}`), call("4", "look", `{"n":3}`),
			call("5", "change", `{}`), call("6", "change", `{"n":1}`)),
		says("done"),
	}}
	b := newBench(t, p, all, nil, read, write)
	b.run(context.Background(), "go")
	if got, want := b.results(), []string{"seen", "seen", "seen", "seen", "changed", "changed"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestConcurrentToolsRunTogetherWhateverTheirEffect(t *testing.T) {
	var meeting sync.WaitGroup
	meeting.Add(2)
	task := newToy("task", plug.EffectInternal, func(context.Context, *plug.Call) (plug.Result, error) {
		meeting.Done()
		meeting.Wait() // for ever, if they ran one after another
		return plug.Text("met"), nil
	})
	task.spec.Concurrent = true
	p := &fake{answers: []answerFunc{says("", call("1", "task", `{}`), call("2", "task", `{"n":1}`)), says("done")}}
	b := newBench(t, p, perm.Policy{}, nil, task)
	b.run(context.Background(), "go")
	if got, want := b.results(), []string{"met", "met"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestUnknownInvalidAndPanickingCalls(t *testing.T) {
	boom := newToy("boom", plug.EffectRead, func(context.Context, *plug.Call) (plug.Result, error) { panic("kaboom") })
	bad := newToy("bad", plug.EffectRead, ok(""))
	bad.prepare = func(*plug.Call) (plug.Plan, error) { return plug.Plan{}, errors.New("no such thing") }
	sly := newToy("sly", plug.EffectRead, ok("never"))
	sly.prepare = func(*plug.Call) (plug.Plan, error) { return plug.Plan{Effect: plug.EffectProcess}, nil }
	p := &fake{answers: []answerFunc{
		says("", call("1", "nothing", `{}`), call("2", "boom", `{"n":"x"}`), call("3", "boom", `{"m":1}`),
			call("4", "boom", `{}`), call("5", "bad", `{}`), call("6", "sly", `{}`), call("7", "boom", `not json {`)),
		says("sorry"),
	}}
	b := newBench(t, p, perm.Policy{}, nil, boom, bad, sly)
	b.run(context.Background(), "go")
	want := []string{"unknown tool \"nothing\"; the tools are: bad, boom, sly", "/n", "/m", "panic: kaboom", "no such thing", "beyond its declared", "no valid JSON"}
	got := b.results()
	for i, w := range want {
		if i >= len(got) || !strings.Contains(got[i], w) {
			t.Errorf("result %d: got %q, want it to contain %q", i, got[min(i, len(got)-1)], w)
		}
	}
	var started, completed int
	for _, e := range b.events {
		switch d := e.Data.(type) {
		case plug.ToolStarted:
			started++
			if d.ID == "1" && d.Effect != plug.EffectExternal {
				t.Errorf("an unknown tool has effect %s", d.Effect)
			}
		case plug.ToolCompleted:
			completed++
			if !d.IsError {
				t.Errorf("call %s is no error", d.ID)
			}
		}
	}
	if started != 7 || completed != 7 {
		t.Errorf("%d started, %d completed, want 7 each", started, completed)
	}
}

func TestTooManyCallsOfOneAnswer(t *testing.T) {
	ran := 0
	var calls []llm.ToolCall
	for i := range 130 {
		calls = append(calls, call("", "change", fmt.Sprintf(`{"n":%d}`, i)))
	}
	write := newToy("change", plug.EffectWrite, func(context.Context, *plug.Call) (plug.Result, error) {
		ran++
		return plug.Text("changed"), nil
	})
	b := newBench(t, &fake{answers: []answerFunc{says("", calls...), says("done")}}, all, nil, write)
	out := b.run(context.Background(), "go")
	got := b.results()
	if ran != 100 || out.Status != Completed || len(got) != 130 || !strings.Contains(got[100], "only the first 100 calls") {
		t.Errorf("ran %d, got %+v with %d results", ran, out, len(got))
	}
}

func TestDeniedWithoutPermission(t *testing.T) {
	ran := false
	write := newToy("change", plug.EffectWrite, func(context.Context, *plug.Call) (plug.Result, error) {
		ran = true
		return plug.Text("changed"), nil
	})
	p := &fake{answers: []answerFunc{says("", call("1", "change", `{}`)), says("I may not")}}
	b := newBench(t, p, perm.Policy{}, nil, write)
	out := b.run(context.Background(), "go")
	if ran || out.Denied != 1 || out.Code != llm.CausePermission || out.Status != Completed {
		t.Errorf("ran %v, got %+v", ran, out)
	}
	if got := b.results()[0]; !strings.Contains(got, "--allow-write") {
		t.Errorf("the remedy is not named: %q", got)
	}
	if len(p.requests[0].Tools) != 0 {
		t.Errorf("a tool that can not be allowed is offered: %v", p.requests[0].Tools)
	}
	if !slices.Contains(b.types(), plug.TypeApprovalResolved) || slices.Contains(b.types(), plug.TypeApprovalRequested) {
		t.Errorf("events: %v", b.types())
	}
}

// C055. Symptom: the model asks for the same call with the same arguments again
// and again; nothing stops it. Trigger: the same read for every request.
func TestC055DoomLoop(t *testing.T) {
	p := &fake{answers: []answerFunc{says("", call("x", "look", `{"n":1}`))}}
	b := newBench(t, p, perm.Policy{}, nil, newToy("look", plug.EffectRead, ok("same")))
	out := b.run(context.Background(), "go")
	if out.Status != Failed || out.Code != llm.CauseDoomLoop || len(p.requests) != 5 {
		t.Errorf("got %+v after %d requests", out, len(p.requests))
	}
	for i, got := range b.results() {
		if noted := strings.Contains(got, "times in a row"); noted != (i == 2 || i == 3) {
			t.Errorf("result %d: %q", i, got)
		}
	}
}

// C055 once more: what takes another time each time is the same all the same.
func TestC055DoomLoopWithVaryingDurations(t *testing.T) {
	n := 0
	test := newToy("test", plug.EffectProcess, func(context.Context, *plug.Call) (plug.Result, error) {
		n++
		return plug.Error("--- FAIL: TestTotal (0.%02ds)\nFAIL ledger/tax %d.%ds\nexit 1 · %d ms", n, n%3, n, 100*n), nil
	})
	p := &fake{answers: []answerFunc{says("", call("x", "test", `{}`))}}
	b := newBench(t, p, all, nil, test)
	if out := b.run(context.Background(), "go"); out.Code != llm.CauseDoomLoop || n != 5 {
		t.Errorf("got %+v after %d calls", out, n)
	}
}

// A plan that names another directory each time it is made is not asked about
// for ever.
func TestAPlanThatNeverStandsIsRefused(t *testing.T) {
	n := 0
	sly := newToy("sly", plug.EffectRead, ok("never"))
	sly.prepare = func(*plug.Call) (plug.Plan, error) {
		n++
		return plug.Plan{Paths: []plug.PlanPath{{Path: t.TempDir() + "/f", Access: plug.AccessRead}}}, nil
	}
	a := &asking{answer: plug.Answer{Decision: plug.Session}}
	b := newBench(t, &fake{answers: []answerFunc{says("", call("1", "sly", `{}`)), says("done")}}, perm.Policy{}, a, sly)
	b.run(context.Background(), "go")
	if got := b.results()[0]; !strings.Contains(got, "ever more directories") || n > 10 || len(a.questions) > 10 {
		t.Errorf("got %q after %d plans and %d questions", got, n, len(a.questions))
	}
}

// Arguments that only look like those that were no JSON are arguments.
func TestValidArgumentsUnderTheKeyOfBrokenOnes(t *testing.T) {
	b := newBench(t, &fake{answers: []answerFunc{says("", call("1", "look", `{"not_json":"{}"}`)), says("done")}}, perm.Policy{}, nil,
		newToy("look", plug.EffectRead, ok("seen")))
	b.run(context.Background(), "go")
	if got := b.results()[0]; !strings.Contains(got, "not_json") || strings.Contains(got, "%!") {
		t.Errorf("got %q", got)
	}
}

func TestPollingIsNoDoomLoop(t *testing.T) {
	poll := newToy("poll", plug.EffectRead, ok("not yet"))
	poll.spec.Polling = true
	p := &fake{answers: []answerFunc{says("", call("x", "poll", `{}`))}}
	b := newBench(t, p, perm.Policy{}, nil, poll)
	b.o.Limits.MaxTurns = 8
	if out := b.run(context.Background(), "go"); out.Status != TurnsExceeded {
		t.Errorf("got %+v", out)
	}
}

func TestIDsAreUniqueInTheSession(t *testing.T) {
	data := json.RawMessage(`{"role":"assistant","x":"dup","tool_calls":[{"id":"dup","function":{"name":"look","arguments":"\"dup\""}}]}`)
	first := message(llm.Message{Calls: []llm.ToolCall{call("dup", "look", `{}`)}, ProviderData: []json.RawMessage{data}})
	p := &fake{answers: []answerFunc{
		first, first,
		says("", call("", "look", `{}`), call("two", "look", `{"n":1}`), call("two", "look", `{"n":2}`)),
		says("done"),
	}}
	b := newBench(t, p, perm.Policy{}, nil, newToy("look", plug.EffectRead, ok("seen")))
	b.run(context.Background(), "go") // valid() checks that ids are unique
	h := b.history()
	second := h[3]
	if id := second.Calls[0].ID; id == "dup" || len(id) != 9 {
		t.Errorf("the second id is %q", id)
	}
	want := strings.Replace(string(data), `"id":"dup"`, `"id":"`+second.Calls[0].ID+`"`, 1)
	if got := string(second.ProviderData[0]); got != want {
		t.Errorf("provider data:\n got %s\nwant %s", got, want)
	}
	if got := string(h[1].ProviderData[0]); got != string(data) {
		t.Errorf("the first answer changed: %s", got)
	}
}

// Journal, message and server must agree on an id; what JSON or a server would
// change, or refuse, is none.
func TestUnfitIDsAreReplaced(t *testing.T) {
	data := func(id string) []json.RawMessage {
		quoted, err := json.Marshal(id)
		if err != nil {
			t.Fatal(err)
		}
		return []json.RawMessage{json.RawMessage(`{"call_id":` + string(quoted) + `}`)}
	}
	longest := strings.Repeat("é", callid.MaxChars)
	for _, c := range []struct {
		id   string
		fit  bool
		data string // what becomes of the provider's data; N stands for the new id
	}{
		{longest, true, longest}, {longest + "x", false, "N"}, {"a\xffb", false, ""}, {"\xff", false, ""}, {"", false, ""}, {"a\nb", false, "N"},
		{"call_0", true, "call_0"},
	} {
		answer := message(llm.Message{Role: llm.RoleAssistant, Calls: []llm.ToolCall{call(c.id, "look", `{}`)}, ProviderData: data(c.id)})
		b := newBench(t, &fake{answers: []answerFunc{answer, says("done")}}, all, nil, newToy("look", plug.EffectWrite, ok("seen")))
		b.run(context.Background(), "go")
		got := b.history()[1]
		id := got.Calls[0].ID
		if (id == c.id) != c.fit || !callid.Fits(id) {
			t.Errorf("%.20q became %q", c.id, id)
		}
		if rows, err := b.store.Calls(context.Background(), "s", id); err != nil || len(rows) != 1 {
			t.Errorf("%.20q: the journal holds %+v, %v", c.id, rows, err)
		}
		want := data(strings.ReplaceAll(c.data, "N", id))
		if c.data == "" {
			want = nil
		}
		if !reflect.DeepEqual(got.ProviderData, want) {
			t.Errorf("%.20q: the provider's data is %s, want %s", c.id, got.ProviderData, want)
		}
	}
}

func TestResultsAreBounded(t *testing.T) {
	big := strings.Repeat("é", 60_000) + "END"
	look := newToy("look", plug.EffectRead, func(context.Context, *plug.Call) (plug.Result, error) {
		return plug.Text(big + "\xff"), nil
	})
	for _, c := range []struct{ window, one, batch int }{{0, 48_000, 200_000}, {8_000, 3_200, 8_000}} {
		p := &fake{answers: []answerFunc{
			says("", call("1", "look", `{"n":1}`), call("2", "look", `{"n":2}`), call("3", "look", `{"n":3}`), call("4", "look", `{"n":4}`), call("5", "look", `{"n":5}`)),
			says("done"),
		}}
		b := newBench(t, p, perm.Policy{}, nil, look)
		b.o.Model.ContextWindow = c.window
		b.run(context.Background(), "go")
		sum := 0
		for i, r := range b.results() {
			n := len([]rune(r))
			sum += n
			if n > max(c.one, 60) || !strings.Contains(r, "cut here") {
				t.Errorf("window %d, result %d: %d characters, marked %v", c.window, i, n, strings.Contains(r, "cut here"))
			}
		}
		if sum > c.batch+5*60 {
			t.Errorf("window %d: %d characters in the batch", c.window, sum)
		}
		if r := b.results()[0]; !strings.Contains(r, "END") || strings.Contains(r, "\xff") {
			t.Errorf("window %d: the tail is not kept, or not valid", c.window)
		}
	}
}

func TestTheKeyIsTakenOutOfResults(t *testing.T) {
	leak := newToy("leak", plug.EffectProcess, func(_ context.Context, c *plug.Call) (plug.Result, error) {
		for _, piece := range []string{"KEY=sk-sec", "ret-1 and sk-sec", "ond"} {
			c.Progress(piece)
		}
		return plug.Text("KEY=sk-secret-1").WithSummary("sk-secret-1").WithBlock(plug.Block{Kind: plug.BlockTerminal, Output: "sk-secret-1"}), nil
	})
	p := &fake{answers: []answerFunc{says("", call("1", "leak", `{}`)), says("done")}}
	b := newBench(t, p, all, nil, leak)
	b.o.Secrets = []string{"sk-secret-1"}
	b.run(context.Background(), "go")
	if got := fmt.Sprintf("%s %s", b.history()[2].Parts[0].Text, b.history()[2].Parts[1].Block); strings.Contains(got, "secret") || strings.Count(got, "[redacted]") != 2 {
		t.Errorf("history: %s", got)
	}
	progress := ""
	for _, e := range b.events {
		if line, _ := json.Marshal(e); strings.Contains(string(line), "secret") {
			t.Errorf("event: %s", line)
		}
		if d, ok := e.Data.(plug.ToolProgress); ok {
			progress += d.Data
		}
	}
	if want := "KEY=[redacted] and sk-second"; progress != want {
		t.Errorf("progress: got %q, want %q", progress, want)
	}
}

func TestProgressIsJoinedAndBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		noisy := newToy("noisy", plug.EffectProcess, func(_ context.Context, c *plug.Call) (plug.Result, error) {
			for range 1000 {
				c.Progress(strings.Repeat("x", 100))
				time.Sleep(time.Millisecond)
			}
			c.Progress(strings.Repeat("y", 100_000))
			return plug.Text("done"), nil
		})
		p := &fake{answers: []answerFunc{says("", call("1", "noisy", `{}`)), says("done")}}
		b := newBench(t, p, all, nil, noisy)
		b.run(context.Background(), "go")
		n := 0
		for _, e := range b.events {
			if d, ok := e.Data.(plug.ToolProgress); ok {
				n++
				if len(d.Data) > 8<<10 {
					t.Errorf("an event of %d bytes", len(d.Data))
				}
			}
		}
		if n < 10 || n > 23 {
			t.Errorf("%d progress events in a second", n)
		}
	})
}

// asking answers every question alike.
type asking struct {
	answer    plug.Answer
	questions []plug.Question
}

func (a *asking) Ask(_ context.Context, q plug.Question) (plug.Answer, error) {
	a.questions = append(a.questions, q)
	return a.answer, nil
}

func TestAskedAndAllowed(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/f", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	prepared := 0
	look := newToy("look", plug.EffectRead, ok("seen"))
	look.prepare = func(*plug.Call) (plug.Plan, error) {
		prepared++
		return plug.Plan{Paths: []plug.PlanPath{{Path: dir + "/f", Access: plug.AccessRead}}}, nil
	}
	write := newToy("change", plug.EffectWrite, ok("changed"))
	p := &fake{answers: []answerFunc{says("", call("1", "look", `{}`), call("2", "change", `{}`)), says("done")}}
	a := &asking{answer: plug.Answer{Decision: plug.Once}}
	b := newBench(t, p, perm.Policy{}, a, look, write)
	b.run(context.Background(), "go")
	if got, want := b.results(), []string{"seen", "changed"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if len(a.questions) != 2 || a.questions[0].Directory != dir || prepared != 2 {
		t.Errorf("questions %+v, prepared %d times", a.questions, prepared)
	}
	requested := 0
	for _, e := range b.events {
		if _, ok := e.Data.(plug.ApprovalRequested); ok {
			requested++
		}
	}
	if requested != 2 {
		t.Errorf("%d approvals requested", requested)
	}
}

// thinker is a person who takes long to say yes.
type thinker time.Duration

func (th thinker) Ask(context.Context, plug.Question) (plug.Answer, error) {
	time.Sleep(time.Duration(th))
	return plug.Answer{Decision: plug.Once, By: plug.ByUser}, nil
}

// Symptom: a write of some milliseconds was told of as one of minutes. Trigger: a
// person who read the question first.
func TestADurationIsThatOfTheExecutionAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := newToy("slow", plug.EffectWrite, func(context.Context, *plug.Call) (plug.Result, error) {
			time.Sleep(30 * time.Millisecond)
			return plug.Text("done"), nil
		})
		p := &fake{answers: []answerFunc{says("", call("1", "slow", `{}`)), says("", call("2", "slow", `{"n":"no"}`)), says("done")}}
		b := newBench(t, p, perm.Policy{}, thinker(time.Hour), slow)
		b.run(context.Background(), "go")
		got := make(map[string]int64)
		for _, e := range b.events {
			if d, ok := e.Data.(plug.ToolCompleted); ok {
				got[d.ID] = d.DurationMs
			}
		}
		if len(got) != 2 || got["1"] != 30 || got["2"] != 0 {
			t.Errorf("got %v, want 30 ms, and 0 for the one that was refused", got)
		}
	})
}

func TestUsageThatNobodyReportedIsMarked(t *testing.T) {
	silent := func(_ context.Context, _ llm.Request, yield func(llm.Event, error) bool) {
		yield(llm.Event{Kind: llm.Completed, Message: &llm.Message{Role: llm.RoleAssistant, Text: "hello"}}, nil)
	}
	for _, c := range []struct {
		last answerFunc
		want bool
	}{{says("done"), false}, {silent, true}} {
		p := &fake{answers: []answerFunc{says("", call("1", "look", `{}`)), c.last}}
		out := newBench(t, p, all, nil, newToy("look", plug.EffectRead, ok("seen"))).run(context.Background(), "go")
		if out.Guessed != c.want || out.Usage.Input <= 10 {
			t.Errorf("got %v with %+v, want %v", out.Guessed, out.Usage, c.want)
		}
	}
}

// What a tool gives beyond what can be stored is left out with a word: a result that
// can not be stored would leave a call of which nobody knows the end.
func TestAResultThatCanNotBeStored(t *testing.T) {
	text := llm.Part{Type: llm.PartText, Text: "kept"}
	block := func(raw string) llm.Part { return llm.Part{Type: llm.PartUI, Block: json.RawMessage(raw)} }
	many := slices.Repeat([]llm.Part{text}, 2000)
	for name, c := range map[string]struct {
		parts []llm.Part
		kept  int
	}{
		"fine":       {[]llm.Part{text, block(`{"kind":"code","code":"[[\"{"}`)}, 2},
		"no JSON":    {[]llm.Part{text, block(`{`)}, 2},
		"empty":      {[]llm.Part{block(""), text}, 2},
		"deep":       {[]llm.Part{text, block(strings.Repeat("[", 200) + strings.Repeat("]", 200))}, 2},
		"large":      {[]llm.Part{text, block(`"` + strings.Repeat("x", 1<<20) + `"`)}, 2},
		"unknown":    {[]llm.Part{text, {Type: "film"}}, 2},
		"many parts": {many, 900 + 1},
	} {
		result := plug.Result{Parts: c.parts}
		tool := newToy("toy", plug.EffectWrite, func(context.Context, *plug.Call) (plug.Result, error) { return result, nil })
		b := newBench(t, &fake{answers: []answerFunc{says("", call("1", "toy", `{}`)), says("done")}}, all, nil, tool)
		out := b.run(context.Background(), "go")
		if out.Status != Completed || len(b.history()) < 3 {
			t.Fatalf("%s: %+v", name, out)
		}
		parts := b.history()[2].Parts
		dropped := strings.Contains(llm.PartsText(parts), "could not be kept")
		if len(parts) != c.kept || dropped == (name == "fine") {
			t.Errorf("%s: %d parts, want %d; told of %v", name, len(parts), c.kept, dropped)
		}
	}
}
