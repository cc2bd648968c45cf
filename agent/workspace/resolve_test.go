package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestResolve(t *testing.T) {
	dir := tree(t,
		"ws/a.txt", "ws/sub/b.txt", "ws/sub/deep/c", "ws/ sp ", "ws/~/home",
		"ws/in -> sub", "ws/abs -> $ROOT/ws/sub/b.txt", "ws/out -> $ROOT/other", "ws/outfile -> ../other/f",
		"ws/back -> ../other/../ws/sub", "ws/dangling -> sub/new", "ws/dangout -> ../new", "ws/via -> in/deep",
		"ws/roundtrip -> $ROOT/other/home", "other/f", "other/home -> $ROOT/ws")
	w := open(t, filepath.Join(dir, "ws"))
	tests := []struct {
		path, name string
		kind       string // d, f, - for missing, ? for other; then o for outside
	}{
		{"a.txt", "a.txt", "f"},
		{".", ".", "d"},
		{"./sub//b.txt", "sub/b.txt", "f"},
		{"sub/", "sub", "d"},
		{"$/ws/a.txt", "a.txt", "f"},
		{"$/ws", ".", "d"},
		{"in/b.txt", "sub/b.txt", "f"},
		{"via/../b.txt", "sub/b.txt", "f"}, // ".." leaves what the link led to
		{"abs", "sub/b.txt", "f"},
		{"back/b.txt", "sub/b.txt", "f"},
		{"roundtrip/a.txt", "a.txt", "f"},
		{"$/other/home/sub", "sub", "d"},
		{"dangling", "sub/new", "-"},
		{"new/x/y.go", "new/x/y.go", "-"},
		{"~/home", "~/home", "f"},
		{"~", "~", "d"},
		{`" sp "`, `" sp "`, "f"},
		{"sub/../../ws/a.txt", "a.txt", "f"},
		{"..", "$", "do"},
		{"out/f", "$/other/f", "fo"},
		{"out", "$/other", "do"},
		{"outfile", "$/other/f", "fo"},
		{"dangout", "$/new", "-o"},
		{"../other/f", "$/other/f", "fo"},
		{"out/../ws2", "$/ws2", "-o"},
		{"$/ws2/a", "$/ws2/a", "-o"},
	}
	for _, tt := range tests {
		got, err := w.Resolve(strings.ReplaceAll(tt.path, "$", dir))
		if err != nil {
			t.Errorf("%s: %v", tt.path, err)
			continue
		}
		kind := "?"
		switch {
		case !got.Exists:
			kind = "-"
		case got.Dir:
			kind = "d"
		case got.Regular:
			kind = "f"
		}
		if !got.Inside {
			kind += "o"
		}
		if want := strings.ReplaceAll(tt.name, "$", dir); got.Name != want || kind != tt.kind {
			t.Errorf("%s: got %s %s, want %s %s", tt.path, got.Name, kind, want, tt.kind)
		}
	}
}

func TestResolveRefuses(t *testing.T) {
	deep := strings.Repeat("d/", 30)
	names := []string{"file", "l0 -> file", "loop -> loop2", "loop2 -> loop", deep + "x"}
	for i := range 45 {
		names = append(names, "l"+string(rune('A'+i))+" -> l"+string(rune('A'+i-1)))
	}
	w := open(t, tree(t, names...))
	tests := []struct{ path, want string }{
		{"", "empty"},
		{"a\x00b", "NUL"},
		{`"a\x00b"`, "NUL"},
		{`"unterminated`, "unquote"},
		{strings.Repeat("a/", 3000), "longer than 4096"},
		{strings.Repeat("a", 256), "longer than 255"},
		{"loop", "too many levels"},
		{"l" + string(rune('A'+44)), "too many levels"},
		{"file/x", "not a directory"},
		{"file/", "not a directory"},
		{"file/..", "not a directory"},
		{"none/../file", "not exist"},
	}
	for _, tt := range tests {
		_, err := w.Resolve(tt.path)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.40q: got %v, want %q", tt.path, err, tt.want)
		}
	}
}

func TestErrorsShowNoRawNames(t *testing.T) {
	w := open(t, tree(t, "f"))
	for _, path := range []string{"f/\x1b[2J", "none/\x1b[2J/..", "\x1b]0;x\x07" + strings.Repeat("a", 300)} {
		_, err := w.Resolve(path)
		if err == nil || strings.ContainsAny(err.Error(), "\x1b\x07") {
			t.Errorf("%q: error %q", path, err)
		}
	}
}

func TestInnermostRootHolds(t *testing.T) {
	dir := tree(t, "ws/sub/f", "ws/g")
	w := open(t, filepath.Join(dir, "ws"))
	if _, err := w.Approve(filepath.Join(dir, "ws/sub")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"sub/f": "f", "sub/../g": "g", "sub": "", filepath.Join(dir, "ws/sub/f"): "f"} {
		got, err := w.Resolve(path)
		if err != nil || !got.Inside || got.rel != want {
			t.Errorf("%s: rel %q, inside %v, %v; want %q", path, got.rel, got.Inside, err, want)
		}
	}
}

// C070: screenshot names on macOS hold U+00A0, the model types a space and is
// told that there is no such file. Trigger: "shot v 1.png" with a no-break space.
func TestC070LookAlikeNames(t *testing.T) {
	w := open(t, tree(t, "d/shot v\u00a01.png", "d/shot v 2.png"))
	got := w.Similar("d/shot v 1.png")
	if want := []string{`"d/shot v\u00a01.png"`}; !slices.Equal(got, want) {
		t.Fatalf("similar %q, want %q", got, want)
	}
	if none := w.Similar("d/shot v 2.png"); none != nil {
		t.Errorf("similar to what is there: %q", none)
	}
	if again, err := w.Resolve(got[0]); err != nil || !again.Regular {
		t.Errorf("the shown name does not lead back: %+v, %v", again, err)
	}
}

// C071: decomposed letters and curly apostrophes on disk do not match what a
// model types. Trigger: "e\u0301cran d\u2019ici.txt" asked for as "\u00e9cran d'ici.txt".
func TestC071DecomposedNames(t *testing.T) {
	w := open(t, tree(t, "e\u0301cran d\u2019ici.txt"))
	if got := w.Similar("\u00e9cran d'ici.txt"); len(got) != 1 {
		t.Errorf("got %q", got)
	}
}

func TestSimilarSaysNothingOfOutside(t *testing.T) {
	dir := tree(t, "ws/", "other/a\u00a0b")
	w := open(t, filepath.Join(dir, "ws"))
	if got := w.Similar("../other/a b"); len(got) != 0 {
		t.Errorf("got %q", got)
	}
}

func TestCheckWindows(t *testing.T) {
	good := []string{`a\b.txt`, `C:\x\y`, "a/b", `..\x`, ".gitignore", "com", "com10", "console.txt", "a.con"}
	bad := []string{`C:x`, "C:", `\x`, `\\srv\share\x`, `\\?\C:\x`, `\\.\pipe\x`, "a:stream", "a.txt::$DATA", "NUL", "nul.txt",
		"con .txt", `sub\aux`, "COM1", "lpt9.log", "COM¹", "a.", "a ", "dir./x", "a*b", "CONIN$"}
	for _, p := range good {
		if err := checkWindows(p); err != nil {
			t.Errorf("%s refused: %v", p, err)
		}
	}
	for _, p := range bad {
		if checkWindows(p) == nil {
			t.Errorf("%s allowed", p)
		}
	}
}

// The oracle is the kernel: what Resolve says is inside must be the file that
// opening the path gives, and that file's real path must be below the root.
func FuzzResolve(f *testing.F) {
	for _, s := range []string{"a", "in/../b", "out/x", "../ws/a", "loop", "out/../ws/in/f", "./in//f", "d/../out", "up/up/up/ws/a", `"a"`} {
		f.Add(s)
	}
	dir := f.TempDir()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		f.Fatal(err)
	}
	ws := filepath.Join(dir, "ws")
	os.MkdirAll(filepath.Join(ws, "d"), 0o755)
	os.MkdirAll(filepath.Join(dir, "x"), 0o755)
	for _, p := range []string{"ws/a", "ws/d/f", "x/a", "b"} {
		os.WriteFile(filepath.Join(dir, p), []byte(p), 0o644)
	}
	for from, to := range map[string]string{"in": "d", "out": "../x", "loop": "loop", "up": "..", "d/o": "../../x/a", "abs": dir, "d/back": ws} {
		os.Symlink(to, filepath.Join(ws, from))
	}
	w, err := Open(ws)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { w.Close() })
	f.Fuzz(func(t *testing.T, path string) {
		got, err := w.Resolve(path)
		if err != nil || !got.Exists || strings.HasPrefix(path, `"`) {
			return
		}
		if !filepath.IsAbs(path) {
			path = ws + "/" + path
		}
		real, err := filepath.EvalSymlinks(path)
		// EvalSymlinks cleans "file/.." that the kernel refuses; Resolve errs then.
		if err != nil || real != got.Abs {
			t.Fatalf("%q: resolved to %s, the system says %s, %v", path, got.Abs, real, err)
		}
		if inside := real == ws || strings.HasPrefix(real, ws+"/"); inside != got.Inside {
			t.Fatalf("%q: %s inside %v", path, real, got.Inside)
		}
		if file, err := w.OpenFile(path); err == nil {
			buf := make([]byte, 10)
			n, _ := file.ReadAt(buf, 0)
			file.Close()
			if !got.Inside || !strings.HasPrefix(string(buf[:n]), "ws/") {
				t.Fatalf("%q: read %q", path, buf[:n])
			}
		}
	})
}
