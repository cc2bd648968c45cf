package resource

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// nested lists what is attached for paths below the workspace: names with bytes.
func nested(t *testing.T, o Options, paths ...string) (string, []Attached, []string) {
	t.Helper()
	if o.MaxBytes == 0 {
		o.MaxBytes = 32768
	}
	for i, p := range paths {
		paths[i] = filepath.Join(o.Root, filepath.FromSlash(p))
	}
	files, notices, err := Nested(o, paths...)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	size := 0
	for _, f := range files {
		names = append(names, fmt.Sprintf("%s:%d", f.Name, f.Used))
		size += len(f.Text)
	}
	if size > o.MaxBytes {
		t.Errorf("got %d bytes, want at most %d", size, o.MaxBytes)
	}
	return strings.Join(names, " "), files, notices
}

func TestNested(t *testing.T) {
	config, root := makeTree(t, map[string]string{
		"config/AGENTS.md": "global", "ws/AGENTS.md": "root", "ws/a/AGENTS.md": "start", "ws/a/b/AGENTS.md": "b", "ws/a/b/AGENTS.override.md": "over",
		"ws/a/b/c/AGENT.md": "c", "ws/a/b/c/f.go": "", "ws/a/d/CLAUDE.md": "claude", "ws/a/blank/AGENTS.md": " \n", "ws/x/AGENTS.md": "beside", "AGENTS.md": "above",
	})
	for _, c := range []struct {
		paths  []string
		claude bool
		want   string
	}{
		{[]string{"a/b/c/f.go"}, false, "a/b/AGENTS.override.md:4 a/b/c/AGENT.md:1"},
		{[]string{"a/b/c"}, false, "a/b/AGENTS.override.md:4 a/b/c/AGENT.md:1"},
		{[]string{"a/b/c/new/file"}, false, "a/b/AGENTS.override.md:4 a/b/c/AGENT.md:1"},
		{[]string{"a/b/f.go", "a/b/c/f.go", "a/d/f.go", "a/b/f.go"}, true, "a/b/AGENTS.override.md:4 a/b/c/AGENT.md:1 a/d/CLAUDE.md:6"},
		{[]string{"a/d/f.go"}, false, ""},
		{[]string{"a/f.go", "f.go", "a", "."}, false, ""},
		{[]string{"a/blank/f"}, false, ""},
		{[]string{"x/f.go"}, false, "x/AGENTS.md:6"},
		{[]string{"../f", "../ws2/f", "/etc/passwd"}, false, ""},
		{nil, false, ""},
	} {
		o := Options{ConfigHome: config, Root: root, Dir: filepath.Join(root, "a"), ClaudeMdFallback: c.claude}
		if got, _, notices := nested(t, o, append([]string(nil), c.paths...)...); got != c.want || notices != nil {
			t.Errorf("%v: got %s with %q, want %s", c.paths, got, notices, c.want)
		}
	}
}

func TestNestedTextAndHash(t *testing.T) {
	_, root := makeTree(t, map[string]string{"ws/s/AGENTS.md": "\ufeffrules\r\n\x1b[2J\n"})
	o := Options{Root: root, Dir: root}
	_, files, _ := nested(t, o, "s/f")
	want := Attached{
		Source: Source{filepath.Join(root, "s", "AGENTS.md"), "s/AGENTS.md", 15, 15, "instructions of s"},
		Text:   "## Instructions from s/AGENTS.md\n\nrules\n[2J\n\n", SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte("\ufeffrules\r\n\x1b[2J\n"))),
	}
	if len(files) != 1 || files[0] != want {
		t.Fatalf("got %+v, want %+v", files, want)
	}
	if err := os.WriteFile(want.Path, []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, again, _ := nested(t, o, "s/f"); len(again) != 1 || again[0].SHA256 == want.SHA256 {
		t.Errorf("got %+v", again)
	}
}

func TestNestedRoom(t *testing.T) {
	_, root := makeTree(t, map[string]string{
		"ws/AGENTS.md": strings.Repeat("r", 5000), "ws/a/AGENTS.md": strings.Repeat("far ", 300), "ws/a/b/AGENTS.md": strings.Repeat("near ", 120), "ws/a/b/c/AGENTS.md": strings.Repeat("c", 2000),
	})
	o := Options{Root: root, Dir: root, MaxBytes: 1024}
	got, files, notices := nested(t, o, "a/b/f")
	if !strings.HasSuffix(got, "a/b/AGENTS.md:600") || len(files) != 2 || !strings.Contains(files[0].Text, "[cut here: the file has 1200 bytes") || len(notices) != 1 {
		t.Errorf("got %s with %q", got, notices)
	}
	got, _, notices = nested(t, o, "a/b/c/f")
	if !strings.HasPrefix(got, "a/b/c/AGENTS.md:") || len(notices) != 3 || !strings.Contains(notices[2], "a/AGENTS.md was left out") {
		t.Errorf("got %s with %q", got, notices)
	}
	deep := strings.Repeat("d/", maxDirs+6)
	if got, _, notices := nested(t, o, deep+"f"); got != "" || len(notices) != 1 || notices[0] != "6 directories were not looked at for instruction files" {
		t.Errorf("got %s with %q", got, notices)
	}
}

func TestNestedWrongOptions(t *testing.T) {
	_, root := makeTree(t, nil)
	for _, o := range []Options{{Root: root, Dir: filepath.Dir(root)}, {Root: filepath.Join(root, "no"), Dir: filepath.Join(root, "no")}} {
		if files, _, err := Nested(o, root); err == nil || !strings.HasPrefix(err.Error(), "read nested instruction files: ") {
			t.Errorf("got %+v, %v", files, err)
		}
	}
}

func TestDescribe(t *testing.T) {
	_, root := makeTree(t, map[string]string{"ws/AGENTS.md": "root", "ws/AGENT.md": "x", "ws/s/AGENTS.md": "below", "ws/s/f": ""})
	all, err := Explain(Options{Root: root, Dir: root, MaxBytes: 1024}, filepath.Join(root, "s", "f"))
	if err != nil {
		t.Fatal(err)
	}
	wantText(t, Describe("s/f\x1b", all), `Instruction files for "s/f\x1b", as they are read; the last says most:
- AGENTS.md: applies, 4 bytes, instructions of the workspace root
- AGENT.md: passed over; it is not read: AGENTS.md comes first
- s/AGENTS.md: applies once a tool touches a path there, 5 bytes, instructions of s
`)
	wantText(t, Describe("f", nil), "Instruction files for f, as they are read; the last says most:\nNone applies: an AGENTS.md in the workspace would.\n")
}
