package db

import (
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
