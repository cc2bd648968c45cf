//go:build unix

package db

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
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

// A pipe in the place of a file beside the database kept it waiting for ever, a
// directory for seconds.
func TestNoFileBeside(t *testing.T) {
	for _, end := range []string{"-journal", "-wal", "-shm"} {
		for name, make := range map[string]func(path string) error{
			"pipe":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
			"directory": func(path string) error { return os.Mkdir(path, 0o700) },
			"link":      func(path string) error { return os.Symlink("/dev/zero", path) },
		} {
			for _, there := range []bool{false, true} {
				dir := t.TempDir()
				path, home := filepath.Join(dir, "sessions.sqlite"), t.TempDir()
				if there {
					shut(t, must(Open(t.Context(), Options{Path: path, Home: dir}))(t))
				}
				if err := make(path + end); err != nil {
					t.Fatal(err)
				}
				before := must(os.ReadDir(dir))(t)
				refused := func(what string, err error) {
					if err == nil || !strings.Contains(err.Error(), end+`" is no regular file`) {
						t.Errorf("%s in the place of %s, %s: %v", name, end, what, err)
					}
				}
				_, err := Open(t.Context(), Options{Path: path, Home: home})
				refused("opened", err)
				if there {
					_, err = Open(t.Context(), Options{Path: path, Home: home, ReadOnly: true})
					refused("looked at", err)
					_, err = Repair(t.Context(), Options{Path: path, Home: home}, time.Now())
					refused("repaired", err)
				}
				_, _, err = OpenOwn(t.Context(), path)
				refused("as another's", err)
				if after := must(os.ReadDir(dir))(t); len(after) != len(before) {
					t.Errorf("%s holds %v, before %v", dir, after, before)
				}
			}
		}
	}
}

// What --db names by mistake stays as it is: its mode, its bytes, and the
// directory that it is in.
func TestAnotherProgramsFile(t *testing.T) {
	for name, fill := range map[string]func(path string) error{
		"text": func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("Dear Ann. ", 100)), 0o644) },
		"other tables": func(path string) error {
			run(t, raw(t, path), `CREATE TABLE users(id)`)
			return nil
		},
		"sessions of another shape": func(path string) error {
			pool := raw(t, path)
			run(t, pool, `CREATE TABLE sessions(id TEXT PRIMARY KEY, user TEXT, expires INTEGER)`)
			run(t, pool, `CREATE TABLE schema_migrations(version INTEGER PRIMARY KEY)`)
			run(t, pool, `INSERT INTO schema_migrations VALUES (20240101)`)
			return pool.Close()
		},
		"sessions of the same, events of another shape": func(path string) error {
			pool := raw(t, path)
			run(t, pool, `CREATE TABLE sessions(id, workspace, provider, model, locked_pid)`)
			run(t, pool, `CREATE TABLE events(at, what)`)
			return pool.Close()
		},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "notes")
		if err := fill(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
		before := must(os.ReadFile(path))(t)
		_, err := Open(t.Context(), Options{Path: path, Home: t.TempDir()})
		if err == nil || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "newer") {
			t.Errorf("%s: %v", name, err)
		}
		if mode := must(os.Stat(path))(t).Mode().Perm(); mode != 0o644 {
			t.Errorf("%s: the mode is %o", name, mode)
		}
		if after := must(os.ReadFile(path))(t); !bytes.Equal(after, before) {
			t.Errorf("%s: the file was changed", name)
		}
		if files := must(os.ReadDir(dir))(t); len(files) != 1 {
			t.Errorf("%s: beside it are %v", name, files)
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
