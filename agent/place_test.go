package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"alisio/agent/config"
	"alisio/agent/session"
)

// Each way to name a database leads to one file and one directory of locks.
func TestPlaceBelongsToTheDatabase(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	for _, d := range []string{"state/locks", "old/sessions.sqlite.files", "other"} {
		if err := os.MkdirAll(at(d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"state/sessions.sqlite", "other/my.sqlite"} {
		if err := os.WriteFile(at(f), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for to, link := range map[string]string{"state": "link", "state/sessions.sqlite": "mine.db", "other/my.sqlite": "yours.db"} {
		if err := os.Symlink(at(to), at(link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ state, path, file, home string }{
		{"state", "", "state/sessions.sqlite", "state"},
		{"link", "", "state/sessions.sqlite", "state"},
		{"elsewhere", "state/sessions.sqlite", "state/sessions.sqlite", "state"},
		{"state", "link/sessions.sqlite", "state/sessions.sqlite", "state"},
		{"", "mine.db", "state/sessions.sqlite", "state"},
		{"state", "other/my.sqlite", "other/my.sqlite", "other/my.sqlite.files"},
		{"", "yours.db", "other/my.sqlite", "other/my.sqlite.files"},
		{"state", "state/my.sqlite", "state/my.sqlite", "state/my.sqlite.files"},
		{"new/state", "", "new/state/sessions.sqlite", "new/state"},
		{"", "new/state/sessions.sqlite", "new/state/sessions.sqlite", "new/state"},
		{"old", "", "old/sessions.sqlite", "old/sessions.sqlite.files"},
	} {
		o := StoreOptions{}
		if c.state != "" {
			o.Dirs.State = at(c.state)
		}
		if c.path != "" {
			o.Path = at(c.path)
		}
		got, err := o.options()
		if err != nil || got.Path != at(c.file) || got.Home != at(c.home) {
			t.Errorf("state %q, path %q: got %q with %q, %v; want %q with %q", c.state, c.path, got.Path, got.Home, err, c.file, c.home)
		}
	}
}

// The state home of the second is a link to that of the first.
func TestOneDatabaseByTwoNamesHasOneLock(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(dir, "state"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	open := func(o StoreOptions) *Store {
		s, err := OpenStore(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	first := open(StoreOptions{Dirs: config.Dirs{State: filepath.Join(dir, "state")}})
	if err := first.Create(ctx, session.Session{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	unlock, err := first.Lock(ctx, "s")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	for name, o := range map[string]StoreOptions{
		"link":  {Dirs: config.Dirs{State: filepath.Join(dir, "link")}},
		"--db":  {Dirs: config.Dirs{State: filepath.Join(dir, "mine")}, Path: filepath.Join(dir, "link", "sessions.sqlite")},
		"again": {Dirs: config.Dirs{State: filepath.Join(dir, "state")}},
	} {
		var busy *session.BusyError
		if _, err := open(o).Lock(ctx, "s"); !errors.As(err, &busy) {
			t.Errorf("%s: got %v, want the session busy", name, err)
		}
	}
}
