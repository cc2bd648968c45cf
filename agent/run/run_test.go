package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"alisio/agent/clock"
	"alisio/agent/gate"
	"alisio/agent/perm"
	"alisio/agent/session"
	"alisio/agent/workspace"
	"alisio/llm"
	"alisio/plug"
)

// fake is a provider whose n-th answer is a function.
type fake struct {
	// answers are used in order; the last one repeats.
	answers  []func(ctx context.Context, req llm.Request, yield func(llm.Event, error) bool)
	requests []llm.Request
}

func (f *fake) ID() string   { return "fake" }
func (f *fake) Close() error { return nil }
func (f *fake) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	req.Messages = slices.Clone(req.Messages)
	f.requests = append(f.requests, req)
	n := min(len(f.requests), len(f.answers)) - 1
	return func(yield func(llm.Event, error) bool) { f.answers[n](ctx, req, yield) }
}

type answerFunc = func(context.Context, llm.Request, func(llm.Event, error) bool)

// says answers with a text and calls.
func says(text string, calls ...llm.ToolCall) answerFunc {
	return message(llm.Message{Role: llm.RoleAssistant, Text: text, Calls: calls})
}

func message(m llm.Message) answerFunc {
	return func(_ context.Context, _ llm.Request, yield func(llm.Event, error) bool) {
		if m.Text != "" && !yield(llm.Event{Kind: llm.TextDelta, Text: m.Text}, nil) {
			return
		}
		own := m
		own.Calls = slices.Clone(m.Calls)
		own.ProviderData = slices.Clone(m.ProviderData)
		yield(llm.Event{Kind: llm.Completed, Message: &own, Usage: &llm.Usage{Input: 10, Output: 5}}, nil)
	}
}

// breaks sends a text and then an error.
func breaks(text string, err error) answerFunc {
	return func(_ context.Context, _ llm.Request, yield func(llm.Event, error) bool) {
		if text == "" || yield(llm.Event{Kind: llm.TextDelta, Text: text}, nil) {
			yield(llm.Event{}, err)
		}
	}
}

func call(id, name, args string) llm.ToolCall {
	return llm.ToolCall{ID: id, Name: name, Arguments: args}
}

// toy is a tool of func fields.
type toy struct {
	spec    plug.ToolSpec
	prepare func(*plug.Call) (plug.Plan, error)
	execute func(context.Context, *plug.Call) (plug.Result, error)
}

func (t toy) Spec() plug.ToolSpec { return t.spec }
func (t toy) Prepare(_ context.Context, c *plug.Call) (plug.Plan, error) {
	if t.prepare == nil {
		return plug.Plan{Title: "toy " + t.spec.Name}, nil
	}
	return t.prepare(c)
}
func (t toy) Execute(ctx context.Context, c *plug.Call, _ plug.Plan) (plug.Result, error) {
	return t.execute(ctx, c)
}

func newToy(name string, effect plug.Effect, execute func(context.Context, *plug.Call) (plug.Result, error)) toy {
	return toy{
		spec: plug.ToolSpec{
			Name: name, Effect: effect,
			Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`),
		},
		execute: execute,
	}
}

func ok(text string) func(context.Context, *plug.Call) (plug.Result, error) {
	return func(context.Context, *plug.Call) (plug.Result, error) { return plug.Text(text), nil }
}

// bench is a session in which runs are made.
type bench struct {
	t      *testing.T
	o      Options
	store  *session.Memory
	events []plug.Event
}

func newBench(t *testing.T, p llm.Provider, policy perm.Policy, asker plug.Asker, tools ...plug.Tool) *bench {
	t.Helper()
	w, err := workspace.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	store := session.NewMemory()
	if err := store.Create(context.Background(), session.Session{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	return &bench{t: t, store: store, o: Options{
		Provider: p, Model: llm.Model{ID: "m"}, Instructions: "be good", Tools: tools, Store: store,
		Gate: gate.New(gate.Options{Policy: policy, Files: w, Asker: asker, Waits: &clock.HumanWaits{}}),
	}}
}

var all = perm.Policy{AllowWrite: true, AllowProcess: true, AllowExternal: true}

func (b *bench) run(ctx context.Context, prompt string) Outcome {
	b.t.Helper()
	b.events = nil
	out, err := Do(ctx, b.o, Input{SessionID: "s", Prompt: prompt, OnEvent: func(e plug.Event) { b.events = append(b.events, e) }})
	if err != nil {
		b.t.Fatal(err)
	}
	b.check()
	return out
}

// check is what holds after every run: seq without gap, one end, every event
// decodes strictly, ephemerals without id, a history in which every call has
// exactly one result behind it.
func (b *bench) check() {
	b.t.Helper()
	ends := 0
	for i, e := range b.events {
		if e.Seq != int64(i+1) {
			b.t.Errorf("event %d has seq %d", i, e.Seq)
		}
		if e.Data.EventType().Ephemeral() != (e.ID == 0) {
			b.t.Errorf("%s has id %d", e.Data.EventType(), e.ID)
		}
		if e.Data.EventType().Ends() {
			ends++
		}
		line, err := json.Marshal(e)
		if err != nil {
			b.t.Fatal(err)
		}
		if _, err := plug.DecodeEvent(line); err != nil {
			b.t.Errorf("%s: %v", line, err)
		}
	}
	if ends != 1 || !b.events[len(b.events)-1].Data.EventType().Ends() {
		b.t.Errorf("%d events end the run, the last is %s", ends, b.events[len(b.events)-1].Data.EventType())
	}
	if err := valid(b.history()); err != nil {
		b.t.Errorf("history: %v", err)
	}
}

func (b *bench) history() []llm.Message {
	b.t.Helper()
	messages, err := b.store.Messages(context.Background(), "s")
	if err != nil {
		b.t.Fatal(err)
	}
	return messages
}

func (b *bench) types() []plug.EventType {
	var types []plug.EventType
	for _, e := range b.events {
		types = append(types, e.Data.EventType())
	}
	return types
}

// results are the texts of the tool messages.
func (b *bench) results() []string {
	var texts []string
	for _, m := range b.history() {
		if m.Role == llm.RoleTool {
			texts = append(texts, m.PlainText())
		}
	}
	return texts
}

// valid checks that calls and results pair both ways.
func valid(messages []llm.Message) error {
	var open []string
	used := map[string]bool{}
	for i, m := range messages {
		if m.Role == llm.RoleTool {
			at := slices.Index(open, m.CallID)
			if at < 0 {
				return fmt.Errorf("message %d answers %q, which is not open", i, m.CallID)
			}
			open = slices.Delete(open, at, at+1)
			continue
		}
		if len(open) > 0 {
			return fmt.Errorf("message %d (%s) comes while calls %v have no result", i, m.Role, open)
		}
		for _, c := range m.Calls {
			if c.ID == "" || used[c.ID] || !json.Valid([]byte(c.Arguments)) {
				return fmt.Errorf("message %d has call %+v", i, c)
			}
			used[c.ID] = true
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("calls %v have no result", open)
	}
	return nil
}

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

func TestWithoutDurations(t *testing.T) {
	for in, want := range map[string]string{
		"":                      "",
		"nothing here 12":       "nothing here 12",
		"ok ledger 0.41s":       "ok ledger #s",
		"exit 1 · 2.1 s":        "exit 1 · #s",
		"(120 ms) and 1m3.5s.":  "(#s) and #s.",
		"10 million, 3 houses":  "10 million, 3 houses",
		"5 sheep, v2s, 12s3x":   "5 sheep, v2s, 12s3x",
		"line 10: 3 more":       "line 10: 3 more",
		"7µs 8ns":               "#s #s",
		"0.5":                   "0.5",
		"progress 10% then 20%": "progress 10% then 20%",
		"3.s":                   "3.s",
	} {
		if got := withoutDurations(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
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

// C029. Symptom: an in-band error after text becomes a success with half an
// answer. Right: the upstream message; the text is kept apart, marked.
func TestC029BrokenStreamKeepsTheTextMarked(t *testing.T) {
	p := &fake{answers: []answerFunc{breaks("Hel", llm.Errorf(llm.CauseServer, "capacity")), says("Hello")}}
	b := newBench(t, p, perm.Policy{}, nil)
	out := b.run(context.Background(), "hi")
	if out.Status != Failed || out.Code != llm.CauseServer || out.Err.Message != "capacity" {
		t.Errorf("got %+v", out)
	}
	h := b.history()
	if last := h[len(h)-1]; last.Text != "Hel" || !last.Interrupted {
		t.Errorf("kept: %+v", last)
	}
	if out := b.run(context.Background(), "again"); out.Text != "Hello" {
		t.Errorf("the next prompt: %+v", out)
	}
}

// C050. Symptom: calls of a broken stream stay without results, and the error
// is empty. Trigger: the connection ends right after the last call's delta.
func TestC050CallsOfABrokenStreamAreNotKept(t *testing.T) {
	ran := 0
	look := newToy("look", plug.EffectRead, func(context.Context, *plug.Call) (plug.Result, error) {
		ran++
		return plug.Text("seen"), nil
	})
	cut := func(_ context.Context, _ llm.Request, yield func(llm.Event, error) bool) {
		if yield(llm.Event{Kind: llm.Activity}, nil) {
			yield(llm.Event{}, llm.Errorf(llm.CauseStream, "read stream: connection reset by peer"))
		}
	}
	p := &fake{answers: []answerFunc{cut, says("fine")}}
	b := newBench(t, p, perm.Policy{}, nil, look)
	out := b.run(context.Background(), "hi")
	if out.Status != Failed || out.Err.Message == "" || ran != 0 {
		t.Errorf("got %+v, %d calls ran", out, ran)
	}
	if out := b.run(context.Background(), "again"); out.Status != Completed {
		t.Errorf("the next prompt: %+v", out)
	}
	for _, m := range b.history() {
		if len(m.Calls) > 0 {
			t.Errorf("kept: %+v", m)
		}
	}
}

// C053 and C054. Symptom: a router renames the finish reason, and a cut write
// overwrites a file. Right: what is cut is never closed by guesswork and run.
func TestC053CutArgumentsAreNeverRun(t *testing.T) {
	for name, truncated := range map[string]bool{"renamed finish reason": false, "length": true} {
		t.Run(name, func(t *testing.T) {
			ran := 0
			write := newToy("change", plug.EffectWrite, func(context.Context, *plug.Call) (plug.Result, error) {
				ran++
				return plug.Text("changed"), nil
			})
			p := &fake{answers: []answerFunc{message(llm.Message{
				Text: "I write it.", Truncated: truncated,
				Calls: []llm.ToolCall{call("1", "change", `{"n":1,"content":"xx`)},
			})}}
			b := newBench(t, p, all, nil, write)
			out := b.run(context.Background(), "go")
			if out.Status != Failed || out.Code != llm.CauseOutputTruncated || ran != 0 {
				t.Errorf("got %+v, ran %d", out, ran)
			}
			h := b.history()
			if last := h[len(h)-1]; last.Text != "I write it." || len(last.Calls) != 0 {
				t.Errorf("kept: %+v", last)
			}
		})
	}
}

func TestCompleteCallsOfACutAnswerRun(t *testing.T) {
	ran := 0
	look := newToy("look", plug.EffectRead, func(context.Context, *plug.Call) (plug.Result, error) {
		ran++
		return plug.Text("seen"), nil
	})
	p := &fake{answers: []answerFunc{
		message(llm.Message{Truncated: true, Calls: []llm.ToolCall{call("1", "look", `{"n":1}`), call("2", "look", `{"n":`)}}),
		says("done"),
	}}
	b := newBench(t, p, perm.Policy{}, nil, look)
	if out := b.run(context.Background(), "go"); out.Status != Completed || ran != 1 {
		t.Errorf("got %+v, ran %d", out, ran)
	}
}

// C014, C015. An answer without text and calls is never a finished turn.
func TestC014EmptyAnswersFail(t *testing.T) {
	reasoning := func(_ context.Context, _ llm.Request, yield func(llm.Event, error) bool) {
		if yield(llm.Event{Kind: llm.ReasoningDelta, Text: "hm"}, nil) {
			yield(llm.Event{Kind: llm.Completed, Message: &llm.Message{}}, nil)
		}
	}
	ends := func(context.Context, llm.Request, func(llm.Event, error) bool) {}
	for name, c := range map[string]struct {
		answer answerFunc
		code   llm.Cause
		text   string
	}{
		"nothing":         {message(llm.Message{}), llm.CauseStream, "returned nothing"},
		"C015 reasoning":  {reasoning, llm.CauseStream, "without any visible output"},
		"cut before text": {message(llm.Message{Truncated: true}), llm.CauseOutputTruncated, "before it said anything"},
		"no end mark":     {ends, llm.CauseStream, "without an end mark"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, &fake{answers: []answerFunc{c.answer}}, perm.Policy{}, nil)
			out := b.run(context.Background(), "hi")
			if out.Status != Failed || out.Code != c.code || !strings.Contains(out.Err.Message, c.text) {
				t.Errorf("got %+v", out)
			}
		})
	}
}

func TestTruncatedTextCompletesWithAMark(t *testing.T) {
	b := newBench(t, &fake{answers: []answerFunc{message(llm.Message{Text: "half", Truncated: true})}}, perm.Policy{}, nil)
	out := b.run(context.Background(), "hi")
	if out.Status != Completed || out.Text != "half" {
		t.Errorf("got %+v", out)
	}
	want := plug.ResponseTruncated{Turn: 1, MaxOutputTokens: 16384, Source: plug.SourceDefault}
	if got := b.events[len(b.events)-2].Data; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if end := b.events[len(b.events)-1].Data.(plug.RunCompleted); !end.Truncated {
		t.Errorf("got %+v", end)
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

func (f *failing) AddEvent(ctx context.Context, e plug.Event) (int64, error) {
	if f.left--; f.left < 0 {
		return 0, errors.New("disk is full")
	}
	return f.Memory.AddEvent(ctx, e)
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
		// Events before the first execution: run_started, turn_completed,
		// tool_started, approval_resolved.
		if want := max(0, left-3); ran > max(want, 0) {
			t.Errorf("left %d: the tool ran %d times", left, ran)
		}
	}
}

func TestInterruptedHistoryIsMended(t *testing.T) {
	b := newBench(t, &fake{answers: []answerFunc{says("fine")}}, perm.Policy{}, nil)
	b.store.Append(context.Background(), "s",
		llm.Message{Role: llm.RoleUser, Text: "go"},
		llm.Message{Role: llm.RoleAssistant, Calls: []llm.ToolCall{call("1", "look", `{}`), call("2", "look", `{}`)}},
		llm.Message{Role: llm.RoleTool, CallID: "1", Parts: []llm.Part{{Type: llm.PartText, Text: "seen"}}})
	if out := b.run(context.Background(), "again"); out.Status != Completed {
		t.Errorf("got %+v", out)
	}
	if got := b.results(); len(got) != 2 || !strings.Contains(got[1], "interrupted") {
		t.Errorf("got %q", got)
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
			if n > c.one+60 || !strings.Contains(r, "left out here") {
				t.Errorf("window %d, result %d: %d characters, marked %v", c.window, i, n, strings.Contains(r, "left out here"))
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
	b.o.Secret = "sk-secret-1"
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
		{model: llm.Model{ContextWindow: 2}, want: 1, source: plug.SourceDefault},
	} {
		got, source := c.limits.output(c.perRun, c.model)
		if got != c.want || source != c.source {
			t.Errorf("%+v: got %d %s", c, got, source)
		}
	}
}

// TestEventContract drives the runner until every type of event was seen;
// bench.check decodes each one strictly.
func TestEventContract(t *testing.T) {
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
	ctx, cancel := context.WithCancel(context.Background())
	p := &fake{answers: []answerFunc{
		says("", call("1", "shout", `{}`)), reasons, // completed, cut
		breaks("", llm.Errorf(llm.CauseServer, "down")), // failed
		says("", call("2", "shout", `{}`)),              // turns exceeded
		func(ctx context.Context, _ llm.Request, yield func(llm.Event, error) bool) { // cancelled
			cancel()
			yield(llm.Event{}, ctx.Err())
		},
	}}
	b := newBench(t, p, perm.Policy{}, &asking{answer: plug.Answer{Decision: plug.Once}}, shout)
	seen := map[plug.EventType]bool{}
	for _, maxTurns := range []int{5, 5, 1, 5} {
		b.o.Limits.MaxTurns = maxTurns
		b.run(ctx, "go")
		for _, typ := range b.types() {
			seen[typ] = true
		}
	}
	for _, typ := range plug.EventTypes() {
		if !seen[typ] {
			t.Errorf("%s was not seen", typ)
		}
	}
}
