package agent

import (
	"context"
	"encoding/json"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"alisio/agent/config"
	"alisio/agent/tools"
	"alisio/llm"
	"alisio/llm/script"
	"alisio/plug"
)

// storeKinds are the stores that a test of the engine runs with.
var storeKinds = []string{"memory", "sqlite"}

// scripts is a provider with a script for each prompt: who asks is told by the first
// thing that a person said. It keeps the requests.
type scripts struct {
	mu       sync.Mutex
	by       map[string]llm.Provider
	requests map[string][]llm.Request
	// before, if set, is called at the start of each request.
	before func(ctx context.Context, prompt string)
}

func newScripts(t *testing.T, turns map[string]string) *scripts {
	t.Helper()
	s := &scripts{by: make(map[string]llm.Provider), requests: make(map[string][]llm.Request)}
	for prompt, list := range turns {
		p, err := script.Open("script", []byte(`{"model":"toy","turns":[`+list+`]}`))
		if err != nil {
			t.Fatal(err)
		}
		s.by[prompt] = p
	}
	return s
}

func (s *scripts) ID() string   { return "script" }
func (s *scripts) Close() error { return nil }

func (s *scripts) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		prompt := ""
		if i := slices.IndexFunc(req.Messages, func(m llm.Message) bool { return m.Role == llm.RoleUser && m.Context == "" }); i >= 0 {
			prompt = req.Messages[i].Text
		}
		own := req
		own.Messages = slices.Clone(req.Messages)
		s.mu.Lock()
		s.requests[prompt] = append(s.requests[prompt], own)
		p, before := s.by[prompt], s.before
		s.mu.Unlock()
		if before != nil {
			before(ctx, prompt)
		}
		if p == nil {
			yield(llm.Event{}, llm.Errorf(llm.CauseBadRequest, "there is no script for %q", prompt))
			return
		}
		p.Stream(ctx, req)(yield)
	}
}

// of are the requests of a prompt so far.
func (s *scripts) of(prompt string) []llm.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests[prompt])
}

// offered are the names of a request's tools.
func offered(r llm.Request) []string {
	var names []string
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	return names
}

// engine makes an application like that of the program, in dir/work with the state in
// dir/state; what the options name stays.
func engine(t *testing.T, kind, dir string, o Options) *App {
	t.Helper()
	o.Dir = filepath.Join(dir, "work")
	o.Dirs = config.Dirs{Config: filepath.Join(dir, "config"), State: filepath.Join(dir, "state"), Cache: filepath.Join(dir, "cache")}
	for _, d := range []string{o.Dir, o.Dirs.Config, o.Dirs.Cache} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if kind == "sqlite" {
		s, err := OpenStore(context.Background(), StoreOptions{Dirs: o.Dirs})
		if err != nil {
			t.Fatal(err)
		}
		o.Store = s
	}
	if o.Config.Limits.MaxTurns == 0 {
		o.Config = config.Default()
	}
	o.Tools = append(append(tools.All(), tools.Session()...), o.Tools...)
	o.Model.ID = "toy"
	a, err := New(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return a
}

// forEachStore runs a test with each store, in a directory with links resolved.
func forEachStore(t *testing.T, do func(t *testing.T, kind, dir string)) {
	t.Helper()
	for _, kind := range storeKinds {
		t.Run(kind, func(t *testing.T) { do(t, kind, realPath(t.TempDir())) })
	}
}

// went runs a prompt that must complete.
func went(t *testing.T, a *App, session, prompt string, onEvent func(plug.Event)) Outcome {
	t.Helper()
	out, err := a.Run(context.Background(), session, prompt, RunOptions{OnEvent: onEvent})
	if err != nil || out.Status != Completed {
		t.Fatalf("%s: got %+v, %v, %v", prompt, out, err, out.Err)
	}
	return out
}

// answering is a person.
type answering func(context.Context, plug.Question) (plug.Answer, error)

func (f answering) Ask(ctx context.Context, q plug.Question) (plug.Answer, error) { return f(ctx, q) }

// always is a person with one answer.
func always(d plug.Decision) answering {
	return func(_ context.Context, q plug.Question) (plug.Answer, error) {
		return plug.Answer{Decision: d, Chosen: make([]plug.Chosen, len(q.Questions))}, nil
	}
}

// plugged is a plugin whose API the test keeps.
func plugged(id string, api **plug.API, setup func(*plug.API) error) plug.Plugin {
	return plug.Plugin{ID: id, Name: id, Version: "1.0.0", APIVersion: 1, Setup: func(_ context.Context, own *plug.API) error {
		if api != nil {
			*api = own
		}
		if setup == nil {
			return nil
		}
		return setup(own)
	}}
}

// toyTool is a tool that does something of the test's.
type toyTool struct {
	name   string
	effect plug.Effect
	do     func(context.Context, *plug.Call) (plug.Result, error)
}

func (x toyTool) Spec() plug.ToolSpec {
	return plug.ToolSpec{Name: x.name, Effect: x.effect, Schema: json.RawMessage(`{"type":"object"}`)}
}

func (x toyTool) Prepare(context.Context, *plug.Call) (plug.Plan, error) {
	return plug.Plan{Effect: x.effect, Title: x.name}, nil
}

func (x toyTool) Execute(ctx context.Context, c *plug.Call, _ plug.Plan) (plug.Result, error) {
	return x.do(ctx, c)
}

// resultsOf are the texts of the results in a session.
func resultsOf(t *testing.T, a *App, session string) []string {
	t.Helper()
	messages, err := a.store.Messages(context.Background(), session)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, m := range messages {
		if m.Role == llm.RoleTool {
			texts = append(texts, m.PlainText())
		}
	}
	return texts
}

// storedEvents are the events of a session, and their types.
func storedEvents(t *testing.T, a *App, session string) (events []plug.Event, types []plug.EventType) {
	t.Helper()
	events, err := a.store.Events(context.Background(), session)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		types = append(types, e.Data.EventType())
	}
	return events, types
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func wantPrefix(t *testing.T, what, got, want string) {
	t.Helper()
	if !strings.HasPrefix(got, want) {
		t.Errorf("%s: got %q, want %q…", what, got, want)
	}
}
