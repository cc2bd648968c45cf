package db

import (
	"fmt"
	"strings"
	"testing"
)

func TestCallsComeInPages(t *testing.T) {
	d := open(t, t.TempDir())
	ctx := t.Context()
	err := d.Write(ctx, Normal, func(tx *Tx) error {
		for _, id := range []string{"a", "b"} {
			if err := tx.CreateSession(Session{ID: id}); err != nil {
				return err
			}
		}
		for i := range 7 {
			// The ids stand in another order than the rows.
			for _, session := range []string{"a", "b"} {
				if err := tx.EndCall(Call{Session: session, ID: fmt.Sprint(9 - i), Result: "{}", Name: session}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for after := int64(0); ; {
		page, last, err := d.CallsPage(ctx, "a", after, 3)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range page {
			got = append(got, c.Name+c.ID)
		}
		if after = last; len(page) == 0 {
			break
		}
	}
	if want := "a9 a8 a7 a6 a5 a4 a3"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func allCalls(t *testing.T, d *DB, session string) []Call {
	t.Helper()
	calls, _, err := d.CallsPage(t.Context(), session, 0, maxPage)
	if err != nil {
		t.Fatal(err)
	}
	return calls
}
