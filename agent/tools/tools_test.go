package tools

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"alisio/plug"
)

func TestAllSpecsAreSmallAndWellFormed(t *testing.T) {
	type sent struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	var all []sent
	name := regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	seen := map[string]bool{}
	for _, tool := range All() {
		s := tool.Spec()
		all = append(all, sent{s.Name, s.Description, s.Schema})
		var schema struct {
			Type       string `json:"type"`
			Properties map[string]struct {
				Type any `json:"type"`
			} `json:"properties"`
			Required   []string `json:"required"`
			Additional *bool    `json:"additionalProperties"`
		}
		if err := json.Unmarshal(s.Schema, &schema); err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		if !name.MatchString(s.Name) || seen[s.Name] || s.Description == "" || schema.Type != "object" || schema.Additional == nil {
			t.Errorf("%s: spec is not well formed: %+v", s.Name, s)
		}
		seen[s.Name] = true
		for _, r := range schema.Required {
			if schema.Properties[r].Type == nil {
				t.Errorf("%s: required %s has no type", s.Name, r)
			}
		}
	}
	got, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 9 || len(got) > 5500 {
		t.Errorf("got %d tools in %d bytes, want 9 in at most 5500: they are sent with every request", len(all), len(got))
	}
	t.Logf("%d bytes", len(got))
}

// Every argument that a schema offers has to be one that the tool knows, with
// the type that it says.
func TestSchemasFitTheArguments(t *testing.T) {
	for _, c := range []struct {
		tool plug.Tool
		into any
	}{
		{readFile{}, &readArgs{}}, {listFiles{}, &listArgs{}}, {searchText{}, &searchArgs{}}, {gitDiff{}, &diffArgs{}},
		{writeFile{}, &writeArgs{}}, {editFile{}, &editArgs{}}, {runProcess{}, &processArgs{}}, {shell{}, &shellArgs{}},
	} {
		var schema struct {
			Properties map[string]struct {
				Type any `json:"type"`
			} `json:"properties"`
		}
		if err := json.Unmarshal(c.tool.Spec().Schema, &schema); err != nil {
			t.Fatal(err)
		}
		sample := map[string]any{}
		for name, p := range schema.Properties {
			switch p.Type {
			case "integer":
				sample[name] = 7
			case "boolean":
				sample[name] = true
			case "array":
				sample[name] = []string{"x"}
			default:
				sample[name] = "x"
			}
		}
		raw, _ := json.Marshal(sample)
		d := json.NewDecoder(strings.NewReader(string(raw)))
		d.DisallowUnknownFields()
		if err := d.Decode(c.into); err != nil {
			t.Errorf("%s: %v", c.tool.Spec().Name, err)
		}
		back, _ := json.Marshal(c.into)
		var known map[string]any
		if err := json.Unmarshal(back, &known); err != nil || len(known) != len(sample) {
			t.Errorf("%s: the schema has %d arguments, the tool %d", c.tool.Spec().Name, len(sample), len(known))
		}
	}
}

func TestEffects(t *testing.T) {
	want := map[string]plug.Effect{
		"read_file": plug.EffectRead, "list_files": plug.EffectRead, "search_text": plug.EffectRead,
		"git_status": plug.EffectRead, "git_diff": plug.EffectRead, "write_file": plug.EffectWrite,
		"edit_file": plug.EffectWrite, "run_process": plug.EffectProcess, "shell": plug.EffectProcess,
	}
	for _, tool := range All() {
		if s := tool.Spec(); s.Effect != want[s.Name] || s.Polling || s.Concurrent {
			t.Errorf("%s: effect %q, want %q", s.Name, s.Effect, want[s.Name])
		}
	}
}

// A path outside is for the gate to ask about: Prepare reads nothing there, and
// a plan of that kind writes nothing.
func TestOutsideIsPlannedAndNotTouched(t *testing.T) {
	b := newBench(t)
	other := newBench(t)
	other.put("f.txt", "secret\n")
	path := other.root + "/f.txt"
	opened := false
	open := b.files.Open
	b.files.Open = func(ctx context.Context, p string) (plug.File, error) {
		opened = true
		return open(ctx, p)
	}
	hash := strings.Repeat("0", 64)
	for _, c := range []struct {
		tool plug.Tool
		args args
		runs bool
	}{
		{readFile{}, args{"path": path}, true},
		{writeFile{}, args{"path": path, "content": "x", "expectedHash": hash}, false},
		{editFile{}, args{"path": path, "oldText": "a", "newText": "b", "expectedHash": hash}, false},
		{listFiles{}, args{"path": other.root}, true},
		{searchText{}, args{"path": other.root, "pattern": "x"}, true},
		{gitDiff{}, args{"path": path}, true},
		{shell{}, args{"command": "true", "cwd": other.root}, true},
	} {
		name := c.tool.Spec().Name
		call := b.call(c.args)
		p, err := c.tool.Prepare(t.Context(), call)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(p.Paths) != 1 || !strings.HasPrefix(p.Paths[0].Path, other.root) || p.Preview != nil || opened {
			t.Errorf("%s: plan %+v, opened %v", name, p, opened)
		}
		if c.runs {
			continue
		}
		if _, err := c.tool.Execute(t.Context(), call, p); err == nil {
			t.Errorf("%s: a plan without the file was executed", name)
		}
	}
	if got := other.get("f.txt"); got != "secret\n" {
		t.Errorf("the file outside is now %q", got)
	}
}

func TestCount(t *testing.T) {
	for want, got := range map[string]string{
		"1 line": count(1, "line"), "0 lines": count(0, "line"), "2 matches": count(2, "match"),
		"1 match": count(1, "match"), "3 entries": count(3, "entry"),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestCuts(t *testing.T) {
	long := strings.Repeat("zeile für zeile\n", 1000)
	for n := 200; n < 260; n++ {
		head, left := headLines(long, n)
		if len(head)+left != len(long) || len(head) > n || !utf8.ValidString(head) || !strings.HasSuffix(head, "\n") {
			t.Errorf("headLines %d: %d bytes, %d left", n, len(head), left)
		}
		short, cut := middleCut(strings.Repeat("é", 5000)+"end", n)
		if !cut || len(short) > n || !utf8.ValidString(short) || !strings.HasSuffix(short, "end") {
			t.Errorf("middleCut %d: %d bytes, %q", n, len(short), short)
		}
	}
}
