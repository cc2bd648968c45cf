package db

import (
	"errors"
	"testing"
)

func TestSessionAlike(t *testing.T) {
	d := open(t, t.TempDir())
	write(t, d, func(tx *Tx) error {
		return errors.Join(tx.CreateSession(Session{ID: "abc"}), tx.CreateSession(Session{ID: "é"}), tx.CreateSession(Session{}))
	})
	for id, want := range map[string]string{
		"abc": "abc", "a": "abc", "ab": "abc", "abcd": "abc", "abc-1": "abc", "b": "", "abd": "", "bc": "", "ABC": "", "é1": "é", "x\xff": "",
	} {
		got, err := d.SessionAlike(t.Context(), id)
		if got != want || (want == "") != errors.Is(err, ErrNotFound) {
			t.Errorf("%q: got %q, %v, want %q", id, got, err, want)
		}
	}
}
