package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const tmpfsSize = "size=1m,mode=0700"

// mount gives a world a state home on a small file system of its own.
func mount(t *testing.T, w *world) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a file system")
	}
	if err := os.MkdirAll(w.state, 0o700); err != nil {
		t.Fatal(err)
	}
	err := syscall.Mount("tmpfs", w.state, "tmpfs", 0, tmpfsSize)
	if errors.Is(err, syscall.EPERM) {
		t.Skip("this container may not mount a file system")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(w.state, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

// fill leaves only room bytes on the file system of a directory, and returns
// what makes it free again.
func fill(t *testing.T, dir string, room int64) (free func()) {
	t.Helper()
	name := filepath.Join(dir, "filler")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size := int64(0)
	for block := make([]byte, 4096); err == nil; {
		var n int
		n, err = f.Write(block)
		size += int64(n)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if err := f.Truncate(max(0, size-room)); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(name); err != nil {
			t.Error(err)
		}
	}
}

// A disk runs full while runs write. What was stored stays readable while it is
// full, and when there is room again the sessions go on.
func TestAFullDisk(t *testing.T) {
	t.Parallel()
	for _, room := range []int64{0, 8 << 10, 24 << 10, 64 << 10} {
		t.Run(fmt.Sprint(room), func(t *testing.T) {
			w := home(t)
			mount(t, w)
			ctx := context.Background()
			ids := spoken(t, w, 2)
			free := fill(t, w.state, room)
			var failed ended
			for i := 0; failed.code == 0; i++ {
				var err error
				if failed, err = w.run(ctx, w.task(prompt(fmt.Sprintf("f%d", i), "one"))...); err != nil || i > 100 {
					t.Fatalf("run %d: %v, %v", i, failed, err)
				}
			}
			one(t, failed, "full", w.state)
			if got := listed(t, w); len(got) < len(ids) || got[len(got)-1] != ids[len(ids)-1] {
				t.Errorf("the disk is full and %q are listed, want at least %q", got, ids)
			}
			free()
			for i, id := range listed(t, w) {
				e, err := w.must(ctx, append(w.resume(id, prompt(fmt.Sprintf("g%d", i), "say")), "--acknowledge-uncertain")...)
				if err != nil || !strings.Contains(e.stdout, finished(fmt.Sprintf("g%d", i))) {
					t.Errorf("with room again: %v, %v", e, err)
				}
			}
			if err := w.doctor(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

// A file system that can only be read, after sessions that ended and after one
// whose process was killed. Looking works; a run is refused before anybody is
// asked.
func TestAReadOnlyFileSystem(t *testing.T) {
	t.Parallel()
	for _, killed := range []bool{false, true} {
		t.Run(fmt.Sprintf("killed %v", killed), func(t *testing.T) {
			w := home(t)
			mount(t, w)
			ctx := context.Background()
			ids := spoken(t, w, 2)
			if killed {
				p, err := w.start(ctx, w.resume(ids[0], prompt("dies", "slow"))...)
				if err != nil {
					t.Fatal(err)
				}
				select {
				case <-w.model.reached("dies"):
				case <-p.done:
				}
				p.kill()
				if _, err := p.wait(); err != nil {
					t.Fatal(err)
				}
			}
			if err := syscall.Mount("tmpfs", w.state, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, tmpfsSize); err != nil {
				t.Fatal(err)
			}
			if got := listed(t, w); len(got) != len(ids) {
				t.Errorf("%d sessions are listed, want %d", len(got), len(ids))
			}
			if e, err := w.must(ctx, "sessions", "export", ids[0]); err != nil || !strings.Contains(e.stdout, finished("s1")) {
				t.Errorf("export: %v, %v", e, err)
			}
			e, err := w.run(ctx, w.task(prompt("refused", "say"))...)
			if err != nil {
				t.Fatal(err)
			}
			one(t, e, w.state)
			if n := w.model.asked("refused"); n != 0 {
				t.Errorf("the server was asked %d times", n)
			}
		})
	}
}
