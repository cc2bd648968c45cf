//go:build unix

package workspace

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// link makes hard links: "old = new".
func link(t *testing.T, dir string, pairs ...string) {
	t.Helper()
	for _, p := range pairs {
		from, to, _ := strings.Cut(p, " = ")
		if err := os.Link(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
}

// Symptom: a hook is changed without a question under another name. Trigger: ln
// .git/hooks/pre-commit notes.txt; write notes.txt.
func TestProtectedUnderAnotherName(t *testing.T) {
	dir := tree(t, "ws/.git/hooks/pre-commit", "ws/.gitignore", "ws/sub/deep/.vscode/tasks.json", "ws/.cache/a", "ws/d/two",
		"ws/out/", "ws/soft -> notes.txt", "extra/plain", "extra/.envrc", "later/.claude/x/f", "own/config.json", "far/f", "ws/in/own")
	os.WriteFile(filepath.Join(dir, "ws/.gitignore"), []byte("out/\n.cache/\n"), 0o644)
	link(t, dir, "ws/.git/hooks/pre-commit = ws/notes.txt", "ws/sub/deep/.vscode/tasks.json = ws/out/t", "ws/.cache/a = ws/out/a",
		"ws/.cache/a = ws/a", "ws/d/two = ws/d/deux", "extra/plain = ws/plain", "extra/.envrc = ws/rc", "later/.claude/x/f = ws/later",
		"own/config.json = ws/config", "far/f = ws/far", "far/f = ws/far2", "far/f = far/f2", "ws/in/own = far/own")
	// What is below two roots is still one name.
	w := open(t, filepath.Join(dir, "ws"), filepath.Join(dir, "extra"), filepath.Join(dir, "ws/in"), filepath.Join(dir, "own"))
	w.Guard(filepath.Join(dir, "own"))
	if _, err := w.Approve(filepath.Join(dir, "later/.claude/x")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"notes.txt": "the same file as .git/hooks/pre-commit, repository internals that git obeys",
		"soft":      "the same file as .git/hooks/pre-commit, repository internals that git obeys",
		"out/t":     "the same file as sub/deep/.vscode/tasks.json, editor settings that can run programs",
		"rc":        "the same file as " + filepath.Join(dir, "extra/.envrc") + ", run by direnv or mise on entering the directory",
		"later":     "the same file as " + filepath.Join(dir, "later/.claude/x/f") + ", settings of coding agents",
		"config":    "the same file as " + filepath.Join(dir, "own/config.json") + ", Alisio's own configuration or state",
		"far":       "has other names, 2 of them outside of what can be seen",
		"in/own":    "has other names, 1 of them outside of what can be seen",
		"a":         "", "out/a": "", "d/two": "", "d/deux": "", "plain": "", filepath.Join(dir, "extra/plain"): "", "d": "", "new": "",
	} {
		target, err := w.Resolve(path)
		if err != nil {
			t.Fatal(err)
		}
		if why, protected := w.Protected(target); why != want || protected != (want != "") {
			t.Errorf("%s: %v, got %q, want %q", path, protected, why, want)
		}
	}
}

func TestHuntForNamesIsBounded(t *testing.T) {
	dir := tree(t, "a", "deep/1/2/b")
	link(t, dir, "a = deep/1/2/c")
	for i := range 20 {
		os.WriteFile(filepath.Join(dir, "deep/1", strconv.Itoa(i)+".txt"), nil, 0o644)
	}
	w := open(t, dir)
	target, err := w.Resolve("a")
	if err != nil {
		t.Fatal(err)
	}
	for entries, want := range map[int]bool{0: true, 5: true, 26: false} {
		if why, protected := w.linked(target, entries); protected != want {
			t.Errorf("%d entries: protected %v (%s), want %v", entries, protected, why, want)
		}
	}
}

func BenchmarkHuntForNames(b *testing.B) {
	dir := b.TempDir()
	for d := range 100 {
		sub := filepath.Join(dir, strconv.Itoa(d))
		os.Mkdir(sub, 0o755)
		for f := range 200 {
			os.WriteFile(filepath.Join(sub, strconv.Itoa(f)), nil, 0o644)
		}
	}
	os.Link(filepath.Join(dir, "0/0"), filepath.Join(filepath.Dir(dir), "far"))
	w, err := Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	target, err := w.Resolve("0/0")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, protected := w.Protected(target); !protected {
			b.Fatal("a name outside was found")
		}
	}
}
