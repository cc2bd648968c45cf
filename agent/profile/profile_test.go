package profile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"alisio/agent/config"
	"alisio/llm"
	"alisio/plug"
)

func load(t *testing.T, body string, env map[string]string) config.Config {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.LoadOptions{Dirs: config.Dirs{Config: dir}, Getenv: func(k string) string { return env[k] }})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// nobody is a provider that is never asked.
type nobody struct{ llm.Provider }

// choose is what a source of the configured endpoint gives a new application.
func choose(r *Registry, s Selection) (Choice, error) {
	return (&Source{Registry: r, Selection: s}).Choose(context.Background(), "")
}

func TestChoose(t *testing.T) {
	key := map[string]string{"OPENAI_API_KEY": "sk-test"}
	for _, c := range []struct {
		name, config string
		env          map[string]string
		key          string // what the provider is given
		fails        string
		cause        llm.Cause
	}{
		{"hosted", `{"provider":{"model":"m"}}`, key, "sk-test", "", ""},
		{"hosted without a key", `{"provider":{"model":"m"}}`, nil, "", "OPENAI_API_KEY is not set", llm.CauseAuth},
		{"named variable", `{"provider":{"model":"m","apiKeyEnv":"MY_KEY"}}`, key, "", "MY_KEY is not set", llm.CauseAuth},
		{"blank key", `{"provider":{"model":"m"}}`, map[string]string{"OPENAI_API_KEY": " \n"}, "", "is not set", llm.CauseAuth},
		{"key with a break in it", `{"provider":{"model":"m"}}`, map[string]string{"OPENAI_API_KEY": "sk-a\nb"}, "", "control", llm.CauseAuth},
		{"key with a break behind it", `{"provider":{"model":"m"}}`, map[string]string{"OPENAI_API_KEY": "sk-a\n"}, "sk-a", "", ""},
		{"local without a key", `{"provider":{"model":"m","baseURL":"http://127.0.0.1:1/v1"}}`, nil, "", "", ""},
		{"local with a key", `{"provider":{"model":"m","baseURL":"http://localhost:1/v1"}}`, key, "sk-test", "", ""},
		{"no key wanted", `{"provider":{"model":"m","auth":"none"}}`, key, "", "", ""},
		{"plain http with a key", `{"provider":{"model":"m","baseURL":"http://gpu.example/v1"}}`, key, "", "plain http", llm.CauseBadRequest},
		{"plain http without one", `{"provider":{"model":"m","baseURL":"http://gpu.example/v1","auth":"none"}}`, nil, "", "", ""},
		{"no model", `{}`, key, "", "no model is chosen", llm.CauseBadRequest},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r Registry
			var got *plug.ProviderSettings
			if _, err := r.Register(plug.ProviderRegistration{ID: "toy", Endpoint: true,
				Create: func(_ context.Context, s plug.ProviderSettings) (llm.Provider, error) {
					got = &s
					return nobody{}, nil
				}}); err != nil {
				t.Fatal(err)
			}
			cfg := load(t, c.config, c.env)
			choice, err := choose(&r, Selection{
				Config: cfg, Getenv: func(k string) string { return c.env[k] },
				Loopback: func(h string) bool { return h == "127.0.0.1" || h == "localhost" },
			})
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) || llm.CauseOf(err) != c.cause || got != nil {
					t.Errorf("got %v (%s), created %v", err, llm.CauseOf(err), got)
				}
				return
			}
			if err != nil || got == nil || got.Key != c.key || got.BaseURL != cfg.Provider.BaseURL || choice.Model.ID != "m" ||
				choice.Local != (strings.HasPrefix(choice.Host, "127.0.0.1") || strings.HasPrefix(choice.Host, "localhost")) {
				t.Errorf("got %+v, %v, created with %+v", choice, err, got)
			}
		})
	}
}

func TestModelFacts(t *testing.T) {
	cfg := load(t, `{"provider":{"contextWindow":100},"models":{"a/b":{"contextWindow":7,"maxOutputTokens":5,"effort":["low","high"]}}}`, nil)
	got := model(cfg, "a/b")
	if got.ContextWindow != 100 || got.MaxOutputTokens != 5 || got.TakesEffort("medium") || !got.TakesEffort("high") {
		t.Errorf("got %+v", got)
	}
	if got := model(cfg, "unknown"); got.ContextWindow != 100 || !got.TakesEffort("medium") {
		t.Errorf("got %+v", got)
	}
}

func TestRegister(t *testing.T) {
	create := func(context.Context, plug.ProviderSettings) (llm.Provider, error) { return nobody{}, nil }
	var r Registry
	undo, err := r.Register(plug.ProviderRegistration{ID: "a", Endpoint: true, Create: create})
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]plug.ProviderRegistration{
		"taken id":        {ID: "a", Create: create},
		"second endpoint": {ID: "b", Endpoint: true, Create: create},
		"no id":           {Create: create},
		"no create":       {ID: "c"},
	} {
		if _, err := r.Register(bad); err == nil {
			t.Errorf("%s: it was taken", name)
		}
	}
	if _, err := r.Register(plug.ProviderRegistration{ID: "b", Create: create}); err != nil {
		t.Error(err)
	}
	undo()
	if r.endpoint() != nil {
		t.Error("it is still registered")
	}
	if _, err := choose(&r, Selection{Config: load(t, `{"provider":{"model":"m"}}`, nil)}); err == nil {
		t.Error("chosen without a provider")
	}
}

func TestOnlyARealKeyIsASecret(t *testing.T) {
	for key, want := range map[string]string{"lm-studio": "", "sk-0123456789abcdef": "sk-0123456789abcdef"} {
		var r Registry
		r.Register(plug.ProviderRegistration{ID: "toy", Endpoint: true,
			Create: func(context.Context, plug.ProviderSettings) (llm.Provider, error) { return nobody{}, nil }})
		c, err := choose(&r, Selection{
			Config: load(t, `{"provider":{"model":"m"}}`, nil), Getenv: func(string) string { return key },
			Loopback: func(string) bool { return false },
		})
		if err != nil || strings.Join(c.Secrets, " ") != want {
			t.Errorf("%s: got %q, %v", key, c.Secrets, err)
		}
	}
}

func TestInspectKey(t *testing.T) {
	const local, far = "http://127.0.0.1:1/v1", "https://api.example/v1"
	for _, c := range []struct {
		name, url, auth, value string
		sent                   bool
		odd, fails             string
	}{
		{"set", far, "bearer", "sk-0123456789abcdef", true, "", ""},
		{"not set", far, "bearer", "", false, "", "is not set"},
		{"not set, local", local, "bearer", "", false, "", ""},
		{"none wanted", far, "none", "sk-0123456789abcdef", false, "", ""},
		{"white space", far, "bearer", " sk-0123456789abcdef\n", true, "white space", ""},
		{"quotes", far, "bearer", `"sk-0123456789abcdef"`, true, "quotes", ""},
		{"one quote", far, "bearer", `"`, true, "", ""},
		{"shell variable", far, "bearer", "$SECRET_KEY", true, "not replaced", ""},
		{"cmd variable", far, "bearer", "%SECRET_KEY%", true, "not replaced", ""},
		{"line break", far, "bearer", "sk-01\n23456789abcdef", false, "", "control"},
		{"ellipsis", far, "bearer", "sk-…", false, "", "non-ASCII"},
		{"plain http", "http://gpu.example/v1", "bearer", "sk-0123456789abcdef", false, "", "plain http"},
	} {
		cfg := load(t, `{"provider":{"baseURL":"`+c.url+`","auth":"`+c.auth+`"}}`, nil)
		k := InspectKey(Selection{Config: cfg, Getenv: func(string) string { return c.value }, Loopback: func(h string) bool { return h == "127.0.0.1" }})
		if k.Sent != c.sent || (k.Odd == "") != (c.odd == "") || !strings.Contains(k.Odd, c.odd) {
			t.Errorf("%s: got %+v", c.name, k)
		}
		if (k.Err == nil) != (c.fails == "") || k.Err != nil && !strings.Contains(k.Err.Error(), c.fails) {
			t.Errorf("%s: got %v", c.name, k.Err)
		}
		told := k.Odd + " " + fmt.Sprint(k.Err)
		if len(c.value) > 8 && (strings.Contains(told, "0123") || strings.Contains(k.Hide("x "+c.value), "456789a")) {
			t.Errorf("%s: the key is shown: %s, %s", c.name, told, k.Hide("x "+c.value))
		}
	}
}

func TestAConfiguredPriceIsTheModels(t *testing.T) {
	c := config.Default()
	c.Models = map[string]config.Model{"m": {Price: &config.Price{Input: 1, Output: 2, CachedInput: 0.5}}}
	if got := model(c, "m").Price; got == nil || *got != (llm.Price{Input: 1, Output: 2, CachedInput: 0.5}) {
		t.Errorf("got %v", got)
	}
	if got := model(c, "other").Price; got != nil {
		t.Errorf("got %v for a model without one", got)
	}
}
