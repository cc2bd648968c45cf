package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"alisio/agent/perm"
)

// home makes directories with a global file of this text, unless it is empty.
func home(t *testing.T, text string) Dirs {
	t.Helper()
	dir := t.TempDir()
	if text != "" {
		write(t, filepath.Join(dir, "config.json"), text)
	}
	return Dirs{Config: dir}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func noEnv(string) string { return "" }

// load reads a global file alone.
func load(t *testing.T, text string) (Config, string, error) {
	t.Helper()
	d := home(t, text)
	c, err := Load(LoadOptions{Dirs: d, Dir: d.Config, Getenv: noEnv})
	return c, filepath.Join(d.Config, "config.json"), err
}

func TestNoFileGivesTheDefaults(t *testing.T) {
	got, _, err := load(t, "")
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Provider: Provider{BaseURL: "https://api.openai.com/v1", APIKeyEnv: "OPENAI_API_KEY", APIMode: "chat", Auth: "bearer",
			TokenParameter: "max_tokens", StreamUsage: true},
		Limits: Limits{MaxTurns: 100, TimeoutMs: 600_000, FirstTokenTimeoutMs: 120_000, FirstTokenRetries: 1,
			IdleTimeoutMs: 120_000, TruncationRecoveries: 2, MaxContextChars: 800_000},
		Compaction:  Compaction{Auto: true, Threshold: 0.85, KeepTurns: 2, MaxOutputTokens: 16_000},
		Context:     Context{MaxBytes: 32768},
		Permissions: Permissions{Mode: perm.ModeAsk},
		PluginHooks: PluginHooks{TimeoutMs: 15_000, SessionEndTimeoutMs: 10_000, DisposeTimeoutMs: 2000},
	}
	if origin := got.Origin("provider.baseURL"); origin != "default" {
		t.Errorf("origin: got %q, want default", origin)
	}
	if got.Given("provider.baseURL") || got.Given("provider") || got.Given("models") {
		t.Error("what nobody wrote counts as given")
	}
	unread := Default()
	got.root, unread.root = node{}, node{}
	if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(unread, want) {
		t.Errorf("got %+v and %+v, want %+v", got, unread, want)
	}
}

func TestDefaultsPassTheirOwnChecks(t *testing.T) {
	var c Config
	if errs := check(defaults(), &c, nil); errs != nil {
		t.Error(errs)
	}
}

func TestEveryKeyIsRead(t *testing.T) {
	c, file, err := load(t, `{
		"schemaVersion": 1,
		"provider": {"baseURL": "http://localhost:8080/v1/", "apiKeyEnv": "MY_KEY", "model": "m/x", "auth": "none",
			"tokenParameter": "max_completion_tokens", "streamUsage": false, "contextWindow": 8192,
			"apiMode": "responses", "caFile": "certs/../ca.pem", "clientCert": "/abs.pem",
			"extraBody": {"top_k": 4, /* c */ "deep": {"model": [1,],},}, "extraHeaders": {"x-team_id": "TEAM", "Api-Key": "AZURE"}},
		"models": {"gpt-4.1": {"contextWindow": 1000, "maxOutputTokens": 200, "effort": ["low", "high"],
				"price": {"cachedInput": 0, "output": 8, "input": 2.5}},
			"b": {"contextWindow": 5, "price": {"input": 1e-1, "output": 0}}},
		"limits": {"maxTurns": 10000, "maxOutputTokens": 4096, "timeoutMs": 86400000, "firstTokenTimeoutMs": 100, "firstTokenRetries": 10, "idleTimeoutMs": 0, "truncationRecoveries": 0, "maxContextChars": 10000, "maxTokens": 500000, "maxCost": 2.5},
		"compaction": {"auto": false, "threshold": 0.1, "keepTurns": 20, "maxOutputTokens": 512},
		"context": {"claudeMdFallback": true, "maxBytes": 1024},
		"builtinPlugins": {"memory": {"enabled": false, "deep": {"a": [1, "x"]}}, "other": {}},
		"additionalDirectories": ["lib/../sub", "/abs"],
		"permissions": {"mode": "auto"},
		"pluginHooks": {"timeoutMs": 100, "sessionEndTimeoutMs": 120000, "disposeTimeoutMs": 10000}
	}`)
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Provider: Provider{BaseURL: "http://localhost:8080/v1", APIKeyEnv: "MY_KEY", Model: "m/x",
			APIMode: "responses", Auth: "none", TokenParameter: "max_completion_tokens", ContextWindow: 8192,
			CAFile: filepath.Join(filepath.Dir(file), "ca.pem"), ClientCert: abs("/abs.pem", filepath.Dir(file)),
			ExtraBody:    []byte(`{"top_k":4,"deep":{"model":[1]}}`),
			ExtraHeaders: map[string]string{"X-Team_id": "TEAM", "Api-Key": "AZURE"}},
		Models: map[string]Model{
			"gpt-4.1": {ContextWindow: 1000, MaxOutputTokens: 200, Effort: []string{"low", "high"},
				Price: &Price{Input: 2.5, Output: 8}},
			"b": {ContextWindow: 5, Price: &Price{Input: 0.1, CachedInput: 0.1}},
		},
		Limits:                Limits{MaxTurns: 10000, MaxOutputTokens: 4096, TimeoutMs: 86_400_000, FirstTokenTimeoutMs: 100, FirstTokenRetries: 10, MaxContextChars: 10_000, MaxTokens: 500_000, MaxCost: 2.5},
		Compaction:            Compaction{Threshold: 0.1, KeepTurns: 20, MaxOutputTokens: 512},
		Context:               Context{ClaudeMdFallback: true, MaxBytes: 1024},
		Permissions:           Permissions{Mode: perm.ModeAuto},
		PluginHooks:           PluginHooks{TimeoutMs: 100, SessionEndTimeoutMs: 120_000, DisposeTimeoutMs: 10_000},
		AdditionalDirectories: []string{filepath.Join(filepath.Dir(file), "sub"), abs("/abs", filepath.Dir(file))},
		plugins: map[string]Plugin{
			"memory": {Options: []byte(`{"deep":{"a":[1,"x"]}}`)},
			"other":  {Enabled: true},
		},
	}
	origins := map[string]string{
		"provider.baseURL":            file + ":3",
		"provider.streamUsage":        file + ":4",
		"models.gpt-4.1.effort":       file + ":7",
		"models.gpt-4.1.price.input":  file + ":8",
		"builtinPlugins.memory.deep":  file + ":13",
		"builtinPlugins.memory.deep.": "default",
		"models.gpt-4.1.none":         "default",
	}
	for key, want := range origins {
		if got := c.Origin(key); got != want {
			t.Errorf("origin of %s: got %q, want %q", key, got, want)
		}
	}
	c.root = node{}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got  %+v\nwant %+v", c, want)
	}
	if got := c.Plugin("nobody"); !got.Enabled || got.Options != nil {
		t.Errorf("plugin without configuration: got %+v", got)
	}
}

// abs is what a path that is absolute on unix becomes on this system.
func abs(path, dir string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// Symptom: a configured base URL is ignored and traffic goes to the default
// host. Trigger: set it by file, by environment and by flag, each another one.
func TestC170OrderOfLayers(t *testing.T) {
	d := home(t, `{"provider": {"baseURL": "http://global/v1", "model": "g"},
		"limits": {"maxTurns": 7}, "additionalDirectories": ["g"]}`)
	other := t.TempDir()
	file := filepath.Join(other, "ci.json")
	write(t, file, "{\n\"provider\": {\n\"baseURL\": \"http://file/v1\"}, \"additionalDirectories\": [\"f\"]}")
	env := func(name string) string {
		return map[string]string{"OPENAI_BASE_URL": "http://env/v1", "ALISIO_MODEL": "e", "ALISIO_API_MODE": "responses"}[name]
	}
	flagURL, flagModel, flagAPI, mode, turns := "http://flag/v1", "f", "chat", "full", 3
	global := filepath.Join(d.Config, "config.json")
	tests := []struct {
		name        string
		o           LoadOptions
		url, origin string
		model, api  string
	}{
		{"global file", LoadOptions{}, "http://global/v1", global + ":1", "g", "chat"},
		{"project", LoadOptions{Project: &Project{File: filepath.Join(other, "p.json"), Data: []byte(`{"provider": {"model": "p"}}`)}},
			"http://global/v1", global + ":1", "p", "chat"},
		{"--config", LoadOptions{File: file}, "http://file/v1", file + ":3", "g", "chat"},
		{"relative --config", LoadOptions{File: "ci.json"}, "http://file/v1", file + ":3", "g", "chat"},
		{"environment", LoadOptions{File: file, Getenv: env}, "http://env/v1", "environment OPENAI_BASE_URL", "e", "responses"},
		{"flag", LoadOptions{File: file, Getenv: env, Overrides: Overrides{BaseURL: &flagURL, Model: &flagModel, APIMode: &flagAPI}},
			"http://flag/v1", "flag --base-url", "f", "chat"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Dirs, tt.o.Dir = d, other
			if tt.o.Getenv == nil {
				tt.o.Getenv = noEnv
			}
			c, err := Load(tt.o)
			if err != nil {
				t.Fatal(err)
			}
			if c.Provider.BaseURL != tt.url || c.Provider.Model != tt.model || c.Provider.APIMode != tt.api {
				t.Errorf("got %q, %q and %q, want %q, %q and %q",
					c.Provider.BaseURL, c.Provider.Model, c.Provider.APIMode, tt.url, tt.model, tt.api)
			}
			if got := c.Origin("provider.baseURL"); got != tt.origin {
				t.Errorf("origin: got %q, want %q", got, tt.origin)
			}
			if !c.Given("provider.baseURL") || !c.Given("provider") || c.Given("provider.auth") {
				t.Error("what a layer says counts as not given")
			}
			if c.Limits.MaxTurns != 7 {
				t.Errorf("maxTurns of the lower layer: got %d, want 7", c.Limits.MaxTurns)
			}
		})
	}

	c, err := Load(LoadOptions{Dirs: d, Dir: other, File: file, Getenv: noEnv,
		Overrides: Overrides{Mode: &mode, MaxTurns: &turns, AddDirs: []string{"a", "b"}}})
	if err != nil {
		t.Fatal(err)
	}
	wantDirs := []string{filepath.Join(other, "f"), filepath.Join(other, "a"), filepath.Join(other, "b")}
	if !reflect.DeepEqual(c.AdditionalDirectories, wantDirs) {
		t.Errorf("directories: got %q, want %q", c.AdditionalDirectories, wantDirs)
	}
	if c.Permissions.Mode != perm.ModeFull || c.Limits.MaxTurns != 3 || c.Origin("limits.maxTurns") != "flag --max-turns" {
		t.Errorf("got mode %q, turns %d of %q", c.Permissions.Mode, c.Limits.MaxTurns, c.Origin("limits.maxTurns"))
	}
}

func TestPluginObjectsMergeAcrossFiles(t *testing.T) {
	d := home(t, `{"builtinPlugins": {"p": {"enabled": false, "o": {"a": 1, "l": [1, 2]}}}}`)
	file := filepath.Join(d.Config, "other.json")
	write(t, file, `{"builtinPlugins": {"p": {"o": {"b": "\u0041<", /* c */ "l": [3,],}}}}`)
	c, err := Load(LoadOptions{Dirs: d, File: file, Getenv: noEnv, Plugins: []string{"p"}})
	if err != nil {
		t.Fatal(err)
	}
	got := c.Plugin("p")
	if want := `{"o":{"a":1,"l":[3],"b":"\u0041<"}}`; string(got.Options) != want || got.Enabled {
		t.Errorf("got %s, enabled %v; want %s, disabled", got.Options, got.Enabled, want)
	}
}

func TestWrongValuesOfEnvironmentAndFlagsNameTheirOrigin(t *testing.T) {
	env := func(name string) string {
		return map[string]string{"OPENAI_BASE_URL": "localhost:8080", "ALISIO_MODEL": "a\x1b[2J"}[name]
	}
	mode, turns := "yolo", 0
	_, err := Load(LoadOptions{Dirs: home(t, ""), Getenv: env,
		Overrides: Overrides{Mode: &mode, MaxTurns: &turns, AddDirs: []string{"~/x"}}})
	want := strings.Join([]string{
		`read environment OPENAI_BASE_URL: "provider.baseURL": found an address that starts with neither http:// nor https://, allowed: ` + baseURLAllowed,
		`read environment ALISIO_MODEL: "provider.model": found "a\x1b[2J", allowed: text of at most 256 bytes without control characters`,
		`read flag --mode: "permissions.mode": found "yolo", allowed: "ask", "auto", "full"`,
		`read flag --max-turns: "limits.maxTurns": found 0, allowed: a whole number from 1 to 10000`,
		`read flag --add-dir: "additionalDirectories": found "~/x", allowed: a path, absolute or relative to where it stands; ~ is not expanded`,
	}, "\n")
	if err == nil || err.Error() != want {
		t.Errorf("got:\n%v\nwant:\n%s", err, want)
	}
}

func TestOverriddenValuesMustBeRightToo(t *testing.T) {
	d := home(t, `{"provider": {"baseURL": "ftp://x"}}`)
	url := "http://right"
	if _, err := Load(LoadOptions{Dirs: d, Getenv: noEnv, Overrides: Overrides{BaseURL: &url}}); err == nil {
		t.Error("got no error for the file's wrong base URL")
	}
}

func TestFilesThatAreNoConfiguration(t *testing.T) {
	dir := t.TempDir()
	big := filepath.Join(dir, "big")
	write(t, big, "{}"+strings.Repeat(" ", maxFile-1))
	fits := filepath.Join(dir, "fits")
	write(t, fits, "{}"+strings.Repeat(" ", maxFile-2))
	tests := []struct{ name, path, want string }{
		{"missing", filepath.Join(dir, "none"), ""},
		{"directory", dir, "not a regular file"},
		{"too large", big, "larger than 1 MiB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load(LoadOptions{Dirs: home(t, ""), File: tt.path, Getenv: noEnv})
			if prefix := fmt.Sprintf("read config %q: ", tt.path); err == nil || !strings.HasPrefix(err.Error(), prefix+tt.want) {
				t.Errorf("got %v, want %s%s", err, prefix, tt.want)
			}
		})
	}
	if _, err := Load(LoadOptions{Dirs: home(t, ""), File: fits, Getenv: noEnv}); err != nil {
		t.Errorf("file of exactly 1 MiB: got %v", err)
	}
}

func TestNoEnvFileIsRead(t *testing.T) {
	d := home(t, "")
	for _, name := range []string{".env", ".env.local"} {
		write(t, filepath.Join(d.Config, name), "OPENAI_BASE_URL=http://evil/v1\nALISIO_MODEL=evil\n")
	}
	t.Chdir(d.Config)
	c, err := Load(LoadOptions{Dirs: d, Dir: d.Config, Getenv: os.Getenv})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(c.Provider.BaseURL+c.Provider.Model, "evil") || os.Getenv("ALISIO_MODEL") == "evil" {
		t.Errorf("got %+v from a .env file", c.Provider)
	}
}
