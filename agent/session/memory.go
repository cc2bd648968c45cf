package session

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"alisio/llm"
	"alisio/plug"
)

// Memory is a Store that lives as long as the process.
type Memory struct {
	mu       sync.Mutex
	sessions map[string]*memorySession
	events   int64
}

type memorySession struct {
	head     Session
	messages []llm.Message
	events   []plug.Event
}

// NewMemory makes an empty store.
func NewMemory() *Memory {
	return &Memory{sessions: make(map[string]*memorySession)}
}

// Create implements Store.
func (m *Memory) Create(_ context.Context, s Session) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.sessions[s.ID]; ok {
		return fmt.Errorf("create session %s: %w", s.ID, ErrExists)
	}
	m.sessions[s.ID] = &memorySession{head: s}
	return nil
}

// Session implements Store.
func (m *Memory) Session(_ context.Context, id string) (Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.find(id)
	if err != nil {
		return Session{}, err
	}
	return s.head, nil
}

// Append implements Store.
func (m *Memory) Append(_ context.Context, id string, messages ...llm.Message) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.find(id)
	if err != nil {
		return err
	}
	s.messages = append(s.messages, messages...)
	return nil
}

// Messages implements Store.
func (m *Memory) Messages(_ context.Context, id string) ([]llm.Message, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.find(id)
	if err != nil {
		return nil, err
	}
	return slices.Clone(s.messages), nil
}

// AddEvent implements Store.
func (m *Memory) AddEvent(_ context.Context, e plug.Event) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.find(e.SessionID)
	if err != nil {
		return 0, err
	}
	m.events++
	e.ID = m.events
	if done, ok := e.Data.(plug.ToolCompleted); ok {
		done.Result = nil // not part of the event, and large
		e.Data = done
	}
	s.events = append(s.events, e)
	return e.ID, nil
}

// Events implements Store.
func (m *Memory) Events(_ context.Context, id string) ([]plug.Event, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.find(id)
	if err != nil {
		return nil, err
	}
	return slices.Clone(s.events), nil
}

// Close implements Store.
func (m *Memory) Close() error { return nil }

func (m *Memory) find(id string) (*memorySession, error) {
	s, ok := m.sessions[id]
	if !ok {
		return nil, fmt.Errorf("session %s: %w", id, ErrNotFound)
	}
	return s, nil
}
