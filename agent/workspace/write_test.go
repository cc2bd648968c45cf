//go:build unix

package workspace

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"
)

func sum(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// clean fails when a write left anything but the named entries behind.
func clean(t *testing.T, dir string, want ...string) {
	t.Helper()
	es, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range es {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, want) {
		t.Errorf("directory holds %q, want %q", got, want)
	}
}

// withUmask runs f alone with a umask: it belongs to the process.
func withUmask(mask int, f func()) {
	old := syscall.Umask(mask)
	defer syscall.Umask(old)
	f()
}

func TestWriteNewFile(t *testing.T) {
	dir := tree(t, "a/")
	w := open(t, dir)
	withUmask(0o027, func() {
		got, err := w.Write(t.Context(), Write{Path: "a/b/c/f.txt", Data: []byte("hi")})
		want := Written{Name: "a/b/c/f.txt", SHA256: sum("hi"), Created: true}
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
	})
	for path, want := range map[string]fs.FileMode{"a/b": 0o750, "a/b/c": 0o750, "a/b/c/f.txt": 0o640} {
		info, err := os.Stat(filepath.Join(dir, path))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, %v; want %v", path, info.Mode().Perm(), err, want)
		}
	}
	clean(t, filepath.Join(dir, "a/b/c"), "f.txt")
	_, err := w.Write(t.Context(), Write{Path: "a/b/c/f.txt", Data: []byte("other")})
	if !errors.Is(err, fs.ErrExist) || content(t, filepath.Join(dir, "a/b/c/f.txt")) != "hi" {
		t.Errorf("an existing file where none was expected: %v", err)
	}
}

// C066: the mode of the temporary file lands on the target, so scripts lose +x.
// Trigger: write files with 0755, 0644, 0640 under a umask.
func TestC066ModeIsKept(t *testing.T) {
	dir := tree(t, "f")
	w := open(t, dir)
	path := filepath.Join(dir, "f")
	for _, mode := range []fs.FileMode{0o755, 0o644, 0o640, 0o600, 0o666, 0o777 | fs.ModeSetgid, 0o700 | fs.ModeSticky} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		withUmask(0o077, func() {
			got, err := w.Write(t.Context(), Write{Path: "f", Data: []byte(mode.String()), ExpectedSHA256: sum(content(t, path))})
			if err != nil || got.Created {
				t.Errorf("%v: %+v, %v", mode, got, err)
			}
		})
		if info, err := os.Stat(path); err != nil || info.Mode() != mode {
			t.Errorf("mode %v, %v; want %v", info.Mode(), err, mode)
		}
	}
	clean(t, dir, "f")
}

// C068: hard links are split and links in the workspace are replaced by a
// temporary file and rename. Trigger: ln a b; write a.
func TestC068LinksStay(t *testing.T) {
	dir := tree(t, "a", "sub/real", "soft -> sub/real")
	if err := os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	w := open(t, dir)
	was := "a"
	for _, now := range []string{"much longer than before", "s", ""} {
		got, err := w.Write(t.Context(), Write{Path: "a", Data: []byte(now), ExpectedSHA256: sum(was)})
		if err != nil || content(t, filepath.Join(dir, "b")) != now {
			t.Errorf("hard link: %+v, %v, b holds %q, want %q", got, err, content(t, filepath.Join(dir, "b")), now)
		}
		was = now
	}
	got, err := w.Write(t.Context(), Write{Path: "soft", Data: []byte("new"), ExpectedSHA256: sum("sub/real")})
	if err != nil || got.Name != "sub/real" || content(t, filepath.Join(dir, "sub/real")) != "new" {
		t.Errorf("soft link: %+v, %v", got, err)
	}
	if to, err := os.Readlink(filepath.Join(dir, "soft")); err != nil || to != "sub/real" {
		t.Errorf("the link became %q, %v", to, err)
	}
	clean(t, dir, "a", "b", "soft", "sub")
}

// C069: an autosave with equal content makes every edit fail when staleness goes
// by time. Trigger: touch; then a change of equal length with the old time.
func TestC069StaleByContent(t *testing.T) {
	dir := tree(t, "f")
	path := filepath.Join(dir, "f")
	w := open(t, dir)
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(t.Context(), Write{Path: "f", Data: []byte("1"), ExpectedSHA256: sum("f")}); err != nil {
		t.Errorf("touched: %v", err)
	}
	info, _ := os.Stat(path)
	os.WriteFile(path, []byte("2"), 0o644)
	os.Chtimes(path, info.ModTime(), info.ModTime())
	_, err := w.Write(t.Context(), Write{Path: "f", Data: []byte("3"), ExpectedSHA256: sum("1")})
	if !errors.Is(err, ErrStale) || content(t, path) != "2" {
		t.Errorf("changed: %v, holds %q", err, content(t, path))
	}
	os.Remove(path)
	if _, err := w.Write(t.Context(), Write{Path: "f", Data: []byte("3"), ExpectedSHA256: sum("2")}); !errors.Is(err, ErrStale) {
		t.Errorf("removed: %v", err)
	}
	clean(t, dir)
}

// meddler is a context that lets other hands act when the write asks whether
// it was cancelled for the nth time.
type meddler struct {
	context.Context
	n   int
	act func()
}

func (m *meddler) Err() error {
	if m.n--; m.n == 0 {
		m.act()
	}
	return nil
}

func TestWriteComparesAgainBeforeTheStep(t *testing.T) {
	dir := tree(t, "old/f", "new/", "linked/f")
	if err := os.Link(filepath.Join(dir, "linked/f"), filepath.Join(dir, "other")); err != nil {
		t.Fatal(err)
	}
	w := open(t, dir)
	for _, tt := range []struct {
		path, expected string
		want           error
		steps          int // at which a change must be noticed, at least
	}{{"old/f", sum("old/f"), ErrStale, 4}, {"new/f", "", fs.ErrExist, 2}, {"linked/f", sum("linked/f"), ErrStale, 3}} {
		hit := 0
		for n := 1; n < 12; n++ {
			path := filepath.Join(dir, tt.path)
			if tt.expected == "" {
				os.Remove(path)
			} else if err := os.WriteFile(path, []byte(tt.path), 0o644); err != nil {
				t.Fatal(err)
			}
			acted := false
			m := &meddler{Context: t.Context(), n: n, act: func() {
				acted = true
				os.WriteFile(path, []byte("theirs"), 0o644)
			}}
			_, err := w.Write(m, Write{Path: tt.path, Data: []byte("ours"), ExpectedSHA256: tt.expected})
			if !acted {
				break
			}
			if errors.Is(err, tt.want) && content(t, path) == "theirs" {
				hit++
			} else if err == nil && content(t, path) == "ours" {
				t.Errorf("%s: step %d: their bytes were overwritten", tt.path, n)
			}
			clean(t, filepath.Dir(path), "f")
		}
		if hit < tt.steps {
			t.Errorf("%s: a change was noticed at %d steps, want %d", tt.path, hit, tt.steps)
		}
	}
}

// What came to the name in the last moment stays, and the new file with it.
func TestCreateReplacesNothing(t *testing.T) {
	dir := tree(t, "temp", "base")
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := create(root, "temp", "base"); !errors.Is(err, fs.ErrExist) || content(t, filepath.Join(dir, "base")) != "base" {
		t.Errorf("%v, base holds %q", err, content(t, filepath.Join(dir, "base")))
	}
	clean(t, dir, "base", "temp")
}

func TestWriteRefuses(t *testing.T) {
	dir := tree(t, "ws/d/", "ws/ro", "ws/f", "out/f", "ws/link -> ../out/f", "ws/dang -> ../out/new")
	ws := filepath.Join(dir, "ws")
	os.Chmod(filepath.Join(ws, "ro"), 0o444)
	syscall.Mkfifo(filepath.Join(ws, "pipe"), 0o644)
	w := open(t, ws)
	outside := new(OutsideError)
	for _, tt := range []struct {
		path, expected string
		want           error
	}{
		{"d", "", ErrNotRegular}, {".", "", ErrNotRegular}, {"new/", "", ErrNotRegular}, {"pipe", sum(""), ErrNotRegular},
		{"ro", sum("ws/ro"), fs.ErrPermission}, {"f", sum("x"), ErrStale}, {"none", sum(""), ErrStale}, {"sub/none", sum(""), ErrStale},
	} {
		_, err := w.Write(t.Context(), Write{Path: tt.path, Data: []byte("x"), ExpectedSHA256: tt.expected})
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.path, err, tt.want)
		}
	}
	for _, path := range []string{"link", "dang", "../out/f", "d/../../out/f", filepath.Join(dir, "out/x")} {
		if _, err := w.Write(t.Context(), Write{Path: path, Data: []byte("x"), ExpectedSHA256: sum("out/f")}); !errors.As(err, &outside) {
			t.Errorf("%s: %v", path, err)
		}
	}
	clean(t, ws, "d", "dang", "f", "link", "pipe", "ro")
	clean(t, filepath.Join(dir, "out"), "f")
	if content(t, filepath.Join(dir, "out/f")) != "out/f" {
		t.Error("a file outside was changed")
	}
}

func TestCancelledWriteLeavesNothing(t *testing.T) {
	dir := tree(t, "f")
	w := open(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Write(ctx, Write{Path: "f", Data: []byte("x"), ExpectedSHA256: sum("f")}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	clean(t, dir, "f")
}

// A full disk: the file-size limit of a child process stands in for it.
func TestFullDiskKeepsTheOldContent(t *testing.T) {
	if dir := os.Getenv("WORKSPACE_FULL_DISK"); dir != "" {
		fullDiskChild(t, dir)
		return
	}
	dir := tree(t, "f", "hard")
	if err := os.Link(filepath.Join(dir, "hard"), filepath.Join(dir, "hard2")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestFullDiskKeepsTheOldContent$", "-test.count=1")
	cmd.Env = append(os.Environ(), "WORKSPACE_FULL_DISK="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	clean(t, dir, "f", "hard", "hard2")
	for _, n := range []string{"f", "hard"} {
		if got := content(t, filepath.Join(dir, n)); got != n {
			t.Errorf("%s holds %d bytes", n, len(got))
		}
	}
}

func fullDiskChild(t *testing.T, dir string) {
	w := open(t, dir)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1 << 16, Max: 1 << 16}); err != nil {
		t.Fatal(err)
	}
	big := bytes.Repeat([]byte("x"), 1<<20)
	for name, expected := range map[string]string{"f": sum("f"), "hard": sum("hard"), "new": ""} {
		if _, err := w.Write(t.Context(), Write{Path: name, Data: big, ExpectedSHA256: expected}); !errors.Is(err, syscall.EFBIG) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestConcurrentWritesAreOneAfterTheOther(t *testing.T) {
	dir := tree(t, "f")
	w := open(t, dir)
	var wg sync.WaitGroup
	won := make(chan string, 20)
	for i := range 20 {
		wg.Go(func() {
			data := fmt.Sprint("writer ", i)
			if _, err := w.Write(t.Context(), Write{Path: "f", Data: []byte(data), ExpectedSHA256: sum("f")}); err == nil {
				won <- data
			} else if !errors.Is(err, ErrStale) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	close(won)
	var got []string
	for s := range won {
		got = append(got, s)
	}
	if len(got) != 1 || content(t, filepath.Join(dir, "f")) != got[0] {
		t.Errorf("%d writers won: %q", len(got), got)
	}
	clean(t, dir, "f")
}

// A path is judged, then a link to a protected directory is put into it.
func TestJudgedPathThatMoves(t *testing.T) {
	for _, path := range []string{"d/new", "d/sub/new", "d/x", "f"} {
		dir := tree(t, "ws/d/x", "ws/f", "ws/.git/hooks/x", "ws/.git/hooks/sub/")
		ws := filepath.Join(dir, "ws")
		w := open(t, ws)
		for _, n := range []string{"d/x", "f", ".git/hooks/x"} {
			os.WriteFile(filepath.Join(ws, n), []byte("same"), 0o644)
		}
		judged, err := w.Resolve(path)
		if _, protected := w.Protected(judged); err != nil || protected {
			t.Fatalf("%s: protected %v, %v", path, protected, err)
		}
		os.Rename(filepath.Join(ws, "d"), filepath.Join(ws, "e"))
		os.Rename(filepath.Join(ws, "f"), filepath.Join(ws, "g"))
		os.Symlink(".git/hooks", filepath.Join(ws, "d"))
		os.Symlink(".git/hooks/x", filepath.Join(ws, "f"))
		q := Write{Path: judged.Abs, Data: []byte("evil")}
		if judged.Exists {
			q.ExpectedSHA256 = sum("same")
		}
		if _, err := w.Write(t.Context(), q); !errors.Is(err, ErrMoved) {
			t.Errorf("%s: %v", path, err)
		}
		clean(t, filepath.Join(ws, ".git/hooks"), "sub", "x")
		clean(t, filepath.Join(ws, ".git/hooks/sub"))
		if got := content(t, filepath.Join(ws, ".git/hooks/x")); got != "same" {
			t.Errorf("%s: the hook became %q", path, got)
		}
	}
}

func TestSwappedDirectoryIsNeverWrittenOutside(t *testing.T) {
	dir := tree(t, "ws/d/x", "ws/.git/hooks/x", "out/x")
	ws := filepath.Join(dir, "ws")
	w := open(t, ws)
	stop := swap(t, ws, "d", "../out", ".git/hooks")
	wrote := 0
	for i := 0; i < 500 || wrote == 0 && i < 100000; i++ {
		// As the gate saw it when d was a directory.
		path := filepath.Join(ws, fmt.Sprintf("d/new%d", i))
		if _, err := w.Write(t.Context(), Write{Path: path, Data: []byte("x")}); err == nil {
			wrote++
		}
	}
	stop()
	if wrote == 0 {
		t.Error("nothing was written: the test shows nothing")
	}
	clean(t, filepath.Join(dir, "out"), "x")
	clean(t, filepath.Join(ws, ".git/hooks"), "x")
}
