package config

import (
	"fmt"
	"strings"
	"testing"
)

func TestErrorsNameLineKeyFoundAndAllowed(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"unknown key", "{\n\n\n\n\n\n\"providr\": {}}", `line 7: unknown key "providr", did you mean "provider"?`},
		{"wrong type", "{\n\"provider\": 3}", `line 2: "provider": found 3, allowed: an object`},
		{"null", `{"provider": {"model": null}}`, `line 1: "provider.model": found null, allowed: text of at most 256 bytes without control characters`},
		{"out of range", "{\"limits\": {\n\"maxTurns\": 10001}}", `line 2: "limits.maxTurns": found 10001, allowed: a whole number from 1 to 10000`},
		{"no whole number", `{"limits": {"maxTurns": 2.0}}`, `line 1: "limits.maxTurns": found 2.0, allowed: a whole number from 1 to 10000`},
		{"number as text", `{"context": {"maxBytes": "4096"}}`, `line 1: "context.maxBytes": found "4096", allowed: a whole number from 1024 to 1048576`},
		{"huge number", `{"context": {"maxBytes": 1e999}}`, `line 1: "context.maxBytes": found 1e999, allowed: a whole number from 1024 to 1048576`},
		{"no boolean", `{"provider": {"streamUsage": "yes"}}`, `line 1: "provider.streamUsage": found "yes", allowed: true or false`},
		{"none of the words", `{"provider": {"auth": "basic"}}`, `line 1: "provider.auth": found "basic", allowed: "bearer", "none"`},
		{"list for text", `{"permissions": {"mode": ["ask"]}}`, `line 1: "permissions.mode": found a list, allowed: "ask", "auto", "full"`},
		{"control character", `{"provider": {"model": "a\u001b[2Jb"}}`, `line 1: "provider.model": found "a\x1b[2Jb", allowed: text of at most 256 bytes without control characters`},
		{"bidi override", `{"provider": {"model": "a\u202eb"}}`, `line 1: "provider.model": found "a\u202eb", allowed: text of at most 256 bytes without control characters`},
		{"model that is no object", `{"models": {"gpt-4.1": true}}`, `line 1: "models.gpt-4.1": found true, allowed: an object`},
		{"empty model id", `{"models": {"": {}}}`, `line 1: "models.": found a name that is empty, too long or holds control characters`},
		{"effort twice", `{"models": {"m": {"effort": ["low", "low"]}}}`, `line 1: "models.m.effort": found "low", allowed: the name of a reasoning effort, each once`},
		{"empty effort", `{"models": {"m": {"effort": [""]}}}`, `line 1: "models.m.effort": found "", allowed: the name of a reasoning effort, each once`},
		{"line of an item", "{\"additionalDirectories\": [\n\"a\",\n7]}", `line 3: "additionalDirectories": found 7, allowed: a path, absolute or relative to where it stands; ~ is not expanded`},
		{"enabled", `{"builtinPlugins": {"p": {"enabled": 1}}}`, `line 1: "builtinPlugins.p.enabled": found 1, allowed: true or false`},
		{"plugin that is no object", `{"builtinPlugins": {"p": true}}`, `line 1: "builtinPlugins.p": found true, allowed: an object`},
		{"API", `{"provider": {"apiMode": "chats"}}`, `line 1: "provider.apiMode": found "chats", allowed: "chat", "responses"`},
		{"empty path", `{"provider": {"caFile": ""}}`, `line 1: "provider.caFile": found "", allowed: a path, absolute or relative to where it stands; ~ is not expanded`},
		{"home path", `{"provider": {"clientCert": "~/c.pem"}}`, `line 1: "provider.clientCert": found "~/c.pem", allowed: a path, absolute or relative to where it stands; ~ is not expanded`},
		{"body that is no object", `{"provider": {"extraBody": [1]}}`, `line 1: "provider.extraBody": found a list, allowed: an object of at most 64 KiB, without what the client sets itself`},
		{"body of the client", "{\"provider\": {\"extraBody\": {\n\"stream\": false}}}", `line 2: "provider.extraBody.stream": found what the client sets itself`},
		{"body of the client, in capitals", `{"provider": {"extraBody": {"Stream": false}}}`, `line 1: "provider.extraBody.Stream": found what the client sets itself`},
		{"body that continues", `{"provider": {"extraBody": {"previous_response_id": "x"}}}`, `line 1: "provider.extraBody.previous_response_id": found what the client sets itself`},
		{"body of the mode", "{\"provider\": {\"apiMode\": \"responses\",\n\"extraBody\": {\"parallel_tool_calls\": false}}}", `line 2: "provider.extraBody.parallel_tool_calls": found what the client sets itself where provider.apiMode is "responses"`},
		{"header of the client, in capitals", `{"provider": {"extraHeaders": {"CACHE-control": "X"}}}`, `line 1: "provider.extraHeaders.CACHE-control": found a header that the client sets itself`},
		{"key for a variable", `{"provider": {"apiKeyEnv": "a1b2c3d4e5f6g7h8i9j0"}}`, `line 1: "provider.apiKeyEnv": found what looks like a key and not like the name of a variable, allowed: letters, digits and _, such as OPENAI_API_KEY; the key itself never stands here`},
		{"hexadecimal key for a variable", `{"provider": {"extraHeaders": {"X-A": "ABCDEFABCDEFABCDEFABCDEFABCDEFAB"}}}`, `line 1: "provider.extraHeaders.X-A": found what looks like a key and not like the name of a variable, allowed: letters, digits and _, such as OPENAI_API_KEY; the key itself never stands here`},
		{"large body", `{"provider": {"extraBody": {"a": "` + strings.Repeat("x", 65536-7) + `"}}}`, `line 1: "provider.extraBody": found 65537 bytes, allowed: an object of at most 64 KiB, without what the client sets itself`},
		{"header of the key", "{\"provider\": {\"extraHeaders\": {\n\"authoriZation\": \"X\"}}}", `line 2: "provider.extraHeaders.authoriZation": found a header that the client sets itself`},
		{"header of the content", `{"provider": {"extraHeaders": {"Content-Encoding": "X"}}}`, `line 1: "provider.extraHeaders.Content-Encoding": found a header that the client sets itself`},
		{"no header", `{"provider": {"extraHeaders": {"X A": "X"}}}`, `line 1: "provider.extraHeaders.X A": found no name of a header, allowed: at most 64 letters, digits, - and _`},
		{"header in two cases", "{\"provider\": {\"extraHeaders\": {\"X-A\": \"X\",\n\"x-a\": \"Y\"}}}", `line 2: "provider.extraHeaders.x-a": found a header that stands there already; case makes no other name`},
		{"header's value", `{"provider": {"extraHeaders": {"X-A": "Bearer x"}}}`, `line 1: "provider.extraHeaders.X-A": found no name of an environment variable, allowed: letters, digits and _, such as OPENAI_API_KEY; the key itself never stands here`},
		{"price", `{"models": {"m": {"price": {"input": -1, "output": 1}}}}`, `line 1: "models.m.price.input": found -1, allowed: a number from 0 to 1000000, for a million tokens`},
		{"huge price", `{"models": {"m": {"price": {"input": 1, "output": 1e999}}}}`, `line 1: "models.m.price.output": found 1e999, allowed: a number from 0 to 1000000, for a million tokens`},
		{"half a price", "{\"models\": {\"m\": {\n\"price\": {\"input\": 1}}}}", `line 2: "models.m.price": found no "output", allowed: input, output and, where it differs, cachedInput`},
		{"zero version", `{"schemaVersion": 0}`, `line 1: "schemaVersion": found 0, allowed: a whole number from 1 to 1`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, file, err := load(t, tt.text)
			want := fmt.Sprintf("read config %q: %s", file, tt.want)
			if err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}

// Symptom: unknown keys at the root are refused, nested ones are dropped
// without a word. Trigger: a misspelt key at every level.
func TestC166UnknownKeysAtEveryLevel(t *testing.T) {
	_, file, err := load(t, `{
		"limit": {},
		"provider": {"modle": "x"},
		"models": {"m": {"contextwindow": 1}},
		"context": {"files": {}},
		"model": "x",
		"builtinPlugins": {"p": {"enabeld": true}}
	}`)
	lines := []string{
		`line 2: unknown key "limit", did you mean "limits"?`,
		`line 3: unknown key "provider.modle", did you mean "provider.model"?`,
		`line 4: unknown key "models.m.contextwindow", did you mean "models.m.contextWindow"?`,
		`line 5: unknown key "context.files"`,
		`line 6: unknown key "model", did you mean "models"?`,
	}
	for i := range lines {
		lines[i] = fmt.Sprintf("read config %q: %s", file, lines[i])
	}
	// The keys of a plugin are the plugin's to check.
	if want := strings.Join(lines, "\n"); err == nil || err.Error() != want {
		t.Errorf("got:\n%v\nwant:\n%s", err, want)
	}
}

func TestUnknownKeyThatBelongsElsewhere(t *testing.T) {
	_, _, err := load(t, `{"apiKeyEnv": "X"}`)
	if err == nil || !strings.HasSuffix(err.Error(), `unknown key "apiKeyEnv", did you mean "provider.apiKeyEnv"?`) {
		t.Errorf("got %v", err)
	}
}

func TestUnknownPlugin(t *testing.T) {
	o := LoadOptions{Dirs: home(t, `{"builtinPlugins": {"memroy": {}, "zzz": {}}}`), Getenv: noEnv, Plugins: []string{"memory", "openai"}}
	_, err := Load(o)
	for _, want := range []string{
		`line 1: "builtinPlugins.memroy": no such built-in plugin, did you mean "memory"?`,
		`line 1: "builtinPlugins.zzz": no such built-in plugin; there are: memory, openai`,
	} {
		if err == nil || !strings.Contains(err.Error()+"\n", want+"\n") {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Symptom: one stray root key stops all sessions from loading. Here strictness
// is wanted, and a file of a newer version says so once instead of once a key.
// Trigger: a newer schemaVersion beside keys that only it knows.
func TestC167NewerSchemaIsOneError(t *testing.T) {
	_, file, err := load(t, "{\n\"files\": {},\n\"schemaVersion\": 2, \"provider\": 7}")
	want := fmt.Sprintf(`read config %q: line 3: "schemaVersion": found version 2, written by a newer alisio; `+
		`this one reads version 1: update alisio or use another file`, file)
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestTenErrorsAtMost(t *testing.T) {
	var b strings.Builder
	for i := range 14 {
		fmt.Fprintf(&b, "\"unheard%d\": 1,\n", i)
	}
	_, _, err := load(t, "{"+b.String()+"}")
	if err == nil {
		t.Fatal("got no error")
	}
	lines := strings.Split(err.Error(), "\n")
	if got := len(lines); got != 11 || lines[10] != "read config: more errors follow, correct these first" {
		t.Errorf("got %d lines, the last %q", got, lines[len(lines)-1])
	}
}

func TestErrorsNeverRepeatAKey(t *testing.T) {
	const secret = "sk-verysecret-123"
	for _, text := range []string{
		`{"provider": {"apiKeyEnv": "` + secret + `"}}`,
		`{"provider": {"extraHeaders": {"X-A": "` + secret + `"}}}`,
		`{"provider": {"baseURL": "https://user:` + secret + `@host/v1"}}`,
		`{"provider": {"baseURL": "https://host/v1?key=` + secret + `"}}`,
		`{"provider": {"baseURL": "https://host/%zz` + secret + `"}}`,
	} {
		_, _, err := load(t, text)
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: got %v, want an error without the secret", text, err)
		}
	}
}

func TestLongValuesAreCutInErrors(t *testing.T) {
	_, _, err := load(t, `{"permissions": {"mode": "`+strings.Repeat("é", 5000)+`"}}`)
	if err == nil || len(err.Error()) > 400 || strings.Contains(err.Error(), `\x`) {
		t.Errorf("got %v, want a short error with whole characters", err)
	}
}

// Who checks a value later says as well where it stands.
func TestWrong(t *testing.T) {
	c, file, err := load(t, "{\"builtinPlugins\": {\n\"a.b\": {\n\"x\": {\"y\": 1}}}}")
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"builtinPlugins.a.b.x.y": fmt.Sprintf("read config %q: line 3: no 1", file),
		"builtinPlugins.a.b.z.y": fmt.Sprintf("read config %q: line 2: no 1", file),
		"limits.maxTurns":        "read default: no 1",
		"nowhere.at.all":         "read config: no 1",
	} {
		if got := c.Wrong(key, "no %d", 1); got.Error() != want {
			t.Errorf("%s: got %v, want %s", key, got, want)
		}
	}
}
