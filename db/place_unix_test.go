//go:build unix

package db

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The umask neither widens nor narrows what is made, and what is too wide is
// tightened.
func TestModes(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	for _, mask := range []int{0, 0o077, 0o277} {
		root := t.TempDir()
		syscall.Umask(mask)
		dir := filepath.Join(root, "state")
		if mask == 0o277 {
			// A directory that its owner can not enter would be no place at all.
			dir = root
		}
		d, err := Open(t.Context(), Options{Path: filepath.Join(dir, "sessions.sqlite"), Home: dir})
		if err != nil {
			t.Fatalf("umask %o: %v", mask, err)
		}
		create1(t, d, "s", "1")
		for _, end := range []string{"", "-wal", "-shm"} {
			if got := must(os.Stat(d.path + end))(t).Mode().Perm(); got != 0o600 {
				t.Errorf("umask %o: the file with %q has mode %o", mask, end, got)
			}
		}
		if got := must(os.Stat(dir))(t).Mode().Perm(); dir != root && got != 0o700 {
			t.Errorf("umask %o: the directory has mode %o", mask, got)
		}
		shut(t, d)
		syscall.Umask(0)
	}
	d := open(t, t.TempDir())
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Chmod(d.path+end, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	e, err := Open(t.Context(), Options{Path: d.path, Home: d.home})
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, e)
	for _, end := range []string{"", "-wal", "-shm"} {
		if got := must(os.Stat(d.path + end))(t).Mode().Perm(); got != 0o600 {
			t.Errorf("the wide file with %q has mode %o", end, got)
		}
	}
}

// What is no file is refused at once: a pipe would never answer.
func TestNoFile(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, dir} {
		for _, readOnly := range []bool{false, true} {
			_, err := Open(t.Context(), Options{Path: path, Home: dir, ReadOnly: readOnly})
			if err == nil || !strings.Contains(err.Error(), "no regular file") {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}

// TestUnwritablePlaces runs in a process without the rights of root, for which
// no place is unwritable.
func TestUnwritablePlaces(t *testing.T) {
	if dir, ok := childPath("TestUnwritablePlaces"); ok {
		unwritable1(t, dir)
		return
	}
	root := t.TempDir()
	shut(t, func() *DB {
		d, err := Open(t.Context(), Options{Path: filepath.Join(root, "a", "sessions.sqlite"), Home: root})
		if err != nil {
			t.Fatal(err)
		}
		create1(t, d, "s", "1", "2")
		return d
	}())
	file := filepath.Join(root, "a", "sessions.sqlite")
	binary := filepath.Join(root, "db.test")
	data := must(os.ReadFile(must(os.Executable())(t)))(t)
	if err := os.WriteFile(binary, data, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{filepath.Dir(root): 0o755, root: 0o755, filepath.Dir(file): 0o555, file: 0o444, binary: 0o755} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.Chmod(filepath.Dir(file), 0o755) })
	c := exec.Command(binary, "-test.run=^TestUnwritablePlaces$", "-test.v", "-test.timeout=20s")
	c.Dir = root
	c.Env = []string{"DB_TEST_CHILD=TestUnwritablePlaces", "DB_TEST_PATH=" + root}
	if os.Getuid() == 0 {
		const nobody = 65534
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestUnwritablePlaces") {
		t.Errorf("%v: %s", err, out)
	}
}

func unwritable1(t *testing.T, root string) {
	for _, path := range []string{
		filepath.Join(root, "a", "sessions.sqlite"),
		filepath.Join(root, "a", "new.sqlite"),
		filepath.Join(root, "a", "b", "new.sqlite"),
	} {
		_, err := Open(t.Context(), Options{Path: path, Home: root})
		if err == nil {
			t.Fatalf("%s was opened", path)
		}
		var shut *UnwritableError
		if !errors.As(err, &shut) || shut.Path != path || !strings.Contains(err.Error(), filepath.Dir(path)) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %q", path, err)
		}
	}
	path := filepath.Join(root, "a", "sessions.sqlite")
	d, err := Open(t.Context(), Options{Path: path, Home: root, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := bodies(must(d.ActiveMessages(t.Context(), "s"))(t)); got != "1 2" {
		t.Errorf("messages %q", got)
	}
	shut(t, d)
	if files := must(os.ReadDir(filepath.Dir(path)))(t); len(files) != 1 {
		t.Errorf("the directory holds %v", files)
	}
}
