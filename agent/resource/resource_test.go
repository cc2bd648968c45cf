package resource

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// makeTree makes a workspace, and a configuration directory beside it.
func makeTree(t *testing.T, files map[string]string) (config, root string) {
	t.Helper()
	base := t.TempDir()
	for name, text := range files {
		path := filepath.Join(base, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"config", "ws"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(base, "config"), filepath.Join(base, "ws")
}

func load(t *testing.T, o Options) Context {
	t.Helper()
	if o.MaxBytes == 0 {
		o.MaxBytes = 32768
	}
	c, err := Load(o)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Text) > o.MaxBytes || !utf8.ValidString(c.Text) {
		t.Errorf("got %d bytes (valid UTF-8: %v), want at most %d", len(c.Text), utf8.ValidString(c.Text), o.MaxBytes)
	}
	return c
}

// names lists the sources by name with the bytes used.
func names(c Context) string {
	var all []string
	for _, s := range c.Sources {
		all = append(all, fmt.Sprintf("%s:%d", s.Name, s.Used))
	}
	return strings.Join(all, " ")
}

func TestRootFirstClosestLast(t *testing.T) {
	config, root := makeTree(t, map[string]string{
		"config/AGENTS.md": "global\n", "ws/AGENTS.md": "\n\nroot\r\nrules\r", "ws/a/b/AGENT.md": "b",
		"ws/a/other/AGENTS.md": "other", "ws/a/b/below/AGENTS.md": "below", "AGENTS.md": "above",
	})
	dir := filepath.Join(root, "a", "b")
	c := load(t, Options{ConfigHome: config, Root: root, Dir: dir})
	want := "## Instructions from global AGENTS.md\n\nglobal\n\n" +
		"## Instructions from AGENTS.md\n\nroot\nrules\n\n" +
		"## Instructions from a/b/AGENT.md\n\nb\n\n"
	if c.Text != want {
		t.Errorf("got:\n%s\nwant:\n%s", c.Text, want)
	}
	sources := []Source{
		{filepath.Join(config, "AGENTS.md"), "global AGENTS.md", 7, 7, "global instructions"},
		{filepath.Join(root, "AGENTS.md"), "AGENTS.md", 14, 14, "instructions of the workspace root"},
		{filepath.Join(dir, "AGENT.md"), "a/b/AGENT.md", 1, 1, "instructions of a/b, which has no AGENTS.md"},
	}
	if !reflect.DeepEqual(c.Sources, sources) || c.Notices != nil {
		t.Errorf("got %+v with %q\nwant %+v", c.Sources, c.Notices, sources)
	}
	if again := load(t, Options{ConfigHome: config, Root: root, Dir: dir}); again.Text != c.Text {
		t.Error("the same files gave other bytes")
	}
}

func TestOneFileADirectory(t *testing.T) {
	all := []string{"AGENTS.override.md", "AGENTS.md", "AGENT.md", "CLAUDE.md"}
	for i, want := range all {
		files := map[string]string{}
		for _, name := range all[i:] {
			files["ws/"+name] = name
			files["config/"+name] = name
		}
		config, root := makeTree(t, files)
		for _, fallback := range []bool{true, false} {
			c := load(t, Options{Root: root, Dir: root, ClaudeMdFallback: fallback})
			expect := fmt.Sprintf("%s:%d", want, len(want))
			if want == "CLAUDE.md" && !fallback {
				expect = ""
			}
			if got := names(c); got != expect {
				t.Errorf("%v, fallback %v: got %q, want %q", all[i:], fallback, got, expect)
			}
		}
		c := load(t, Options{ConfigHome: config, Root: filepath.Dir(config), Dir: filepath.Dir(config), ClaudeMdFallback: true})
		expect := ""
		if i < 2 {
			expect = fmt.Sprintf("global %s:%d", want, len(want))
		}
		if got := names(c); got != expect {
			t.Errorf("global of %v: got %q, want %q", all[i:], got, expect)
		}
	}
}

func TestClosestIsKept(t *testing.T) {
	config, root := makeTree(t, map[string]string{
		"config/AGENTS.md": "global", "ws/AGENTS.md": strings.Repeat("é", 400) + "\n" + strings.Repeat("x", 300),
		"ws/sub/AGENTS.md": strings.Repeat("s", 500),
	})
	c := load(t, Options{ConfigHome: config, Root: root, Dir: filepath.Join(root, "sub"), MaxBytes: 1024})
	if !strings.Contains(c.Text, strings.Repeat("s", 500)) || strings.Contains(c.Text, "global") {
		t.Errorf("got:\n%s\nwant the closest whole and no global", c.Text)
	}
	if !strings.Contains(c.Text, "é\n[cut here: the file has 1101 bytes, see AGENTS.md]\n\n## Instructions from sub/AGENTS.md") {
		t.Errorf("got:\n%s\nwant a mark at the cut", c.Text)
	}
	if c.Sources[0].Used != 0 || c.Sources[1].Used == 0 || c.Sources[1].Used >= 1101 || c.Sources[2].Used != 500 {
		t.Errorf("got %s", names(c))
	}
	want := []string{
		fmt.Sprintf("AGENTS.md was cut after %d bytes: context.maxBytes is 1024", c.Sources[1].Used),
		"global AGENTS.md was left out: context.maxBytes is 1024, closer files fill it",
	}
	if !reflect.DeepEqual(c.Notices, want) {
		t.Errorf("got %q, want %q", c.Notices, want)
	}
}

func TestTextIsBoundedWhateverTheSizes(t *testing.T) {
	_, root := makeTree(t, map[string]string{
		"ws/AGENTS.md": strings.Repeat("line of text\n", 5000), "ws/s/AGENTS.md": strings.Repeat("\x01é\xff", 5000),
	})
	for limit := 0; limit < 3000; limit += 7 {
		c := load(t, Options{Root: root, Dir: filepath.Join(root, "s"), MaxBytes: limit + 1})
		if limit < 2000 && limit > 200 && !strings.Contains(c.Text, "[cut here: the file has 20000 bytes") {
			t.Fatalf("limit %d: got no mark in %q", limit, c.Text)
		}
	}
}

// A file whose start shrinks when it is cleaned must not look complete.
func TestCutFileIsMarkedEvenIfItShrinks(t *testing.T) {
	_, root := makeTree(t, map[string]string{"ws/AGENTS.md": strings.Repeat("\x01", 5000) + "end"})
	c := load(t, Options{Root: root, Dir: root, MaxBytes: 1024})
	if !strings.Contains(c.Text, "[cut here") || strings.Contains(c.Text, "end") {
		t.Errorf("got %q, want a mark", c.Text)
	}
}

func TestTextIsCleaned(t *testing.T) {
	_, root := makeTree(t, map[string]string{"ws/AGENTS.md": "\xef\xbb\xbfa\x00b\x1b[31mc\xff\xfed\u009be\tf\rg\r\nh"})
	c := load(t, Options{Root: root, Dir: root})
	if want := "## Instructions from AGENTS.md\n\nab[31mc\ufffdde\tf\ng\nh\n\n"; c.Text != want {
		t.Errorf("got %q, want %q", c.Text, want)
	}
	if want := []string{"AGENTS.md is not valid UTF-8: wrong bytes were replaced"}; !reflect.DeepEqual(c.Notices, want) {
		t.Errorf("got %q, want %q", c.Notices, want)
	}
}

func TestBlankFileTakesItsTurnAndAddsNothing(t *testing.T) {
	_, root := makeTree(t, map[string]string{"ws/AGENTS.override.md": " \n\t\n", "ws/AGENTS.md": "x"})
	c := load(t, Options{Root: root, Dir: root})
	if c.Text != "" || names(c) != "AGENTS.override.md:0" || c.Notices != nil {
		t.Errorf("got %q from %s with %q", c.Text, names(c), c.Notices)
	}
}

func TestDirectoryIsNoFile(t *testing.T) {
	_, root := makeTree(t, map[string]string{"ws/AGENTS.md/x": "", "ws/AGENT.md": "taken"})
	c := load(t, Options{Root: root, Dir: root})
	if names(c) != "AGENT.md:5" || len(c.Notices) != 1 || c.Notices[0] != "AGENTS.md was not read: not a regular file" {
		t.Errorf("got %s with %q", names(c), c.Notices)
	}
}

func TestDeepDirectoriesAreBounded(t *testing.T) {
	deep := strings.Repeat("d/", maxDirs+5)
	_, root := makeTree(t, map[string]string{"ws/AGENTS.md": "root", "ws/d/AGENTS.md": "middle", "ws/" + deep + "AGENTS.md": "closest"})
	c := load(t, Options{Root: root, Dir: filepath.Join(root, deep)})
	if got := len(c.Sources); got != 2 || !strings.Contains(c.Text, "root") || !strings.Contains(c.Text, "closest") {
		t.Errorf("got %s", names(c))
	}
	if want := []string{"6 directories between the workspace root and the working directory were not looked at"}; !reflect.DeepEqual(c.Notices, want) {
		t.Errorf("got %q, want %q", c.Notices, want)
	}
}

func TestWrongOptions(t *testing.T) {
	_, root := makeTree(t, nil)
	for name, o := range map[string]Options{
		"outside":           {Root: root, Dir: filepath.Dir(root)},
		"sibling":           {Root: root, Dir: root + "x"},
		"relative":          {Root: root, Dir: "sub"},
		"root that is gone": {Root: filepath.Join(root, "no"), Dir: filepath.Join(root, "no")},
	} {
		if c, err := Load(o); err == nil || c.Text != "" || !strings.HasPrefix(err.Error(), "read instruction files: ") {
			t.Errorf("%s: got %+v, %v, want an error", name, c, err)
		}
	}
	if c := load(t, Options{ConfigHome: filepath.Join(root, "no"), Root: root, Dir: filepath.Join(root, "gone")}); c.Text != "" || c.Notices != nil {
		t.Errorf("directories that are gone: got %+v", c)
	}
}

func TestWhole(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "a": "a", "é": "é", "a\xc3": "a", "a\xe2\x82": "a", "\xf0\x9f\x98": "", "a\xff": "a\xff", "\x80\x80\x80\x80\x80": "\x80\x80\x80\x80\x80",
	} {
		if got := string(whole([]byte(in))); got != want {
			t.Errorf("whole(%q): got %q, want %q", in, got, want)
		}
	}
}
