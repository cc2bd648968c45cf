package db

import (
	"errors"
	"fmt"
	"testing"
)

func TestLastRuns(t *testing.T) {
	d := open(t, t.TempDir())
	for _, id := range []string{"none", "one", "two", `odd "id"`, "other"} {
		create1(t, d, id)
	}
	write(t, d, func(x *Tx) error {
		for _, r := range []Run{
			{ID: "1", Session: "two", Status: "failed", CreatedMs: 9},
			{ID: "2", Session: "one", Status: "running", CreatedMs: 1},
			{ID: "3", Session: "two", Status: "completed", CreatedMs: 5}, // the clock was set back
			{ID: "4", Session: `odd "id"`, Status: "cancelled", CreatedMs: 5},
			{ID: "5", Session: "other", Status: "queued", CreatedMs: 5},
		} {
			if err := x.BeginRun(r); err != nil {
				return err
			}
		}
		return nil
	})
	got := must(d.LastRuns(t.Context(), []string{"two", "none", "one", `odd "id"`, "not there"}))(t)
	if want := (map[string]string{"one": "running", "two": "completed", `odd "id"`: "cancelled"}); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := must(d.LastRuns(t.Context(), nil))(t); len(got) != 0 {
		t.Errorf("of no session: %v", got)
	}
}

// The order is that of storing, whatever the clock said and whoever else stored.
func TestRunBefore(t *testing.T) {
	d := open(t, t.TempDir())
	for _, id := range []string{"one", "two"} {
		create1(t, d, id)
	}
	write(t, d, func(x *Tx) error {
		for _, r := range []Run{
			{ID: "a", Session: "one", Status: "interrupted", CreatedMs: 9},
			{ID: "b", Session: "two", Status: "running", CreatedMs: 1},
			{ID: "c", Session: "one", Status: "interrupted", CreatedMs: 1},
			{ID: "d", Session: "one", Status: "completed", CreatedMs: 5},
		} {
			if err := x.BeginRun(r); err != nil {
				return err
			}
		}
		return nil
	})
	for _, c := range []struct{ session, id, want string }{
		{"one", "d", "c"}, {"one", "c", "a"}, {"one", "a", ""}, {"two", "b", ""}, {"one", "none", ""}, {"none", "d", ""},
	} {
		got, err := d.RunBefore(t.Context(), c.session, c.id)
		if got.ID != c.want || errors.Is(err, ErrNotFound) != (c.want == "") {
			t.Errorf("before %s in %s: got %q, %v, want %q", c.id, c.session, got.ID, err, c.want)
		}
	}
}
