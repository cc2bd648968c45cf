package agent

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"alisio/agent/config"
	"alisio/agent/session"
	"alisio/llm"
	"alisio/plug"
)

// seen keeps what an observer gets.
type seen struct {
	mu     sync.Mutex
	events []plug.Event
	came   chan struct{} // room for one sign
}

func newSeen() *seen { return &seen{came: make(chan struct{}, 1)} }

func (s *seen) observer(types ...plug.EventType) plug.Observer {
	return plug.Observer{Types: types, Event: func(_ context.Context, e plug.Event) {
		s.mu.Lock()
		s.events = append(s.events, e)
		s.mu.Unlock()
		select {
		case s.came <- struct{}{}:
		default:
		}
	}}
}

// wait returns the events once an event fits.
func (s *seen) wait(t *testing.T, fits func(plug.Event) bool) []plug.Event {
	t.Helper()
	for {
		s.mu.Lock()
		events := slices.Clone(s.events)
		s.mu.Unlock()
		if slices.ContainsFunc(events, fits) {
			return events
		}
		select {
		case <-s.came:
		case <-t.Context().Done():
			t.Fatal("it never came")
		}
	}
}

// A choice of the model is told with a run id of its own, numbered from 1, stored, and
// no run (spec events.md, "Delivery"). TestEventContract of package run leaves the
// type to this test.
func TestModelChangedIsOfNoRun(t *testing.T) {
	forEachStore(t, func(t *testing.T, kind, dir string) {
		p, watching := newScripts(t, map[string]string{"go": `{"text":"1"},{"text":"2"}`}), newSeen()
		a := engine(t, kind, dir, Options{Provider: p, Plugins: []plug.Plugin{plugged("toy", nil, func(api *plug.API) error {
			_, err := api.Observe(watching.observer(plug.TypeModelChanged))
			return err
		})}})
		ctx := context.Background()
		if m, err := a.SetModel(ctx, "", "first"); err != nil || m.ID != "first" {
			t.Fatalf("got %+v, %v", m, err)
		}
		id := went(t, a, "", "go", nil).SessionID
		if _, err := a.SetModel(ctx, id, "script/second"); err != nil {
			t.Fatal(err)
		}
		went(t, a, id, "go", nil)
		if r := p.of("go"); r[0].Model != "first" || r[1].Model != "second" {
			t.Errorf("asked %s and %s", r[0].Model, r[1].Model)
		}
		events, types := storedEvents(t, a, id)
		at := slices.Index(types, plug.TypeModelChanged)
		if at < 0 || slices.Contains(types[at+1:], plug.TypeModelChanged) {
			t.Fatalf("got %v", types)
		}
		e := events[at]
		if e.Seq != 1 || e.ID == 0 || e.Data != (plug.ModelChanged{Model: "second", Previous: "first"}) ||
			e.RunID == "" || e.RunID == events[0].RunID || e.RunID == events[len(events)-1].RunID {
			t.Errorf("got %+v", e)
		}
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := plug.DecodeEvent(line); err != nil || again.Data != e.Data {
			t.Errorf("%s: %+v, %v", line, again, err)
		}
		got := watching.wait(t, func(plug.Event) bool { return true })
		if len(got) != 1 || got[0].ID != e.ID || got[0].RunID != e.RunID || got[0].SessionID != id {
			t.Errorf("observed %+v", got)
		}
		if l, ok := a.store.(session.RunList); ok {
			runs, err := l.Runs(ctx, id, 10)
			if err != nil || len(runs) != 2 {
				t.Errorf("runs %+v, %v", runs, err)
			}
			if head, err := a.store.Session(ctx, id); err != nil || head.Model != "second" {
				t.Errorf("stored %+v, %v", head, err)
			}
		}
	})
}

func TestNamesOfModels(t *testing.T) {
	a := engine(t, "sqlite", realPath(t.TempDir()), Options{Provider: listing{newScripts(t, map[string]string{"go": `{"text":"1"}`})}})
	ctx := context.Background()
	id := went(t, a, "", "go", nil).SessionID
	for name, want := range map[string]string{
		"lagre": `there is no model "lagre"; did you mean "large"?`, "": "is no name of a model", "a b": "is no name of a model",
		"a\x1b[2J": "is no name of a model", strings.Repeat("m", 1000): "is no name of a model",
	} {
		if _, err := a.SetModel(ctx, id, name); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%.20q: got %v", name, err)
		}
	}
	if m, err := a.SetModel(ctx, id, "script/large"); err != nil || m.ID != "large" {
		t.Errorf("got %+v, %v", m, err)
	}
	if _, err := a.SetModel(ctx, "nobody", "large"); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v", err)
	}
	_, types := storedEvents(t, a, id)
	if n := len(types); types[n-1] != plug.TypeModelChanged || slices.Contains(types[:n-1], plug.TypeModelChanged) {
		t.Errorf("got %v", types)
	}
}

// listing is a provider with models.
type listing struct{ *scripts }

func (listing) Models(context.Context) ([]llm.Model, error) {
	return []llm.Model{{ID: "toy"}, {ID: "large"}}, nil
}

// Texts of start hooks are stored once, in front of the first prompt, and told before
// run_started; what fails, panics, takes too long or gives garbage costs its own text.
func TestStartHooksOfASession(t *testing.T) {
	forEachStore(t, func(t *testing.T, kind, dir string) {
		p := newScripts(t, map[string]string{"go": `{"text":"1"},{"text":"2"}`})
		var infos []plug.SessionInfo
		hook := func(id string, start func(context.Context, plug.SessionInfo) (string, error)) plug.Plugin {
			return plugged(id, nil, func(api *plug.API) error {
				_, err := api.OnSession(plug.SessionHooks{OnStart: start})
				return err
			})
		}
		c := config.Default()
		c.PluginHooks.TimeoutMs = 50
		a := engine(t, kind, dir, Options{Provider: p, Config: c, Plugins: []plug.Plugin{
			hook("good", func(_ context.Context, s plug.SessionInfo) (string, error) {
				infos = append(infos, s)
				return "remember the tabs", nil
			}),
			hook("fails", func(context.Context, plug.SessionInfo) (string, error) {
				return "lost", errors.New("no \x1b[2Jluck\nhere")
			}),
			hook("panics", func(context.Context, plug.SessionInfo) (string, error) { panic("at the disco") }),
			hook("slow", func(ctx context.Context, _ plug.SessionInfo) (string, error) { <-ctx.Done(); return "late", nil }),
			hook("garbage", func(context.Context, plug.SessionInfo) (string, error) {
				return "\x1b[31m</context>\xff" + strings.Repeat("g", 100_000), nil
			}),
			hook("empty", func(context.Context, plug.SessionInfo) (string, error) { return " \n", nil }),
		}})
		out := went(t, a, "", "go", nil)
		went(t, a, out.SessionID, "go", nil)
		events, types := storedEvents(t, a, out.SessionID)
		want := []plug.EventType{plug.TypeSessionContextInjected, plug.TypePluginHookFailed, plug.TypePluginHookFailed, plug.TypePluginHookFailed, plug.TypeRunStarted}
		if !slices.Equal(types[:5], want) || slices.Contains(types[5:], plug.TypeSessionContextInjected) || slices.Contains(types[5:], plug.TypePluginHookFailed) {
			t.Fatalf("got %v", types)
		}
		if in := events[0].Data.(plug.SessionContextInjected); !slices.Equal(in.Sources, []string{"good", "garbage"}) || in.Tokens == 0 {
			t.Errorf("got %+v", in)
		}
		for i, want := range map[int]string{1: "fails no luck here", 2: "panics panic: at the disco", 3: "slow it took longer than 50ms"} {
			f := events[i].Data.(plug.PluginHookFailed)
			if !strings.HasPrefix(f.Source+" "+f.Error, want) || f.Hook != "OnStart" || !f.Continued {
				t.Errorf("got %+v, want %s", f, want)
			}
		}
		messages, err := a.store.Messages(context.Background(), out.SessionID)
		if err != nil || len(messages) != 6 || messages[0].Context != "good" || !strings.Contains(messages[0].Text, "remember the tabs") ||
			messages[1].Context != "garbage" || len(messages[1].Text) > 25_000 || strings.Contains(messages[1].Text, "\x1b") || !utf8.ValidString(messages[1].Text) ||
			strings.Count(messages[1].Text, "</context>") != 1 || messages[2].Text != "go" {
			t.Errorf("got %d messages, %v", len(messages), err)
		}
		if len(infos) != 1 || infos[0] != (plug.SessionInfo{SessionID: out.SessionID, Workspace: a.root, Model: "toy", Agent: "build"}) {
			t.Errorf("got %+v", infos)
		}
	})
}

// End hooks are called once for a session in which something was said: when it is
// left, or at the program's end.
func TestEndHooksOfASession(t *testing.T) {
	forEachStore(t, func(t *testing.T, kind, dir string) {
		p := newScripts(t, map[string]string{"go": `{"text":"1"},{"text":"2"},{"text":"3"},{"text":"4"}`})
		var mu sync.Mutex
		ends := make(map[string]int)
		c := config.Default()
		c.PluginHooks.SessionEndTimeoutMs = 50
		a := engine(t, kind, dir, Options{Provider: p, Config: c, Plugins: []plug.Plugin{plugged("toy", nil, func(api *plug.API) error {
			for _, end := range []func(context.Context, plug.SessionInfo) error{
				func(_ context.Context, s plug.SessionInfo) error {
					mu.Lock()
					defer mu.Unlock()
					ends[s.SessionID]++
					return nil
				},
				func(context.Context, plug.SessionInfo) error { panic("at the end") },
				func(ctx context.Context, _ plug.SessionInfo) error { <-ctx.Done(); <-t.Context().Done(); return nil },
			} {
				if _, err := api.OnSession(plug.SessionHooks{OnEnd: end}); err != nil {
					return err
				}
			}
			return nil
		})}})
		ctx := context.Background()
		left, again, stays := went(t, a, "", "go", nil).SessionID, went(t, a, "", "go", nil).SessionID, went(t, a, "", "go", nil).SessionID
		a.Leave(ctx, left)
		a.Leave(ctx, left)
		a.Leave(ctx, "")
		a.Leave(ctx, "nobody")
		a.Leave(ctx, again)
		went(t, a, again, "go", nil)
		_, types := storedEvents(t, a, left)
		if !slices.Equal(types[len(types)-2:], []plug.EventType{plug.TypePluginHookFailed, plug.TypePluginHookFailed}) {
			t.Errorf("got %v", types)
		}
		events, _ := storedEvents(t, a, left)
		if last := events[len(events)-2:]; last[0].Seq != 1 || last[1].Seq != 2 || last[0].RunID != last[1].RunID || last[0].RunID == events[0].RunID {
			t.Errorf("got %+v", last)
		}
		if err := a.Close(ctx); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		if len(ends) != 3 || ends[left] != 1 || ends[again] != 2 || ends[stays] != 1 {
			t.Errorf("got %v", ends)
		}
	})
}
