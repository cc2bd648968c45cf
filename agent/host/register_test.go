package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"alisio/plug"
)

func TestEverythingIsListedWithItsOwnerAndUndone(t *testing.T) {
	p := providers{}
	h := toyHost(t, Options{Register: p.register})
	if _, err := h.AddTool(named("own")); err != nil {
		t.Fatal(err)
	}
	var undo []func()
	plugin(t, h, "toy", func(api *plug.API) (err error) {
		undo, err = all(api, "a")
		return err
	})
	got := h.Registrations()
	if len(got) != kinds+1 || got[0] != (Registration{"", "tool", "own"}) || got[1] != (Registration{"toy", "tool", "tool_a"}) {
		t.Errorf("got %v", got)
	}
	for _, want := range []Registration{
		{"toy", "command", "cmd-a"}, {"toy", "agent", "agent-a"}, {"toy", "provider", "provider-a"}, {"toy", "context", "context-a"},
		{"toy", "resource", ""}, {"toy", "observer", ""}, {"toy", "session-hook", ""}, {"toy", "compaction-hook", ""},
		{"toy", "mascot", "m-a"}, {"toy", "startup-screen", "s-a"}, {"toy", "websearch", "w-a"}, {"toy", "fact-source", "f-a"},
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%v is not listed", want)
		}
	}
	if h.ToolOwner("tool_a") != "toy" || h.ToolOwner("own") != "" {
		t.Errorf("owners: got %q and %q", h.ToolOwner("tool_a"), h.ToolOwner("own"))
	}
	if r := h.Resources(); len(r) != 1 || r[0].Plugin != "toy" || !slices.Equal(r[0].Value.Skills, []string{"/skills"}) {
		t.Errorf("resources: got %+v", r)
	}
	// One by one, each twice: it takes away what it has made and nothing else.
	for i, u := range undo {
		u()
		u()
		if got := len(h.Registrations()); got != kinds-i {
			t.Errorf("after %d are undone: %d are left", i+1, got)
		}
	}
	if len(p) != 0 {
		t.Errorf("providers: got %v", p)
	}
	if got := len(h.own.undo); got != 1 {
		t.Errorf("the application's own: got %d", got)
	}
}

func TestUndoTwiceLeavesALaterOneOfTheName(t *testing.T) {
	h := toyHost(t, Options{})
	api := plugin(t, h, "toy", nil)
	undo, err := api.AddTool(named("x"))
	if err != nil {
		t.Fatal(err)
	}
	undo()
	if _, err := api.AddTool(named("x")); err != nil {
		t.Fatal(err)
	}
	undo()
	if got := toolNames(h); !slices.Equal(got, []string{"x"}) {
		t.Errorf("got %v", got)
	}
}

// A Setup that fails, panics, ends its goroutine or does not return in 10 s leaves
// nothing, and what it registers later is refused.
func TestSetupThatFailsInAnyWay(t *testing.T) {
	for name, fail := range map[string]func(context.Context) error{
		"error":      func(context.Context) error { return errors.New("no luck") },
		"panic":      func(context.Context) error { panic("no luck") },
		"nil panic":  func(context.Context) error { panic(nil) },
		"bad error":  func(context.Context) error { return badError{} },
		"goexit":     func(context.Context) error { goexit(); return nil },
		"obeys":      func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"too slow":   func(context.Context) error { time.Sleep(time.Minute); return nil },
		"odd panic":  func(context.Context) error { panic(badError{}) },
		"escapes":    func(context.Context) error { return errors.New("\x1b]0;title\x07no\nluck") },
		"long error": func(context.Context) error { return errors.New(strings.Repeat("x", 1<<20)) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := providers{}
				h := toyHost(t, Options{Register: p.register, Dirs: dirs(t)})
				var api *plug.API
				begin := time.Now()
				err := h.Add(context.Background(), plug.Plugin{ID: "toy", APIVersion: 1,
					Setup: func(ctx context.Context, a *plug.API) error {
						api = a
						if _, err := all(a, "a"); err != nil {
							t.Error(err)
						}
						a.UI.Status("here")
						return fail(ctx)
					}})
				if err == nil || !strings.HasPrefix(err.Error(), "set up plugin toy: ") || strings.ContainsAny(err.Error(), "\x1b\n") || len(err.Error()) > 2*maxTold {
					t.Errorf("got %q", err)
				}
				if took := time.Since(begin); took > plug.SetupLimit {
					t.Errorf("it took %s", took)
				}
				if r := h.Registrations(); len(r) != 0 || len(p) != 0 || len(h.Statuses()) != 0 || len(h.Plugins()) != 0 {
					t.Errorf("left: %v, %v", r, p)
				}
				if d := h.Diagnostics(); len(d) != 1 || d[0].Code != PluginFailed || d[0].Plugin != "toy" {
					t.Errorf("diagnostics: got %v", d)
				}
				refused(t, h, api)
				if _, err := api.State.Get(context.Background(), "k"); err == nil {
					t.Error("state can be used")
				}
				if _, err := api.Paths.State(); !errors.Is(err, ErrGone) {
					t.Errorf("paths: got %v", err)
				}
				if _, err := api.SQL(context.Background(), "x.sqlite"); !errors.Is(err, ErrGone) {
					t.Errorf("sql: got %v", err)
				}
				time.Sleep(2 * time.Minute) // in which the slow one ends
			})
		})
	}
}

// refused checks that nothing can be registered any more.
func refused(t *testing.T, h *Host, api *plug.API) {
	t.Helper()
	before := len(h.Registrations())
	undo, err := all(api, "late")
	if n := strings.Count(fmt.Sprint(err), "the plugin was taken down"); n != kinds {
		t.Errorf("%d of %d refused: %v", n, kinds, err)
	}
	for _, u := range undo {
		if u != nil {
			t.Error("a late registration can be undone")
		}
	}
	api.UI.Status("late")
	api.UI.Panel(plug.Panel{Nodes: []plug.PanelNode{{ID: "a", Label: "a"}}})
	if len(h.Registrations()) != before || len(h.Statuses()) != 0 || len(h.Panels()) != 0 {
		t.Errorf("left: %v", h.Registrations())
	}
}

func TestRefusedRegistrations(t *testing.T) {
	p := providers{}
	h := toyHost(t, Options{Register: p.register})
	other := plugin(t, h, "other", nil)
	if _, err := all(other, "taken"); err != nil {
		t.Fatal(err)
	}
	run := func(context.Context, string, string) (string, error) { return "", nil }
	say := func(context.Context, string) (string, error) { return "", nil }
	draw := func(context.Context, plug.MascotContext) (string, error) { return "", nil }
	tool := func(schema string) toy {
		return toy{plug.ToolSpec{Name: "t", Effect: plug.EffectRead, Schema: json.RawMessage(schema)}}
	}
	api := plugin(t, h, "toy", nil)
	if _, err := api.Extend.Mascot(plug.Mascot{ID: "m-taken", Render: draw}); err != nil {
		t.Errorf("the name of another plugin's mascot: %v", err)
	}
	for name, add := range map[string]func() (func(), error){
		"tool of another":       func() (func(), error) { return api.AddTool(named("tool_taken")) },
		"no tool":               func() (func(), error) { return api.AddTool(nil) },
		"schema that is none":   func() (func(), error) { return api.AddTool(tool("")) },
		"schema that is a list": func() (func(), error) { return api.AddTool(tool("[]")) },
		"schema too long": func() (func(), error) {
			return api.AddTool(tool(`{"a":"` + strings.Repeat("x", plug.MaxSchema) + `"}`))
		},
		"command of another":  func() (func(), error) { return api.AddSlashCommand(plug.SlashCommand{Name: "cmd-taken", Run: run}) },
		"command upper":       func() (func(), error) { return api.AddSlashCommand(plug.SlashCommand{Name: "Cmd", Run: run}) },
		"command digit first": func() (func(), error) { return api.AddSlashCommand(plug.SlashCommand{Name: "1", Run: run}) },
		"command too long": func() (func(), error) {
			return api.AddSlashCommand(plug.SlashCommand{Name: strings.Repeat("a", 42), Run: run})
		},
		"command without Run": func() (func(), error) { return api.AddSlashCommand(plug.SlashCommand{Name: "fine"}) },
		"agent of another":    func() (func(), error) { return api.AddAgent(plug.Agent{ID: "agent-taken"}) },
		"agent dot":           func() (func(), error) { return api.AddAgent(plug.Agent{ID: "a.b"}) },
		"agent color":         func() (func(), error) { return api.AddAgent(plug.Agent{ID: "a", Color: "\x1b[31m"}) },
		"agent permission": func() (func(), error) {
			return api.AddAgent(plug.Agent{ID: "a", Spec: plug.ChildSpec{Permission: plug.Permissions{Write: "always"}}})
		},
		"provider of another":   func() (func(), error) { return api.AddProvider(plug.ProviderRegistration{ID: "provider-taken"}) },
		"context without Text":  func() (func(), error) { return api.AddContext(plug.ContextSource{Name: "a"}) },
		"context with a slash":  func() (func(), error) { return api.AddContext(plug.ContextSource{Name: "a/b", Text: say}) },
		"relative resources":    func() (func(), error) { return api.AddResources(plug.ResourceDirs{Prompts: []string{"x"}}) },
		"observer of nothing":   func() (func(), error) { return api.Observe(plug.Observer{}) },
		"no session hook":       func() (func(), error) { return api.OnSession(plug.SessionHooks{}) },
		"no compaction hook":    func() (func(), error) { return api.OnCompaction(plug.CompactionHooks{}) },
		"mascot without Render": func() (func(), error) { return api.Extend.Mascot(plug.Mascot{ID: "a"}) },
		"mascot without id":     func() (func(), error) { return api.Extend.Mascot(plug.Mascot{Render: draw}) },
		"mascot twice":          func() (func(), error) { return api.Extend.Mascot(plug.Mascot{ID: "m-taken", Render: draw}) },
	} {
		before := len(h.Registrations())
		if undo, err := add(); err == nil || undo != nil {
			t.Errorf("%s was taken", name)
		}
		if got := len(h.Registrations()); got != before {
			t.Errorf("%s: %d registrations, had %d", name, got, before)
		}
	}
	for _, name := range []string{"a", "a-1", strings.Repeat("a", 41)} {
		if _, err := api.AddSlashCommand(plug.SlashCommand{Name: name, Run: run}); err != nil {
			t.Errorf("command %s: %v", name, err)
		}
	}
}

func TestRegistrationsAreBounded(t *testing.T) {
	h := toyHost(t, Options{})
	api := plugin(t, h, "toy", nil)
	for range 3 * maxRegistrations {
		undo, err := api.AddResources(plug.ResourceDirs{})
		if err != nil {
			t.Fatal(err)
		}
		undo()
	}
	var err error
	for n := 0; err == nil; n++ {
		if _, err = api.AddResources(plug.ResourceDirs{}); err != nil && n != maxRegistrations {
			t.Errorf("refused after %d: %v", n, err)
		}
	}
}

// changing is a tool whose spec is another each time.
type changing struct {
	toy
	n *int
}

func (c changing) Spec() plug.ToolSpec {
	*c.n++
	s := c.toy.Spec()
	s.Name = fmt.Sprint("t", *c.n)
	return s
}

func TestSpecOfAPluginsToolStaysWhatItWas(t *testing.T) {
	h := toyHost(t, Options{})
	n := 0
	plugin(t, h, "toy", func(api *plug.API) error {
		_, err := api.AddTool(changing{named("t"), &n})
		return err
	})
	if a, b := toolNames(h), toolNames(h); !slices.Equal(a, []string{"t1"}) || !slices.Equal(b, a) {
		t.Errorf("got %v and %v", a, b)
	}
	if a, b := h.Tools()[0], h.Tools()[0]; a != b {
		t.Error("the tool is another value each time")
	}
}

// panicking is a tool that panics.
type panicking struct{ toy }

func (panicking) Prepare(context.Context, *plug.Call) (plug.Plan, error) { panic("no\nluck") }

func (panicking) Execute(context.Context, *plug.Call, plug.Plan) (plug.Result, error) {
	panic("no luck")
}

// The person reads whose fault it is, and a model that it is not its own.
func TestPanicOfAToolNamesThePlugin(t *testing.T) {
	h := toyHost(t, Options{})
	plugin(t, h, "toy", func(api *plug.API) error {
		_, err := api.AddTool(panicking{named("t")})
		return err
	})
	tool := h.Tools()[0]
	_, prepared := tool.Prepare(t.Context(), &plug.Call{})
	_, executed := tool.Execute(t.Context(), &plug.Call{}, plug.Plan{})
	for _, err := range []error{prepared, executed} {
		if err == nil || err.Error() != "plugin toy: panic: no luck" {
			t.Errorf("got %v", err)
		}
	}
}

func TestCommandsAreGuarded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := toyHost(t, Options{})
		plugin(t, h, "toy", func(api *plug.API) error {
			for name, run := range map[string]func(context.Context, string, string) (string, error){
				"fine":   func(_ context.Context, args, id string) (string, error) { return "\x1b[31m" + args + id + "\a", nil },
				"panics": func(context.Context, string, string) (string, error) { panic("x") },
				"hangs":  func(context.Context, string, string) (string, error) { time.Sleep(time.Hour); return "", nil },
				"long": func(context.Context, string, string) (string, error) {
					return strings.Repeat("é", maxCommandText), nil
				},
			} {
				if _, err := api.AddSlashCommand(plug.SlashCommand{Name: name, Description: "a\nb", Run: run}); err != nil {
					return err
				}
			}
			return nil
		})
		run := map[string]plug.SlashCommand{}
		for _, c := range h.Commands() {
			run[c.Value.Name] = c.Value
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if got, err := run["fine"].Run(ctx, "a", "s"); got != "as" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		if got := run["fine"].Description; got != "a b" {
			t.Errorf("description: got %q", got)
		}
		if got, err := run["long"].Run(ctx, "", ""); len(got) > maxCommandText+len(cutMark) || !strings.HasSuffix(got, "é"+cutMark) || err != nil {
			t.Errorf("got %d bytes, %v", len(got), err)
		}
		if _, err := run["panics"].Run(ctx, "", ""); err == nil || err.Error() != "plugin toy: panic: x" {
			t.Errorf("got %v", err)
		}
		begin := time.Now()
		if _, err := run["hangs"].Run(ctx, "", ""); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Minute {
			t.Errorf("got %v after %s", err, time.Since(begin))
		}
		h.Close(context.Background())
		if _, err := run["fine"].Run(ctx, "", ""); !errors.Is(err, ErrGone) {
			t.Errorf("after close: got %v", err)
		}
		time.Sleep(time.Hour)
	})
}

// A schema that no run could use is the registration's failure, not every run's.
func TestAToolIsCheckedByTheEngine(t *testing.T) {
	h := New(Options{Log: slog.New(slog.DiscardHandler), CheckTool: func(s plug.ToolSpec) error {
		if s.Name == "bad" {
			return errors.New(`#/type: unknown type "text"`)
		}
		return nil
	}})
	got := map[string]string{}
	err := h.Add(context.Background(), plug.Plugin{ID: "p", Version: "1.0.0", APIVersion: plug.APIVersion, Setup: func(_ context.Context, api *plug.API) error {
		for _, name := range []string{"bad", "good"} {
			_, err := api.AddTool(specTool{plug.ToolSpec{Name: name, Description: "x", Schema: []byte(`{"type":"object"}`), Effect: plug.EffectRead}})
			got[name] = fmt.Sprint(err)
		}
		return nil
	}})
	if err != nil || got["good"] != "<nil>" || got["bad"] != `add tool bad: schema: #/type: unknown type "text"` {
		t.Errorf("got %v, %v", got, err)
	}
	if tools := h.Tools(); len(tools) != 1 || tools[0].Spec().Name != "good" {
		t.Errorf("tools %v", tools)
	}
}

// specTool is a tool that has a spec alone.
type specTool struct{ spec plug.ToolSpec }

func (s specTool) Spec() plug.ToolSpec { return s.spec }

func (specTool) Prepare(context.Context, *plug.Call) (plug.Plan, error) { return plug.Plan{}, nil }

func (specTool) Execute(context.Context, *plug.Call, plug.Plan) (plug.Result, error) {
	return plug.Result{}, nil
}
