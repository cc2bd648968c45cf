package db

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// A program that ends leaves a short log, which the next one reads; a long one
// is folded in.
func TestAShortLogIsLeftToTheNext(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sessions.sqlite")
	openEnds := func() *DB {
		return must(Open(t.Context(), Options{Path: path, Home: dir, Ends: true}))(t)
	}
	d := openEnds()
	create1(t, d, "s", "first")
	left := d.writer
	shut(t, d)
	t.Cleanup(func() { // what the end of a process would do
		left.conn.Close()
		left.pool.Close()
	})
	if n := size(path + "-wal"); n <= 0 || n >= shortLog {
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
	long := size(path + "-wal")
	if long < shortLog {
		t.Fatalf("the log has only %d bytes", long)
	}
	shut(t, next)
	if err := next.writer.conn.PingContext(t.Context()); err == nil {
		t.Error("the connection with a long log was left open")
	}
}
