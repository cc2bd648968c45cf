package session

import (
	"context"
	"testing"

	"alisio/db"
	"alisio/plug"
)

// Events of old programs have no numbers in their runs. Each page read all events
// of the run before it to find where it goes on, so that reading 20,000 in pages
// took 20 s; that it is one look at an index is held by the plans in package db.
func TestPagesOfOldEvents(t *testing.T) {
	ctx := context.Background()
	s := openAt(t, t.TempDir(), nil)
	if err := s.Create(ctx, Session{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	const each = 23
	add := func(run string, seq int64) {
		t.Helper()
		err := s.db.Write(ctx, db.Normal, func(tx *db.Tx) error {
			_, err := tx.AddEvent(db.Event{Session: "a", RunID: run, Type: string(plug.RunStarted{}.EventType()), Body: "{}", RunSeq: seq})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	// Of a run without an id, two at once, and one that a newer program stored, which
	// left out what it does not keep.
	for i := range int64(each) {
		add("", 0)
		add("old", 0)
		add("new", 2*i+1)
	}
	add("new", 0)
	for _, limit := range []int{1, 2, 7, 1000} {
		seen := map[string]int64{}
		for after := int64(0); ; {
			page, err := s.EventsPage(ctx, "a", after, limit)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			for _, e := range page {
				want := seen[e.RunID] + 1
				if e.RunID == "new" && want > 1 && want < 2*each {
					want++
				}
				if e.Seq != want {
					t.Errorf("pages of %d: event %d of run %q has the number %d, want %d", limit, e.ID, e.RunID, e.Seq, want)
				}
				seen[e.RunID], after = e.Seq, e.ID
			}
		}
		if seen[""] != each || seen["old"] != each || seen["new"] != 2*each {
			t.Errorf("pages of %d: the last numbers are %v", limit, seen)
		}
	}
}

func TestEventsOfAType(t *testing.T) {
	ctx := context.Background()
	s := openAt(t, t.TempDir(), nil)
	if err := s.Create(ctx, Session{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	for i := range int64(3) {
		for _, p := range []plug.Payload{plug.ModelChanged{Model: "m"}, plug.PluginHookFailed{Source: "p", Hook: "OnEnd"}} {
			if _, err := s.AddEvent(ctx, plug.Event{SessionID: "a", RunID: "r", Seq: i + 1, Data: p}); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, err := s.EventsOf(ctx, "a", plug.TypePluginHookFailed, 2)
	if err != nil || len(got) != 2 || got[0].Seq != 3 || got[1].Seq != 2 || got[0].Data.(plug.PluginHookFailed).Source != "p" {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := s.EventsOf(ctx, "nobody", plug.TypePluginHookFailed, 2); err != nil || len(got) != 0 {
		t.Errorf("of no session: got %+v, %v", got, err)
	}
}
