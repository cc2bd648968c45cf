package db

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"alisio/db/place"
	"alisio/db/schema"
)

// A program that ends leaves a short log, which the next one reads; a long one
// is folded in.
func TestAShortLogIsLeftToTheNext(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sessions.sqlite")
	openEnds := func() *DB {
		return must(Open(t.Context(), Options{Path: path, Home: dir, Ends: true}))(t)
	}
	shut(t, openEnds())
	d := openEnds()
	create1(t, d, "s", "first")
	left := d.writer
	shut(t, d)
	t.Cleanup(func() { // what the end of a process would do
		left.conn.Close()
		left.pool.Close()
	})
	if n := place.Size(path + "-wal"); n <= 0 || n >= shortLog {
		t.Fatalf("the log has %d bytes", n)
	}
	if err := d.Write(t.Context(), Normal, func(*Tx) error { return nil }); err == nil {
		t.Error("a closed database was written to")
	}
	next := openEnds()
	if got := bodies(must(next.ActiveMessages(t.Context(), "s"))(t)); got != "first" {
		t.Errorf("the next program reads %q", got)
	}
	write(t, next, func(x *Tx) error {
		for i := range 50 {
			if _, err := x.AppendMessage(Message{Session: "s", Body: fmt.Sprintf("%d %s", i, strings.Repeat("x", 16<<10))}); err != nil {
				return err
			}
		}
		return nil
	})
	long := place.Size(path + "-wal") // longer than is left
	if long < shortLog {
		t.Fatalf("the log has only %d bytes", long)
	}
	shut(t, next)
	if err := next.writer.conn.PingContext(t.Context()); err == nil {
		t.Error("the connection with a long log was left open")
	}
}

// copied opens what a copy of the database's file alone holds.
func copied(t *testing.T, path string) *DB {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "sessions.sqlite"), must(os.ReadFile(path))(t), 0o600); err != nil {
		t.Fatal(err)
	}
	return open(t, dir)
}

// The file alone held nothing: the schema and the first run were all in the log,
// and a backup that copies *.sqlite was empty. The same holds for the run that
// brings an old database up to date.
func TestACopyOfTheFileHoldsTheFirstRun(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sessions.sqlite")
	d := must(Open(t.Context(), Options{Path: path, Home: dir, Ends: true}))(t)
	create1(t, d, "s", "first")
	shut(t, d)
	if n := place.Size(path + "-wal"); n > 0 {
		t.Errorf("the log has %d bytes behind the first run", n)
	}
	if got := bodies(must(copied(t, path).ActiveMessages(t.Context(), "s"))(t)); got != "first" {
		t.Errorf("the copy of the file holds %q", got)
	}

	dir, path = fixture(t, "sessions-v1.sqlite")
	shut(t, must(Open(t.Context(), Options{Path: path, Home: dir, Ends: true}))(t))
	if have := must(copied(t, path).Versions(t.Context()))(t); len(have) != len(schema.Steps()) {
		t.Errorf("the copy of the file is of versions %v", have)
	}
}

// The files beside a database that is named by a link lie where the link leads.
func TestALinkToTheDatabase(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "a", "sessions.sqlite"), filepath.Join(dir, "link.sqlite")
	shut(t, must(Open(t.Context(), Options{Path: path, Home: dir}))(t))
	if err := os.Symlink(path, link); err != nil {
		t.Skip("this system makes no links:", err)
	}
	d := must(Open(t.Context(), Options{Path: link, Home: dir, Ends: true}))(t)
	create1(t, d, "s", strings.Repeat("x", shortLog))
	shut(t, d)
	if n := place.Size(path + "-wal"); n > 0 {
		t.Errorf("a log of %d bytes was left behind", n)
	}
}

// A program was killed between making the file and its schema: a look says that
// it is for a writer to make, and a writer does.
func TestALookAtAnEmptyFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sessions.sqlite")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d := must(Open(t.Context(), Options{Path: path, Home: dir, ReadOnly: true}))(t)
	_, err := d.Sessions(t.Context(), SessionQuery{Limit: 1})
	var older *OlderError
	if !errors.As(err, &older) || older.Version != 0 {
		t.Errorf("got %v", err)
	}
	shut(t, d)
	shut(t, open(t, dir))
}
