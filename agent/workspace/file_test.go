//go:build unix

package workspace

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// C074: a FIFO blocks the read tool for ever, and the whole file is read before
// its size is looked at. Trigger: mkfifo, a sparse 3 GiB file, /dev/zero.
func TestC074OnlyRegularFilesAtOnce(t *testing.T) {
	dir := tree(t, "file", "sub/", "zero -> /dev/zero", "linkpipe -> pipe", "sparse")
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.Truncate(filepath.Join(dir, "sparse"), 3<<30); err != nil {
		t.Fatal(err)
	}
	w := open(t, dir)
	if _, err := w.Approve("/dev"); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	for path, kind := range map[string]string{"pipe": "FIFO", "linkpipe": "FIFO", "sub": "directory", ".": "directory", "sock": "socket", "zero": "device"} {
		f, err := w.OpenFile(path)
		if !errors.Is(err, ErrNotRegular) || !strings.Contains(err.Error(), kind) {
			t.Errorf("%s: %v, %v", path, f, err)
		}
	}
	f, err := w.OpenFile("sparse")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Info().Size != 3<<30 || f.Info().Name != "sparse" {
		t.Errorf("info %+v", f.Info())
	}
	if d := time.Since(start); d > time.Second {
		t.Errorf("took %v", d)
	}
}

// swap replaces a name by links, or a FIFO for "|", and puts it back, without
// pause, until stop is called.
func swap(t *testing.T, dir, name string, links ...string) (stop func()) {
	t.Helper()
	end, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		d, aside := filepath.Join(dir, name), filepath.Join(dir, "aside")
		for i := 0; ; i++ {
			select {
			case <-end:
				return
			default:
			}
			os.Rename(d, aside)
			if to := links[i%len(links)]; to == "|" {
				syscall.Mkfifo(d, 0o644)
			} else {
				os.Symlink(to, d)
			}
			os.Remove(d)
			os.Rename(aside, d)
		}
	}()
	return func() {
		close(end)
		<-done
	}
}

// A directory is swapped for a link to the outside while files in it are
// opened and written: nothing outside may be read or changed.
func TestSwappedDirectoryNeverLeadsOutside(t *testing.T) {
	dir := tree(t, "ws/d/f", "ws/d.bak/", "ws/.git/f", "out/f")
	ws := filepath.Join(dir, "ws")
	w := open(t, ws)
	stop := swap(t, ws, "d", filepath.Join(dir, "out"), ".git")
	opened := 0
	for i := 0; i < 3000 || opened == 0 && i < 300000; i++ {
		f, err := w.OpenFile("d/f")
		if err != nil {
			continue
		}
		if f.Info().Name == "d/f" { // else it was resolved through the link, and said so
			opened++
			buf := make([]byte, 16)
			n, _ := f.ReadAt(buf, 0)
			if got := string(buf[:n]); got != "ws/d/f" {
				t.Errorf("read %q", got)
			}
		}
		f.Close()
	}
	stop()
	if opened == 0 {
		t.Error("the file was never opened: the test shows nothing")
	}
}

func TestParentRefusesLinks(t *testing.T) {
	dir := tree(t, "d/f", "e/f")
	w := open(t, dir)
	target, err := w.Resolve("d/f")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "d"), filepath.Join(dir, "old")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("e", filepath.Join(dir, "d")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := target.open(); !errors.Is(err, ErrMoved) {
		t.Errorf("opened through a link: %v", err)
	}
}

// os.Root follows a link that stays below it: what a swap put in the place of a
// directory must be noticed by identity.
func TestStepIntoNoticesASwap(t *testing.T) {
	dir := tree(t, "d/f", ".git/f")
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	stop := swap(t, dir, "d", ".git")
	defer stop()
	git, err := root.Stat(".git")
	if err != nil {
		t.Fatal(err)
	}
	entered := 0
	for range 100_000 {
		sub, err := stepInto(root, "d")
		if err != nil {
			continue
		}
		if info, err := sub.Stat("."); err != nil || os.SameFile(info, git) {
			t.Fatalf("entered .git by the name of d, %v", err)
		}
		entered++
		sub.Close()
	}
	if entered == 0 {
		t.Error("the directory was never entered: the test shows nothing")
	}
}

// A file is swapped for a link to another one in the root, or for a FIFO, while
// it is opened: neither may be followed or waited on.
func TestOpenRegularNoticesASwap(t *testing.T) {
	dir := tree(t, "f", ".git/config")
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	stop := swap(t, dir, "f", ".git/config", "|")
	defer stop()
	opened := 0
	for range 50_000 {
		f, _, err := openRegular(root, "f", os.O_RDONLY)
		if err != nil {
			continue
		}
		opened++
		buf := make([]byte, 16)
		n, _ := f.Read(buf)
		f.Close()
		if got := string(buf[:n]); got != "f" {
			t.Fatalf("read %q by the name of f", got)
		}
	}
	if opened == 0 {
		t.Error("the file was never opened: the test shows nothing")
	}
}
