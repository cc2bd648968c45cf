package resource

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// explain renders each row in a line: name, kind, bytes used of those it has,
// "later" when it is not read at the start, and the note.
func explain(t *testing.T, o Options, at string) []string {
	t.Helper()
	if o.MaxBytes == 0 {
		o.MaxBytes = 32768
	}
	all, err := Explain(o, at)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, e := range all {
		line := fmt.Sprintf("%s [%s] %d/%d", e.Name, e.Kind, e.Used, e.Size)
		if !e.AtStart {
			line += " later"
		}
		if e.Applies != (e.Used > 0) {
			t.Errorf("%s: applies is %v", line, e.Applies)
		}
		if e.Note != "" {
			line += ": " + e.Note
		}
		lines = append(lines, line)
	}
	return lines
}

func TestExplain(t *testing.T) {
	config, root := makeTree(t, map[string]string{
		"config/AGENTS.override.md": "mine", "config/AGENTS.md": "x",
		"ws/AGENTS.md": "root", "ws/AGENT.md": "x", "ws/CLAUDE.md": "x",
		"ws/a/CLAUDE.md": "claude", "ws/a/b/AGENTS.override.md": "over", "ws/a/b/AGENTS.md": "x", "ws/a/b/f.go": "",
		"ws/a/other/AGENTS.md": "other", "ws/a/b/blank/AGENTS.md": "\n \n",
	})
	at := func(p string) string { return filepath.Join(root, filepath.FromSlash(p)) }
	global := []string{"global AGENTS.override.md [global] 4/4", "global AGENTS.md [] 0/0: is not read: AGENTS.override.md comes first"}
	top := append(global, "AGENTS.md [directory] 4/4", "AGENT.md [] 0/0: is not read: AGENTS.md comes first")
	for _, c := range []struct {
		path   string
		claude bool
		want   []string
	}{
		{"a/b/f.go", false, append(top[:4:4], "CLAUDE.md [] 0/0: is not read: context.claudeMdFallback is false",
			"a/CLAUDE.md [] 0/0: is not read: context.claudeMdFallback is false",
			"a/b/AGENTS.override.md [override] 4/4 later", "a/b/AGENTS.md [] 0/0 later: is not read: AGENTS.override.md comes first")},
		{"a/new.go", true, append(top[:4:4], "CLAUDE.md [] 0/0: is not read: AGENTS.md comes first", "a/CLAUDE.md [fallback] 6/6")},
		{"a/other", true, append(top[:4:4], "CLAUDE.md [] 0/0: is not read: AGENTS.md comes first", "a/CLAUDE.md [fallback] 6/6",
			"a/other/AGENTS.md [directory] 5/5 later")},
		{"a/b/blank/none/at/all", true, append(top[:4:4], "CLAUDE.md [] 0/0: is not read: AGENTS.md comes first", "a/CLAUDE.md [fallback] 6/6",
			"a/b/AGENTS.override.md [override] 4/4 later", "a/b/AGENTS.md [] 0/0 later: is not read: AGENTS.override.md comes first",
			"a/b/blank/AGENTS.md [directory] 0/3 later: is blank")},
	} {
		got := explain(t, Options{ConfigHome: config, Root: root, Dir: at("a"), ClaudeMdFallback: c.claude}, at(c.path))
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\ngot  %s\nwant %s", c.path, strings.Join(got, "\n     "), strings.Join(c.want, "\n     "))
		}
	}
}

// What is explained is what a run in that directory is given.
func TestExplainAgreesWithLoad(t *testing.T) {
	config, root := makeTree(t, map[string]string{
		"config/AGENTS.md": "global", "ws/AGENTS.md": strings.Repeat("r", 900), "ws/sub/AGENTS.md": strings.Repeat("s", 500), "ws/sub/x": "",
	})
	dir := filepath.Join(root, "sub")
	o := Options{ConfigHome: config, Root: root, Dir: dir, MaxBytes: 1024}
	all, err := Explain(o, filepath.Join(dir, "x"))
	if err != nil {
		t.Fatal(err)
	}
	var sources []Source
	for _, e := range all {
		sources = append(sources, e.Source)
	}
	if c := load(t, o); !reflect.DeepEqual(sources, c.Sources) {
		t.Errorf("got %+v, want %+v", sources, c.Sources)
	}
	want := []string{
		"global AGENTS.md [global] 0/6: was left out: context.maxBytes is 1024, closer files fill it",
		fmt.Sprintf("AGENTS.md [directory] %d/900: was cut after %[1]d bytes: context.maxBytes is 1024", all[1].Used),
		"sub/AGENTS.md [directory] 500/500",
	}
	if got := explain(t, o, dir); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestExplainDeepDirectories(t *testing.T) {
	deep := strings.Repeat("d/", maxDirs+5)
	_, root := makeTree(t, map[string]string{"ws/AGENTS.md": "root", "ws/" + deep + "AGENTS.md": "closest"})
	want := []string{
		"6 directories between the workspace root and the working directory [] 0/0 later: were not looked at",
		"AGENTS.md [directory] 4/4", strings.TrimSuffix(deep, "/") + "/AGENTS.md [directory] 7/7 later",
	}
	if got := explain(t, Options{Root: root, Dir: root}, filepath.Join(root, deep)); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestExplainWrongPaths(t *testing.T) {
	_, root := makeTree(t, nil)
	for name, c := range map[string][2]string{
		"outside": {root, filepath.Dir(root)}, "relative": {root, "x"}, "no root": {root + "/no", root + "/no/x"},
	} {
		if all, err := Explain(Options{Root: c[0], Dir: c[0]}, c[1]); err == nil || !strings.HasPrefix(err.Error(), "explain instructions: ") {
			t.Errorf("%s: got %+v, %v, want an error", name, all, err)
		}
	}
}
