package db

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	sqlite3 "modernc.org/sqlite/lib"
)

func TestExplain(t *testing.T) {
	const path = "/state/sessions.sqlite"
	for _, tt := range []struct {
		err   error
		parts string
	}{
		{coded(sqlite3.SQLITE_FULL), "disk of|full|" + path},
		{syscall.ENOSPC, "disk of|full|" + path},
		{coded(sqlite3.SQLITE_READONLY), path + "|\"/state\""},
		{coded(sqlite3.SQLITE_CANTOPEN), "\"/state\""},
		{&fs.PathError{Op: "open", Path: path, Err: syscall.EROFS}, "\"/state\""},
		{&fs.PathError{Op: "open", Path: path, Err: syscall.EACCES}, "\"/state\""},
		{coded(sqlite3.SQLITE_BUSY), "other programs|1m0s|" + path},
		{coded(sqlite3.SQLITE_CORRUPT_INDEX), "damaged|" + path},
		{coded(sqlite3.SQLITE_NOTADB), "damaged|" + path},
		{coded(sqlite3.SQLITE_IOERR_SHMSIZE), "disk of|full|" + path},
		{coded(sqlite3.SQLITE_IOERR_READ), "disk of|fails|" + path},
		{errors.New("other"), "other"},
	} {
		got := explain(path, fmt.Errorf("do it: %w", tt.err))
		if !errors.Is(got, tt.err) {
			t.Errorf("%v hides %v", got, tt.err)
		}
		for _, part := range strings.Split(tt.parts, "|") {
			if !strings.Contains(got.Error(), part) {
				t.Errorf("%q does not say %q", got, part)
			}
		}
	}
	if err := explain(path, nil); err != nil {
		t.Error(err)
	}
}

// Pages behind the first are broken: the reads that meet it tell which file and
// what to do, and nothing is written over it.
func TestBrokenPages(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	fill(t, d, 2000)
	shut(t, d)
	data := must(os.ReadFile(d.path))(t)
	for i := len(data) / 4; i < len(data); i++ {
		data[i] = byte(i * 7)
	}
	if err := os.WriteFile(d.path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	d = open(t, dir)
	for name, read := range map[string]func() error{
		"hot":  func() error { _, err := d.ActiveMessages(t.Context(), "s"); return err },
		"cold": func() error { _, err := d.MessagesPage(t.Context(), "s", 0, 2000); return err },
		"write": func() error {
			return d.Write(context.Background(), Normal, func(x *Tx) error { return x.DeleteSession("s") })
		},
	} {
		var damaged *DamagedError
		if err := read(); !errors.As(err, &damaged) || damaged.Path != d.path {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLookAtAnOldVersion(t *testing.T) {
	dir, path := fixture(t, "sessions-v1.sqlite")
	d, err := Open(t.Context(), Options{Path: path, Home: dir, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, d)
	if got := must(d.Versions(t.Context()))(t); len(got) != 1 {
		t.Errorf("versions %v", got)
	}
	var older *OlderError
	if _, err := d.Session(t.Context(), "s"); !errors.As(err, &older) || older.Path != path || older.Version != 1 || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
	if files := must(os.ReadDir(dir))(t); len(files) != 1 {
		t.Errorf("%s holds %v", filepath.Base(dir), files)
	}
}

// What went wrong beside an error stands in its line, or not at all.
func TestErrorsAreOneLine(t *testing.T) {
	d := open(t, t.TempDir())
	create1(t, d, "s")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("told to stop"))
	_, err := d.MessagesPage(ctx, "s", 0, 1)
	if err == nil || !strings.Contains(err.Error(), "told to stop") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %q", err)
	}
}
