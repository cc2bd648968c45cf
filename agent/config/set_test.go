package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestSetKeepsTheStyle(t *testing.T) {
	tests := []struct{ name, before, key, value, after string }{
		{"value", "{\n  // mine\n  \"provider\": {\"model\": \"a\" /* b */},\n}\n", "provider.model", `"c"`,
			"{\n  // mine\n  \"provider\": {\"model\": \"c\" /* b */},\n}\n"},
		{"member after a trailing comma", "{\n\t\"provider\": {\n\t\t\"auth\": \"none\", // why\n\t\t// end\n\t},\n}", "provider.model", `"m"`,
			"{\n\t\"provider\": {\n\t\t\"auth\": \"none\", // why\n\t\t\"model\": \"m\",\n\t\t// end\n\t},\n}"},
		{"member without one", "{\n    \"provider\": {\n        \"auth\": \"none\" // why\n    }\n}", "provider.model", `"m"`,
			"{\n    \"provider\": {\n        \"auth\": \"none\", // why\n        \"model\": \"m\"\n    }\n}"},
		{"two levels", "{\n  \"schemaVersion\": 1\n}\n", "models.gpt-4.1.effort", `["low", "high"]`,
			"{\n  \"schemaVersion\": 1,\n  \"models\": {\n    \"gpt-4.1\": {\n      \"effort\": [\"low\",\"high\"]\n    }\n  }\n}\n"},
		{"CRLF and BOM", "\xef\xbb\xbf{\r\n  \"schemaVersion\": 1 // v\r\n}\r\n", "limits.maxTurns", "7",
			"\xef\xbb\xbf{\r\n  \"schemaVersion\": 1, // v\r\n  \"limits\": {\r\n    \"maxTurns\": 7\r\n  }\r\n}\r\n"},
		{"one line", `{"provider": {"model": "a"}}`, "limits.maxTurns", "7", `{"provider": {"model": "a"}, "limits": {"maxTurns": 7}}`},
		{"compact", `{"provider":{"model":"a"}}`, "provider.auth", `"none"`, `{"provider":{"model":"a","auth":"none"}}`},
		{"one line, trailing comma", `{"provider": {"model": "a",},}`, "provider.auth", `"none"`, `{"provider": {"model": "a", "auth": "none",},}`},
		{"comment before the comma", `{"schemaVersion": 1 /* , } */}`, "limits.maxTurns", "7", `{"schemaVersion": 1, /* , } */ "limits": {"maxTurns": 7}}`},
		{"line comment at the end of one line", "{\"schemaVersion\": 1 // x\n}", "limits.maxTurns", "7",
			"{\"schemaVersion\": 1, // x\n  \"limits\": {\n    \"maxTurns\": 7\n  }\n}"},
		{"empty", "{}", "provider.model", `"m"`, "{\n  \"provider\": {\n    \"model\": \"m\"\n  }\n}"},
		{"empty with a comment", "{ // nothing yet\n}\n", "provider.model", `"m"`, "{ // nothing yet\n  \"provider\": {\n    \"model\": \"m\"\n  }\n}\n"},
		{"empty with a long comment", "{ /* a\n b */ }", "limits.maxTurns", "1", "{ /* a\n b */\n  \"limits\": {\n    \"maxTurns\": 1\n  }\n }"},
		{"empty in a line", `{"schemaVersion":1,"provider":{}}`, "provider.model", `"m"`, `{"schemaVersion":1,"provider":{"model":"m"}}`},
		{"object", "{\n  \"schemaVersion\": 1\n}", "builtinPlugins.memory", `{"enabled":false,"x":[1]}`,
			"{\n  \"schemaVersion\": 1,\n  \"builtinPlugins\": {\n    \"memory\": {\n      \"enabled\": false,\n      \"x\": [\n        1\n      ]\n    }\n  }\n}"},
		{"plugin with a dot", "{\n  \"schemaVersion\": 1\n}", "builtinPlugins.a.b.enabled", "false",
			"{\n  \"schemaVersion\": 1,\n  \"builtinPlugins\": {\n    \"a.b\": {\n      \"enabled\": false\n    }\n  }\n}"},
		{"option of a plugin", `{"schemaVersion": 1}`, "builtinPlugins.p.a.b", "1", `{"schemaVersion": 1, "builtinPlugins": {"p": {"a": {"b": 1}}}}`},
		{"the same", "{ \"schemaVersion\" : 1 }", "schemaVersion", "1", "{ \"schemaVersion\" : 1 }"},
		{"list", "{\n  \"additionalDirectories\": [\n    \"a\", // x\n  ],\n}", "additionalDirectories", ` [ "b" ] `, "{\n  \"additionalDirectories\": [\"b\"],\n}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "config.json")
			write(t, file, tt.before)
			if err := Set(file, tt.key, json.RawMessage(tt.value)); err != nil {
				t.Fatal(err)
			}
			if got := read(t, file); got != tt.after {
				t.Errorf("got\n%s\nwant\n%s", got, tt.after)
			}
		})
	}
}

func TestUnset(t *testing.T) {
	tests := []struct{ name, before, key, after string }{
		{"a line", "{\n  // one\n  \"schemaVersion\": 1,\n  \"limits\": {\"maxTurns\": 1},\n}", "limits", "{\n  // one\n  \"schemaVersion\": 1,\n}"},
		{"its comment stays", "{\n  \"schemaVersion\": 1, // one\n  \"limits\": {} // two\n}", "limits", "{\n  \"schemaVersion\": 1 // one\n   // two\n}"},
		{"last line without comma", "{\r\n  \"schemaVersion\": 1,\r\n  \"limits\": {}\r\n}", "limits", "{\r\n  \"schemaVersion\": 1\r\n}"},
		{"first of a line", `{"schemaVersion": 1, "limits": {}}`, "schemaVersion", `{"limits": {}}`},
		{"last of a line", `{"schemaVersion": 1, "limits": {}}`, "limits", `{"schemaVersion": 1}`},
		{"middle of a line", `{"provider": {"model": "a" /* c */ , "auth": "none"}}`, "provider.model", `{"provider": {/* c */  "auth": "none"}}`},
		{"the only one", `{"provider": {"model": "a",}}`, "provider.model", `{"provider": {}}`},
		{"many lines", "{\n  \"limits\": {\n    \"maxTurns\": 1,\n  },\n  \"schemaVersion\": 1\n}", "limits", "{\n  \"schemaVersion\": 1\n}"},
		{"name with a dot", `{"models": {"a.b": {"contextWindow": 1, "effort": []}}}`, "models.a.b.contextWindow", `{"models": {"a.b": {"effort": []}}}`},
		{"what is not there", `{"schemaVersion": 1,}`, "provider.model", `{"schemaVersion": 1,}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "config.json")
			write(t, file, tt.before)
			if err := Unset(file, tt.key); err != nil {
				t.Fatal(err)
			}
			if got := read(t, file); got != tt.after {
				t.Errorf("got\n%s\nwant\n%s", got, tt.after)
			}
		})
	}
	missing := filepath.Join(t.TempDir(), "none", "config.json")
	if err := Unset(missing, "limits"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("Unset made a file")
	}
}

func TestSetMakesAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a", "b", "config.json")
	if err := Set(file, "provider.model", json.RawMessage(`"m"`)); err != nil {
		t.Fatal(err)
	}
	if got, want := read(t, file), "{\n  \"schemaVersion\": 1,\n  \"provider\": {\n    \"model\": \"m\"\n  }\n}\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Symptom: a comment makes the parse fail, the reader returns an empty object,
// and the next save wipes the user's file. Trigger: files that can not be read,
// and changes that would make one so; then a command that writes a setting.
func TestC168NothingIsWrittenThatCanNotBeRead(t *testing.T) {
	tests := []struct{ name, text, key, value, want string }{
		{"no JSON", "{ // note\n  oops }", "provider.model", `"m"`, `set "provider.model": read config %q: line 2: column 3: found "o", expected a key in double quotes or "}"`},
		{"empty file", "", "provider.model", `"m"`, `set "provider.model": read config %q: line 1: column 1: found the end of the file, expected "{"`},
		{"unknown key in it", `{"providr": {}}`, "provider.model", `"m"`, `set "provider.model": read config %q: line 1: unknown key "providr", did you mean "provider"?`},
		{"newer", `{"schemaVersion": 2}`, "provider.model", `"m"`, `set "provider.model": read config %q: line 1: "schemaVersion": found version 2, written by a newer alisio; this one reads version 1: update alisio or use another file`},
		{"key twice", `{"limits": {}, "limits": {}}`, "limits.maxTurns", `1`, `set "limits.maxTurns": read config %q: line 1: key "limits" stands twice in one object`},
		{"wrong value", "{\n}", "limits.maxTurns", "0", `set "limits.maxTurns": read config %q: line 3: "limits.maxTurns": found 0, allowed: a whole number from 1 to 10000`},
		{"unknown key", "{}", "provider.modle", `"m"`, `set "provider.modle": read config %q: line 3: unknown key "provider.modle", did you mean "provider.model"?`},
		{"below a value", `{"provider": 7}`, "provider.model", `"m"`, `set "provider.model": read config %q: line 1: "provider": found 7, allowed: an object`},
		{"two in one value", "{}", "additionalDirectories", `[], "x": 1`, `set "additionalDirectories": found no JSON value`},
		{"no value", "{}", "limits.maxTurns", " ", `set "limits.maxTurns": found no JSON value`},
		{"no UTF-8", "{}", "provider.model", "\"\xff\"", `set "provider.model": read config %q: line 3: found a byte that is no UTF-8`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "config.json")
			write(t, file, tt.text)
			want := strings.Replace(tt.want, "%q", fmt.Sprintf("%q", file), 1)
			if err := Set(file, tt.key, json.RawMessage(tt.value)); err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
			if got := read(t, file); got != tt.text {
				t.Errorf("the file became %q", got)
			}
			alone(t, file)
		})
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// alone checks that nothing else was left in the file's directory.
func alone(t *testing.T, file string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil || len(entries) != 1 {
		t.Errorf("beside the file: %v, %v", entries, err)
	}
}

// A written document that is commented at random.
type scribe struct {
	r        *rand.Rand
	eol      string
	trailing bool
	b        strings.Builder
}

func (s *scribe) space() {
	gaps := []string{"", " ", "\t", s.eol, s.eol + "  ", " /* c, } */ ", "// d \"{" + s.eol, s.eol + "\t// e" + s.eol + "\t", "/**/"}
	for range s.r.IntN(3) {
		s.b.WriteString(gaps[s.r.IntN(len(gaps))])
	}
}

func (s *scribe) object(tree map[string]any) {
	s.b.WriteString("{")
	names := make([]string, 0, len(tree))
	for name := range tree {
		names = append(names, name)
	}
	slices.Sort(names)
	s.r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for i, name := range names {
		s.space()
		fmt.Fprintf(&s.b, "%q", name)
		s.space()
		s.b.WriteString(":")
		s.space()
		switch v := tree[name].(type) {
		case map[string]any:
			s.object(v)
		case string:
			s.b.WriteString(v)
		}
		s.space()
		if i < len(names)-1 || s.trailing {
			s.b.WriteString(",")
		}
	}
	s.space()
	s.b.WriteString("}")
}

// choices are keys with two values each.
func choices() map[string][2]string {
	return map[string][2]string{
		"schemaVersion": {"1", "1"}, "provider.model": {`"a"`, `"// b, } \" c"`}, "provider.auth": {`"none"`, `"bearer"`},
		"provider.streamUsage": {"true", "false"}, "provider.extraBody": {`{"a": {"b": [1, "{"]}}`, `{}`},
		"provider.extraHeaders": {`{"X-A": "V", "X-B": "W"}`, `{}`}, "models.gpt-4.1.effort": {`["low"]`, "[]"},
		"models.gpt-4.1.contextWindow": {"5", "6"}, "models.b.price.input": {"1.50", "2e1"}, "limits.maxTurns": {"9", "10"},
		"context.claudeMdFallback": {"true", "false"}, "builtinPlugins.p": {`{"enabled": true, "o": [{}]}`, `{"x": null}`},
		"builtinPlugins.a.b.enabled": {"true", "false"}, "additionalDirectories": {`["x", "//y"]`, "[]"},
	}
}

func document(r *rand.Rand) string {
	tree := map[string]any{}
	for key, values := range choices() {
		if r.IntN(2) == 0 {
			continue
		}
		at, path := tree, steps(key)
		for _, name := range path[:len(path)-1] {
			if at[name] == nil {
				at[name] = map[string]any{}
			}
			at = at[name].(map[string]any)
		}
		at[path[len(path)-1]] = values[r.IntN(2)]
	}
	s := scribe{r: r, eol: []string{"\n", "\r\n"}[r.IntN(2)], trailing: r.IntN(2) == 0}
	if r.IntN(4) == 0 {
		s.b.WriteString("\xef\xbb\xbf")
	}
	s.space()
	s.object(tree)
	s.space()
	return s.b.String()
}

func TestEditsOfRandomDocuments(t *testing.T) {
	keys := make([]string, 0, len(choices()))
	for key := range choices() {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 1))
		before := document(r)
		key := keys[r.IntN(len(keys))]
		value := choices()[key][r.IntN(2)]
		fail := func(format string, args ...any) {
			t.Helper()
			t.Errorf("seed %d, %s = %s in\n%s\n%s", seed, key, value, before, fmt.Sprintf(format, args...))
		}
		set, err := edited(&source{file: "/c.json", data: []byte(before)}, key, []byte(value))
		if err != nil {
			fail("%v", err)
			continue
		}
		checkSet(before, string(set), key, value, fail)
		unset, err := edited(&source{file: "/c.json", data: set}, key, nil)
		if err != nil {
			fail("unset in\n%s\n%v", set, err)
			continue
		}
		checkUnset(string(set), string(unset), key, fail)
	}
}

// checkSet: the value is there, and every byte that was there but the value's
// old ones stands in the same order.
func checkSet(before, after, key, value string, fail func(string, ...any)) {
	root, errs := parseText(after)
	if errs != nil {
		fail("became\n%s\n%v", after, errs)
		return
	}
	v, ok := root.find(key)
	var want bytes.Buffer
	if err := json.Compact(&want, []byte(value)); err != nil || !ok || string(v.json()) != want.String() {
		fail("became\n%s\nfound %s, %v", after, v.json(), err)
	}
	old, _ := parseText(before)
	if was, ok := old.find(key); ok {
		if after != before[:was.start]+after[v.start:v.end]+before[was.end:] {
			fail("became\n%s", after)
		}
		return
	}
	// What was added is one piece, and perhaps one comma before it.
	from := 0
	for from < len(before) && before[from] == after[from] {
		from++
	}
	back := 0
	for back < len(before)-from && before[len(before)-1-back] == after[len(after)-1-back] {
		back++
	}
	if left := before[from : len(before)-back]; left != "" && !strings.HasPrefix(after[from:], ","+left) {
		fail("became\n%s\nwhere %q was lost", after, left)
	}
}

// checkUnset: the key is gone and every comment that was not in it is there.
func checkUnset(before, after, key string, fail func(string, ...any)) {
	root, errs := parseText(after)
	if _, found := root.find(key); errs != nil || found {
		fail("unset became\n%s\n%v", after, errs)
	}
	old, _ := parseText(before)
	was, _ := old.find(key)
	outside := before[:was.start] + before[was.end:]
	for _, comment := range []string{"/* c, } */", "// d \"{", "// e", "/**/"} {
		name := key[strings.LastIndex(key, ".")+1:]
		between := outside[strings.LastIndex(outside[:was.start], `"`+name):was.start]
		if got, want := strings.Count(after, comment), strings.Count(outside, comment)-strings.Count(between, comment); got != want {
			fail("unset in\n%s\nbecame\n%s\nwhich has %d of %q, want %d", before, after, got, comment, want)
		}
	}
}

// FuzzEdit: whatever a file holds, an edit is refused or changes its key alone.
func FuzzEdit(f *testing.F) {
	for _, s := range []string{"{}", "{//\n}", `{"limits": {"maxTurns": 1,} /**/ }`, "\xef\xbb\xbf{\r\n\"provider\"\r\n:{},}", `{"models":{"a.b":{}}}`} {
		f.Add(s, "limits.maxTurns", "2")
		f.Add(s, "models.a.b.price.input", "1")
		f.Add(s, "provider", `{"model":""}`)
	}
	f.Fuzz(func(t *testing.T, text, key, value string) {
		src := source{file: "/c.json", data: []byte(text)}
		if !json.Valid([]byte(value)) {
			return
		}
		for _, v := range [][]byte{bytes.TrimSpace([]byte(value)), nil} {
			data, err := edited(&src, key, v)
			if err != nil && strings.Contains(err.Error(), "edit it by hand") {
				t.Errorf("%q: %v", text, err)
			}
			if err == nil && data != nil {
				src.data = data
			}
		}
	})
}
