package child

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"alisio/agent/perm"
	"alisio/agent/session"
	"alisio/agent/text"
	"alisio/llm"
	"alisio/plug"
)

// lineage is a session with all above it.
type lineage struct {
	// heads are the session first, the root last.
	heads []session.ChildHead
	// specs are those of heads, zero where unread tells why one can not be read and
	// of the root.
	specs  []plug.ChildSpec
	unread []error
	// broken tells why the way up does not end in a root: nothing is known of what
	// bounds the session.
	broken error
}

// lineage reads the way up from a session. What is wrong above it is no error: it
// is in the result. Rows may be foreign, so the way may be a circle.
func (s *Sessions) lineage(ctx context.Context, id string) (lineage, error) {
	var l lineage
	for at := id; ; {
		head, err := s.o.Store.Child(ctx, at)
		switch {
		case errors.Is(err, session.ErrNotFound) && at != id:
			l.broken = fmt.Errorf("its ancestor %s is gone", at)
			return l, nil
		case err != nil:
			return l, err
		}
		l.heads = append(l.heads, head)
		var spec plug.ChildSpec
		if head.Parent == "" {
			l.specs, l.unread = append(l.specs, spec), append(l.unread, nil)
			if head.Depth > 0 {
				l.broken = fmt.Errorf("session %s has lost its parent", at)
			}
			return l, nil
		}
		if head.Foreign {
			err = errors.New("it was imported, and nobody has said where it works")
		} else {
			spec, err = decode(head.Options)
		}
		l.specs, l.unread = append(l.specs, spec), append(l.unread, err)
		if len(l.heads) > maxDepth {
			l.broken = fmt.Errorf("it is more than %d levels deep, or its own ancestor", maxDepth)
			return l, nil
		}
		at = head.Parent
	}
}

func (l lineage) root() string { return l.heads[len(l.heads)-1].ID }

// ancestors are the ids above the session, the parent first.
func (l lineage) ancestors() []string {
	var ids []string
	for _, h := range l.heads[1:] {
		ids = append(ids, h.ID)
	}
	return ids
}

// label is the agent path, from below the root down to the session.
func (l lineage) label() string {
	var names []string
	for i, h := range slices.Backward(l.heads) {
		if h.Parent == "" {
			continue
		}
		agent := l.specs[i].Agent
		if agent == "" {
			agent = label(h.Agent)
		}
		if agent == "" {
			agent = "child"
		}
		names = append(names, agent)
	}
	return strings.Join(names, separator)
}

// model is the name in the nearest spec that has one.
func (l lineage) model() string {
	for _, spec := range l.specs {
		if spec.Model != "" {
			return spec.Model
		}
	}
	return ""
}

// workspace is the directory of the nearest spec that names one, and the parent of
// the session whose spec that is.
func (l lineage) workspace() (dir, parent string) {
	for i, spec := range l.specs {
		if spec.Workspace != "" {
			return spec.Workspace, l.heads[i].Parent
		}
	}
	return "", ""
}

// ceiling is what all specs on the way up and the root's policy leave.
func (s *Sessions) ceiling(l lineage) perm.Ceiling {
	c := s.o.Ceiling(l.root())
	for i, spec := range l.specs {
		if l.unread[i] != nil {
			c = c.Meet(strictest())
		} else {
			c = c.Meet(Ceiling(spec))
		}
	}
	if l.broken != nil {
		c = c.Meet(strictest())
	}
	return c
}

// Ceiling is the most that a session may do, computed from what is stored now. The
// engine asks it for every session, whoever runs it.
func (s *Sessions) Ceiling(ctx context.Context, id string) (perm.Ceiling, error) {
	l, err := s.lineage(ctx, id)
	if err != nil {
		return strictest(), err
	}
	return s.ceiling(l), nil
}

// Capabilities implements plug.Sessions.
func (s *Sessions) Capabilities(ctx context.Context, id string) (plug.Capabilities, error) {
	c, err := s.Ceiling(ctx, id)
	if err != nil {
		return plug.Capabilities{}, fmt.Errorf("read capabilities: %w", err)
	}
	out := plug.Capabilities{ReadOnly: c.ReadOnly, Permission: plug.Permissions{
		Write: permitted(c, c.Write), Process: permitted(c, c.Process), External: permitted(c, c.External),
	}}
	for _, tool := range s.o.Tools() {
		if c.Admits(tool) {
			out.Tools = append(out.Tools, tool)
		}
	}
	slices.Sort(out.Tools)
	return out, nil
}

// Model implements plug.Sessions.
func (s *Sessions) Model(ctx context.Context, id string) (llm.Model, error) {
	l, err := s.lineage(ctx, id)
	if err != nil {
		return llm.Model{}, fmt.Errorf("read model: %w", err)
	}
	if l.broken != nil {
		return llm.Model{}, fmt.Errorf("read model of session %s: %w", id, l.broken)
	}
	return s.o.Resolve(ctx, l.root(), l.model())
}

// Workspace implements plug.Sessions.
func (s *Sessions) Workspace(ctx context.Context, id string) (string, error) {
	l, err := s.lineage(ctx, id)
	if err != nil {
		return "", fmt.Errorf("read workspace: %w", err)
	}
	if dir, _ := l.workspace(); dir != "" {
		return dir, nil
	}
	return l.heads[len(l.heads)-1].Workspace, nil
}

// Get implements plug.Sessions.
func (s *Sessions) Get(ctx context.Context, id string) (plug.Child, error) {
	head, err := s.o.Store.Child(ctx, id)
	if err != nil {
		return plug.Child{}, fmt.Errorf("read child: %w", err)
	}
	return seen(head.Session), nil
}

// Children implements plug.Sessions.
func (s *Sessions) Children(ctx context.Context, id string) ([]plug.Child, error) {
	heads, err := s.o.Store.Children(ctx, id)
	if err != nil {
		return nil, err
	}
	all := make([]plug.Child, len(heads))
	for i, h := range heads {
		all[i] = seen(h)
	}
	return all, nil
}

// Ancestors implements plug.Sessions. Where the way up is broken it returns what
// there is.
func (s *Sessions) Ancestors(ctx context.Context, id string) ([]plug.Child, error) {
	l, err := s.lineage(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read ancestors: %w", err)
	}
	var all []plug.Child
	for _, h := range l.heads[1:] {
		all = append(all, seen(h.Session))
	}
	return all, nil
}

// Enqueue implements plug.Sessions.
func (s *Sessions) Enqueue(ctx context.Context, id, text string) error {
	return s.o.Store.Enqueue(ctx, id, text)
}

// seen is a session as plugins see it. A status that is none, of another program,
// is one of which nobody knows how it ended.
func seen(h session.Session) plug.Child {
	c := plug.Child{
		ID: h.ID, Parent: h.Parent, Depth: max(h.Depth, 0), Title: text.OneLine(h.Title, maxTitle), Agent: label(h.Agent), Model: h.Model,
		Created: h.Created, Updated: h.Updated,
	}
	if h.Parent == "" {
		return c
	}
	switch status := plug.ChildStatus(h.Status); status {
	case plug.ChildQueued, plug.ChildRunning, plug.ChildCompleted, plug.ChildFailed, plug.ChildCancelled, plug.ChildInterrupted:
		c.Status = status
	default:
		c.Status = plug.ChildInterrupted
	}
	return c
}
