//go:build unix

package config

import (
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
	f, err := os.OpenFile(pipe, os.O_RDONLY|nonblock, 0)
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
