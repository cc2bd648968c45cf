package run

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
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
	// times is when each request came.
	times []time.Time
}

func (f *fake) ID() string { return "fake" }

func (f *fake) Close() error { return nil }

func (f *fake) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	req.Messages, req.Sent = slices.Clone(req.Messages), nil
	f.requests, f.times = append(f.requests, req), append(f.times, time.Now())
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

// step is something that a server does, after a time. Without an event and an error
// it is silence.
type step struct {
	after time.Duration
	event llm.Event
	err   error
}

// steps answers with one step after another. A request that is given up ends as a
// connection does.
func steps(steps ...step) answerFunc {
	return func(ctx context.Context, _ llm.Request, yield func(llm.Event, error) bool) {
		for _, s := range steps {
			if !pass(ctx, s.after) {
				yield(llm.Event{}, llm.Errorf(llm.CauseUnreachable, "read answer: %w", ctx.Err()))
				return
			}
			if s.err != nil || s.event.Kind != 0 {
				if !yield(s.event, s.err) || s.err != nil {
					return
				}
			}
		}
	}
}

// pass lets time pass and reports whether ctx let it.
func pass(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// forever is longer than any limit.
const forever = 1000 * time.Hour

func silence(d time.Duration) step { return step{after: d} }

func spoken(s string) step { return step{event: llm.Event{Kind: llm.TextDelta, Text: s}} }

func reasoning(s string) step { return step{event: llm.Event{Kind: llm.ReasoningDelta, Text: s}} }

func typed() step { return step{event: llm.Event{Kind: llm.Activity}} }

func piece() step { return step{event: llm.Event{Kind: llm.CallDelta}} }

func fails(err error) step { return step{err: err} }

func completes(m llm.Message) step {
	m.Role = llm.RoleAssistant
	return step{event: llm.Event{Kind: llm.Completed, Message: &m, Usage: &llm.Usage{Input: 10, Output: 5}}}
}

// later is a step after a time.
func later(d time.Duration, s step) step {
	s.after = d
	return s
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

// defaults are the limits of the specification, but those with a change.
func defaults() Limits {
	return Limits{MaxTurns: 100, FirstToken: 2 * time.Minute, FirstTokenRetries: 1, Idle: 2 * time.Minute, TruncationRecoveries: 2}
}

func but(change func(l *Limits)) Limits {
	l := defaults()
	change(&l)
	return l
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
	// replaced: messages of the session were.
	replaced bool
	// show, if set, is a surface; took is how long the last run took.
	show func(plug.Event)
	took time.Duration
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
		Turn: func(context.Context) (Turn, error) { return b.now, nil }, Limits: defaults(),
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
	in := Input{Fresh: b.fresh, Prompt: prompt, OnEvent: func(e plug.Event) {
		b.events = append(b.events, e)
		if b.show != nil {
			b.show(e)
		}
	}}
	if b.fresh != nil {
		b.id = b.fresh.ID
	}
	b.fresh, in.SessionID = nil, b.id
	begin := time.Now()
	out, err := Do(ctx, b.o, in)
	b.took = time.Since(begin)
	if err != nil {
		b.t.Fatal(err)
	}
	b.check()
	return out
}

// check is what holds after every run: seq without gap, one end, every event
// decodes strictly, ephemerals without id, a history in which every call has
// exactly one result behind it, and requests that told no less and no more than it.
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
	if p, ok := b.o.Provider.(*fake); ok {
		b.checkRequests(p.requests)
	}
}

// checkRequests is what holds for requests: each is the history of its time, word for
// word, and behind it at most a notice, which is stored nowhere.
func (b *bench) checkRequests(requests []llm.Request) {
	b.t.Helper()
	var stored []string
	for i, m := range b.history() {
		if strings.Contains(m.PlainText(), noticeMark) {
			b.t.Errorf("message %d stores a notice: %q", i, m.Text)
		}
		stored = append(stored, fmt.Sprintf("%+v", m))
	}
	for _, e := range b.events {
		switch e.Data.(type) {
		case plug.CompactionCompleted, plug.ContextReduced:
			b.replaced = true // what was sent before is no longer what is stored
		}
	}
	if b.replaced {
		return
	}
	for i, r := range requests {
		if r.SessionID != b.id || isSummary(r) {
			continue
		}
		told := r.Messages
		if notice(r) != "" {
			told = told[:len(told)-1]
		}
		for j, m := range told {
			if got := fmt.Sprintf("%+v", m); j >= len(stored) || got != stored[j] {
				b.t.Fatalf("request %d tells as message %d: %s, which is not what is stored", i, j, got)
			}
		}
	}
}

// notice is what a request tells beside the history.
func notice(r llm.Request) string {
	if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == llm.RoleUser && strings.HasPrefix(r.Messages[n-1].Text, noticeMark) {
		return r.Messages[n-1].Text
	}
	return ""
}

// notices are those of all requests.
func (f *fake) notices() []string {
	var all []string
	for _, r := range f.requests {
		all = append(all, notice(r))
	}
	return all
}

// told are the payloads of one type that a run told.
func told[T plug.Payload](b *bench) []T {
	var all []T
	for _, e := range b.events {
		if p, ok := e.Data.(T); ok {
			all = append(all, p)
		}
	}
	return all
}

// failed is the end of a run that failed.
func (b *bench) failed() plug.RunFailed {
	b.t.Helper()
	f, ok := b.end().(plug.RunFailed)
	if !ok {
		b.t.Fatalf("the run ended with %+v", b.end())
	}
	return f
}

// same compares what can be compared by value, and prints what differs.
func same(t testing.TB, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

// answered and broken are assistant messages as they are stored: of an answer that was complete, or
// one that broke off.
func answered(text string) llm.Message { return llm.Message{Role: llm.RoleAssistant, Text: text} }

func broken(text string) llm.Message {
	return llm.Message{Role: llm.RoleAssistant, Text: text, Interrupted: true, Origin: llm.Origin{Provider: "fake", Model: "m"}}
}

// tail are the messages behind the first prompt.
func (b *bench) tail() []llm.Message { return b.history()[1:] }

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
