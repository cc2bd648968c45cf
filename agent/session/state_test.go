package session

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// stateSuite is what every store does that keeps values for plugins.
func stateSuite(t *testing.T, s States) {
	ctx := context.Background()
	if _, err := s.State(ctx, "p", "k"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a value that is not there: %v", err)
	}
	for _, set := range [][3]string{{"p", "b", "1"}, {"p", "a/x", "2"}, {"p", "a/y", "3"}, {"q", "b", "4"}, {"p", "b", "5"}, {"p", "none", ""}} {
		if err := s.SetState(ctx, set[0], set[1], set[2]); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range [][3]string{{"p", "b", "5"}, {"q", "b", "4"}, {"p", "a/y", "3"}} {
		if got, err := s.State(ctx, want[0], want[1]); err != nil || got != want[2] {
			t.Errorf("%v: got %q, %v", want, got, err)
		}
	}
	if err := s.SetState(ctx, "p", "b", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := s.State(ctx, "p", "b"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a value that was taken away: %v", err)
	}
	for prefix, want := range map[string][]string{"": {"a/x", "a/y"}, "a/": {"a/x", "a/y"}, "z": nil} {
		if got, err := s.StateKeys(ctx, "p", prefix); err != nil || !slices.Equal(got, want) {
			t.Errorf("keys with %q: got %v, %v", prefix, got, err)
		}
	}
}

func TestStates(t *testing.T) {
	t.Run("memory", func(t *testing.T) { stateSuite(t, NewMemory()) })
	t.Run("sqlite", func(t *testing.T) { stateSuite(t, openAt(t, t.TempDir(), nil)) })
}
