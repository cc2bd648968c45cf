package session

import (
	"context"
	"fmt"
	"slices"
	"time"

	"alisio/agent/session/archive"
	"alisio/db"
)

// ChildHead is what a store keeps of a child beside its conversation.
type ChildHead struct {
	Session
	// Options is what CreateChild was given, or another program wrote; empty: none.
	Options string
	// Foreign: the session was imported and no person has adopted it. Whoever made
	// the export chose all that stands here.
	Foreign bool
}

// Children is what a store implements that can keep child sessions.
type Children interface {
	// CreateChild adds a session below another, ErrNotFound if there is no such
	// parent. The options are a JSON object that the store does not read.
	CreateChild(ctx context.Context, s Session, options string) error
	// Child returns the head of a session, a root too.
	Child(ctx context.Context, id string) (ChildHead, error)
	// Children returns the sessions directly below one, the first made first.
	Children(ctx context.Context, id string) ([]Session, error)
	// SetStatus gives a child a status if it has one of those in from, and reports
	// whether it did; no from: whatever it has.
	SetStatus(ctx context.Context, id, status string, from ...string) (done bool, err error)
}

var (
	_ Children = (*SQLite)(nil)
	_ Children = (*Memory)(nil)
)

// CreateChild implements Children.
func (s *SQLite) CreateChild(ctx context.Context, head Session, options string) error {
	row := toRow(head)
	row.Options = options
	return s.change(ctx, "create child session "+head.ID, func(tx *db.Tx) error {
		if _, err := tx.Session(ctx, head.Parent); err != nil {
			return err
		}
		return tx.CreateSession(row)
	})
}

// Child implements Children.
func (s *SQLite) Child(ctx context.Context, id string) (ChildHead, error) {
	row, err := s.db.Session(ctx, id)
	if err != nil {
		return ChildHead{}, mapped("session "+id, err)
	}
	return ChildHead{
		Session: fromRow(row), Options: archive.Unmark(row.Options), Foreign: row.Imported() && !archive.Adopted(row.Options),
	}, nil
}

// Children implements Children.
func (s *SQLite) Children(ctx context.Context, id string) ([]Session, error) {
	rows, err := s.db.Children(ctx, id)
	if err != nil {
		return nil, mapped("read children of session "+id, err)
	}
	if len(rows) == 0 {
		return nil, s.there(ctx, id)
	}
	heads := make([]Session, len(rows))
	for i, r := range rows {
		heads[i] = fromRow(r)
	}
	return heads, nil
}

// SetStatus implements Children.
func (s *SQLite) SetStatus(ctx context.Context, id, status string, from ...string) (done bool, err error) {
	err = s.change(ctx, "set status of session "+id, func(tx *db.Tx) error {
		row, err := tx.Session(ctx, id)
		if err != nil {
			return err
		}
		if done = len(from) == 0 || slices.Contains(from, row.Status); !done {
			return nil
		}
		if err := tx.SetStatus(id, status); err != nil {
			return err
		}
		return tx.TouchSession(id, max(row.UpdatedMs, time.Now().UnixMilli()))
	})
	return done && err == nil, err
}

// CreateChild implements Children.
func (m *Memory) CreateChild(_ context.Context, s Session, options string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.find(s.Parent); err != nil {
		return fmt.Errorf("create child session %s: %w", s.ID, err)
	}
	if _, ok := m.sessions[s.ID]; ok {
		return fmt.Errorf("create child session %s: %w", s.ID, ErrExists)
	}
	m.sessions[s.ID] = &memorySession{head: s, calls: make(map[string]Call), options: options}
	m.below[s.Parent] = append(m.below[s.Parent], s.ID)
	return nil
}

// Child implements Children.
func (m *Memory) Child(_ context.Context, id string) (ChildHead, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.find(id)
	if err != nil {
		return ChildHead{}, err
	}
	return ChildHead{Session: s.head, Options: s.options}, nil
}

// Children implements Children.
func (m *Memory) Children(_ context.Context, id string) ([]Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.find(id); err != nil {
		return nil, err
	}
	var heads []Session
	for _, child := range m.below[id] {
		heads = append(heads, m.sessions[child].head)
	}
	return heads, nil
}

// SetStatus implements Children.
func (m *Memory) SetStatus(_ context.Context, id, status string, from ...string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.find(id)
	if err != nil || len(from) > 0 && !slices.Contains(from, s.head.Status) {
		return false, err
	}
	s.head.Status, s.head.Updated = status, time.Now()
	return true, nil
}
