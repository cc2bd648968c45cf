package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"alisio/agent/session/codec"
	"alisio/db"
	"alisio/plug"
)

// fixture opens a copy of a database that an older or newer program wrote.
func fixture(t *testing.T, version string, notes func(string)) *SQLite {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../db/testdata", "sessions-"+version+".sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "sessions.sqlite"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	return openAt(t, dir, notes)
}

const (
	first  = "11111111-1111-4111-8111-111111111111"
	second = "22222222-2222-4222-8222-222222222222"
	third  = "33333333-3333-4333-8333-333333333333"
)

// C111: a store of a much older version fails at start. Trigger: fixture
// databases of each version, and one of a newer version.
func TestC111EveryVersionShowsEverything(t *testing.T) {
	ctx := context.Background()
	for _, version := range []string{"v1", "v2", "v3", "v4", "v6"} {
		t.Run(version, func(t *testing.T) {
			s := fixture(t, version, nil)
			list, err := s.List(ctx, Query{All: true, Limit: 10})
			want := 2
			if version >= "v3" {
				want = 3
			}
			if err != nil || len(list) != want {
				t.Fatalf("got %d sessions, %v, want %d", len(list), err, want)
			}
			for _, sum := range list {
				if uncertain := sum.ID == second; sum.Uncertain != uncertain || sum.BusyPID != 0 || sum.Workspace != "/srv/projects/ledger" {
					t.Errorf("got %+v, want uncertain %v", sum, uncertain)
				}
			}
			messages, err := s.Messages(ctx, first)
			if err != nil || len(messages) != 4 || !strings.Contains(messages[0].Text, "¿Dónde? 在哪里?") {
				t.Fatalf("got %+v, %v", messages, err)
			}
			if c := messages[1].Calls; len(c) != 1 || c[0].Arguments != `{"pattern": "vat_rate"}` {
				t.Errorf("calls: got %+v", c)
			}
			if p := messages[3].ProviderData; len(p) != 1 || string(p[0]) != `{"type": "reasoning", "encrypted_content": "b3BhcXVl"}` {
				t.Errorf("provider data: got %s", p)
			}
			events, err := s.Events(ctx, first)
			if err != nil || len(events) != 4 {
				t.Fatalf("got %d events, %v", len(events), err)
			}
			for i, e := range events {
				if e.Seq != int64(i+1) || e.RunID == "" || !e.Time.IsZero() {
					t.Errorf("event %d: got %+v", i, e)
				}
			}
			if u, ok := events[3].Data.(plug.Unknown); !ok || u.Type != "some_future_event" || string(u.Body) != `{"a": 1}` {
				t.Errorf("unknown event: got %#v", events[3].Data)
			}
			page, err := s.EventsPage(ctx, first, events[1].ID, 10)
			if err != nil || len(page) != 2 || page[0].Seq != 3 {
				t.Errorf("a later page: got %+v, %v, want it numbered from 3", page, err)
			}
			calls, err := s.Calls(ctx, first, "call_a1")
			if err != nil || len(calls) != 1 || !calls[0].Done || calls[0].Result.PlainText() != "tax/rates.go:12: const vatRate = 0.21" {
				t.Errorf("journal: got %+v, %v", calls, err)
			}
			if version >= "v2" {
				oldestKeepsItsField(t, s)
			}
		})
	}
}

// oldestKeepsItsField rewrites the compacted message that has an unknown field.
func oldestKeepsItsField(t *testing.T, s *SQLite) {
	t.Helper()
	page, err := s.MessagesPage(context.Background(), first, 0, 1)
	if err != nil || len(page) != 1 || !page[0].Compacted || page[0].Message.Text != "older, compacted" {
		t.Fatalf("got %+v, %v", page, err)
	}
	m := page[0].Message
	if same, err := codec.Encode(m); err != nil || string(same) != string(page[0].Body) {
		t.Errorf("got %s, %v, want %s", same, err, page[0].Body)
	}
	m.Text = "new"
	if got, err := codec.Encode(m); err != nil || string(got) != `{"role":"user","text":"new","x_future":{"keep": true}}` {
		t.Errorf("changed: got %s, %v", got, err)
	}
}

func TestFixtureRunsAreInterruptedAtUse(t *testing.T) {
	ctx := context.Background()
	for _, version := range []string{"v4", "v6"} {
		s := fixture(t, version, nil)
		unlock, err := s.Lock(ctx, second)
		if err != nil {
			t.Fatal(err)
		}
		unlock()
		r, err := s.RunByRequest(ctx, RequestKey{Session: second, RequestID: "req-1"})
		if err != nil || r.Status != RunInterrupted {
			t.Errorf("%s: got %+v, %v", version, r, err)
		}
	}
}

func TestFindListAndLast(t *testing.T) {
	ctx := context.Background()
	s := openAt(t, t.TempDir(), nil)
	for i, id := range []string{"aa", "aaa", "aab", "b", "child", "old"} {
		head := Session{ID: id, Workspace: "/w", Created: time.UnixMilli(1), Updated: time.UnixMilli(int64(100 - i))}
		switch id {
		case "child":
			head.Parent, head.Depth, head.Updated = "aa", 1, time.UnixMilli(500)
		case "old":
			head.Archived, head.Updated = time.UnixMilli(7), time.UnixMilli(600)
		case "b":
			head.Workspace = "/other"
		}
		if err := s.Create(ctx, head); err != nil {
			t.Fatal(err)
		}
	}
	var ambiguous *AmbiguousError
	if _, err := s.Find(ctx, "a"); !errors.As(err, &ambiguous) || fmt.Sprint(ambiguous.IDs) != "[aa aaa aab]" {
		t.Errorf("got %v, want an *AmbiguousError", err)
	}
	for prefix, want := range map[string]string{"aa": "aa", "aab": "aab", "b": "b", "chi": "child"} {
		if got, err := s.Find(ctx, prefix); err != nil || got.ID != want {
			t.Errorf("find %q: got %q, %v, want %q", prefix, got.ID, err, want)
		}
	}
	for _, prefix := range []string{"", "x", "a%", "aa\x00"} {
		if _, err := s.Find(ctx, prefix); !errors.Is(err, ErrNotFound) {
			t.Errorf("find %q: got %v, want ErrNotFound", prefix, err)
		}
	}
	ids := func(q Query) string {
		t.Helper()
		list, err := s.List(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, sum := range list {
			ids = append(ids, sum.ID)
		}
		return strings.Join(ids, " ")
	}
	for want, q := range map[string]Query{
		"aa aaa aab b": {Limit: 10}, "old child aa aaa aab b": {All: true, Limit: 10}, "aa aaa aab": {Workspace: "/w", Limit: 10},
		"aa aaa": {Limit: 2}, "aab b": {Limit: 2, Before: &Session{ID: "aaa", Updated: time.UnixMilli(99)}},
	} {
		if got := ids(q); got != want {
			t.Errorf("list %+v: got %q, want %q", q, got, want)
		}
	}
	if got, err := s.Last(ctx, "/w"); err != nil || got.ID != "aa" {
		t.Errorf("last: got %q, %v, want aa", got.ID, err)
	}
	for _, workspace := range []string{"", "/none"} {
		if _, err := s.Last(ctx, workspace); !errors.Is(err, ErrNotFound) {
			t.Errorf("last of %q: got %v, want ErrNotFound", workspace, err)
		}
	}
}

func TestChangesOfHeads(t *testing.T) {
	ctx := context.Background()
	s := openAt(t, t.TempDir(), nil)
	s.Create(ctx, Session{ID: "a", Workspace: "/w"})
	for title, want := range map[string]string{
		"  two\n words\u2028x ": "two words x", "\x1b]0;evil\x07\u202eback": "back", "a\xffb": "a\uFFFDb", strings.Repeat("é", 300): strings.Repeat("é", 199) + "…", "": "",
	} {
		if err := s.Rename(ctx, "a", title); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Session(ctx, "a"); err != nil || got.Title != want {
			t.Errorf("rename to %q: got %q, %v, want %q", title, got.Title, err, want)
		}
	}
	for _, on := range []bool{true, false} {
		if err := errors.Join(s.Pin(ctx, "a", on), s.Archive(ctx, "a", on)); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Session(ctx, "a"); err != nil || got.Pinned != on || got.Archived.IsZero() == on {
			t.Errorf("%v: got %+v, %v", on, got, err)
		}
	}
	for _, err := range []error{s.Rename(ctx, "none", "x"), s.Pin(ctx, "none", true), s.Archive(ctx, "none", true)} {
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("unknown session: got %v, want ErrNotFound", err)
		}
	}
	label, on := "my\nplace", true
	if err := errors.Join(s.OpenWorkspace(ctx, "/w"), s.PinWorkspace(ctx, "/w", &label, &on), s.PinWorkspace(ctx, "/w", nil, nil)); err != nil {
		t.Fatal(err)
	}
	got, err := s.db.Workspaces(ctx)
	if err != nil || len(got) != 1 || got[0].Label != "my place" || !got[0].Pinned || got[0].LastOpenedMs == 0 {
		t.Errorf("workspaces: got %+v, %v", got, err)
	}
}

func TestUncertainIsWhatMayHaveHadAnEffect(t *testing.T) {
	ctx := context.Background()
	s := openAt(t, t.TempDir(), nil)
	for effect, want := range map[plug.Effect]bool{
		plug.EffectRead: false, plug.EffectInternal: false, plug.EffectWrite: true, plug.EffectProcess: true, plug.EffectExternal: true, "": true, "new": true,
	} {
		id := "of " + string(effect)
		s.Create(ctx, Session{ID: id})
		c := Call{Session: id, ID: "1", Effect: effect}
		if _, err := s.BeginCall(ctx, c); err != nil {
			t.Fatal(err)
		}
		if sum, err := s.Summary(ctx, id); err != nil || sum.Uncertain != want {
			t.Errorf("%q: got %v, %v, want %v", effect, sum.Uncertain, err, want)
		}
		if _, err := s.EndCall(ctx, c, plug.Event{}); err != nil {
			t.Fatal(err)
		}
		if sum, err := s.Summary(ctx, id); err != nil || sum.Uncertain {
			t.Errorf("%q completed: got %v, %v", effect, sum.Uncertain, err)
		}
	}
}

func TestDeleteTakesChildrenAndIsRefusedInUse(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	s := openAt(t, dir, nil)
	s.Create(ctx, Session{ID: "a", Title: "t"})
	s.Create(ctx, Session{ID: "child", Parent: "a"})
	s.Create(ctx, Session{ID: "other"})
	hash, err := s.PutBlob(ctx, "child", []byte("x"), "text/plain", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.Append(ctx, "a", "", user("12"))
	s.Append(ctx, "child", "", user("3"), user("4"))
	s.AddEvent(ctx, plug.Event{SessionID: "child", Data: plug.RunStarted{}})
	s.BeginCall(ctx, Call{Session: "a", ID: "1"})
	if _, _, err := s.BeginRun(ctx, begin("r", "a", "")); err != nil {
		t.Fatal(err)
	}
	want := Contents{Messages: 3, Events: 1, Calls: 1, Runs: 1, Children: 1, Blobs: 1, Bytes: int64(3*len(`{"role":"user","text":""}`) + 4 + len(`{"model":""}`))}
	if got, err := s.Contents(ctx, "a"); err != nil || got != want {
		t.Errorf("contents: got %+v, %v, want %+v", got, err, want)
	}
	unlock, err := s.Lock(ctx, "child")
	if err != nil {
		t.Fatal(err)
	}
	var busy *BusyError
	if _, err := s.Delete(ctx, "a"); !errors.As(err, &busy) || busy.Session != "child" {
		t.Errorf("in use: got %v, want a *BusyError", err)
	}
	unlock()
	got, err := s.Delete(ctx, "a")
	if err != nil || got != want {
		t.Errorf("delete: got %+v, %v, want %+v", got, err, want)
	}
	for _, id := range []string{"a", "child"} {
		if _, err := s.Session(ctx, id); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: got %v, want ErrNotFound", id, err)
		}
	}
	if _, err := s.OpenBlob(ctx, "child", hash); !errors.Is(err, ErrNotFound) {
		t.Errorf("its blob: got %v, want ErrNotFound", err)
	}
	if _, err := s.Session(ctx, "other"); err != nil {
		t.Errorf("another session: %v", err)
	}
	for _, id := range []string{"a", "none"} {
		if _, err := s.Delete(ctx, id); !errors.Is(err, ErrNotFound) {
			t.Errorf("delete %s: got %v, want ErrNotFound", id, err)
		}
	}
	if files, err := os.ReadDir(filepath.Join(dir, "locks")); err != nil || len(files) != 0 {
		t.Errorf("lock files are left: %v, %v", files, err)
	}
	if unlock, err = s.Lock(ctx, "child"); err != nil {
		t.Fatalf("a lock is left: %v", err)
	}
	unlock()
}

func TestLookingOnlyChangesNothing(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	s := openAt(t, dir, nil)
	s.Create(ctx, Session{ID: "a"})
	s.Append(ctx, "a", "", user("x"))
	look, err := OpenSQLite(ctx, db.Options{Path: filepath.Join(dir, "sessions.sqlite"), Home: dir, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer look.Close()
	if list, err := look.List(ctx, Query{Limit: 1}); err != nil || len(list) != 1 || list[0].ID != "a" {
		t.Errorf("list: got %+v, %v", list, err)
	}
	var out strings.Builder
	if err := errors.Join(look.Export(ctx, "a", &out), look.Markdown(ctx, "a", &out)); err != nil || !strings.Contains(out.String(), `"text":"x"`) {
		t.Errorf("export: got %q, %v", out.String(), err)
	}
	_, lockErr := look.Lock(ctx, "a")
	for i, err := range []error{look.Create(ctx, Session{ID: "b"}), look.Append(ctx, "a", "", user("y")), look.Rename(ctx, "a", "t"), lockErr} {
		if err == nil {
			t.Errorf("change %d: got no error", i)
		}
	}
}
