package child

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"alisio/agent/session"
	"alisio/plug"
)

// writeLimit bounds the storing of a status that must not depend on the context of
// the run that ended.
const writeLimit = 30 * time.Second

// Spawn implements plug.Sessions. What the spec asks for beyond the parent's ceiling
// is stored and has no effect.
func (s *Sessions) Spawn(ctx context.Context, spec plug.ChildSpec) (plug.Child, error) {
	c, err := s.spawn(ctx, spec)
	if err != nil {
		return plug.Child{}, fmt.Errorf("spawn child session: %w", err)
	}
	return c, nil
}

func (s *Sessions) spawn(ctx context.Context, spec plug.ChildSpec) (plug.Child, error) {
	if err := name("parent", spec.Parent, maxName); err != nil {
		return plug.Child{}, err
	}
	spec, err := checked(spec)
	if err != nil {
		return plug.Child{}, err
	}
	if spec.ID == "" {
		spec.ID = s.o.NewID()
	}
	if !isID(spec.ID) {
		return plug.Child{}, fmt.Errorf("id %.80q is no UUIDv4", spec.ID)
	}
	parent, err := s.lineage(ctx, spec.Parent)
	if err != nil {
		return plug.Child{}, fmt.Errorf("parent: %w", err)
	}
	if parent.broken != nil {
		return plug.Child{}, fmt.Errorf("parent %s: %w", spec.Parent, parent.broken)
	}
	if len(parent.heads) > maxDepth {
		return plug.Child{}, fmt.Errorf("a child of %s would be %d levels deep, at most %d", spec.Parent, len(parent.heads), maxDepth)
	}
	head, err := s.head(ctx, &spec, parent)
	if err != nil {
		return plug.Child{}, err
	}
	options, err := encode(spec)
	if err != nil {
		return plug.Child{}, err
	}
	release, err := s.o.Hold(ctx, parent.root())
	if err != nil {
		return plug.Child{}, err
	}
	if err := s.o.Store.CreateChild(ctx, head, options); err != nil {
		release()
		return plug.Child{}, err
	}
	w := &waiting{ancestors: append([]string{spec.Parent}, parent.ancestors()...), release: release}
	if err := s.wait(head.ID, w); err != nil {
		return plug.Child{}, errors.Join(err, s.leave(ctx, head.ID, w, plug.ChildCancelled))
	}
	return seen(head), nil
}

// head is the new session's, with the spec's model and workspace looked up.
func (s *Sessions) head(ctx context.Context, spec *plug.ChildSpec, parent lineage) (session.Session, error) {
	above, now := parent.heads[0], time.Now()
	h := session.Session{
		ID: spec.ID, Workspace: above.Workspace, Provider: above.Provider, Model: above.Model, Title: spec.Title,
		Parent: spec.Parent, Depth: len(parent.heads), Agent: spec.Agent, Status: string(plug.ChildQueued), Created: now, Updated: now,
	}
	if h.Title == "" {
		h.Title = spec.Agent
	}
	if spec.Workspace != "" {
		dir, err := s.o.Workspace(ctx, spec.Parent, spec.Workspace)
		if err != nil {
			return h, fmt.Errorf("workspace: %w", err)
		}
		spec.Workspace, h.Workspace = dir, dir
	}
	if spec.Model != "" {
		m, err := s.o.Resolve(ctx, parent.root(), spec.Model)
		if err != nil {
			return h, fmt.Errorf("model %s: %w", spec.Model, err)
		}
		h.Model = m.ID
	}
	return h, nil
}

// wait notes a child that is queued, unless what it belongs to is being stopped.
func (s *Sessions) wait(id string, w *waiting) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refused(w.ancestors); err != nil {
		return err
	}
	s.queued[id] = w
	return nil
}

// refused tells why nothing may begin below some sessions: the application closes,
// or the run of one of them was stopped and has not ended yet.
func (s *Sessions) refused(ancestors []string) error {
	if s.closed {
		return ErrClosed
	}
	for _, a := range ancestors {
		if r := s.runs[a]; r != nil && r.ctx.Err() != nil {
			return fmt.Errorf("ancestor %s: %w", a, ErrStopped)
		}
	}
	return nil
}

// leave stores where a child that was queued stands now, and gives back its hold.
func (s *Sessions) leave(ctx context.Context, id string, w *waiting, status plug.ChildStatus) error {
	defer w.release()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeLimit)
	defer cancel()
	_, err := s.o.Store.SetStatus(ctx, id, string(status), string(plug.ChildQueued))
	return err
}

// SetStatus implements plug.Sessions.
func (s *Sessions) SetStatus(ctx context.Context, id string, status plug.ChildStatus) error {
	if err := s.setStatus(ctx, id, status); err != nil {
		return fmt.Errorf("set status of session %s: %w", id, err)
	}
	return nil
}

func (s *Sessions) setStatus(ctx context.Context, id string, status plug.ChildStatus) error {
	settable := []plug.ChildStatus{plug.ChildQueued, plug.ChildCompleted, plug.ChildFailed, plug.ChildCancelled, plug.ChildInterrupted}
	if !slices.Contains(settable, status) {
		return fmt.Errorf("%.40q is none that a child can be given", status)
	}
	l, err := s.below(ctx, id)
	if err != nil {
		return err
	}
	release, err := s.o.Hold(ctx, l.root())
	if err != nil {
		return err
	}
	if s.IsRunning(id) {
		release()
		return &session.BusyError{Session: id}
	}
	from := make([]string, 0, len(settable)+1)
	for _, each := range settable {
		from = append(from, string(each))
	}
	done, err := s.o.Store.SetStatus(ctx, id, string(status), append(from, l.heads[0].Status)...)
	if err != nil || !done {
		release()
		if err == nil {
			err = &session.BusyError{Session: id} // a run began in between
		}
		return err
	}
	return s.swap(ctx, id, status, &waiting{ancestors: l.ancestors(), release: release})
}

// swap notes that a child is queued, or no longer, behind a change of its status. The
// hold of one of the two, the new and the old, is kept.
func (s *Sessions) swap(ctx context.Context, id string, status plug.ChildStatus, w *waiting) error {
	if status == plug.ChildQueued {
		s.mu.Lock()
		had := s.queued[id]
		s.mu.Unlock()
		if had == nil {
			if err := s.wait(id, w); err != nil {
				return errors.Join(err, s.leave(ctx, id, w, plug.ChildCancelled))
			}
			return nil
		}
	} else if had := s.take(id); had != nil {
		had.release()
	}
	w.release()
	return nil
}

// take takes a child out of those that are queued; nil: it is none.
func (s *Sessions) take(id string) *waiting {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.queued[id]
	delete(s.queued, id)
	return w
}

// below is the way up from a child; a session whose way up is broken has no root
// whose lock could be held.
func (s *Sessions) below(ctx context.Context, id string) (lineage, error) {
	l, err := s.lineage(ctx, id)
	switch {
	case err != nil:
		return l, err
	case l.broken != nil:
		return l, l.broken
	case len(l.heads) == 1:
		return l, ErrNoChild
	case l.heads[0].Foreign:
		return l, l.unread[0]
	}
	return l, nil
}
