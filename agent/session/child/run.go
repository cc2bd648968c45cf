package child

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"alisio/agent/session"
	"alisio/plug"
)

// run is a run that goes on, of a child or of a root.
type run struct {
	id        string
	ancestors []string
	// ctx ends when the run is to stop, whoever wants it.
	ctx    context.Context
	cancel context.CancelCauseFunc
	// watched: Running has been called for it.
	watched bool
}

// Run implements plug.Sessions. A child that has ended is taken up again, with all
// that it has said, but for one that was cancelled: see ErrCancelled.
func (s *Sessions) Run(ctx context.Context, id, prompt string) (plug.ChildOutcome, error) {
	ctx, r, end, err := s.begin(ctx, id, prompt, false)
	if err != nil {
		return plug.ChildOutcome{}, fmt.Errorf("run child session: %w", err)
	}
	// The end is stored whatever happens, a panic on its way out too.
	out, ran := plug.ChildOutcome{Status: plug.ChildFailed, Error: "the run broke off"}, error(nil)
	defer func() { _, _ = end(out) }()
	out, ran = s.o.Run(ctx, r)
	if ran != nil {
		out = plug.ChildOutcome{Status: plug.ChildFailed, Error: ran.Error()}
		if ctx.Err() != nil {
			out.Status = plug.ChildCancelled
		}
	}
	out, err = end(out)
	return out, errors.Join(ran, err)
}

// End stores how a run ended, with its status made one of the ends, and gives the
// child back. Only the first call counts.
type End func(plug.ChildOutcome) (plug.ChildOutcome, error)

// Begin takes a child, a cancelled one too, for a run that the caller carries out, as
// Run does with Options.Run: with the context that it returns and by what the request
// says. A *session.BusyError tells that the child has a run, or that another process
// has the tree.
func (s *Sessions) Begin(ctx context.Context, id, prompt string) (context.Context, Request, End, error) {
	return s.begin(ctx, id, prompt, true)
}

// begin is Begin; cancelled says whether a cancelled child is taken.
func (s *Sessions) begin(ctx context.Context, id, prompt string, cancelled bool) (context.Context, Request, End, error) {
	if err := ctx.Err(); err != nil {
		return ctx, Request{}, nil, context.Cause(ctx)
	}
	l, err := s.below(ctx, id)
	if err != nil {
		return ctx, Request{}, nil, fmt.Errorf("session %s: %w", id, err)
	}
	var from []string // all, a status that this program does not know too
	if !cancelled {
		from = []string{string(plug.ChildQueued), string(plug.ChildRunning), string(plug.ChildCompleted), string(plug.ChildFailed), string(plug.ChildInterrupted)}
		if now := l.heads[0].Status; now != string(plug.ChildCancelled) {
			from = append(from, now)
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	r := &run{id: id, ancestors: l.ancestors(), ctx: ctx, cancel: cancel}
	w, err := s.reserve(r)
	if err != nil {
		cancel(err)
		return ctx, Request{}, nil, err
	}
	if w == nil {
		release, err := s.o.Hold(ctx, l.root())
		if err != nil { // whose the child is now is not known: its status stays
			s.done(r)
			s.work.Done()
			return ctx, Request{}, nil, err
		}
		w = &waiting{release: release}
	}
	request, err := s.request(ctx, l, prompt)
	if err == nil {
		err = s.starts(ctx, id, from)
	}
	if err != nil {
		return ctx, Request{}, nil, errors.Join(err, s.fail(r, w))
	}
	return ctx, request, s.end(r, w), nil
}

// starts stores that a child runs, unless it is in none of some statuses.
func (s *Sessions) starts(ctx context.Context, id string, from []string) error {
	done, err := s.o.Store.SetStatus(ctx, id, string(plug.ChildRunning), from...)
	if err == nil && !done {
		err = ErrCancelled
	}
	return err
}

// fail gives a child back whose run did not begin. One that was queued is no longer:
// who queued it is told of the failure.
func (s *Sessions) fail(r *run, w *waiting) error {
	status := plug.ChildFailed
	if r.ctx.Err() != nil {
		status = plug.ChildCancelled
	}
	defer s.work.Done()
	defer s.done(r)
	return s.leave(r.ctx, r.id, w, status)
}

// reserve takes the child, and takes over what held the root for it while it was
// queued.
func (s *Sessions) reserve(r *run) (*waiting, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.runs[r.id] != nil {
		return nil, &session.BusyError{Session: r.id}
	}
	if err := s.refused(r.ancestors); err != nil {
		return nil, err
	}
	s.runs[r.id] = r
	s.work.Add(1)
	w := s.queued[r.id]
	delete(s.queued, r.id)
	return w, nil
}

// request is what the engine is told of a run. The workspace was checked when the
// child was spawned; links may lead elsewhere by now.
func (s *Sessions) request(ctx context.Context, l lineage, prompt string) (Request, error) {
	dir, parent := l.workspace()
	if dir != "" {
		now, err := s.o.Workspace(ctx, parent, dir)
		if err != nil {
			return Request{}, fmt.Errorf("workspace: %w", err)
		}
		dir = now
	}
	spec := l.specs[0]
	spec.ID, spec.Parent = l.heads[0].ID, l.heads[0].Parent
	return Request{
		Session: spec.ID, Root: l.root(), Ancestors: l.ancestors(), Spec: spec, Ceiling: s.ceiling(l), Label: l.label(),
		Model: l.model(), Workspace: dir, Prompt: prompt,
	}, nil
}

// end makes the function that ends a run. The status is stored before the child is
// free, and before another process can have the root.
func (s *Sessions) end(r *run, w *waiting) End {
	var once atomic.Bool
	return func(out plug.ChildOutcome) (plug.ChildOutcome, error) {
		if once.Swap(true) {
			return out, nil
		}
		defer s.work.Done()
		defer w.release()
		defer s.done(r)
		switch out.Status {
		case plug.ChildCompleted, plug.ChildFailed, plug.ChildCancelled, plug.ChildInterrupted:
		default:
			if out.Error == "" {
				out.Error = fmt.Sprintf("the run ended as %.40q, which is no end", out.Status)
			}
			out.Status = plug.ChildFailed
		}
		if out.TurnLimit {
			out.Status = plug.ChildCompleted
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), writeLimit)
		defer cancel()
		_, err := s.o.Store.SetStatus(ctx, r.id, string(out.Status))
		return out, err
	}
}

func (s *Sessions) done(r *run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.runs[r.id] == r {
		delete(s.runs, r.id)
	}
	r.cancel(nil)
}

// Running notes that a run begins, of a child or of a root, with the context that
// whoever stops it cancels. The run goes on with the context that it returns, which
// Cancel ends too, and calls end when it has ended. When that context is done before
// the end, all that runs below the session is stopped, in the background too, and
// what is queued there is cancelled; the run's own end stops nothing. For a run that
// Begin began the context is that of Begin, or one made of it.
func (s *Sessions) Running(ctx context.Context, id string) (run context.Context, end func()) {
	r, owned := s.register(ctx, id)
	if owned {
		ctx = r.ctx
	}
	unwatch := context.AfterFunc(ctx, func() { _, _ = s.stop(context.WithoutCancel(ctx), id, false) })
	return ctx, func() {
		unwatch()
		if owned {
			s.done(r)
		}
	}
}

// register finds the run that Begin has noted, or notes one of its own.
func (s *Sessions) register(ctx context.Context, id string) (r *run, owned bool) {
	var ancestors []string
	if !s.IsRunning(id) {
		// A session that is not stored yet is a new root.
		if l, err := s.lineage(ctx, id); err == nil {
			ancestors = l.ancestors()
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	mine := &run{id: id, ancestors: ancestors, ctx: ctx, cancel: cancel, watched: true}
	s.mu.Lock()
	defer s.mu.Unlock()
	r = s.runs[id]
	switch {
	case r == nil:
		s.runs[id] = mine
		return mine, true
	case !r.watched:
		r.watched = true
		cancel(nil)
		return r, false
	}
	return mine, true // a second run of the session, which its lock rules out
}

// IsRunning implements plug.Sessions.
func (s *Sessions) IsRunning(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runs[id] != nil
}

// Cancel implements plug.Sessions. What is queued becomes cancelled and does not
// count.
func (s *Sessions) Cancel(ctx context.Context, id string) (running int, err error) {
	if _, err := s.o.Store.Child(ctx, id); err != nil {
		return 0, fmt.Errorf("cancel session: %w", err)
	}
	return s.stop(ctx, id, true)
}

// stop ends the runs below a session, and its own if self, and returns how many
// there were. It does not wait for them. Who is queued is taken out at the same
// moment, so that none of them begins in between.
func (s *Sessions) stop(ctx context.Context, id string, self bool) (running int, err error) {
	of := func(each string, ancestors []string) bool {
		return self && each == id || slices.Contains(ancestors, id)
	}
	left := make(map[string]*waiting)
	s.mu.Lock()
	for each, r := range s.runs {
		if of(each, r.ancestors) && r.ctx.Err() == nil {
			running++
			r.cancel(ErrStopped)
		}
	}
	for each, w := range s.queued {
		if of(each, w.ancestors) {
			left[each] = w
			delete(s.queued, each)
		}
	}
	if len(left) > 0 {
		s.work.Add(1)
		defer s.work.Done()
	}
	s.mu.Unlock()
	for each, w := range left {
		err = errors.Join(err, s.leave(ctx, each, w, plug.ChildCancelled))
	}
	return running, err
}
