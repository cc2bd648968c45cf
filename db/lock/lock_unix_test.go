//go:build unix

package lock

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// What lies in the directory may have been put there by somebody else: a link is
// not followed, a FIFO does not block.
func TestLockFileIsNoOther(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "locks")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(outside, []byte("keep"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "fifo", "dir"} {
		if l, err := Acquire(t.Context(), dir, name, false); err == nil {
			l.Release()
			t.Errorf("%s was locked", name)
		}
	}
	if got, err := os.ReadFile(outside); string(got) != "keep" || err != nil {
		t.Errorf("the file behind the link: %q, %v", got, err)
	}
	if err := os.Symlink(dir, dir+"2"); err != nil {
		t.Fatal(err)
	}
	if _, err := Acquire(t.Context(), dir+"2", "s", false); err == nil {
		t.Error("a link in place of the directory was followed")
	}
}

// Symptom: a file that is none of ours was emptied. Trigger: a hard link to it in
// place of a lock file.
func TestHardLinkIsNoLockFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "locks")
	take(t, dir, "s").Release()
	path := filepath.Join(dir, "s")
	precious := filepath.Join(filepath.Dir(dir), "precious")
	if err := os.WriteFile(precious, []byte("keep"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(precious, path); err != nil {
		t.Fatal(err)
	}
	l, err := Acquire(t.Context(), dir, "s", true)
	if err == nil {
		l.Sign()
		l.Release()
	}
	if !errors.Is(err, errLinked) {
		t.Errorf("got %v, want %v", err, errLinked)
	}
	if got, err := os.ReadFile(precious); string(got) != "keep" || err != nil {
		t.Errorf("the file of two names: %q, %v", got, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	take(t, dir, "s").Release()
}

// Somebody cleans the directory while a lock is held: the name then leads to
// another file, and the old lock must not take that one away.
func TestDiscardLeavesAnothersFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "locks")
	old := take(t, dir, "s")
	if err := os.Remove(old.path); err != nil {
		t.Fatal(err)
	}
	fresh := take(t, dir, "s")
	defer fresh.Release()
	old.Discard()
	if _, err := os.Lstat(fresh.path); err != nil {
		t.Error(err)
	}
}
