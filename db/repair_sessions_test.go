package db

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// rootOf is the root page of a table or an index.
func rootOf(t *testing.T, o Options, name string) int64 {
	t.Helper()
	pool, conn, err := openRaw(t.Context(), writable(o.Path, commonPragmas))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	defer conn.Close()
	var root int64
	if err := conn.QueryRowContext(t.Context(), `SELECT rootpage FROM sqlite_master WHERE name = ?`, name).Scan(&root); err != nil {
		t.Fatal(err)
	}
	return root
}

// spoil overwrites the page with what no page begins with.
func spoil(t *testing.T, o Options, page int64, length int) {
	t.Helper()
	f := must(os.OpenFile(o.Path, os.O_RDWR, 0))(t)
	defer f.Close()
	if _, err := f.WriteAt(bytes.Repeat([]byte{0xee}, length), (page-1)*4096); err != nil {
		t.Fatal(err)
	}
}

// The page of the sessions is lost, their messages are not.
func TestLostSessionsAreMadeUp(t *testing.T) {
	t.Parallel()
	d := open(t, t.TempDir())
	long := strings.Repeat("ä", 300)
	write(t, d, func(x *Tx) error {
		if err := x.OpenWorkspace("/w", 1); err != nil {
			return err
		}
		for i, text := range []string{`first line\nsecond`, long, `\n\n  third  `} {
			id := fmt.Sprintf("s%d", i)
			if err := x.CreateSession(Session{ID: id, Workspace: "/w"}); err != nil {
				return err
			}
			for _, body := range []string{`{half`, `{"role":"assistant","text":"no"}`, `{"role":"user","text":"told","context":"a/b"}`, `{"role":"user","text":"` + text + `"}`, `{"role":"user","text":"later"}`} {
				if _, err := x.AppendMessage(Message{Session: id, Body: body}); err != nil {
					return err
				}
			}
			for _, ms := range []int64{300, 100, 200} {
				if _, err := x.AddEvent(Event{Session: id, Type: "x", Body: `{}`, CreatedMs: ms}); err != nil {
					return err
				}
			}
			if err := x.BeginRun(Run{ID: "r" + id, Session: id, Status: "completed", Model: "m" + id, CreatedMs: 50, EndedMs: 900}); err != nil {
				return err
			}
		}
		return x.CreateSession(Session{ID: "child", Parent: "gone"})
	})
	o := optionsOf(d)
	shut(t, d)
	spoil(t, o, rootOf(t, o, "sessions"), 4096)
	r := must(Repair(t.Context(), o, repairTime))(t)
	if !strings.Contains(says(r, Note), "3 sessions were lost") {
		t.Errorf("told %+v", r.Findings)
	}
	d = must(Open(t.Context(), o))(t)
	defer shut(t, d)
	all := must(d.Sessions(t.Context(), SessionQuery{Workspace: "/w", Limit: 10}))(t)
	if len(all) != 3 {
		t.Fatalf("%d sessions are there: %+v", len(all), all)
	}
	for i, want := range []string{"first line", strings.Repeat("ä", 200), "third"} {
		s := must(d.Session(t.Context(), fmt.Sprintf("s%d", i)))(t)
		if s.Title != want || s.Model != "m"+s.ID || s.CreatedMs != 50 || s.UpdatedMs != 900 {
			t.Errorf("session %d is %+v, want the title %q", i, s, want)
		}
		if got := must(d.ActiveMessages(t.Context(), s.ID))(t); len(got) != 5 {
			t.Errorf("session %d has %d messages", i, len(got))
		}
	}
}

// A session of which nothing is left is not made up, be it a child's lost parent;
// nor is one that a user deleted, for what was written of it behind its end. One that
// was imported again is.
func TestWhatIsNotMadeUp(t *testing.T) {
	d := open(t, t.TempDir())
	write(t, d, func(x *Tx) error {
		var errs []error
		for _, id := range []string{"deleted", "again"} {
			errs = append(errs, x.CreateSession(Session{ID: id}), x.DeleteSession(id))
		}
		return errors.Join(append(errs, x.CreateSession(Session{ID: "child", Parent: "gone"}))...)
	})
	pool := raw(t, d.path)
	run(t, pool, `INSERT INTO events (session, type, body) VALUES ('deleted', 'x', '{}'), ('again', 'x', '{}'), ('lost', 'x', '{}')`)
	run(t, pool, `INSERT INTO messages (session, body) VALUES ('again', '{"role":"user","text":"x"}')`)
	if made := must(makeSessions(t.Context(), d))(t); made != 2 {
		t.Errorf("made %d, want 2", made)
	}
	for id, want := range map[string]bool{"gone": false, "deleted": false, "again": true, "lost": true} {
		if _, err := d.Session(t.Context(), id); (err == nil) != want || err != nil && !errors.Is(err, ErrNotFound) {
			t.Errorf("session %s: %v", id, err)
		}
	}
	if made := must(makeSessions(t.Context(), d))(t); made != 0 {
		t.Errorf("made %d more", made)
	}
	shut(t, d)
}
