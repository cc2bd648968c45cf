package db

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestQueue(t *testing.T) {
	d := open(t, t.TempDir())
	create1(t, d, "s")
	create1(t, d, "other")
	write(t, d, func(x *Tx) error {
		return errors.Join(x.Enqueue(Queued{Session: "s", Text: "1", CreatedMs: 7}), x.Enqueue(Queued{Session: "other", Text: "2"}),
			x.Enqueue(Queued{Session: "s", Text: ""}), x.Enqueue(Queued{Session: "s", Text: "3"}))
	})
	texts := func(id string) string {
		t.Helper()
		var all []string
		for _, q := range must(d.Queue(t.Context(), id, 10))(t) {
			if q.Session != id {
				t.Errorf("a text of %q for %q", q.Session, id)
			}
			all = append(all, q.Text)
		}
		return strings.Join(all, ",")
	}
	if got := texts("s") + ";" + texts("other"); got != "1,,3;2" {
		t.Errorf("got %q", got)
	}
	first := must(d.Queue(t.Context(), "s", 1))(t)
	if len(first) != 1 || first[0].CreatedMs != 7 {
		t.Fatalf("the first: %+v", first)
	}
	write(t, d, func(x *Tx) error { return x.Dequeue("s", first[0].Seq) })
	if got := texts("s") + ";" + texts("other"); got != ",3;2" {
		t.Errorf("without the first: %q", got)
	}
	write(t, d, func(x *Tx) error {
		if err := x.Dequeue("none", 1000); !errors.Is(err, ErrNotFound) {
			t.Errorf("nothing to take away: %v", err)
		}
		if err := x.Enqueue(Queued{Session: "none", Text: "x"}); !errors.Is(err, ErrNotFound) {
			t.Errorf("no such session: %v", err)
		}
		return x.DeleteSession("s")
	})
	if got := texts("s") + ";" + texts("other"); got != ";2" {
		t.Errorf("after the session: %q", got)
	}
	// A number is never given again: nobody takes a later text for an earlier one.
	write(t, d, func(x *Tx) error {
		last := must(x.Queue(t.Context(), "other", 1))(t)[0].Seq
		return errors.Join(x.Dequeue("other", last), x.Enqueue(Queued{Session: "other", Text: "4"}))
	})
	if got := must(d.Queue(t.Context(), "other", 1))(t)[0].Seq; got <= first[0].Seq+3 {
		t.Errorf("the number is %d", got)
	}
}

func TestChildrenAreListedAsTheyWereMade(t *testing.T) {
	d := open(t, t.TempDir())
	write(t, d, func(x *Tx) error {
		return errors.Join(x.CreateSession(Session{ID: "p"}), x.CreateSession(Session{ID: "b", Parent: "p", CreatedMs: 2}),
			x.CreateSession(Session{ID: "a", Parent: "p", CreatedMs: 3}), x.CreateSession(Session{ID: "old", Parent: "p"}),
			x.CreateSession(Session{ID: "below", Parent: "a", CreatedMs: 1}), x.CreateSession(Session{ID: "self", Parent: "self"}))
	})
	for parent, want := range map[string][]string{"p": {"old", "b", "a"}, "a": {"below"}, "b": nil, "self": {"self"}} {
		var got []string
		for _, s := range must(d.Children(t.Context(), parent))(t) {
			got = append(got, s.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("below %s: %q, want %q", parent, got, want)
		}
	}
}

// Who has the lock of a child marks its own runs; what works below it has the lock
// of the root.
func TestInterruptRunsOfAChild(t *testing.T) {
	d := open(t, t.TempDir())
	write(t, d, func(x *Tx) error {
		return errors.Join(x.CreateSession(Session{ID: "child", Parent: "root", Status: "running"}),
			x.CreateSession(Session{ID: "grandchild", Parent: "child", Status: "queued"}),
			x.BeginRun(Run{ID: "own", Session: "child", Status: "running"}), x.BeginRun(Run{ID: "below", Session: "grandchild", Status: "running"}))
	})
	write(t, d, func(x *Tx) error { return x.InterruptRunsOf("child", 5) })
	got := must(d.Run(t.Context(), "own"))(t).Status + " " + must(d.Run(t.Context(), "below"))(t).Status + " " +
		must(d.Session(t.Context(), "child"))(t).Status + " " + must(d.Session(t.Context(), "grandchild"))(t).Status
	if want := "interrupted running running queued"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
