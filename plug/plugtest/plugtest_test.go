package plugtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"alisio/llm"
	"alisio/plug"
)

type tool struct{ spec func() plug.ToolSpec }

func (t tool) Spec() plug.ToolSpec                                    { return t.spec() }
func (t tool) Prepare(context.Context, *plug.Call) (plug.Plan, error) { return plug.Plan{}, nil }
func (t tool) Execute(context.Context, *plug.Call, plug.Plan) (plug.Result, error) {
	return plug.Text("ok"), nil
}

func spec() plug.ToolSpec {
	return plug.ToolSpec{Name: "note", Description: "keeps a note", Effect: plug.EffectInternal, Schema: json.RawMessage(`{"type":"object"}`)}
}

// good is a plugin that does everything that there is to do, and well.
func good() plug.Plugin {
	say := func(ctx context.Context, _ string) (string, error) { return "text", ctx.Err() }
	return plug.Plugin{ID: "toy", Name: "Toy", Version: "1.2.3-rc.1", APIVersion: plug.APIVersion,
		Setup: func(ctx context.Context, api *plug.API) error {
			api.UI.Status("toy")
			var all error
			do := func(_ func(), err error) { all = errors.Join(all, err) }
			do(api.AddTool(tool{spec}))
			do(api.AddSlashCommand(plug.SlashCommand{Name: "toy", Run: func(context.Context, string, string) (string, error) { return "", nil }}))
			do(api.AddAgent(plug.Agent{ID: "toy"}))
			do(api.AddProvider(plug.ProviderRegistration{ID: "toy", Create: func(context.Context, plug.ProviderSettings) (llm.Provider, error) { return nil, nil }}))
			do(api.AddContext(plug.ContextSource{Name: "toy", Text: say}))
			do(api.AddResources(plug.ResourceDirs{}))
			do(api.Observe(plug.Observer{Types: []plug.EventType{plug.TypeRunCompleted}, Event: func(context.Context, plug.Event) { api.UI.Status("seen") }}))
			do(api.OnSession(plug.SessionHooks{
				OnStart: func(ctx context.Context, s plug.SessionInfo) (string, error) { return say(ctx, s.SessionID) },
				OnEnd:   func(ctx context.Context, s plug.SessionInfo) error { <-ctx.Done(); return ctx.Err() },
			}))
			do(api.OnCompaction(plug.CompactionHooks{
				Before: func(context.Context, plug.CompactionInput) (plug.CompactionWish, error) {
					return plug.CompactionWish{}, nil
				},
				After: func(context.Context, plug.CompactionResult) (plug.CompactionReport, error) {
					return plug.CompactionReport{}, nil
				},
			}))
			do(api.Extend.Mascot(plug.Mascot{ID: "toy", Render: func(ctx context.Context, _ plug.MascotContext) (string, error) { return say(ctx, "") }}))
			do(api.Extend.StartupScreen(plug.StartupScreen{ID: "toy", Render: func(ctx context.Context, _ plug.ScreenContext) (string, error) { return say(ctx, "") }}))
			do(api.Extend.WebSearch(plug.WebSearch{ID: "toy", Search: func(context.Context, string) ([]plug.SearchHit, error) { return nil, nil }}))
			do(api.Extend.Facts(plug.Facts{ID: "toy", List: func(context.Context) ([]plug.Fact, error) { return nil, nil }}))
			return all
		},
		Dispose: func(context.Context) error { return nil },
	}
}

func TestGoodPlugin(t *testing.T) { Run(t, good) }

// setUp is a good plugin with another Setup.
func setUp(do func(api *plug.API) error) func() plug.Plugin {
	return func() plug.Plugin {
		p := good()
		p.Setup = func(_ context.Context, api *plug.API) error { return do(api) }
		return p
	}
}

func changed(change func(p *plug.Plugin)) func() plug.Plugin {
	return func() plug.Plugin {
		p := good()
		change(&p)
		return p
	}
}

func ignore(func(), error) error { return nil }

// Each rule rejects plugins that break it.
func TestBadPlugins(t *testing.T) {
	badSpec := func(change func(s *plug.ToolSpec)) func() plug.Plugin {
		return setUp(func(api *plug.API) error {
			return ignore(api.AddTool(tool{func() plug.ToolSpec { s := spec(); change(&s); return s }}))
		})
	}
	start := func(do func(ctx context.Context) (string, error)) func() plug.Plugin {
		return setUp(func(api *plug.API) error {
			return ignore(api.OnSession(plug.SessionHooks{OnStart: func(ctx context.Context, _ plug.SessionInfo) (string, error) { return do(ctx) }}))
		})
	}
	var made, shared int
	for name, c := range map[string]struct {
		fresh func() plug.Plugin
		rule  string
	}{
		"bad id":            {changed(func(p *plug.Plugin) { p.ID = "Toy" }), "identity"},
		"no name":           {changed(func(p *plug.Plugin) { p.Name = "" }), "identity"},
		"odd version":       {changed(func(p *plug.Plugin) { p.Version = "v1" }), "identity"},
		"leading zero":      {changed(func(p *plug.Plugin) { p.Version = "1.02.0" }), "identity"},
		"another contract":  {changed(func(p *plug.Plugin) { p.APIVersion = 2 }), "identity"},
		"another each time": {changed(func(p *plug.Plugin) { made++; p.ID = fmt.Sprint("toy", made) }), "identity"},
		"no setup":          {changed(func(p *plug.Plugin) { p.Setup = nil }), "setup"},
		"setup fails":       {setUp(func(*plug.API) error { return errors.New("no luck") }), "setup"},
		"setup panics":      {setUp(func(*plug.API) error { panic("no luck") }), "setup"},
		"setup hangs":       {setUp(func(*plug.API) error { time.Sleep(time.Hour); return nil }), "setup"},
		"setup ends":        {setUp(func(*plug.API) error { runtime.Goexit(); return nil }), "setup"},
		"setup runs a program": {setUp(func(api *plug.API) error {
			_, err := api.Exec(context.Background(), "s", plug.Command{})
			return err
		}), "setup"},
		"a name twice": {setUp(func(api *plug.API) error {
			return errors.Join(ignore(api.AddAgent(plug.Agent{ID: "a"})), ignore(api.AddAgent(plug.Agent{ID: "a"})))
		}), "setup"},
		"a bad command":      {setUp(func(api *plug.API) error { return ignore(api.AddSlashCommand(plug.SlashCommand{Name: "/x"})) }), "setup"},
		"relative resources": {setUp(func(api *plug.API) error { return ignore(api.AddResources(plug.ResourceDirs{Skills: []string{"x"}})) }), "setup"},
		"a wish that is refused": {setUp(func(api *plug.API) error {
			return ignore(api.OnCompaction(plug.CompactionHooks{Before: func(context.Context, plug.CompactionInput) (plug.CompactionWish, error) {
				return plug.CompactionWish{Fields: map[string]string{"no name": "x"}}, nil
			}}))
		}), "cancelled hooks"},
		"state of the package": {setUp(func(api *plug.API) error {
			if shared++; shared > 1 {
				return nil
			}
			return ignore(api.AddAgent(plug.Agent{ID: "a"}))
		}), "setup twice"},
		"refusal panics": {setUp(func(api *plug.API) error {
			undo, _ := api.AddAgent(plug.Agent{ID: "a"})
			undo()
			return nil
		}), "refused registrations"},
		"tool's name":             {badSpec(func(s *plug.ToolSpec) { s.Name = "Note" }), "setup"},
		"tool's schema":           {badSpec(func(s *plug.ToolSpec) { s.Schema = json.RawMessage(`{"type":"string"}`) }), "tool specs"},
		"tool's description":      {badSpec(func(s *plug.ToolSpec) { s.Description = " " }), "tool specs"},
		"tool's schema is a list": {badSpec(func(s *plug.ToolSpec) { s.Schema = json.RawMessage(`[]`) }), "setup"},
		"agent's color":           {setUp(func(api *plug.API) error { return ignore(api.AddAgent(plug.Agent{ID: "a", Color: "beige"})) }), "setup"},
		"too many directories": {setUp(func(api *plug.API) error {
			return ignore(api.AddResources(plug.ResourceDirs{Skills: make([]string, plug.MaxDirs+1)}))
		}), "setup"},
		"tool's effect":      {badSpec(func(s *plug.ToolSpec) { s.Effect = "magic" }), "setup"},
		"tool that changes":  {badSpec(func(s *plug.ToolSpec) { made++; s.Description = fmt.Sprint(made) }), "tool specs"},
		"hook that waits":    {start(func(context.Context) (string, error) { time.Sleep(time.Hour); return "", nil }), "cancelled hooks"},
		"hook that panics":   {start(func(context.Context) (string, error) { panic("no luck") }), "cancelled hooks"},
		"hook says too much": {start(func(context.Context) (string, error) { return strings.Repeat("x", 24_001), nil }), "cancelled hooks"},
		"hook says garbage":  {start(func(context.Context) (string, error) { return "\xff", nil }), "cancelled hooks"},
		"context that waits": {setUp(func(api *plug.API) error {
			return ignore(api.AddContext(plug.ContextSource{Name: "c", Text: func(context.Context, string) (string, error) { time.Sleep(time.Hour); return "", nil }}))
		}), "cancelled hooks"},
		"mascot that waits": {setUp(func(api *plug.API) error {
			return ignore(api.Extend.Mascot(plug.Mascot{ID: "m", Render: func(context.Context, plug.MascotContext) (string, error) { time.Sleep(time.Hour); return "", nil }}))
		}), "cancelled hooks"},
		"dispose fails":  {changed(func(p *plug.Plugin) { p.Dispose = func(context.Context) error { return errors.New("no luck") } }), "dispose"},
		"dispose panics": {changed(func(p *plug.Plugin) { p.Dispose = func(context.Context) error { panic("no luck") } }), "dispose"},
		"dispose hangs":  {changed(func(p *plug.Plugin) { p.Dispose = func(context.Context) error { time.Sleep(time.Hour); return nil } }), "dispose"},
		"dispose hangs when hurried": {changed(func(p *plug.Plugin) {
			p.Dispose = func(ctx context.Context) error {
				if ctx.Err() != nil {
					time.Sleep(time.Hour)
				}
				return nil
			}
		}), "dispose"},
		"registers in dispose": {changed(func(p *plug.Plugin) {
			var kept *plug.API
			setup := p.Setup
			p.Setup = func(ctx context.Context, api *plug.API) error { kept = api; return setup(ctx, api) }
			p.Dispose = func(context.Context) error { return ignore(kept.AddAgent(plug.Agent{ID: "late"})) }
		}), "nothing after dispose"},
		"registers behind dispose": {changed(func(p *plug.Plugin) {
			var kept *plug.API
			setup := p.Setup
			p.Setup = func(ctx context.Context, api *plug.API) error { kept = api; return setup(ctx, api) }
			p.Dispose = func(context.Context) error { go kept.AddAgent(plug.Agent{ID: "late"}); return nil }
		}), "nothing after dispose"},
		"registers much later": {changed(func(p *plug.Plugin) {
			var kept *plug.API
			setup := p.Setup
			p.Setup = func(ctx context.Context, api *plug.API) error { kept = api; return setup(ctx, api) }
			p.Dispose = func(context.Context) error {
				time.AfterFunc(time.Minute, func() { kept.AddAgent(plug.Agent{ID: "late"}) })
				return nil
			}
		}), "nothing after dispose"},
	} {
		synctest.Test(t, func(t *testing.T) {
			shared = 0
			s := suite{fresh: c.fresh, dir: func() string { return "/none" }}
			var broken []string
			for _, r := range append(rules(), rule{"nothing after dispose", nothingAfter}) {
				if err := r.check(context.Background(), s); err != nil {
					broken = append(broken, r.name)
				}
				shared = 0
			}
			if !slices.Contains(broken, c.rule) {
				t.Errorf("%s: broke %q, not %s", name, broken, c.rule)
			}
			time.Sleep(2 * time.Hour) // until what waits has ended
		})
	}
}

func TestHostKeepsWhatItIsTold(t *testing.T) {
	ctx := t.Context()
	asked := ""
	h := &Host{
		Dir: "/d", Options: json.RawMessage(`{"depth": 3}`),
		HTTP: func(plug.Purpose) *http.Client { return nil },
		Exec: func(_ context.Context, id string, _ plug.Command) (plug.Exit, error) {
			return plug.Exit{Output: id}, nil
		},
		Ask: func(_ context.Context, _ string, q []plug.Choice) ([]plug.Chosen, error) {
			asked = q[0].Question
			return []plug.Chosen{{Options: []int{1}}}, nil
		},
		Sessions: plug.Sessions{Get: func(_ context.Context, id string) (plug.Child, error) { return plug.Child{ID: id}, nil }},
	}
	var api *plug.API
	p := good()
	inner := p.Setup
	p.Setup = func(ctx context.Context, a *plug.API) error {
		api = a
		var o struct{ Depth int }
		if err := a.Options(&o); err != nil || o.Depth != 3 {
			t.Errorf("options: got %+v, %v", o, err)
		}
		if err := a.Options(&struct{}{}); err == nil {
			t.Error("an unknown option was taken")
		}
		if _, err := a.Exec(ctx, "s", plug.Command{}); err == nil {
			t.Error("a program runs during setup")
		}
		return inner(ctx, a)
	}
	if err := h.Setup(ctx, p); err != nil {
		t.Fatal(err)
	}
	if got := h.List(); len(got) != 13 || got[0] != "agent toy" || h.Tool("note") == nil || h.Tool("other") != nil || len(Registered[plug.Agent](h)) != 1 {
		t.Errorf("got %q", got)
	}
	if exit, err := api.Exec(ctx, "s", plug.Command{}); exit.Output != "s" || err != nil {
		t.Errorf("got %+v, %v", exit, err)
	}
	if _, err := api.Git(ctx, "s", "/"); err == nil {
		t.Error("git without an answer")
	}
	if n, err := api.UI.Select(ctx, "s", "which?", []plug.Option{{Label: "a"}, {Label: "b"}}); n != 1 || err != nil || asked != "which?" {
		t.Errorf("got %d, %v, asked %q", n, err, asked)
	}
	if c, err := api.Sessions.Get(ctx, "x"); c.ID != "x" || err != nil {
		t.Errorf("got %+v, %v", c, err)
	}
	if dir, err := api.Paths.Cache(); !strings.HasSuffix(dir, "cache") || err != nil {
		t.Errorf("got %q, %v", dir, err)
	}
	errs := []error{api.State.Set(ctx, "b", []byte("1")), api.State.Set(ctx, "a", []byte("2")), api.State.Delete(ctx, "b")}
	keys, err := api.State.Keys(ctx, "")
	if err := errors.Join(append(errs, err)...); err != nil || !slices.Equal(keys, []string{"a"}) {
		t.Errorf("got %q, %v", keys, err)
	}
	if api.State.Set(ctx, "a", []byte("{")) == nil || api.State.Set(ctx, "", []byte("1")) == nil {
		t.Error("bad state was taken")
	}
	h.Publish(ctx, plug.Event{Data: plug.RunStarted{}})
	if h.Status() != "toy" {
		t.Errorf("status: got %q", h.Status())
	}
	h.Publish(ctx, plug.Event{Data: plug.RunCompleted{}})
	api.UI.Panel(plug.Panel{Title: "t"})
	if err := errors.Join(h.Refused()...); err != nil {
		t.Errorf("a panel without nodes: %v", err)
	}
	api.UI.Panel(plug.Panel{Title: "t", Nodes: []plug.PanelNode{{ID: "1"}}})
	if got := h.Refused(); len(got) != 1 || got[0].Error() != `show panel: node "1" has no label` {
		t.Errorf("got %v", got)
	}
	if h.Status() != "seen" || h.Panel().Title != "t" {
		t.Errorf("got %q, %+v", h.Status(), h.Panel())
	}
	if err := h.Dispose(ctx, p); err != nil || len(h.List()) != 0 || h.Status() != "" {
		t.Errorf("got %v, %q", err, h.List())
	}
	if _, err := api.AddAgent(plug.Agent{ID: "late"}); !errors.Is(err, errGone) || len(h.Refused()) != 2 {
		t.Errorf("got %v", err)
	}
}
