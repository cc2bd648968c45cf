package session

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"alisio/db"
)

// childStore is a Store with Children.
type childStore interface {
	Store
	Children
}

func TestSQLiteChildren(t *testing.T) {
	childrenSuite(t, func(t *testing.T) childStore { return openAt(t, t.TempDir(), nil) })
}

func TestMemoryChildren(t *testing.T) {
	childrenSuite(t, func(t *testing.T) childStore { return NewMemory() })
}

// childrenSuite is what every Store with Children must do.
func childrenSuite(t *testing.T, open func(t *testing.T) childStore) {
	ctx := context.Background()
	fresh := func(t *testing.T) childStore {
		s := open(t)
		must(t, s.Create(ctx, Session{ID: "root", Workspace: "/w"}))
		for i, id := range []string{"b", "a"} {
			head := Session{ID: id, Parent: "root", Depth: 1, Agent: "explore", Status: "queued", Created: time.UnixMilli(int64(i + 1))}
			must(t, s.CreateChild(ctx, head, `{"agent":"`+id+`"}`))
		}
		return s
	}
	t.Run("unknown session", func(t *testing.T) {
		s := open(t)
		_, err := s.Child(ctx, "none")
		_, err2 := s.Children(ctx, "none")
		_, err3 := s.SetStatus(ctx, "none", "queued")
		for i, err := range []error{err, err2, err3, s.CreateChild(ctx, Session{ID: "x", Parent: "none"}, "")} {
			if !errors.Is(err, ErrNotFound) {
				t.Errorf("call %d: got %v, want ErrNotFound", i, err)
			}
		}
	})
	t.Run("made and read", func(t *testing.T) {
		s := fresh(t)
		if err := s.CreateChild(ctx, Session{ID: "a", Parent: "root"}, ""); !errors.Is(err, ErrExists) {
			t.Errorf("made twice: %v", err)
		}
		list, err := s.Children(ctx, "root")
		if err != nil || len(list) != 2 || list[0].ID != "b" || list[1].ID != "a" {
			t.Errorf("children: %+v, %v", list, err)
		}
		head, err := s.Child(ctx, "a")
		if err != nil || head.Parent != "root" || head.Depth != 1 || head.Agent != "explore" || head.Options != `{"agent":"a"}` || head.Foreign {
			t.Errorf("got %+v, %v", head, err)
		}
		if root, err := s.Child(ctx, "root"); err != nil || root.Options != "" || root.Parent != "" || root.Workspace != "/w" {
			t.Errorf("root: %+v, %v", root, err)
		}
		if none, err := s.Children(ctx, "a"); err != nil || len(none) != 0 {
			t.Errorf("below a: %+v, %v", none, err)
		}
	})
	t.Run("status", func(t *testing.T) {
		s := fresh(t)
		for _, step := range []struct {
			to, from string
			done     bool
			now      string
		}{{"cancelled", "running", false, "queued"}, {"running", "queued", true, "running"}, {"failed", "", true, "failed"}} {
			var from []string
			if step.from != "" {
				from = []string{"completed", step.from}
			}
			done, err := s.SetStatus(ctx, "a", step.to, from...)
			head, _ := s.Session(ctx, "a")
			if err != nil || done != step.done || head.Status != step.now {
				t.Errorf("to %s from %q: %v, %v, now %s", step.to, step.from, done, err, head.Status)
			}
			if done && time.Since(head.Updated) > time.Minute {
				t.Errorf("it was changed at %v", head.Updated)
			}
		}
	})
}

// Whoever made an export chose a child's options: it is known by its mark, and
// unchanged behind it.
func TestImportedChildIsForeign(t *testing.T) {
	ctx := context.Background()
	from, to := openAt(t, t.TempDir(), nil), openAt(t, t.TempDir(), nil)
	const root, child, options = "6f1b1a52-4f0f-4a3e-9d0b-6a1f6f0f0a01", "6f1b1a52-4f0f-4a3e-9d0b-6a1f6f0f0a02", `{"readOnly":true}`
	must(t, from.Create(ctx, Session{ID: root}))
	must(t, from.CreateChild(ctx, Session{ID: child, Parent: root, Depth: 1, Status: "queued"}, options))
	var export bytes.Buffer
	must(t, from.Export(ctx, child, &export))
	if _, err := to.Import(ctx, strings.NewReader(export.String())); err != nil {
		t.Fatal(err)
	}
	head, err := to.Child(ctx, child)
	if err != nil || !head.Foreign || head.Options != options || head.Status != "interrupted" {
		t.Errorf("imported: %+v, %v", head, err)
	}
	if _, err := to.Adopt(ctx, child, "/w"); err != nil {
		t.Fatal(err)
	}
	if head, err := to.Child(ctx, child); err != nil || head.Foreign || head.Options != options {
		t.Errorf("adopted: %+v, %v", head, err)
	}
}

// Who takes the lock of a child, of which some below are at work in this process,
// leaves these alone; who takes that of a root marks all that nobody works on.
func TestLockOfAChildLeavesTheTreeAlone(t *testing.T) {
	ctx := context.Background()
	s := openAt(t, t.TempDir(), nil)
	must(t, s.Create(ctx, Session{ID: "root"}))
	must(t, s.CreateChild(ctx, Session{ID: "child", Parent: "root", Status: "completed"}, ""))
	must(t, s.CreateChild(ctx, Session{ID: "below", Parent: "child", Status: "queued"}, ""))
	if _, _, err := s.BeginRun(ctx, begin("r-child", "child", "", user("x"))); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.BeginRun(ctx, begin("r-below", "below", "", user("x"))); err != nil {
		t.Fatal(err)
	}
	must(t, s.db.Write(ctx, db.Normal, func(tx *db.Tx) error { return errors.Join(tx.SetOwner("child", nil), tx.SetOwner("below", nil)) }))
	state := func() string {
		t.Helper()
		child, err1 := s.Runs(ctx, "child", 1)
		below, err2 := s.Runs(ctx, "below", 1)
		head, err3 := s.Session(ctx, "below")
		must(t, errors.Join(err1, err2, err3))
		return string(child[0].Status) + " " + string(below[0].Status) + " " + head.Status
	}
	for _, step := range []struct{ lock, want string }{{"child", "interrupted running queued"}, {"root", "interrupted interrupted interrupted"}} {
		unlock, err := s.Lock(ctx, step.lock)
		if err != nil {
			t.Fatal(err)
		}
		unlock()
		if got := state(); got != step.want {
			t.Errorf("lock of %s: %s, want %s", step.lock, got, step.want)
		}
	}
}

// Lists of workspaces are for people, who open none by a child's run.
func TestChildOpensNoWorkspace(t *testing.T) {
	ctx := context.Background()
	s := openAt(t, t.TempDir(), nil)
	must(t, s.Create(ctx, Session{ID: "root", Workspace: "/w"}))
	must(t, s.CreateChild(ctx, Session{ID: "child", Parent: "root", Workspace: "/cache/worktree"}, "{}"))
	for _, id := range []string{"root", "child"} {
		if _, _, err := s.BeginRun(ctx, begin("r-"+id, id, "", user("x"))); err != nil {
			t.Fatal(err)
		}
	}
	all, err := s.db.Workspaces(ctx)
	if err != nil || len(all) != 1 || all[0].Path != "/w" {
		t.Errorf("got %+v, %v", all, err)
	}
}
