package run

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"testing"

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

func (f *fake) ID() string { return "fake" }

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
	t   testing.TB
	o   Options
	now Turn
	// fresh is the session that the next run makes; id is the last one's.
	fresh *session.Session
	id    string
	// root is the workspace, files its access.
	root   string
	files  *workspace.Workspace
	store  *session.Memory
	events []plug.Event
}

func newBench(t testing.TB, p llm.Provider, policy perm.Policy, asker plug.Asker, tools ...plug.Tool) *bench {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	store := session.NewMemory()
	if err := store.Create(context.Background(), session.Session{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, store: store, id: "s", root: root, files: w, now: Turn{Instructions: "be good", Tools: tools}}
	b.ask(policy, asker)
	b.o = Options{
		Provider: p, Model: llm.Model{ID: "m"}, Store: store,
		Turn: func(context.Context) (Turn, error) { return b.now, nil },
	}
	return b
}

// ask sets who decides.
func (b *bench) ask(policy perm.Policy, asker plug.Asker) {
	b.now.Gate = gate.New(gate.Options{Policy: policy, Files: b.files, Tree: gate.NewTree(asker, &clock.HumanWaits{})})
}

var all = perm.Policy{AllowWrite: true, AllowProcess: true, AllowExternal: true}

func (b *bench) run(ctx context.Context, prompt string) Outcome {
	b.t.Helper()
	b.events = nil
	in := Input{Fresh: b.fresh, Prompt: prompt, OnEvent: func(e plug.Event) { b.events = append(b.events, e) }}
	if b.fresh != nil {
		b.id = b.fresh.ID
	}
	b.fresh, in.SessionID = nil, b.id
	out, err := Do(ctx, b.o, in)
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
	messages, err := b.store.Messages(context.Background(), b.id)
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
