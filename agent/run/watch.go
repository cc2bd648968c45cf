package run

import (
	"context"
	"errors"
	"time"

	"alisio/llm"
)

// Why a watch ended a request.
var (
	errSilent = errors.New("the server is silent")
	errIdle   = errors.New("the answer makes no progress")
)

// watch ends a request whose server is silent: before it has said anything
// (limits.firstTokenTimeoutMs), and in mid-stream (limits.idleTimeoutMs), where
// progress of the model alone counts. The time in which what came is shown is not
// the server's.
//
//	send ──first token──► any event ──idle──► progress ──idle──► … ──► completed
//
// Where the first limit is off, an answer is in mid-stream with the first progress:
// a server of one's own may think about a prompt for as long as it takes.
type watch struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	first  time.Duration
	idle   time.Duration
	// timer is the limit that holds, nil for none; begun: that is the second one.
	timer *time.Timer
	begun bool
}

func watching(ctx context.Context, l Limits) *watch {
	w := &watch{first: l.FirstToken, idle: l.Idle}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	if w.first > 0 {
		w.timer = time.AfterFunc(w.first, func() { w.cancel(errSilent) })
	}
	return w
}

// received stops the time for an event.
func (w *watch) received(kind llm.EventKind) {
	if w.timer != nil && (!w.begun || moves(kind)) {
		w.timer.Stop()
	}
}

// wait lets the time run behind an event.
func (w *watch) wait(kind llm.EventKind) {
	switch {
	case kind == llm.Completed || w.idle == 0:
	case w.begun:
		if moves(kind) {
			w.timer.Reset(w.idle)
		}
	case moves(kind) || w.first > 0:
		w.begun = true
		w.timer = time.AfterFunc(w.idle, func() { w.cancel(errIdle) })
	}
}

// moves reports whether an event is progress of the model: bytes, comments and what a
// server says by itself are none.
func moves(kind llm.EventKind) bool { return kind != llm.Activity }

// reason is why a request ended: the watch, if that did it.
func (w *watch) reason(err error) error {
	if cause := context.Cause(w.ctx); cause == errSilent || cause == errIdle {
		return cause
	}
	return err
}

func (w *watch) end() {
	if w.timer != nil {
		w.timer.Stop()
	}
	w.cancel(nil)
}
