//go:build unix

package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// alone keeps the git configuration of whoever runs the tests out of them.
func alone(t *testing.T) (home string) {
	home = t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("GIT_CONFIG_GLOBAL", "")
	os.Unsetenv("GIT_CONFIG_GLOBAL")
	return home
}

func put(t *testing.T, path, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

func names(l Listing) []string {
	var out []string
	for _, e := range l.Entries {
		out = append(out, e.Name)
	}
	return out
}

// listed runs a query and shows it as one line: names, then what was left out.
func listed(t *testing.T, w *Workspace, q ListQuery) string {
	t.Helper()
	l, err := w.List(t.Context(), q)
	if err != nil {
		return "error: " + err.Error()
	}
	return strings.TrimSpace(fmt.Sprintf("%s -%d.%d", strings.Join(names(l), " "), l.IgnoredCount, l.HiddenCount))
}

func TestList(t *testing.T) {
	alone(t)
	dir := tree(t, "a.go", "a/b.go", "a-b/c.go", "a/d/e.txt", "a0", ".env", ".hid/x", "z -> a", "out -> /etc", "empty/", "é.go")
	syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644)
	w := open(t, dir)
	tests := []struct {
		q    ListQuery
		want string
	}{
		{ListQuery{}, `a-b/c.go a.go a/b.go a/d/e.txt a0 out z é.go -0.2`},
		{ListQuery{Hidden: true}, `.env .hid/x a-b/c.go a.go a/b.go a/d/e.txt a0 out z é.go -0.0`},
		{ListQuery{Depth: 1}, `a-b/ a.go a/ a0 empty/ out z é.go -0.2`},
		{ListQuery{Depth: 2}, `a-b/c.go a.go a/b.go a/d/ a0 out z é.go -0.2`},
		{ListQuery{Path: "a"}, `a/b.go a/d/e.txt -0.0`},
		{ListQuery{Path: "a/d/e.txt"}, `a/d/e.txt -0.0`},
		{ListQuery{Path: ".env"}, `.env -0.0`},
		{ListQuery{Path: ".hid"}, `.hid/x -0.0`},
		{ListQuery{Path: "z"}, `a/b.go a/d/e.txt -0.0`},
		{ListQuery{Path: dir + "/a", Depth: 1}, `a/b.go a/d/ -0.0`},
		{ListQuery{Glob: "*.go"}, `a-b/c.go a.go a/b.go é.go -0.2`},
		{ListQuery{Glob: "?.go"}, `a-b/c.go a.go a/b.go é.go -0.2`},
		{ListQuery{Glob: "a/*"}, `a/b.go a/d/ -0.0`},
		{ListQuery{Glob: "a/**"}, `a/b.go a/d/e.txt -0.0`},
		{ListQuery{Glob: "**/*.txt"}, `a/d/e.txt -0.2`},
		{ListQuery{Glob: "*/*.go"}, `a-b/c.go a/b.go -0.2`},
		{ListQuery{Glob: "{a,a-b}/{b,c}.go"}, `a-b/c.go a/b.go -0.2`},
		{ListQuery{Glob: "./a.go"}, `a.go -0.0`},
		{ListQuery{Glob: "/a.go"}, `a.go -0.0`},
		{ListQuery{Glob: dir + "/a/*.go"}, `a/b.go -0.0`},
		{ListQuery{Path: "a", Glob: "d/*"}, `a/d/e.txt -0.0`},
		{ListQuery{Glob: ".e*"}, `.env -0.0`},
		{ListQuery{Glob: ".env"}, `.env -0.0`},
		{ListQuery{Glob: ".hid/*"}, `.hid/x -0.0`},
		{ListQuery{Glob: "none/*"}, `-0.0`},
		{ListQuery{Glob: "a"}, `a/b.go a/d/e.txt -0.0`},
		{ListQuery{Glob: "a/d/"}, `a/d/e.txt -0.0`},
		{ListQuery{Offset: 2, Limit: 2}, `a/b.go a/d/e.txt -0.2`},
		{ListQuery{Offset: 20, Limit: 2}, `-0.2`},
		{ListQuery{Glob: "../*"}, `error: list files: glob ../*: may not leave its directory`},
		{ListQuery{Glob: "[a"}, `error: list files: glob [a: a [ has no ]`},
		{ListQuery{Glob: strings.Repeat("{a,b}", 9)}, "error: list files: glob " + strings.Repeat("{a,b}", 9) + ": the braces make too many alternatives"},
		{ListQuery{Path: "none"}, `error: list files: none: file does not exist`},
		{ListQuery{Path: "pipe"}, `error: list files: pipe: not a regular file`},
	}
	for _, tt := range tests {
		if got := listed(t, w, tt.q); got != tt.want {
			t.Errorf("%+v:\n got %s\nwant %s", tt.q, got, tt.want)
		}
	}
	var outside *OutsideError
	for _, q := range []ListQuery{{Path: "out"}, {Path: ".."}, {Glob: "out/*"}} {
		if _, err := w.List(t.Context(), q); !errors.As(err, &outside) {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

func TestListDescribes(t *testing.T) {
	alone(t)
	dir := tree(t, "ws/abc", "ws/l -> ../x", "other/f")
	w := open(t, filepath.Join(dir, "ws"), filepath.Join(dir, "other"))
	l, err := w.List(t.Context(), ListQuery{Limit: 1})
	if err != nil || l.Total != 2 || len(l.Entries) != 1 || l.Entries[0] != (ListEntry{Name: "abc", Size: 6}) {
		t.Errorf("%+v, %v", l, err)
	}
	l, err = w.List(t.Context(), ListQuery{Glob: "l"})
	if err != nil || len(l.Entries) != 1 || l.Entries[0].Link != "../x" {
		t.Errorf("%+v, %v", l, err)
	}
	if got, want := listed(t, w, ListQuery{Path: "../other"}), filepath.Join(dir, "other/f")+" -0.0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// C173: an exact path to an ignored file lists nothing, so the model says that
// it does not exist. Trigger: dist/a.js ignored; globs and paths that name it.
func TestC173ExplicitPathsWin(t *testing.T) {
	alone(t)
	for _, ignore := range []string{"dist/", "dist", "/dist/*", "dist/**", "dist/\n*.js"} {
		dir := tree(t, "dist/a.js", "dist/sub/b.js", "main.go")
		put(t, filepath.Join(dir, ".gitignore"), ignore)
		w := open(t, dir)
		for _, tt := range []struct {
			q    ListQuery
			want string
		}{
			{ListQuery{Glob: "dist/*.js"}, "dist/a.js -0.0"},
			{ListQuery{Glob: "dist/a.js"}, "dist/a.js -0.0"},
			{ListQuery{Path: "dist/a.js"}, "dist/a.js -0.0"},
			{ListQuery{Path: "dist/"}, "dist/a.js dist/sub/b.js -0.0"},
			{ListQuery{Path: "dist/sub"}, "dist/sub/b.js -0.0"},
			{ListQuery{Path: "dist", Glob: "*.js"}, "dist/a.js dist/sub/b.js -0.0"},
		} {
			if got := listed(t, w, tt.q); got != tt.want {
				t.Errorf("%q, %+v: got %s, want %s", ignore, tt.q, got, tt.want)
			}
		}
		if got := listed(t, w, ListQuery{}); !strings.HasPrefix(got, "main.go -") || strings.HasPrefix(got, "main.go -0") {
			t.Errorf("%q: got %s, want main.go and a count", ignore, got)
		}
	}
	dir := tree(t, "x.log", "d/x.log", "d/y.log", "venv/lib/a.py")
	put(t, filepath.Join(dir, ".gitignore"), "*.log")
	put(t, filepath.Join(dir, "venv/.gitignore"), "*\n")
	w := open(t, dir)
	for glob, want := range map[string]string{"x.log": "d/x.log x.log -1.2", "x.*": "-3.2", "*": "-3.2", "venv/lib/*": "venv/lib/a.py -0.0", "venv": "venv/lib/a.py -0.1"} {
		got := listed(t, w, ListQuery{Glob: glob})
		if i := strings.LastIndex(want, "."); !strings.HasPrefix(got, want[:strings.LastIndex(want, "-")]) {
			t.Errorf("%s: got %s, want %s", glob, got, want[:i])
		}
	}
}

// C174: a broad glob brings ignored files back, and outside a repository the
// ignore file is not read. Trigger: no .git, "*.log" ignored, glob "*".
func TestC174SameRulesWithoutRepository(t *testing.T) {
	alone(t)
	dir := tree(t, "a.log", "a.go", "d/b.log")
	put(t, filepath.Join(dir, ".gitignore"), "*.log\n")
	w := open(t, dir)
	for _, glob := range []string{"", "*", "**", "**/*", "*.*"} {
		if got := listed(t, w, ListQuery{Glob: glob}); !strings.HasPrefix(got, "a.go -2") {
			t.Errorf("glob %q: %s", glob, got)
		}
	}
	if got := listed(t, w, ListQuery{Glob: "*", Ignored: true}); !strings.HasPrefix(got, "a.go a.log d/b.log -0") {
		t.Errorf("ignored asked for: %s", got)
	}
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return string(out)
}

// sameAsGit compares a listing of the workspace with git's.
func sameAsGit(t *testing.T, ws string) {
	t.Helper()
	want := strings.FieldsFunc(git(t, ws, "ls-files", "-co", "--exclude-standard", "-z"), func(r rune) bool { return r == 0 })
	slices.Sort(want)
	w := open(t, ws)
	got := []string(nil)
	_, err := w.walk(t.Context(), ListQuery{Hidden: true}, func(f found) bool {
		got = append(got, f.rel)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		rules := ""
		filepath.WalkDir(ws, func(p string, d fs.DirEntry, _ error) error {
			if d.Name() == ".gitignore" || d.Name() == "exclude" {
				rules += fmt.Sprintf("%s: %q\n", p, content(t, p))
			}
			return nil
		})
		t.Fatalf("\n got %q\nwant %q\n%s", got, want, rules)
	}
}

// C175: every ignore file was matched alone, so that a nested "!keep.log" could
// not bring a file back. Trigger: the rules below; the oracle is git.
func TestC175SameSetAsGit(t *testing.T) {
	home := alone(t)
	put(t, filepath.Join(home, ".gitconfig"), "[user]\n\tname = x\n[core]\n\tExcludesFile = \"~/my \\\"ignore\" # c\n")
	put(t, filepath.Join(home, `my "ignore`), "*.swp\nglobal/\n!info.keep\n")
	dir := tree(t, "a.log", "keep.log", "pkg/keep.log", "pkg/b.log", "pkg/x/keep.log", "build/x", "pkg/build/x", "foo/bar", "foo/a/b/bar",
		"foo/a/barx", "x.swp", "pkg/global/x", "info.keep", "y.info", "sub/in/f", "sub/in/a.log", "sub/g.tmp", "l.log -> a", "l -> build")
	put(t, filepath.Join(dir, ".gitignore"), "*.log\n/build\nfoo/**/bar\nsub/*.tmp\n")
	put(t, filepath.Join(dir, "pkg/.gitignore"), "!keep.log\n")
	git(t, dir, "init", "-q")
	put(t, filepath.Join(dir, ".git/info/exclude"), "*.info\ninfo.keep\n")
	sameAsGit(t, dir)
	sameAsGit(t, filepath.Join(dir, "sub"))
	sameAsGit(t, filepath.Join(dir, "pkg"))
	put(t, filepath.Join(home, ".gitconfig"), "")
	put(t, filepath.Join(home, ".config/git/ignore"), "foo\n")
	sameAsGit(t, dir)
	put(t, filepath.Join(home, ".config/git/config"), "[core] excludesFile = "+home+"/none\n")
	sameAsGit(t, dir)
	git(t, dir, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "--allow-empty", "-m", "x")
	git(t, dir, "worktree", "add", "-q", "../wt")
	wt := filepath.Join(dir, "../wt")
	put(t, filepath.Join(wt, "y.info"), "")
	put(t, filepath.Join(wt, "z"), "")
	sameAsGit(t, wt)
}

func TestUserExcludesCanBeSkipped(t *testing.T) {
	home := alone(t)
	put(t, filepath.Join(home, ".config/git/ignore"), "*.mine\n")
	dir, more := tree(t, "a.mine", "a.log", "sub/b.mine"), tree(t, "c.mine")
	git(t, dir, "init", "-q")
	put(t, filepath.Join(dir, ".gitignore"), "*.log\n")
	for _, skip := range []bool{false, true} {
		w := open(t, dir)
		want, wantMore := "-3.1", "-1.0" // .gitignore is hidden
		if skip {
			w.SkipUserExcludes()
			want, wantMore = "a.mine sub/b.mine -1.1", filepath.Join(more, "c.mine")+" -0.0"
		}
		if _, err := w.Approve(more); err != nil {
			t.Fatal(err)
		}
		if got := listed(t, w, ListQuery{}); got != want {
			t.Errorf("skip %v: got %q, want %q", skip, got, want)
		}
		if got := listed(t, w, ListQuery{Path: more}); got != wantMore {
			t.Errorf("skip %v: got %q of the approved directory, want %q", skip, got, wantMore)
		}
	}
}

// Random trees and ignore files against git itself.
func TestC175RandomTreesAgainstGit(t *testing.T) {
	home := alone(t)
	seed := uint64(20260101)
	rounds := 40
	if s := os.Getenv("ALISIO_IGNORE_SEED"); s != "" { // "SEED ROUNDS", for a longer run
		fmt.Sscan(s, &seed, &rounds)
	}
	rnd := rand.New(rand.NewPCG(seed, 1))
	for i := range rounds {
		dir := t.TempDir()
		git(t, dir, "init", "-q")
		randomTree(t, rnd, dir, 0)
		put(t, filepath.Join(dir, ".git/info/exclude"), randomRules(rnd, 2))
		put(t, filepath.Join(home, ".config/git/ignore"), randomRules(rnd, 1))
		t.Logf("round %d of seed %d", i, seed)
		sameAsGit(t, dir)
	}
}

func pick(rnd *rand.Rand, from ...string) string { return from[rnd.IntN(len(from))] }

func randomTree(t *testing.T, rnd *rand.Rand, dir string, depth int) {
	for range 2 + rnd.IntN(5) {
		name := pick(rnd, "a", "b", "ab", "a.b", "b.a", "foo", "fooa", "bar", ".x", "a b", "b ", "A", "#a", "!a", "a]", `a\b`, "\xffa", "é", "[a]", "a*")
		path := filepath.Join(dir, name)
		if depth < 3 && rnd.IntN(2) == 0 {
			if os.Mkdir(path, 0o755) == nil {
				randomTree(t, rnd, path, depth+1)
			}
			continue
		}
		if _, err := os.Lstat(path); err != nil {
			put(t, path, "")
		}
	}
	if rnd.IntN(3) == 0 || depth == 0 {
		put(t, filepath.Join(dir, ".gitignore"), randomRules(rnd, 4))
	}
}

func randomRules(rnd *rand.Rand, n int) string {
	var b strings.Builder
	for range rnd.IntN(n + 1) {
		b.WriteString(pick(rnd, "", "", "", "!", "!", "/", "**/", "#", `\`, " ", "!/"))
		for range 1 + rnd.IntN(4) {
			b.WriteString(pick(rnd, "a", "b", "foo", "bar", "*", "*", "**", "?", "/", "/", "/**/", "**/", "/**", ".", "[ab]", "[!a]", "[a-c]", "[^/]", `\a`, `\`, " ",
				"[[:alpha:]]", "[]a]", "[", "]", "é", "\xff", "[\xc3]", "**a", "x", "A", "!", "#"))
		}
		b.WriteString(pick(rnd, "", "", "", "/", " ", `\ `, "\r", "//"))
		b.WriteString(pick(rnd, "\n", "\n", "\n", "\r\n", "\n\n"))
	}
	return b.String()
}

// C181: a glob matcher goes out of range on a name that is not UTF-8, and names
// turn into U+FFFD on their way through JSON. Trigger: names of raw bytes.
func TestC181NamesThatAreNotUTF8(t *testing.T) {
	alone(t)
	odd := "\xb4++0323\xd5\xf8\xa5\xfe\xeb\xe7"
	w := open(t, tree(t, odd, "inv_\xfe.txt"))
	want := `"\xb4++0323\xd5\xf8\xa5\xfe\xeb\xe7"`
	if got := listed(t, w, ListQuery{Glob: "*"}); got != `"inv_\xfe.txt" `+want+" -0.0" {
		t.Errorf("*: %s", got)
	}
	if got := listed(t, w, ListQuery{Glob: "*.txt"}); got != `"inv_\xfe.txt" -0.0` {
		t.Errorf("*.txt: %s", got)
	}
	if got := listed(t, w, ListQuery{Glob: "inv_?.txt"}); got != `"inv_\xfe.txt" -0.0` {
		t.Errorf("?: %s", got)
	}
	if got := listed(t, w, ListQuery{Path: want}); got != want+" -0.0" {
		t.Errorf("by its shown name: %s", got)
	}
	f, err := w.OpenFile(want)
	if err != nil || f.Info().Name != want {
		t.Fatalf("%+v, %v", f, err)
	}
	f.Close()
}

func TestListIsBoundedAndCancellable(t *testing.T) {
	alone(t)
	dir := t.TempDir()
	deep := dir
	for range maxDepth + 3 {
		deep = filepath.Join(deep, "d")
	}
	put(t, filepath.Join(deep, "f"), "")
	put(t, filepath.Join(dir, "g"), "")
	w := open(t, dir)
	l, err := w.List(t.Context(), ListQuery{})
	if err != nil || !l.More || !slices.Equal(names(l), []string{"g"}) {
		t.Errorf("%+v, %v", l, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.List(ctx, ListQuery{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A walk that has read its fill must not begin to read whole directories again.
func TestWalkEndsAtItsLimit(t *testing.T) {
	alone(t)
	w := open(t, tree(t, "a/1", "a/2", "a/3", "b/1", "c"))
	for seen, want := range map[int]int{0: 5, 3: 2, 4: 1, 5: 1} {
		target, err := w.Resolve(".")
		if err != nil {
			t.Fatal(err)
		}
		d, err := openFolder(target.root.dir)
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		k := walker{ctx: t.Context(), root: target.root, seen: maxEntries - 8 + seen}
		k.visit = func(found) bool { got++; return true }
		err = k.from(d, target)
		if got != want || k.left.more != (seen > 0) || k.left.more != (err == errStop) {
			t.Errorf("after %d entries: %d, more %v, %v", seen, got, k.left.more, err)
		}
	}
}

// C177: starting in a home directory scans millions of files. Trigger: open a
// workspace; nothing below its root may be read.
func TestC177NothingIsScannedAtStart(t *testing.T) {
	alone(t)
	dir := tree(t, "sub/f", ".gitignore")
	before := atime(t, filepath.Join(dir, "sub"))
	w := open(t, dir)
	if _, err := w.Resolve("sub/f"); err != nil {
		t.Fatal(err)
	}
	if got := atime(t, filepath.Join(dir, "sub")); got != before {
		t.Error("a directory was read")
	}
	if n := testing.AllocsPerRun(5, func() {
		w, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		w.Close()
	}); n > 100 {
		t.Errorf("%v allocations to open", n)
	}
}

func TestExcludesFile(t *testing.T) {
	for _, tt := range []struct{ config, want string }{
		{"", "-"},
		{"[core]\nexcludesfile=/a", "/a"},
		{"[CORE]\n  excludesFile = /a b ; c\n", "/a b"},
		{"[core]\nexcludesfile = \"/a # b\"\n", "/a # b"},
		{"[core]\nexcludesfile = /a\\\\b\\tc\n", "/a\\b\tc"},
		{"[core]\nexcludesfile = /a\\\nb\n", "/ab"},
		{"[core]\nexcludesfile = /a\n[core]\nexcludesfile = /b\n", "/b"},
		{"[core \"x\"]\nexcludesfile = /a\n", "-"},
		{"[user]\nexcludesfile = /a\n", "-"},
		{"[core]\n# excludesfile = /a\n", "-"},
		{"[core] excludesfile = /a\n", "/a"},
		{"[core]\nexcludesfile =\n", ""},
		{"[core]\r\nexcludesfile = /a\r\n", "/a"},
		{"[core]\nexcludesfile = /a\\", "/a"},
	} {
		got, ok := excludesFile(tt.config)
		if !ok {
			got = "-"
		}
		if got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.config, got, tt.want)
		}
	}
}

func FuzzGlob(f *testing.F) {
	for _, s := range []string{"*.go", "{a,b}/**", "[a-", "{{a,b},c}", `\{a,b}`, "{a,{b,c}", "\xff*", "**/x"} {
		f.Add(s, "a/b.go")
	}
	f.Fuzz(func(t *testing.T, p, name string) {
		dir, rest := splitGlob(p)
		if dir != "" && dir+"/"+rest != p && !strings.HasPrefix(p, dir) {
			t.Fatalf("%q split to %q and %q", p, dir, rest)
		}
		if g, err := compileGlob(rest, !strings.Contains(p, "/")); err == nil {
			g.matches(name)
		}
	})
}
