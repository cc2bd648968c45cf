package db

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// open opens the database of a directory and closes it at the end.
func open(t testing.TB, dir string) *DB {
	t.Helper()
	d, err := Open(t.Context(), Options{Path: filepath.Join(dir, "sessions.sqlite"), Home: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, d) })
	return d
}

func shut(t testing.TB, d *DB) {
	t.Helper()
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

func write(t testing.TB, d *DB, do func(*Tx) error) {
	t.Helper()
	if err := d.Write(t.Context(), Normal, do); err != nil {
		t.Fatal(err)
	}
}

// create1 makes a session with the bodies as its messages.
func create1(t testing.TB, d *DB, id string, bodies ...string) {
	t.Helper()
	write(t, d, func(x *Tx) error {
		if err := x.CreateSession(Session{ID: id, Workspace: "/w"}); err != nil {
			return err
		}
		for _, b := range bodies {
			if _, err := x.AppendMessage(Message{Session: id, Body: b}); err != nil {
				return err
			}
		}
		return nil
	})
}

func bodies(ms []Message) string {
	var out []string
	for _, m := range ms {
		out = append(out, m.Body)
	}
	return strings.Join(out, " ")
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestOddPaths(t *testing.T) {
	for _, name := range []string{"a b.sqlite", "q?mode=memory.sqlite", "frag#ment.sqlite", "100%41.sqlite", "ü 在.sqlite", "a&_pragma=x.sqlite"} {
		if runtime.GOOS == "windows" && strings.ContainsAny(name, "?") {
			continue
		}
		dir := filepath.Join(t.TempDir(), "new", name+".d")
		path := filepath.Join(dir, name)
		d, err := Open(t.Context(), Options{Path: path, Home: dir})
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		create1(t, d, "s", "{}")
		shut(t, d)
		entries := must(os.ReadDir(dir))(t)
		if len(entries) != 1 || entries[0].Name() != name {
			t.Errorf("the directory holds %v, want %q alone", entries, name)
		}
	}
}

func TestPathsMustBeAbsolute(t *testing.T) {
	for _, o := range []Options{{Path: "x.sqlite", Home: "/"}, {Path: filepath.Join(t.TempDir(), "x"), Home: ""}} {
		if _, err := Open(t.Context(), o); err == nil {
			t.Errorf("Open(%+v) succeeded", o)
		}
	}
}

func TestPragmas(t *testing.T) {
	d := open(t, t.TempDir())
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "foreign_keys": "1", "synchronous": "1", "busy_timeout": "200", "trusted_schema": "0", "query_only": "0",
	} {
		got := strs(t, d.writer.conn, "PRAGMA "+pragma)
		if !slices.Equal(got, []string{want}) {
			t.Errorf("writer: %s is %v, want %s", pragma, got, want)
		}
	}
	for pragma, want := range map[string]string{"query_only": "1", "busy_timeout": "200", "trusted_schema": "0"} {
		var got text
		if err := d.readers.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || string(got) != want {
			t.Errorf("reader: %s is %s (%v), want %s", pragma, got, err, want)
		}
	}
}

// A short run needs no second connection: what it reads goes over the writer's.
func TestHotReadsOpenNoReader(t *testing.T) {
	d := open(t, t.TempDir())
	create1(t, d, "s", `{"a":1}`)
	ctx := t.Context()
	must(d.Session(ctx, "s"))(t)
	must(d.ActiveMessages(ctx, "s"))(t)
	must(d.Calls(ctx, "s", []string{"x"}))(t)
	must(d.OpenRuns(ctx))(t)
	must(d.RunningChildren(ctx))(t)
	if _, err := d.RunByRequest(ctx, "s", "", "r"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if n := d.readers.Stats().OpenConnections; n != 0 {
		t.Errorf("%d readers are open, want none", n)
	}
	must(d.MessagesPage(ctx, "s", 0, 10))(t)
	if n := d.readers.Stats().OpenConnections; n != 1 {
		t.Errorf("%d readers are open, want one", n)
	}
}

func TestReadsBesideAWrite(t *testing.T) {
	d := open(t, t.TempDir())
	create1(t, d, "s", "1")
	write(t, d, func(x *Tx) error {
		if _, err := x.AppendMessage(Message{Session: "s", Body: "2"}); err != nil {
			return err
		}
		inside := must(x.MessagesPage(t.Context(), "s", 0, 10))(t)
		outside := must(d.MessagesPage(t.Context(), "s", 0, 10))(t)
		if bodies(inside) != "1 2" || bodies(outside) != "1" {
			t.Errorf("inside %q, outside %q", bodies(inside), bodies(outside))
		}
		return nil
	})
}

func TestCloseIsFinal(t *testing.T) {
	d, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "x"), Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	shut(t, d)
	shut(t, d)
	if err := d.Write(t.Context(), Normal, func(*Tx) error { return nil }); !errors.Is(err, errShut) {
		t.Errorf("write after close: %v", err)
	}
	if _, err := d.Session(t.Context(), "s"); !errors.Is(err, errShut) {
		t.Errorf("hot read after close: %v", err)
	}
	if _, err := d.Versions(t.Context()); err == nil {
		t.Error("cold read after close succeeded")
	}
}

func TestConcurrentUse(t *testing.T) {
	d := open(t, t.TempDir())
	create1(t, d, "s")
	const writers, each = 8, 20
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range each {
				if err := d.Write(context.Background(), Normal, func(x *Tx) error {
					_, err := x.AppendMessage(Message{Session: "s", Body: "{}"})
					return err
				}); err != nil {
					t.Error(err)
				}
				if _, err := d.MessagesPage(context.Background(), "s", 0, 5); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := must(d.CountMessages(t.Context(), "s"))(t); n != writers*each {
		t.Errorf("%d messages, want %d", n, writers*each)
	}
}

func TestReadOnlyCreatesNothing(t *testing.T) {
	dir := t.TempDir()
	o := Options{Path: filepath.Join(dir, "sessions.sqlite"), Home: dir, ReadOnly: true}
	if _, err := Open(t.Context(), o); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	d := open(t, dir)
	create1(t, d, "s", "kept")
	look := func(when string, want int) {
		t.Helper()
		before := must(os.ReadDir(dir))(t)
		r, err := Open(t.Context(), o)
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		got := must(r.ActiveMessages(t.Context(), "s"))(t)
		if len(got) != want {
			t.Errorf("%s: %d messages, want %d", when, len(got), want)
		}
		if err := r.Write(t.Context(), Normal, func(*Tx) error { return nil }); !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s: write: %v", when, err)
		}
		shut(t, r)
		if after := must(os.ReadDir(dir))(t); len(after) != len(before) {
			t.Errorf("%s: the directory held %v, then %v", when, before, after)
		}
	}
	look("beside a writer", 1)
	create2 := func(body string) {
		write(t, d, func(x *Tx) error {
			_, err := x.AppendMessage(Message{Session: "s", Body: body})
			return err
		})
	}
	create2("more")
	look("beside a writer, later", 2)
	shut(t, d)
	look("closed", 2)
}

// half copies a database with a log that a living program holds, and the ends.
func half(t *testing.T, ends ...string) string {
	t.Helper()
	dir, to := t.TempDir(), t.TempDir()
	d := open(t, dir)
	create1(t, d, "s", "kept")
	for _, end := range ends {
		data := must(os.ReadFile(filepath.Join(dir, "sessions.sqlite"+end)))(t)
		if err := os.WriteFile(filepath.Join(to, "sessions.sqlite"+end), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// What a dead process left in its log is shown, also where no index is there.
func TestALookReadsTheLogOfADeadProcess(t *testing.T) {
	to := half(t, "", "-wal")
	r := must(Open(t.Context(), Options{Path: filepath.Join(to, "sessions.sqlite"), Home: to, ReadOnly: true, Notice: func(s string) { t.Errorf("notice %q", s) }}))(t)
	defer shut(t, r)
	if got := must(r.ActiveMessages(t.Context(), "s"))(t); len(got) != 1 {
		t.Errorf("got %d messages", len(got))
	}
}

// Where nothing may be written, a log that can not be indexed is passed over, and
// that is said: one without an index, and one with the index of another log, as
// it lies there when a program was killed in its first commit.
func TestALookThatMayNotWritePassesALogOver(t *testing.T) {
	for name, ends := range map[string][]string{"no index": {"", "-wal"}, "foreign index": {"", "-wal", "-shm"}} {
		t.Run(name, func(t *testing.T) {
			to := half(t, ends...)
			path := filepath.Join(to, "sessions.sqlite")
			if len(ends) > 2 {
				log := must(os.ReadFile(path + "-wal"))(t)
				log[16]++ // the salt
				if err := os.WriteFile(path+"-wal", log[:32], 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var said []string
			d := &DB{path: path, home: to, readOnly: true, notice: func(s string) { said = append(said, s) }}
			d.reads = reads{d}
			if err := d.openLook(t.Context(), false); err != nil {
				t.Fatal(err)
			}
			shut(t, d)
			if len(said) != 1 || !strings.Contains(said[0], "a log beside it") {
				t.Errorf("notices: %q", said)
			}
			if n := len(must(os.ReadDir(to))(t)); n != len(ends) {
				t.Errorf("%d files, want %d", n, len(ends))
			}
		})
	}
}
