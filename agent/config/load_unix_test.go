//go:build unix

package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestPipeIsRefusedWithoutWaiting(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Load(LoadOptions{Dirs: home(t, ""), File: pipe, Getenv: noEnv})
	if err == nil || !strings.HasSuffix(err.Error(), "not a regular file") {
		t.Errorf("got %v, want not a regular file", err)
	}
	// The open itself must not wait either: the path can change in between.
	f, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}

func TestLinks(t *testing.T) {
	d := home(t, "")
	path := filepath.Join(d.Config, "config.json")
	if err := os.Symlink("real.json", path); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(LoadOptions{Dirs: d, Getenv: noEnv}); err == nil {
		t.Error("link that leads nowhere: got no error")
	}
	write(t, filepath.Join(d.Config, "real.json"), `{"provider": {"model": "linked"}}`)
	c, err := Load(LoadOptions{Dirs: d, Getenv: noEnv})
	if err != nil || c.Provider.Model != "linked" {
		t.Errorf("got %q, %v, want the model of the linked file", c.Provider.Model, err)
	}
}

func TestModesOwnersAndLinksAreKept(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "sub", "real.json"), filepath.Join(dir, "config.json")
	if err := os.Symlink(filepath.Join("sub", "real.json"), link); err != nil {
		t.Fatal(err)
	}
	if err := Set(link, "limits.maxTurns", []byte("1")); err == nil {
		t.Error("a link that leads nowhere: got no error")
	}
	if err := Set(file, "limits.maxTurns", []byte("1")); err != nil {
		t.Fatal(err)
	}
	mode := func(path string) os.FileMode {
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}
	if got := mode(file); got != 0o600 {
		t.Errorf("new file: got mode %v", got)
	}
	if got := mode(filepath.Dir(file)); got != 0o700|os.ModeDir {
		t.Errorf("new directory: got mode %v", got)
	}
	owner := os.Geteuid()
	if owner == 0 { // root alone can give a file away
		owner = 1234
	}
	if err := errors.Join(os.Chmod(file, 0o644), os.Chown(file, owner, -1)); err != nil {
		t.Fatal(err)
	}
	if err := Set(link, "limits.maxTurns", []byte("2")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode() != 0o644 || int(info.Sys().(*syscall.Stat_t).Uid) != owner {
		t.Errorf("got %v, %v, want mode 0644 of %d", info.Mode(), err, owner)
	}
	if got := mode(link); got&os.ModeSymlink == 0 || !strings.Contains(read(t, file), `"maxTurns": 2`) {
		t.Errorf("the link became %v, the file\n%s", got, read(t, file))
	}
}

// A lock that somebody holds on a removed file is none.
func TestLockOfARemovedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".lock")
	old, err := tryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	unlock, err := tryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
	old()
}
