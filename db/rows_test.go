package db

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

func ids(ss []Session) string {
	var out []string
	for _, s := range ss {
		out = append(out, s.ID)
	}
	return strings.Join(out, " ")
}

func TestSessionRoundTrip(t *testing.T) {
	d := open(t, t.TempDir())
	want := Session{ID: "s", Workspace: "/w", Provider: "p", Model: "m", Parent: "root", Depth: 2, Agent: "explore", Status: "running",
		Title: "a title", Usage: `{"input":1}`, Options: `{"x":true}`, CreatedMs: 10, UpdatedMs: 20, Pinned: true, ArchivedMs: 30}
	write(t, d, func(x *Tx) error { return x.CreateSession(want) })
	if got := must(d.Session(t.Context(), "s"))(t); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	me := Owner{PID: 7, Boot: "b", Start: 9}
	write(t, d, func(x *Tx) error {
		return errors.Join(x.SetOwner("s", &me), x.RenameSession("s", ""), x.PinSession("s", false), x.ArchiveSession("s", 0),
			x.SetStatus("s", "completed"), x.SetModel("s", "p2", "m2"), x.TouchSession("s", 40))
	})
	want.LockedPID, want.LockedBoot, want.LockedStart = 7, "b", 9
	want.Title, want.Pinned, want.ArchivedMs, want.Status, want.Provider, want.Model = "", false, 0, "completed", "p2", "m2"
	want.UpdatedMs = 40
	if got := must(d.Session(t.Context(), "s"))(t); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	write(t, d, func(x *Tx) error { return x.SetOwner("s", nil) })
	want.LockedPID, want.LockedBoot, want.LockedStart = 0, "", 0
	if got := must(d.Session(t.Context(), "s"))(t); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	write(t, d, func(x *Tx) error {
		return errors.Join(x.SetOwner("s", &me), x.LeaveSession("s", 50, `{"input":2,"output":5}`))
	})
	want.UpdatedMs, want.Usage = 50, `{"input":3,"output":5}`
	if got := must(d.Session(t.Context(), "s"))(t); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	want.ID, want.LockedPID, want.LockedBoot, want.LockedStart = "owned", 7, "b", 9
	write(t, d, func(x *Tx) error { return x.CreateSession(want) })
	if got := must(d.Session(t.Context(), "owned"))(t); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for name, do := range map[string]func(*Tx) error{
		"rename":  func(x *Tx) error { return x.RenameSession("none", "t") },
		"pin":     func(x *Tx) error { return x.PinSession("none", true) },
		"archive": func(x *Tx) error { return x.ArchiveSession("none", 1) },
		"owner":   func(x *Tx) error { return x.SetOwner("none", nil) },
		"touch":   func(x *Tx) error { return x.TouchSession("none", 1) },
		"usage":   func(x *Tx) error { return x.LeaveSession("none", 1, "{}") },
		"delete":  func(x *Tx) error { return x.DeleteSession("none") },
		"event":   func(x *Tx) error { _, err := x.AddEvent(Event{Session: "none"}); return err },
		"begin":   func(x *Tx) error { return x.BeginCall(Call{Session: "none"}) },
		"end":     func(x *Tx) error { return x.EndCall(Call{Session: "none"}) },
		"run":     func(x *Tx) error { return x.BeginRun(Run{ID: "r", Session: "none"}) },
		"end run": func(x *Tx) error { return x.EndRun(Run{ID: "none"}) },
		"move":    func(x *Tx) error { return x.MoveRequest("none", "other") },
	} {
		if err := d.Write(t.Context(), Normal, do); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s of what is not there: %v", name, err)
		}
	}
	if _, err := d.Session(t.Context(), "none"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
}

func TestAddNumbers(t *testing.T) {
	for _, tt := range []struct{ old, add, want string }{
		{"", `{"input":1}`, `{"input":1}`},
		{`{"input":1,"note":{"a":1}}`, `{"input":2,"output":3}`, `{"input":3,"note":{"a":1},"output":3}`},
		{`not json`, `{"input":2}`, `{"input":2}`},
		{`null`, `{"input":2}`, `{"input":2}`},
		{fmt.Sprintf(`{"input":%d}`, math.MaxInt64-1), `{"input":2}`, fmt.Sprintf(`{"input":%d}`, math.MaxInt64)},
		{`{"input":"text"}`, `{"input":2}`, `{"input":2}`},
	} {
		if got, err := addNumbers(tt.old, tt.add); err != nil || got != tt.want {
			t.Errorf("addNumbers(%q, %q) = %q, %v, want %q", tt.old, tt.add, got, err, tt.want)
		}
	}
	if _, err := addNumbers("", `{"input":"x"}`); err == nil {
		t.Error("usage that is no number was added")
	}
}

func TestSessionLists(t *testing.T) {
	d := open(t, t.TempDir())
	write(t, d, func(x *Tx) error {
		for _, s := range []Session{
			{ID: "a1", Workspace: "/w", UpdatedMs: 100},
			{ID: "a2", Workspace: "/w", UpdatedMs: 300},
			{ID: "b1", Workspace: "/v", UpdatedMs: 200},
			{ID: "b2", Workspace: "/w", UpdatedMs: 200},
			{ID: "c1", Workspace: "/w", UpdatedMs: 250, Parent: "a2"},
			{ID: "d1", Workspace: "/w", UpdatedMs: 400, ArchivedMs: 1},
			{ID: "o1", Workspace: "/w"},
			{ID: "o2", Workspace: "/w"},
		} {
			if err := x.CreateSession(s); err != nil {
				return err
			}
		}
		return nil
	})
	for _, tt := range []struct {
		q    SessionQuery
		want string
	}{
		{SessionQuery{Limit: 10}, "a2 b2 b1 a1 o2 o1"},
		{SessionQuery{Limit: 2}, "a2 b2"},
		{SessionQuery{Limit: 10, Workspace: "/w"}, "a2 b2 a1 o2 o1"},
		{SessionQuery{Limit: 10, Children: true, Archived: true}, "d1 a2 c1 b2 b1 a1 o2 o1"},
		{SessionQuery{Limit: 10, Workspace: "/w", Children: true}, "a2 c1 b2 a1 o2 o1"},
		{SessionQuery{Limit: 10, BeforeMs: 200, BeforeID: "b2"}, "b1 a1 o2 o1"},
		{SessionQuery{Limit: 10, BeforeMs: 0, BeforeID: "o2"}, "o1"},
		{SessionQuery{Limit: 10, BeforeMs: 300, BeforeID: "a2", Workspace: "/w"}, "b2 a1 o2 o1"},
		{SessionQuery{Limit: 0}, "a2"},
		{SessionQuery{Limit: 10, Workspace: "/x"}, ""},
	} {
		if got := ids(must(d.Sessions(t.Context(), tt.q))(t)); got != tt.want {
			t.Errorf("%+v gives %q, want %q", tt.q, got, tt.want)
		}
	}
	for prefix, want := range map[string]string{"a": "a1 a2", "a1": "a1", "": "a1 a2 b1 b2 c1 d1 o1 o2", "z": "", "a%": "", "_": ""} {
		if got := ids(must(d.SessionsWithPrefix(t.Context(), prefix, 100))(t)); got != want {
			t.Errorf("prefix %q gives %q, want %q", prefix, got, want)
		}
	}
}

func TestPrefixEnd(t *testing.T) {
	d := open(t, t.TempDir())
	write(t, d, func(x *Tx) error {
		for _, id := range []string{"a", "a\xff", "a\xff\xff", "b", "\xff\xff", "\U0010FFFFx"} {
			if err := x.CreateSession(Session{ID: id}); err != nil {
				return err
			}
		}
		return nil
	})
	for prefix, want := range map[string]int{"a": 3, "a\xff": 2, "\xff": 1, "\U0010FFFF": 1, "": 6} {
		if got := must(d.SessionsWithPrefix(t.Context(), prefix, 100))(t); len(got) != want {
			t.Errorf("prefix %q gives %d sessions, want %d", prefix, len(got), want)
		}
	}
}

func TestMessages(t *testing.T) {
	d := open(t, t.TempDir())
	create1(t, d, "s", "1", "2")
	create1(t, d, "t", "other")
	odd := "a\u2028b\u0085c\x00d\xff'\";--"
	var seq int64
	write(t, d, func(x *Tx) (err error) {
		if seq, err = x.AppendMessage(Message{Session: "s", RunID: "r", Body: odd, Compacted: true, CopyOf: 1}); err != nil {
			return err
		}
		_, err = x.AppendMessage(Message{Seq: 1, Session: "s", Body: "4"})
		return err
	})
	want := Message{Seq: seq, Session: "s", RunID: "r", Body: odd, Compacted: true, CopyOf: 1}
	page := must(d.MessagesPage(t.Context(), "s", seq-1, 1))(t)
	if seq != 4 || len(page) != 1 || page[0] != want {
		t.Errorf("page %+v, want %+v alone", page, want)
	}
	if got := bodies(must(d.ActiveMessages(t.Context(), "s"))(t)); got != "1 2 4" {
		t.Errorf("active %q", got)
	}
	if got := bodies(must(d.MessagesPage(t.Context(), "s", 1, 2))(t)); got != "2 "+odd {
		t.Errorf("page %q", got)
	}
	if s := must(d.Session(t.Context(), "s"))(t); time.Since(time.UnixMilli(s.UpdatedMs)) > time.Minute {
		t.Errorf("last change %d", s.UpdatedMs)
	}
	// A number is never given twice, also not that of a deleted row.
	write(t, d, func(x *Tx) error { return x.DeleteSession("s") })
	write(t, d, func(x *Tx) (err error) {
		seq, err = x.AppendMessage(Message{Session: "t", Body: "{}"})
		return err
	})
	if seq != 6 {
		t.Errorf("the next number is %d, want 6", seq)
	}
}

func TestEvents(t *testing.T) {
	d := open(t, t.TempDir())
	write(t, d, func(x *Tx) error { return x.CreateSession(Session{ID: "s", UpdatedMs: 5000}) })
	for i, tt := range []struct{ at, want int64 }{{5999, 5000}, {6000, 6000}, {100, 6000}, {6001, 6000}, {0, 6000}} {
		write(t, d, func(x *Tx) error {
			seq, err := x.AddEvent(Event{Session: "s", RunID: "r", Type: "t", Body: "{}", CorrelationID: "c", CreatedMs: tt.at, RunSeq: int64(i)})
			if seq != int64(i+1) {
				t.Errorf("number %d, want %d", seq, i+1)
			}
			return err
		})
		if got := must(d.Session(t.Context(), "s"))(t).UpdatedMs; got != tt.want {
			t.Errorf("an event at %d leaves the last change at %d, want %d", tt.at, got, tt.want)
		}
	}
	write(t, d, func(x *Tx) error {
		_, err := x.AddEvent(Event{Session: "s", RunID: "other", Type: "t", Body: "{}"})
		return err
	})
	want := Event{Seq: 2, Session: "s", RunID: "r", Type: "t", Body: "{}", CorrelationID: "c", CreatedMs: 6000, RunSeq: 1}
	if got := must(d.EventsPage(t.Context(), "s", 1, 1))(t); len(got) != 1 || got[0] != want {
		t.Errorf("page %+v", got)
	}
	write(t, d, func(x *Tx) error {
		_, err := x.AddEvent(Event{Session: "s", RunID: "other", Type: "u", Body: "{}"})
		return err
	})
	if got := must(d.EventsOf(t.Context(), "s", "t", 2))(t); len(got) != 2 || got[0].Seq != 6 || got[1].Seq != 5 {
		t.Errorf("the last of a type: %+v", got)
	}
	if got := must(d.RunEvents(t.Context(), "s", "r"))(t); len(got) != 5 || got[1] != want {
		t.Errorf("run's events %+v", got)
	}
}

func TestJournal(t *testing.T) {
	d := open(t, t.TempDir())
	create1(t, d, "s")
	c := Call{Session: "s", ID: "c1", RunID: "r", Name: "edit_file", Effect: "write", StartedMs: 5}
	write(t, d, func(x *Tx) error { return x.BeginCall(c) })
	c.Status = Pending
	if got := must(d.PendingCalls(t.Context(), "s"))(t); len(got) != 1 || got[0] != c {
		t.Errorf("pending %+v, want %+v", got, c)
	}
	if err := d.Write(t.Context(), Full, func(x *Tx) error { return x.BeginCall(Call{Session: "s", ID: "c1"}) }); !errors.Is(err, ErrExists) {
		t.Errorf("begun twice: %v", err)
	}
	write(t, d, func(x *Tx) error {
		return errors.Join(x.EndCall(Call{Session: "s", ID: "c1", Result: `{"a":1}`, Name: "other", EndedMs: 9}),
			x.EndCall(Call{Session: "s", ID: "c2", Result: `{}`, Name: "read_file", Effect: "read", RunID: "r", EndedMs: 9}))
	})
	c.Status, c.Result, c.EndedMs = Completed, `{"a":1}`, 9
	if got := must(d.Calls(t.Context(), "s", []string{"c9", "c1"}))(t); len(got) != 1 || got[0] != c {
		t.Errorf("got %+v, want %+v alone", got, c)
	}
	if got := allCalls(t, d, "s"); len(got) != 2 || got[1].ID != "c2" || got[1].Status != Completed {
		t.Errorf("all %+v", got)
	}
	if got := must(d.PendingCalls(t.Context(), "s"))(t); len(got) != 0 {
		t.Errorf("pending %+v", got)
	}
}

func TestRuns(t *testing.T) {
	d := open(t, t.TempDir())
	create1(t, d, "s")
	create1(t, d, "t")
	r := Run{ID: "r1", Session: "s", Status: "running", RequestID: "q", CorrelationID: "k", OwnerPID: 7, Owner: Owner{PID: 7, Boot: "b", Start: 3},
		Model: "m", CreatedMs: 1, StartedMs: 2}
	write(t, d, func(x *Tx) error { return x.BeginRun(r) })
	if got := must(d.Run(t.Context(), "r1"))(t); got != r {
		t.Errorf("got %+v, want %+v", got, r)
	}
	for _, taken := range []Run{{ID: "r1", Session: "s", Status: "running"}, {ID: "r2", Session: "s", Status: "running", RequestID: "q"}} {
		if err := d.Write(t.Context(), Normal, func(x *Tx) error { return x.BeginRun(taken) }); !errors.Is(err, ErrExists) {
			t.Errorf("%+v: %v", taken, err)
		}
	}
	write(t, d, func(x *Tx) error {
		return errors.Join(x.BeginRun(Run{ID: "r3", Session: "t", Status: "queued", RequestID: "q", CreatedMs: 5}),
			x.BeginRun(Run{ID: "r4", Session: "s", Status: "running", CreatedMs: 9}))
	})
	for _, k := range []struct{ session, workspace, want string }{{"s", "", "r1"}, {"t", "", "r3"}, {"", "/w", "r1"}} {
		if got := must(d.RunByRequest(t.Context(), k.session, k.workspace, "q"))(t); got.ID != k.want {
			t.Errorf("request in %q %q is run %s, want %s", k.session, k.workspace, got.ID, k.want)
		}
	}
	if _, err := d.RunByRequest(t.Context(), "", "/elsewhere", "q"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if got := must(d.OpenRuns(t.Context()))(t); len(got) != 3 {
		t.Errorf("%d open runs, want 3", len(got))
	}
	if err := d.Write(t.Context(), Normal, func(x *Tx) error { return x.MoveRequest("r1", "r4") }); !errors.Is(err, ErrNotFound) {
		t.Errorf("a running run gave its request away: %v", err)
	}
	write(t, d, func(x *Tx) error {
		n, err := x.InterruptSession("s", 50)
		if n != 2 {
			t.Errorf("%d runs interrupted, want 2", n)
		}
		return err
	})
	if err := d.Write(t.Context(), Normal, func(x *Tx) error { return x.EndRun(Run{ID: "r1", Status: "completed"}) }); !errors.Is(err, ErrEnded) {
		t.Errorf("an ended run ended again: %v", err)
	}
	write(t, d, func(x *Tx) error { return x.MoveRequest("r1", "r4") })
	if got := must(d.RunByRequest(t.Context(), "s", "", "q"))(t); got.ID != "r4" || got.EndedMs != 50 || got.Status != "interrupted" {
		t.Errorf("the request is with %+v", got)
	}
	write(t, d, func(x *Tx) error {
		return x.EndRun(Run{ID: "r3", Status: "failed", EndedMs: 60, Error: "e", Usage: "{}"})
	})
	if got := must(d.Run(t.Context(), "r3"))(t); got.Status != "failed" || got.EndedMs != 60 || got.Error != "e" || got.Usage != "{}" {
		t.Errorf("ended as %+v", got)
	}
	if got := must(d.Runs(t.Context(), "s", 1))(t); len(got) != 1 || got[0].ID != "r4" {
		t.Errorf("the newest run is %+v", got)
	}
}

func TestInterruptReachesChildren(t *testing.T) {
	d := open(t, t.TempDir())
	write(t, d, func(x *Tx) error {
		for _, s := range []Session{{ID: "root"}, {ID: "child", Parent: "root", Status: "running"}, {ID: "grandchild", Parent: "child", Status: "queued"},
			{ID: "done", Parent: "root", Status: "completed"}, {ID: "stranger", Parent: "other", Status: "running"}} {
			if err := x.CreateSession(s); err != nil {
				return err
			}
		}
		return x.BeginRun(Run{ID: "r", Session: "grandchild", Status: "running"})
	})
	if got := must(d.RunningChildren(t.Context()))(t); len(got) != 3 {
		t.Errorf("running children: %s", ids(got))
	}
	write(t, d, func(x *Tx) error {
		n, err := x.InterruptSession("root", 5)
		if n != 1 {
			t.Errorf("%d runs, want 1", n)
		}
		return err
	})
	for id, want := range map[string]string{"root": "", "child": "interrupted", "grandchild": "interrupted", "done": "completed", "stranger": "running"} {
		if got := must(d.Session(t.Context(), id))(t).Status; got != want {
			t.Errorf("%s is %q, want %q", id, got, want)
		}
	}
}

func TestDeleteSession(t *testing.T) {
	d := open(t, t.TempDir())
	create1(t, d, "s", "1", "2")
	create1(t, d, "kept", "3")
	write(t, d, func(x *Tx) error {
		_, err := x.AddEvent(Event{Session: "s"})
		return errors.Join(err, x.RenameSession("s", "secret"), x.CreateSession(Session{ID: "child", Parent: "s"}), x.CreateSession(Session{ID: "self", Parent: "self"}),
			x.BeginCall(Call{Session: "s", ID: "c"}), x.BeginRun(Run{ID: "r", Session: "child", Status: "completed"}),
			x.AddBlob(Blob{Hash: "h", MIME: "m"}), x.AddBlobRef("s", 1, "h"), x.AddBlobRef("kept", 3, "h"),
			x.Enqueue(Queued{Session: "s", Text: "wait"}), x.Enqueue(Queued{Session: "child", Text: "wait"}))
	})
	write(t, d, func(x *Tx) error { return errors.Join(x.DeleteSession("s"), x.DeleteSession("self")) })
	pool := raw(t, d.path)
	for _, q := range []string{"sessions WHERE id", "messages WHERE session", "events WHERE session", "tool_calls WHERE session", "runs WHERE session", "blob_refs WHERE session", "queue WHERE session"} {
		if got := strs(t, pool, "SELECT count(*) FROM "+q+" NOT IN ('kept')"); got[0] != "0" {
			t.Errorf("%s left %s rows", q, got[0])
		}
	}
	if got := strs(t, pool, `SELECT session||title||workspace||messages FROM deletions WHERE session = 's'`); !slices.Equal(got, []string{"ssecret/w2"}) {
		t.Errorf("the record is %q", got)
	}
	if got := must(d.Counts(t.Context(), "kept"))(t); got != (Counts{Messages: 1, Bytes: 1}) {
		t.Errorf("what is kept: %+v", got)
	}
	if !must(d.HasBlobRef(t.Context(), "kept", "h"))(t) || must(d.HasBlobRef(t.Context(), "s", "h"))(t) {
		t.Error("the references are wrong")
	}
}

func TestStateAndWorkspaces(t *testing.T) {
	d := open(t, t.TempDir())
	label, on := "L", true
	write(t, d, func(x *Tx) error {
		return errors.Join(x.SetState("p", "k", "1"), x.SetState("p", "k", "2"), x.SetState("p", "l", ""), x.SetState("q", "k", "3"), x.DeleteState("q", "none"),
			x.OpenWorkspace("/a", 5), x.LabelWorkspace("/a", &label, nil), x.LabelWorkspace("/b", nil, &on), x.OpenWorkspace("/b", 9), x.OpenWorkspace("/a", 7))
	})
	if got := must(d.State(t.Context(), "p", "k"))(t); got != "2" {
		t.Errorf("state %q", got)
	}
	if got := must(d.States(t.Context(), "p"))(t); len(got) != 2 || got["k"] != "2" {
		t.Errorf("states %v", got)
	}
	write(t, d, func(x *Tx) error { return x.DeleteState("p", "k") })
	if _, err := d.State(t.Context(), "p", "k"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	want := []Workspace{{Path: "/b", Pinned: true, LastOpenedMs: 9}, {Path: "/a", Label: "L", LastOpenedMs: 7}}
	if got := must(d.Workspaces(t.Context()))(t); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestBlobRows(t *testing.T) {
	d := open(t, t.TempDir())
	b := Blob{Hash: "h1", MIME: "image/png", Size: 10, Width: 2, Height: 3, CreatedMs: 100}
	write(t, d, func(x *Tx) error {
		again := b
		again.MIME = "other"
		return errors.Join(x.AddBlob(b), x.AddBlob(again), x.AddBlob(Blob{Hash: "h2", MIME: "m", CreatedMs: 100}), x.AddBlob(Blob{Hash: "h3", MIME: "m"}),
			x.AddBlobRef("s", 1, "h1"), x.AddBlobRef("s", 2, "h1"), x.AddBlobRef("s", 2, "h1"))
	})
	if got := must(d.Blob(t.Context(), "h1"))(t); got != b {
		t.Errorf("got %+v, want %+v", got, b)
	}
	if got := must(d.BlobRefs(t.Context(), "s"))(t); !slices.Equal(got, []string{"h1"}) {
		t.Errorf("references %v", got)
	}
	if got := must(d.UnusedBlobs(t.Context(), 1000, "", 10))(t); len(got) != 1 || got[0].Hash != "h2" {
		t.Errorf("unused %+v", got)
	}
	write(t, d, func(x *Tx) error { return x.DeleteBlob("h1") })
	if _, err := d.Blob(t.Context(), "h1"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
}

// SQLite keeps any type in any column: what older and foreign programs stored
// is read, not refused.
func TestWrongTypesAreRead(t *testing.T) {
	d := open(t, t.TempDir())
	pool := raw(t, d.path)
	run(t, pool, `INSERT INTO sessions(id, workspace, provider, model, locked_pid, depth, title, created_at, updated_at) VALUES ('s', x'2f77', 7, 1.5, 'x', '3', NULL, 1.9, '12')`)
	run(t, pool, `INSERT INTO messages(session, body, compacted, copy_of) VALUES ('s', x'7b7d', '0', 'x'), ('s', 5, 0, NULL)`)
	run(t, pool, `INSERT INTO events(session, run_id, type, body, created_at) VALUES ('s', NULL, NULL, NULL, x'31')`)
	run(t, pool, `INSERT INTO tool_calls(session, call_id, status, result, started_at) VALUES ('s', 'c', NULL, x'00ff', 'soon')`)
	s := must(d.Session(t.Context(), "s"))(t)
	if s.Workspace != "/w" || s.Provider != "7" || s.Model != "1.5" || s.LockedPID != 0 || s.Depth != 3 || s.CreatedMs != 1 || s.UpdatedMs != 12 {
		t.Errorf("session %+v", s)
	}
	if got := bodies(must(d.ActiveMessages(t.Context(), "s"))(t)); got != "{} 5" {
		t.Errorf("messages %q", got)
	}
	if got := must(d.EventsPage(t.Context(), "s", 0, 5))(t); len(got) != 1 || got[0] != (Event{Seq: 1, Session: "s", CreatedMs: 1}) {
		t.Errorf("events %+v", got)
	}
	if got := must(d.Calls(t.Context(), "s", []string{"c"}))(t); len(got) != 1 || got[0].Result != "\x00\xff" || got[0].StartedMs != 0 {
		t.Errorf("calls %+v", got)
	}
}
