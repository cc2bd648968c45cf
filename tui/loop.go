package tui

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"alisio/tui/term"
)

// Model is what a Loop runs: the state of a screen. Its methods are called from the
// goroutine of Run alone.
type Model interface {
	// Handle takes in a term.Event or what was given to Post, and says whether the frame
	// changed by it and whether the loop goes on.
	Handle(event any) (changed, more bool)
	// Draw brings the frame to the terminal. An error ends the loop.
	Draw() error
	// Tick is after how long the frame changes by time alone, as a spinner's does; 0:
	// it does not.
	Tick() time.Duration
}

// FrameTime is the least time between two frames that no input caused.
const FrameTime = 16 * time.Millisecond

// posts is how many events of Post wait; whoever posts more waits itself.
const posts = 1024

// Loop joins a terminal's events, those of running work and time into frames. A frame
// that input caused is drawn at once, others at most every FrameTime, and none where
// nothing changed: while nothing happens it sleeps.
//
//	terminal ──┐
//	Post     ──┼→ Handle … Handle → changed? → by input: Draw now
//	Tick     ──┘   all that waits              else: Draw, FrameTime after the last
type Loop struct {
	events <-chan term.Event
	posts  chan any
	done   chan struct{} // closed when Run ends
	model  Model
}

// NewLoop is a loop over the events of a terminal, which are input, and what is posted.
func NewLoop(events <-chan term.Event, m Model) *Loop {
	return &Loop{events: events, posts: make(chan any, posts), done: make(chan struct{}), model: m}
}

// Post hands an event to the model, from any goroutine but the loop's. Nothing is
// dropped while the loop runs: it waits where many wait. It reports whether the loop
// still runs.
func (l *Loop) Post(event any) bool {
	select {
	case <-l.done:
		return false
	default:
	}
	select {
	case l.posts <- event:
		return true
	case <-l.done:
		return false
	}
}

// Panic is what ended a loop where a Model panicked. The terminal can be given back
// before it is printed.
type Panic struct {
	Value any
	Stack string
}

func (p *Panic) Error() string { return fmt.Sprintf("draw the screen: panic: %v", p.Value) }

// Run runs the loop until the model says so, ctx ends, the events end or drawing
// fails. It is called once.
func (l *Loop) Run(ctx context.Context) (err error) {
	defer close(l.done)
	defer func() {
		if v := recover(); v != nil {
			err = &Panic{v, string(debug.Stack())}
		}
	}()
	state := turn{changed: true, input: true}
	var last time.Time
	for {
		if state.changed && (state.input || time.Since(last) >= FrameTime) {
			if err := l.model.Draw(); err != nil {
				return err
			}
			state, last = turn{}, time.Now()
		}
		alarm, stop := l.alarm(state.changed, last)
		more := false
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case ev, ok := <-l.events:
			more = ok && l.take(&state, ev, true)
		case ev := <-l.posts:
			more = l.take(&state, ev, false)
		case <-alarm:
			// The time of the next frame, or of the next state of what moves.
			state.changed, more = true, true
		}
		stop()
		if !more || !l.drain(&state) {
			return err
		}
	}
}

// turn is what happened since the last frame.
type turn struct{ changed, input bool }

func (l *Loop) take(t *turn, event any, input bool) (more bool) {
	changed, more := l.model.Handle(event)
	t.changed = t.changed || changed
	t.input = t.input || input && changed
	return more
}

// drain handles what waits, for at most the time of a frame: a flood does not keep the
// screen from being drawn.
func (l *Loop) drain(t *turn) (more bool) {
	for begin := time.Now(); time.Since(begin) < FrameTime; {
		select {
		case ev, ok := <-l.events:
			if !ok || !l.take(t, ev, true) {
				return false
			}
		case ev := <-l.posts:
			if !l.take(t, ev, false) {
				return false
			}
		default:
			return true
		}
	}
	return true
}

// alarm tells when the next frame is due without anything happening; never, where
// nothing changed and nothing moves.
func (l *Loop) alarm(changed bool, last time.Time) (<-chan time.Time, func()) {
	wait := l.model.Tick()
	if changed {
		wait = max(FrameTime-time.Since(last), 1)
	} else if wait > 0 {
		wait = max(wait, FrameTime)
	}
	if wait <= 0 {
		return nil, func() {}
	}
	timer := time.NewTimer(wait)
	return timer.C, func() { timer.Stop() }
}
