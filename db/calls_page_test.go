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
		page, err := d.CallsPage(ctx, "a", after, 3)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range page {
			got, after = append(got, c.Name+c.ID), c.Row
		}
		if len(page) < 3 {
			break
		}
	}
	if want := "a9 a8 a7 a6 a5 a4 a3"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	p := &planner{d: d}
	_, _ = reads{p}.CallsPage(ctx, "a", 0, 3)
	if plan := strings.Join(p.plan, "\n"); strings.Contains(plan, "SCAN tool_calls") || !strings.Contains(plan, "COVERING INDEX") {
		t.Errorf("rows of others, or results that are not asked for, are read:\n%s", plan)
	}
}
