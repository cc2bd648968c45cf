// Package clock measures active time: the time of a run without the waits for a
// person (spec runner.md, "Active time").
//
// Active is one run's stopwatch. HumanWaits knows which stopwatches belong to
// which session and pauses those of a session and its ancestors while someone
// waits for a person. The package sets no limits and ends nothing; it never
// pauses anything for a wait on a model, a tool or a child.
package clock

import (
	"sync"
	"time"
)

// Active is a stopwatch that can be paused. Pauses nest: it runs again when
// each Pause has had its Resume. The zero value is stopped at 0; Start starts
// it. Safe for concurrent use.
type Active struct {
	mu      sync.Mutex
	started bool
	pauses  int
	since   time.Time     // of the running stretch
	sum     time.Duration // of the stretches before
	limits  map[*limit]bool
}

// Start lets the time run from now, unless it is paused. A second Start
// changes nothing.
func (a *Active) Start() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.started {
		a.started = true
		a.run()
	}
}

// Pause stops the time until the Resume that belongs to it.
func (a *Active) Pause() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.running() {
		a.sum += time.Since(a.since)
		for l := range a.limits {
			l.timer.Stop()
		}
	}
	a.pauses++
}

// Resume takes one Pause back. Without a Pause it does nothing.
func (a *Active) Resume() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pauses == 0 {
		return
	}
	a.pauses--
	a.run()
}

// Elapsed is the active time since Start.
func (a *Active) Elapsed() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.elapsed()
}

// Paused reports whether the time stands still because of a Pause.
func (a *Active) Paused() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.pauses > 0
}

func (a *Active) running() bool { return a.started && a.pauses == 0 }

func (a *Active) elapsed() time.Duration {
	if a.running() {
		return a.sum + time.Since(a.since)
	}
	return a.sum
}

// run begins a stretch of running time, if nothing is in the way.
func (a *Active) run() {
	if !a.running() {
		return
	}
	a.since = time.Now()
	for l := range a.limits {
		l.timer.Reset(l.at - a.sum)
	}
}
