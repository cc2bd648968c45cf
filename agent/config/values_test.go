package config

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestValues(t *testing.T) {
	d := home(t, `{"models": {"gpt-4.1": {"effort": ["low", /* c */ "high",]}}, "additionalDirectories": ["lib", "/abs"],
		"provider": {"caFile": "ca.pem", "extraHeaders": {"X-A": "VAR"}, "extraBody": {"b": {"\u0063": 1.50}, "empty": {}}}}`)
	file, url, turns, limit := filepath.Join(d.Config, "config.json"), "http://host/%22", 7, 90*time.Second
	c, err := Load(LoadOptions{Dirs: d, Dir: "/here", Overrides: Overrides{BaseURL: &url, MaxTurns: &turns, Timeout: &limit, AddDirs: []string{"x"}},
		Getenv: func(name string) string { return map[string]string{"ALISIO_MODEL": "a<\"b"}[name] }})
	if err != nil {
		t.Fatal(err)
	}
	path := func(p string) string { q, _ := json.Marshal(abs(p, d.Config)); return string(q) }
	here, _ := json.Marshal(filepath.Join("/here", "x"))
	want := []Value{
		{"additionalDirectories", "[" + path("lib") + "," + path("/abs") + "," + string(here) + "]", file + ":1"},
		{"compaction.auto", "true", "default"},
		{"compaction.keepTurns", "2", "default"},
		{"compaction.maxOutputTokens", "16000", "default"},
		{"compaction.threshold", "0.85", "default"},
		{"context.claudeMdFallback", "false", "default"},
		{"context.maxBytes", "32768", "default"},
		{"limits.firstTokenRetries", "1", "default"},
		{"limits.firstTokenTimeoutMs", "120000", "default"},
		{"limits.idleTimeoutMs", "120000", "default"},
		{"limits.maxContextChars", "800000", "default"},
		{"limits.maxTurns", "7", "flag --max-turns"},
		{"limits.timeoutMs", "90000", "flag --timeout"},
		{"limits.truncationRecoveries", "2", "default"},
		{"models.gpt-4.1.effort", `["low","high"]`, file + ":1"},
		{"permissions.mode", `"ask"`, "default"},
		{"pluginHooks.disposeTimeoutMs", "2000", "default"},
		{"pluginHooks.sessionEndTimeoutMs", "10000", "default"},
		{"pluginHooks.timeoutMs", "15000", "default"},
		{"provider.apiKeyEnv", `"OPENAI_API_KEY"`, "default"},
		{"provider.apiMode", `"chat"`, "default"},
		{"provider.auth", `"bearer"`, "default"},
		{"provider.baseURL", `"http://host/%22"`, "flag --base-url"},
		{"provider.caFile", path("ca.pem"), file + ":2"},
		{"provider.extraBody.b.c", "1.50", file + ":2"},
		{"provider.extraBody.empty", "{}", file + ":2"},
		{"provider.extraHeaders.X-A", `"VAR"`, file + ":2"},
		{"provider.model", `"a\u003c\"b"`, "environment ALISIO_MODEL"},
		{"provider.streamUsage", "true", "default"},
		{"provider.tokenParameter", `"max_tokens"`, "default"},
		{"schemaVersion", "1", "default"},
		{"skills", "[]", "default"},
	}
	got := c.Values()
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", lines(got), lines(want))
	}
	for _, v := range got {
		if !json.Valid([]byte(v.JSON)) || c.Origin(v.Key) != v.Origin {
			t.Errorf("%s: got %s of %q, by Origin of %q", v.Key, v.JSON, v.Origin, c.Origin(v.Key))
		}
	}
	if got := len(Default().Values()); got != 27 {
		t.Errorf("got %d defaults, want 27", got)
	}
}

func lines(all []Value) string {
	var b strings.Builder
	for _, v := range all {
		fmt.Fprintf(&b, "%s = %s  (%s)\n", v.Key, v.JSON, v.Origin)
	}
	return b.String()
}

func TestFlagsThatAddNameThemselves(t *testing.T) {
	c, err := Load(LoadOptions{Dir: "/here", Getenv: noEnv, Overrides: Overrides{AddDirs: []string{"x"}}})
	if got := c.Origin("additionalDirectories"); err != nil || got != "flag --add-dir" {
		t.Errorf("got %q, %v", got, err)
	}
}

// The names and defaults of the manual's table of keys, as far as this version
// knows them.
func TestKeysAreThoseOfTheManual(t *testing.T) {
	want := map[string]string{
		"schemaVersion":    "1",
		"provider.baseURL": `"https://api.openai.com/v1"`, "provider.apiKeyEnv": `"OPENAI_API_KEY"`, "provider.model": `""`,
		"provider.apiMode": `"chat"`, "provider.profile": "", "provider.auth": `"bearer"`, "provider.tokenParameter": `"max_tokens"`,
		"provider.streamUsage": "true", "provider.contextWindow": "", "provider.caFile": "", "provider.clientCert": "",
		"provider.extraBody": "", "provider.extraHeaders": "",
		"models.<id>.contextWindow": "", "models.<id>.maxOutputTokens": "", "models.<id>.effort": "",
		"models.<id>.price.input": "", "models.<id>.price.output": "", "models.<id>.price.cachedInput": "",
		"limits.maxTurns": "100", "limits.maxOutputTokens": "", "limits.timeoutMs": "600000", "limits.firstTokenTimeoutMs": "120000",
		"limits.firstTokenRetries": "1", "limits.idleTimeoutMs": "120000", "limits.truncationRecoveries": "2",
		"limits.maxTokens": "", "limits.maxCost": "",
		"limits.maxContextChars": "800000", "compaction.auto": "true", "compaction.threshold": "0.85", "compaction.keepTurns": "2",
		"compaction.maxOutputTokens": "16000",
		"context.claudeMdFallback":   "false", "context.maxBytes": "32768",
		"pluginHooks.timeoutMs": "15000", "pluginHooks.sessionEndTimeoutMs": "10000", "pluginHooks.disposeTimeoutMs": "2000",
		"skills": "[]", "skillOverrides.<id>.enabled": "", "agents.active": "", "agents.effort": "",
		"builtinPlugins.<id>": "", "additionalDirectories": "[]", "permissions.mode": `"ask"`,
	}
	for _, k := range Keys() {
		if fallback, ok := want[k.Name]; !ok || fallback != k.Default || k.Allowed == "" {
			t.Errorf("got %+v, want default %q, known %v", k, fallback, ok)
		}
		delete(want, k.Name)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}
