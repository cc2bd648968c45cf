package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tree makes files in a fresh directory: "dir/" is a directory, "name -> to" a
// link, all else a file with its own name as content.
func tree(t *testing.T, names ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		from, to, link := strings.Cut(n, " -> ")
		path := filepath.Join(dir, from)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		switch {
		case link:
			err = os.Symlink(strings.ReplaceAll(to, "$ROOT", dir), path)
		case strings.HasSuffix(n, "/"):
			err = os.MkdirAll(path, 0o755)
		default:
			err = os.WriteFile(path, []byte(n), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func open(t *testing.T, dir string, extra ...string) *Workspace {
	t.Helper()
	w, err := Open(dir, extra...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func TestOpenRefuses(t *testing.T) {
	dir := tree(t, "file", "loop -> loop")
	for _, bad := range []string{"", filepath.Join(dir, "none"), filepath.Join(dir, "file"), filepath.Join(dir, "loop"), "a\x00b"} {
		if w, err := Open(bad); err == nil {
			w.Close()
			t.Errorf("Open(%q) worked", bad)
		}
	}
	if _, err := Open(dir, filepath.Join(dir, "none")); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("Open with a missing extra directory: %v", err)
	}
}

func TestRootsAreResolvedAndNotRepeated(t *testing.T) {
	dir := tree(t, "ws/a", "link -> ws", "other/b")
	w := open(t, filepath.Join(dir, "link"), filepath.Join(dir, "ws"))
	if _, err := w.Approve(filepath.Join(dir, "other")); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range w.roots {
		got = append(got, r.abs)
	}
	if want := []string{filepath.Join(dir, "ws"), filepath.Join(dir, "other")}; !slices.Equal(got, want) {
		t.Errorf("roots %q, want %q", got, want)
	}
}

func TestApproveOpensADirectory(t *testing.T) {
	dir := tree(t, "ws/a", "other/sub/b")
	w := open(t, filepath.Join(dir, "ws"))
	_, err := w.OpenFile("../other/sub/b")
	var outside *OutsideError
	if !errors.As(err, &outside) {
		t.Fatalf("got %v, want an OutsideError", err)
	}
	if want := filepath.Join(dir, "other/sub"); outside.Dir != want || !strings.Contains(err.Error(), want) {
		t.Errorf("directory %q in %q, want %q", outside.Dir, err, want)
	}
	if _, err := w.Approve(outside.Dir); err != nil {
		t.Fatal(err)
	}
	f, err := w.OpenFile("../other/sub/b")
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if _, err := w.OpenFile("../other/c"); !errors.As(err, &outside) {
		t.Errorf("the parent of an approved directory: %v", err)
	}
}

func TestGoneRoot(t *testing.T) {
	for _, how := range []string{"gone", "replaced", "extra gone", "extra replaced"} {
		dir := tree(t, "ws/a")
		ws := filepath.Join(dir, "ws")
		roots := []string{ws}
		if strings.HasPrefix(how, "extra") {
			roots = []string{t.TempDir(), ws}
		}
		w := open(t, roots[0], roots[1:]...)
		if err := os.Rename(ws, filepath.Join(dir, "moved")); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(how, "replaced") {
			if err := os.Mkdir(ws, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		_, err := w.OpenFile(ws + "/a")
		if !errors.Is(err, ErrGone) || !strings.Contains(err.Error(), "workspace "+ws+" is gone") {
			t.Errorf("%s: got %v", how, err)
		}
	}
}

func TestClosedWorkspace(t *testing.T) {
	w := open(t, tree(t, "a"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Resolve("a"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("got %v", err)
	}
}
