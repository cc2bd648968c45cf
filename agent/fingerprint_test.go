package agent

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"alisio/agent/config"
	"alisio/agent/perm"
	"alisio/llm"
	"alisio/plug"
)

// sample is a tool that does nothing.
type sample struct{ plug.ToolSpec }

func (s sample) Spec() plug.ToolSpec                                    { return s.ToolSpec }
func (s sample) Prepare(context.Context, *plug.Call) (plug.Plan, error) { return plug.Plan{}, nil }
func (s sample) Execute(context.Context, *plug.Call, plug.Plan) (plug.Result, error) {
	return plug.Result{}, nil
}

func tool(change func(*plug.ToolSpec)) plug.Tool {
	s := plug.ToolSpec{Name: "one", Description: "d", Schema: json.RawMessage(`{}`), Effect: plug.EffectRead}
	change(&s)
	return sample{s}
}

// setting is all that a fingerprint is taken of.
type setting struct {
	o      Options
	prompt string
	run    RunOptions
	// config is read from a file as a person writes it; empty: none.
	config string
	env    map[string]string
	// sub is the working directory below the workspace.
	sub string
	// files are written below the workspace.
	files map[string]string
}

// fingerprint makes a workspace of its own in a home of its own each time.
func (s setting) fingerprint(t *testing.T) Fingerprint {
	t.Helper()
	home := t.TempDir()
	root := filepath.Join(home, "repo")
	s.o.Dir = filepath.Join(root, s.sub)
	for _, dir := range []string{filepath.Join(root, ".git"), filepath.Join(root, "sub"), filepath.Join(root, "more"), filepath.Join(home, "config")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range s.files {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.o.Dirs = config.Dirs{Config: filepath.Join(home, "config"), State: filepath.Join(home, "state"), Cache: filepath.Join(home, "cache")}
	s.o.Getenv = func(name string) string {
		if name == "HOME" {
			return home
		}
		return s.env[name]
	}
	load := config.LoadOptions{Dir: root, Getenv: s.o.Getenv}
	if s.config != "" {
		load.File = filepath.Join(root, "alisio.json")
		if err := os.WriteFile(load.File, []byte(s.config), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if s.o.Config, err = config.Load(load); err != nil {
		t.Fatal(err)
	}
	if s.o.Tools == nil {
		s.o.Tools = []plug.Tool{tool(func(*plug.ToolSpec) {})}
	}
	a, err := New(context.Background(), s.o)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close(context.Background())
	f, err := a.fingerprint("fingerprint_test.go", s.prompt, s.run) // a program's file is large
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// authority is a certificate in PEM.
func authority(t *testing.T) string {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
}

// parts names the digests in which two fingerprints differ.
func parts(f, g Fingerprint) string {
	var out []string
	for _, p := range []struct {
		name string
		same bool
	}{{"config", f.Config == g.Config}, {"prompt", f.Prompt == g.Prompt}, {"tools", f.Tools == g.Tools}, {"binary", f.Binary == g.Binary}} {
		if !p.same {
			out = append(out, p.name)
		}
	}
	return strings.Join(out, " ")
}

var someFlags = perm.Policy{AllowWrite: true}

func TestAFingerprintChangesWithItsInputsAlone(t *testing.T) {
	plain := func() setting { return setting{o: Options{Hermetic: true, Policy: someFlags}, prompt: "go"} }
	want := plain().fingerprint(t)
	for _, c := range []struct {
		name   string
		change func(*setting)
		parts  string
	}{
		{"another home and another place", func(*setting) {}, ""},
		{"the environment", func(s *setting) {
			s.env = map[string]string{"OPENAI_API_KEY": "sk-a-secret-of-some-length", "LANG": "de", "ALISIO_STATE_HOME": "/x"}
		}, ""},
		{"AGENTS.md of the repository", func(s *setting) { s.files = map[string]string{"AGENTS.md": "tabs"} }, ""},
		{"what is the default anyway", func(s *setting) { s.config = `{"limits":{"maxTurns":100},"additionalDirectories":[]}` }, ""},

		{"model", func(s *setting) { s.config = `{"provider":{"model":"m"}}` }, "config"},
		{"model by the environment", func(s *setting) { s.env = map[string]string{"ALISIO_MODEL": "m"} }, "config"},
		{"base URL", func(s *setting) { s.config = `{"provider":{"baseURL":"http://127.0.0.1:1/v1"}}` }, "config"},
		{"variable of the key", func(s *setting) { s.config = `{"provider":{"apiKeyEnv":"OTHER"}}` }, "config"},
		{"limit", func(s *setting) { s.config = `{"limits":{"maxTurns":7}}` }, "config"},
		{"directory", func(s *setting) { s.config = `{"additionalDirectories":["more"]}` }, "config"},
		{"file of authorities", func(s *setting) {
			s.config, s.files = `{"provider":{"caFile":"ca.pem"}}`, map[string]string{"ca.pem": authority(t)}
		}, "config"},
		{"not hermetic", func(s *setting) { s.o.Hermetic = false }, "config"},
		{"permission", func(s *setting) { s.o.Policy.AllowProcess = true }, "config"},
		{"somebody to ask", func(s *setting) { s.o.Asker = &nobody{} }, "config"},
		{"the agent that is the usual one", func(s *setting) { s.o.Agent = "build" }, ""},
		{"agent", func(s *setting) { s.o.Agent = "plan" }, "config"},
		{"directory of skills", func(s *setting) { s.config = `{"skills":["more"]}` }, "config"},
		{"effort", func(s *setting) { s.o.Effort = "high" }, "config"},
		{"provider", func(s *setting) { s.o.Provider = &counting{} }, "config"},
		{"cap of an answer", func(s *setting) { s.run.MaxOutputTokens = 9 }, "config"},
		{"plugin", func(s *setting) { s.o.Plugins = []plug.Plugin{idle("p")} }, "config"},

		{"prompt", func(s *setting) { s.prompt = "go on" }, "prompt"},
		{"image", func(s *setting) { s.run.Attachments = []llm.Attachment{{MIMEType: "image/png", Data: []byte("x")}} }, "prompt"},
		{"output schema", func(s *setting) { s.run.OutputSchema = json.RawMessage(`{"type":"object"}`) }, "prompt"},
		{"working directory in the workspace", func(s *setting) { s.sub = "sub" }, "prompt"},
		{"instruction files", func(s *setting) {
			s.o.Hermetic = false
			s.files = map[string]string{"AGENTS.md": "tabs"}
		}, "config prompt"},

		{"tool's name", func(s *setting) { s.o.Tools = []plug.Tool{tool(func(s *plug.ToolSpec) { s.Name = "two" })} }, "tools"},
		{"tool's text", func(s *setting) { s.o.Tools = []plug.Tool{tool(func(s *plug.ToolSpec) { s.Description = "e" })} }, "tools"},
		{"tool's schema", func(s *setting) {
			s.o.Tools = []plug.Tool{tool(func(s *plug.ToolSpec) { s.Schema = json.RawMessage(`{"type":"object"}`) })}
		}, "tools"},
		{"tool's effect", func(s *setting) {
			s.o.Tools = []plug.Tool{tool(func(s *plug.ToolSpec) { s.Effect = plug.EffectExternal })}
		}, "tools"},
		{"tool more", func(s *setting) {
			s.o.Tools = []plug.Tool{tool(func(s *plug.ToolSpec) { s.Name = "a" }), tool(func(*plug.ToolSpec) {})}
		}, "tools"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := plain()
			c.change(&s)
			got := s.fingerprint(t)
			if differ := parts(got, want); differ != c.parts || (got.Sum() == want.Sum()) != (c.parts == "") {
				t.Errorf("changed: %q, want %q", differ, c.parts)
			}
			if again := s.fingerprint(t); again != got {
				t.Errorf("it differs from itself in %q", parts(again, got))
			}
		})
	}
}

func idle(id string) plug.Plugin {
	return plug.Plugin{ID: id, APIVersion: plug.APIVersion, Setup: func(context.Context, *plug.API) error { return nil }}
}

// nobody is a person who is never asked.
type nobody struct{ plug.Asker }

func TestAFingerprintHasNoOrder(t *testing.T) {
	a, b := tool(func(s *plug.ToolSpec) { s.Name = "a" }), tool(func(*plug.ToolSpec) {})
	one := setting{
		o:      Options{Hermetic: true, Tools: []plug.Tool{a, b}, Plugins: []plug.Plugin{idle("p"), idle("q")}},
		config: `{"models":{"m":{"effort":["low"]},"n":{"contextWindow":1000}},"builtinPlugins":{"p":{"x":1.50,"y":{"a":1,"b":2}}}}`,
	}
	two := setting{
		o:      Options{Hermetic: true, Tools: []plug.Tool{b, a}, Plugins: []plug.Plugin{idle("q"), idle("p")}},
		config: `{"builtinPlugins":{"p":{"y":{"b":2, "a":1},"x":1.50}}, /* later */ "models":{"n":{"contextWindow":1000},"m":{"effort":["low"]}},}`,
	}
	first := one.fingerprint(t)
	for range 4 {
		if got := two.fingerprint(t); got != first {
			t.Fatalf("order changes %q", parts(got, first))
		}
	}
	two.config = strings.Replace(two.config, `"b":2`, `"b":3`, 1)
	if got := parts(two.fingerprint(t), first); got != "config" {
		t.Errorf("a plugin's option changes %q", got)
	}
}

// Each field of the configuration is in the fingerprint, those too that are added
// later: what JSON leaves out would be missed.
func TestAFingerprintHasEveryKeyOfTheConfiguration(t *testing.T) {
	a := app(t, `{"turns":[]}`, Options{})
	before, err := a.configDigest(RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	var visit func(path string, v reflect.Value)
	visit = func(path string, v reflect.Value) {
		if v.Kind() == reflect.Struct {
			for i := range v.NumField() {
				if f := v.Type().Field(i); f.IsExported() {
					visit(path+"."+f.Name, v.Field(i))
				}
			}
			return
		}
		n++
		was := reflect.New(v.Type()).Elem()
		was.Set(v)
		alter(t, path, v)
		if got, err := a.configDigest(RunOptions{}); err != nil || got == before {
			t.Errorf("%s does not change the fingerprint, %v", path, err)
		}
		v.Set(was)
	}
	visit("Config", reflect.ValueOf(&a.o.Config).Elem())
	visit("Policy", reflect.ValueOf(&a.o.Policy).Elem())
	if after, err := a.configDigest(RunOptions{}); n < 15 || err != nil || after != before {
		t.Errorf("%d fields were changed; and back: %v", n, err)
	}
}

// alter gives a value another one of its type.
func alter(t *testing.T, path string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Uint8:
		v.SetUint(v.Uint() + 1)
	case reflect.Float64:
		v.SetFloat(v.Float() + 1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Map:
		m := reflect.MakeMap(v.Type())
		m.SetMapIndex(reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem())
		v.Set(m)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`{"x":1}`))
			return
		}
		v.Set(reflect.Append(v, reflect.New(v.Type().Elem()).Elem()))
	default:
		t.Fatalf("%s is of a kind that this test can not change: %s", path, v.Kind())
	}
}

func TestTheFingerprintOfThisProgram(t *testing.T) {
	a := app(t, `{"turns":[]}`, Options{})
	f, err := a.Fingerprint("go", RunOptions{})
	g, err2 := a.fingerprint("", "go", RunOptions{})
	if err != nil || err2 != nil || parts(f, g) != "binary" {
		t.Errorf("got %s, %v\nand %s without its file, %v", f, err, g, err2)
	}
	if _, err := a.Fingerprint("go", RunOptions{OutputSchema: json.RawMessage("{")}); llm.CauseOf(err) != llm.CauseBadRequest {
		t.Errorf("a bad schema: %v", err)
	}
}

func TestBinaryDigest(t *testing.T) {
	file := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(file, []byte("abc"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, want := binaryDigest(file).String(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"; got != want {
		t.Errorf("got %s, want that of the bytes, %s", got, want)
	}
	version := newHasher("version")
	version.add(Version)
	for _, path := range []string{"", filepath.Join(file, "x"), filepath.Dir(file)} {
		if got := binaryDigest(path); got != version.sum() {
			t.Errorf("%q: got %s, want that of the version", path, got)
		}
	}
}

func TestAFingerprintIsPrinted(t *testing.T) {
	f := Fingerprint{Config: Digest{1}, Prompt: Digest{2}, Tools: Digest{3}, Binary: Digest{4}}
	want := `^[0-9a-f]{64} \(configuration 010000000000, prompt 020000000000, tools 030000000000, binary 040000000000\)$`
	if got := f.String(); !regexp.MustCompile(want).MatchString(got) || !strings.HasPrefix(got, f.Sum().String()) {
		t.Errorf("got %s", got)
	}
	g := Fingerprint{Config: f.Prompt, Prompt: f.Config, Tools: f.Tools, Binary: f.Binary}
	if f.Sum() == g.Sum() {
		t.Error("digests can change places")
	}
}

func TestListsOfTextsDoNotRunTogether(t *testing.T) {
	seen := map[Digest][]string{}
	for _, texts := range [][]string{{"ab"}, {"a", "b"}, {"", "ab"}, {"ab", ""}, {}, {""}, {"", ""}} {
		h := newHasher("x")
		h.add(texts...)
		if other, ok := seen[h.sum()]; ok {
			t.Errorf("%q and %q are the same", texts, other)
		}
		seen[h.sum()] = texts
	}
}
