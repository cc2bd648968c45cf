package tuitest

import (
	"testing"
	"time"
)

// Patience is how long anything may take to show on a machine that does other things.
const Patience = 20 * time.Second

// Await waits until a condition holds for the screen that is shown.
func (t *Terminal) Await(tb testing.TB, what string, holds func(*Screen) bool) {
	tb.Helper()
	t.AwaitUnless(tb, what, holds, nil)
}

// AwaitUnless gives up at once, too, when ended is closed and the condition does not hold.
func (t *Terminal) AwaitUnless(tb testing.TB, what string, holds func(*Screen) bool, ended <-chan struct{}) {
	tb.Helper()
	timer := time.NewTimer(Patience)
	defer timer.Stop()
	for {
		changed := t.Changed() // before the look, so that no change is missed
		if holds(t.Screen()) {
			return
		}
		select {
		case <-changed:
		case <-ended:
			if !holds(t.Screen()) {
				tb.Fatalf("the program ended before %s; shown is\n%s", what, t.Dump())
			}
			return
		case <-timer.C:
			tb.Fatalf("waited %v for %s; shown is\n%s", Patience, what, t.Dump())
		}
	}
}

// AwaitText waits until a text is shown.
func (t *Terminal) AwaitText(tb testing.TB, text string) {
	tb.Helper()
	t.Await(tb, "the text "+text, func(s *Screen) bool { return s.Contains(text) })
}
