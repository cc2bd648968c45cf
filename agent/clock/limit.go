package clock

import (
	"context"
	"errors"
	"time"
)

// ErrLimit is the cause (context.Cause) of a context that Limit ended.
var ErrLimit = errors.New("active time is used up")

// limit ends a context when the stopwatch reaches at. Its timer is set only
// while the stopwatch runs, so a wait for a person uses no processor time.
type limit struct {
	at    time.Duration
	timer *time.Timer
}

// Limit gives a context that ends with ErrLimit when the active time reaches
// at. A person's waits do not count. cancel frees what it holds.
func (a *Active) Limit(parent context.Context, at time.Duration) (ctx context.Context, cancel context.CancelFunc) {
	ctx, end := context.WithCancelCause(parent)
	a.mu.Lock()
	defer a.mu.Unlock()
	l := &limit{at: at}
	l.timer = time.AfterFunc(at-a.elapsed(), func() { a.check(l, end) })
	if !a.running() {
		l.timer.Stop()
	}
	if a.limits == nil {
		a.limits = map[*limit]bool{}
	}
	a.limits[l] = true
	return ctx, func() {
		end(context.Canceled)
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.limits, l)
		l.timer.Stop()
	}
}

// check ends a context whose timer fired, unless a pause came in between.
func (a *Active) check(l *limit, end context.CancelCauseFunc) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch left := l.at - a.elapsed(); {
	case left <= 0:
		end(ErrLimit)
	case a.running() && a.limits[l]:
		l.timer.Reset(left)
	}
}
