package db

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

func syncNow(t *testing.T, d *DB) string {
	t.Helper()
	got := strs(t, d.writer.conn, `PRAGMA synchronous`)
	return strings.Join(got, ",")
}

func TestFullForOneCommitOnly(t *testing.T) {
	d := open(t, t.TempDir())
	for _, tt := range []struct {
		s    Sync
		want string
	}{{Normal, "1"}, {Full, "2"}, {Full, "2"}, {Normal, "1"}, {Full, "2"}, {Normal, "1"}} {
		err := d.Write(t.Context(), tt.s, func(*Tx) error {
			if got := syncNow(t, d); got != tt.want {
				t.Errorf("synchronous is %s in a commit of %d, want %s", got, tt.s, tt.want)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestErrorUndoesAll(t *testing.T) {
	d := open(t, t.TempDir())
	create1(t, d, "s", "1")
	boom := errors.New("boom")
	err := d.Write(t.Context(), Normal, func(x *Tx) error {
		if _, err := x.AppendMessage(Message{Session: "s", Body: "2"}); err != nil {
			return err
		}
		return boom
	})
	if err != boom {
		t.Errorf("got %v, want %v itself", err, boom)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = d.Write(t.Context(), Normal, func(x *Tx) error {
			if _, err := x.AppendMessage(Message{Session: "s", Body: "3"}); err != nil {
				return err
			}
			panic("boom")
		})
	}()
	if got := bodies(must(d.ActiveMessages(t.Context(), "s"))(t)); got != "1" {
		t.Errorf("messages %q, want 1 alone", got)
	}
	create1(t, d, "t")
}

// A violated key leaves the transaction usable: BeginRun's caller reads the row
// that was there.
func TestViolatedKeyGoesOn(t *testing.T) {
	d := open(t, t.TempDir())
	create1(t, d, "s")
	write(t, d, func(x *Tx) error {
		if err := x.CreateSession(Session{ID: "s"}); !errors.Is(err, ErrExists) {
			t.Errorf("second session of an id: %v", err)
		}
		if _, err := x.AppendMessage(Message{Session: "none", Body: "{}"}); !errors.Is(err, ErrNotFound) {
			t.Errorf("message of no session: %v", err)
		}
		_, err := x.AppendMessage(Message{Session: "s", Body: "1"})
		return err
	})
	if got := bodies(must(d.ActiveMessages(t.Context(), "s"))(t)); got != "1" {
		t.Errorf("messages %q", got)
	}
}

// A full disk in the middle: SQLite may undo the transaction by itself, so that
// the statement behind it would be kept alone. Nothing of it is kept, even if
// the error is swallowed, and what was there is whole.
func TestFullDisk(t *testing.T) {
	d := open(t, t.TempDir())
	create1(t, d, "s", "kept")
	if err := d.writer.pragma(`PRAGMA max_page_count = 60`); err != nil {
		t.Fatal(err)
	}
	big := strings.Repeat("x", 1<<20)
	err := d.Write(t.Context(), Full, func(x *Tx) error {
		if _, err := x.AppendMessage(Message{Session: "s", Body: "small"}); err != nil {
			t.Errorf("small: %v", err)
		}
		if _, err := x.AppendMessage(Message{Session: "s", Body: big}); err == nil {
			t.Error("a row larger than the disk was stored")
		}
		if _, err := x.AppendMessage(Message{Session: "s", Body: "behind"}); err == nil {
			t.Error("a broken transaction stored another row")
		}
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "full") || !strings.Contains(err.Error(), d.path) {
		t.Errorf("the error says %v, want that the disk is full and whose", err)
	}
	if got := bodies(must(d.ActiveMessages(t.Context(), "s"))(t)); got != "kept" {
		t.Errorf("messages %q, want kept alone", got)
	}
	if got := strs(t, d.writer.conn, `PRAGMA integrity_check`); !slices.Equal(got, []string{"ok"}) {
		t.Errorf("integrity_check: %v", got)
	}
	write(t, d, func(x *Tx) error { return x.RenameSession("s", "small writes go on") })
}

func TestTxIsOverAfterItsFunction(t *testing.T) {
	d := open(t, t.TempDir())
	create1(t, d, "s")
	var kept *Tx
	write(t, d, func(x *Tx) error { kept = x; return nil })
	if err := kept.RenameSession("s", "late"); !errors.Is(err, errOver) {
		t.Errorf("a statement behind the end: %v", err)
	}
	if s := must(d.Session(t.Context(), "s"))(t); s.Title != "" {
		t.Errorf("title %q", s.Title)
	}
}

func TestCancelledBeforeItBegan(t *testing.T) {
	d := open(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := d.Write(ctx, Normal, func(*Tx) error { t.Error("it ran"); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	// Waiting for the turn hears it too.
	if err := d.writer.take(t.Context()); err != nil {
		t.Fatal(err)
	}
	err = d.Write(ctx, Normal, func(*Tx) error { t.Error("it ran"); return nil })
	d.writer.give()
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := d.Write(t.Context(), Normal, func(*Tx) error { return nil }); err != nil {
		t.Error(err)
	}
}

// What was begun is finished: a cancel inside the function does not leave it
// open whether the commit took place.
func TestCancelInsideCommits(t *testing.T) {
	d := open(t, t.TempDir())
	create1(t, d, "s")
	ctx, cancel := context.WithCancel(t.Context())
	err := d.Write(ctx, Normal, func(x *Tx) error {
		cancel()
		_, err := x.AppendMessage(Message{Session: "s", Body: "1"})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := bodies(must(d.ActiveMessages(t.Context(), "s"))(t)); got != "1" {
		t.Errorf("messages %q", got)
	}
}
