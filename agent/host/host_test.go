package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"alisio/agent/config"
	"alisio/plug"
)

type toy struct{ spec plug.ToolSpec }

func (t toy) Spec() plug.ToolSpec { return t.spec }
func (t toy) Prepare(context.Context, *plug.Call) (plug.Plan, error) {
	return plug.Plan{}, nil
}
func (t toy) Execute(context.Context, *plug.Call, plug.Plan) (plug.Result, error) {
	return plug.Text("ok"), nil
}

func named(name string) toy {
	return toy{plug.ToolSpec{Name: name, Effect: plug.EffectRead, Schema: json.RawMessage(`{}`)}}
}

// providers counts what is registered.
type providers map[string]bool

func (p providers) register(r plug.ProviderRegistration) (func(), error) {
	if p[r.ID] {
		return nil, errors.New("taken")
	}
	p[r.ID] = true
	return func() { delete(p, r.ID) }, nil
}

func newHost(t *testing.T, cfg string) (*Host, providers) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(cfg), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.LoadOptions{Dirs: config.Dirs{Config: dir}, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	p := providers{}
	return New(Options{Config: c, Register: p.register, Log: slog.New(slog.DiscardHandler)}), p
}

func toolNames(h *Host) []string {
	names := []string{}
	for _, t := range h.Tools() {
		names = append(names, t.Spec().Name)
	}
	return names
}

func TestSetupAndClose(t *testing.T) {
	h, p := newHost(t, `{}`)
	ctx := context.Background()
	if _, err := h.AddTool(named("own")); err != nil {
		t.Fatal(err)
	}
	disposed := 0
	err := h.Add(ctx, plug.Plugin{ID: "toy", APIVersion: 1,
		Setup: func(_ context.Context, api *plug.API) error {
			undo, err := api.AddTool(named("gone"))
			if err != nil {
				return err
			}
			undo()
			undo() // twice does nothing
			if _, err := api.AddTool(named("toy_tool")); err != nil {
				return err
			}
			_, err = api.AddProvider(plug.ProviderRegistration{ID: "toy"})
			return err
		},
		Dispose: func(context.Context) error { disposed++; return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := toolNames(h), []string{"own", "toy_tool"}; !slices.Equal(got, want) {
		t.Errorf("tools: got %v, want %v", got, want)
	}
	if !p["toy"] {
		t.Error("the provider is not registered")
	}
	if err := h.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if got, want := toolNames(h), []string{"own"}; !slices.Equal(got, want) {
		t.Errorf("after close: got %v, want %v", got, want)
	}
	if p["toy"] || disposed != 1 {
		t.Errorf("after close: provider %v, disposed %d times", p["toy"], disposed)
	}
}

func TestFailedSetupLeavesNothing(t *testing.T) {
	for name, fail := range map[string]func() error{
		"error": func() error { return errors.New("no luck") },
		"panic": func() error { panic("no luck") },
	} {
		t.Run(name, func(t *testing.T) {
			h, p := newHost(t, `{}`)
			err := h.Add(context.Background(), plug.Plugin{ID: "toy", APIVersion: 1,
				Setup: func(_ context.Context, api *plug.API) error {
					api.AddTool(named("half"))
					api.AddProvider(plug.ProviderRegistration{ID: "half"})
					return fail()
				}})
			if err == nil || !strings.Contains(err.Error(), "set up plugin toy") || !strings.Contains(err.Error(), "no luck") {
				t.Errorf("got %v", err)
			}
			if len(h.Tools()) != 0 || len(p) != 0 {
				t.Errorf("left: tools %v, providers %v", toolNames(h), p)
			}
			if d := h.Diagnostics(); len(d) != 1 || d[0].Plugin != "toy" {
				t.Errorf("diagnostics: got %v", d)
			}
			if err := h.Add(context.Background(), plug.Plugin{ID: "toy", APIVersion: 1,
				Setup: func(context.Context, *plug.API) error { return nil }}); err != nil {
				t.Errorf("a second try: %v", err)
			}
		})
	}
}

func TestRefusedPluginsAndTools(t *testing.T) {
	h, _ := newHost(t, `{}`)
	ok := func(context.Context, *plug.API) error { return nil }
	if err := h.Add(context.Background(), plug.Plugin{ID: "taken", APIVersion: 1, Setup: ok}); err != nil {
		t.Fatal(err)
	}
	for _, p := range []plug.Plugin{
		{ID: "", APIVersion: 1, Setup: ok},
		{ID: "Upper", APIVersion: 1, Setup: ok},
		{ID: "-x", APIVersion: 1, Setup: ok},
		{ID: strings.Repeat("x", 65), APIVersion: 1, Setup: ok},
		{ID: "old", APIVersion: 0, Setup: ok},
		{ID: "none", APIVersion: 1},
		{ID: "taken", APIVersion: 1, Setup: ok},
	} {
		if err := h.Add(context.Background(), p); err == nil {
			t.Errorf("plugin %q version %d was taken", p.ID, p.APIVersion)
		}
	}
	if _, err := h.AddTool(named("a")); err != nil {
		t.Fatal(err)
	}
	bad := named("b")
	bad.spec.Effect = "magic"
	for _, tool := range []toy{named("a"), named("A"), named("1a"), named("a-b"), named(""), bad} {
		if _, err := h.AddTool(tool); err == nil {
			t.Errorf("tool %q with effect %q was taken", tool.spec.Name, tool.spec.Effect)
		}
	}
}

func TestOptionsAreStrict(t *testing.T) {
	type options struct {
		Depth  int
		Places []struct{ Name string }
		Limits struct {
			Most  int `json:"most"`
			Least int `json:"least,omitempty"`
		} `json:"limits"`
	}
	for _, c := range []struct {
		name, cfg string
		want      string // of the error, FILE for the name of the file; empty: Depth is 4
	}{
		{"fine", `{"builtinPlugins": {"toy": {"enabled": true, "depth": 4, "limits": {"least": 1}}}}`, ""},
		{"slip", "{\"builtinPlugins\": {\n\"toy\": {\n\"dpeth\": 3}}}",
			`read config "FILE": line 3: unknown key "builtinPlugins.toy.dpeth", did you mean "builtinPlugins.toy.depth"?`},
		{"slip below", "{\"builtinPlugins\": {\"toy\": {\"limits\": {\n\"mots\": 3}}}}",
			`read config "FILE": line 2: unknown key "builtinPlugins.toy.limits.mots", did you mean "builtinPlugins.toy.limits.most"?`},
		{"known elsewhere", "{\"builtinPlugins\": {\"toy\": {\n\"most\": 1, \"limits\": {\"most\": 3}}}}",
			`read config "FILE": line 2: unknown key "builtinPlugins.toy.most"`},
		{"nothing near", `{"builtinPlugins": {"toy": {"colour\u001b[31m": 3}}}`,
			`read config "FILE": line 1: unknown key "builtinPlugins.toy.colour"`},
		{"in a list", "{\"builtinPlugins\": {\n\"toy\": {\"places\": [{\"nmae\": 1}]}}}",
			`read config "FILE": line 2: unknown key "builtinPlugins.toy.places[0].nmae", did you mean "builtinPlugins.toy.places[0].name"?`},
		{"known above", "{\"builtinPlugins\": {\"toy\": {\"depth\": 1,\n\"limits\": {\n\"depth\": 3}}}}",
			`read config "FILE": line 3: unknown key "builtinPlugins.toy.limits.depth"`},
		{"near one that may be left out", "{\"builtinPlugins\": {\"toy\": {\"limits\": {\n\"laest\": 3}}}}",
			`read config "FILE": line 2: unknown key "builtinPlugins.toy.limits.laest", did you mean "builtinPlugins.toy.limits.least"?`},
		{"kind", "{\"builtinPlugins\": {\"toy\": {\n\n\"limits\": {\"most\": \"x\"}}}}",
			`read config "FILE": line 3: "builtinPlugins.toy.limits.most": found string, allowed: int`},
		{"no whole number", `{"builtinPlugins": {"toy": {"depth": 1.5}}}`,
			`read config "FILE": line 1: "builtinPlugins.toy.Depth": found number 1.5, allowed: int`},
	} {
		h, _ := newHost(t, c.cfg)
		o := options{Depth: 7}
		err := h.Add(context.Background(), plug.Plugin{ID: "toy", APIVersion: 1,
			Setup: func(_ context.Context, api *plug.API) error { return api.Options(&o) }})
		if c.want == "" {
			if err != nil || o.Depth != 4 {
				t.Errorf("%s: got %+v, %v", c.name, o, err)
			}
			continue
		}
		got := regexp.MustCompile(`".*config\.json"`).ReplaceAllString(fmt.Sprint(err), `"FILE"`)
		if want := "set up plugin toy: " + c.want; got != want {
			t.Errorf("%s: got  %s\nwant %s", c.name, got, want)
		}
	}
	h, _ := newHost(t, `{}`)
	o := options{Depth: 7}
	plugin(t, h, "toy", func(api *plug.API) error { return api.Options(&o) })
	if o.Depth != 7 {
		t.Errorf("got %d, want the default 7", o.Depth)
	}
}
