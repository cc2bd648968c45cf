package session

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"alisio/llm"
	"alisio/plug"
)

// Memory is a Store that lives as long as the process. Of the optional interfaces
// it has Queue and Compactor alone: the engine works with it, unjournalled.
type Memory struct {
	mu       sync.Mutex
	sessions map[string]*memorySession
	locks    map[string]bool
	below    map[string][]string          // the children of sessions, in order
	states   map[string]map[string]string // by plugin and key
	events   int64
}

type memorySession struct {
	head     Session
	messages []llm.Message
	events   []plug.Event
	queue    []string
	calls    map[string]Call
	options  string
	// before is what the compactions replaced, the newest last.
	before []replaced
}

// replaced are messages in whose place so many others stand.
type replaced struct {
	messages []llm.Message
	by       int
}

// NewMemory makes an empty store.
func NewMemory() *Memory {
	return &Memory{sessions: make(map[string]*memorySession), locks: make(map[string]bool), below: make(map[string][]string),
		states: make(map[string]map[string]string)}
}

// Create implements Store.
func (m *Memory) Create(_ context.Context, s Session) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.sessions[s.ID]; ok {
		return fmt.Errorf("create session %s: %w", s.ID, ErrExists)
	}
	m.sessions[s.ID] = &memorySession{head: s, calls: make(map[string]Call)}
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
func (m *Memory) Append(_ context.Context, id, _ string, messages ...llm.Message) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.find(id)
	if err != nil {
		return err
	}
	s.messages = append(s.messages, messages...)
	return nil
}

// Compact implements Compactor.
func (m *Memory) Compact(_ context.Context, id string, c Compaction) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.find(id)
	if err != nil {
		return err
	}
	if _, err := sources(s.messages, c.Kept); err != nil {
		return fmt.Errorf("compact session %s: %w", id, err)
	}
	now := slices.Clone(c.Kept)
	if c.Checkpoint != nil {
		now = append([]llm.Message{*c.Checkpoint}, now...)
		s.before = append(s.before, replaced{messages: s.messages, by: len(now)})
	}
	s.messages = now
	return nil
}

// UndoCompaction implements Compactor.
func (m *Memory) UndoCompaction(_ context.Context, id string) (restored int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.find(id)
	if err != nil {
		return 0, err
	}
	if len(s.before) == 0 {
		return 0, fmt.Errorf("undo compaction of session %s: %w", id, ErrNoCompaction)
	}
	before := s.before[len(s.before)-1]
	s.before = s.before[:len(s.before)-1]
	s.messages = append(slices.Clone(before.messages), s.messages[before.by:]...)
	return len(before.messages), nil
}

// LastCompaction implements Compactor.
func (m *Memory) LastCompaction(_ context.Context, id string) (checkpoint llm.Message, gone []llm.Message, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.find(id)
	if err != nil {
		return checkpoint, nil, err
	}
	if len(s.before) == 0 {
		return checkpoint, nil, fmt.Errorf("read session %s: %w", id, ErrNoCompaction)
	}
	r := s.before[len(s.before)-1]
	return s.messages[0], slices.Clone(r.messages[:len(r.messages)-r.by+1]), nil
}

// AddUsage implements Compactor; no usage of a session is kept here.
func (m *Memory) AddUsage(context.Context, string, llm.Usage) error { return nil }

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
func (m *Memory) AddEvent(_ context.Context, e plug.Event, messages ...llm.Message) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.addEvent(e)
	if err == nil {
		s := m.sessions[e.SessionID]
		s.messages = append(s.messages, messages...)
	}
	return n, err
}

func (m *Memory) addEvent(e plug.Event) (int64, error) {
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

// BeginCall implements Store.
func (m *Memory) BeginCall(_ context.Context, c Call, events ...plug.Event) ([]int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.find(c.Session)
	if err != nil {
		return nil, err
	}
	if _, ok := s.calls[c.ID]; ok {
		return nil, fmt.Errorf("begin call %s: the journal holds it already", c.ID)
	}
	c.Done, c.Result = false, plug.Result{}
	s.calls[c.ID] = c
	numbers := make([]int64, len(events))
	for i, e := range events {
		if numbers[i], err = m.addEvent(e); err != nil {
			return nil, err
		}
	}
	return numbers, nil
}

// EndCall implements Store.
func (m *Memory) EndCall(_ context.Context, c Call, e plug.Event, messages ...llm.Message) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.find(c.Session)
	if err != nil {
		return 0, err
	}
	if began, ok := s.calls[c.ID]; ok {
		c.Started = began.Started
	}
	c.Done = true
	s.calls[c.ID] = c
	s.messages = append(s.messages, messages...)
	if e.Data == nil {
		return 0, nil
	}
	return m.addEvent(e)
}

// Calls implements Store.
func (m *Memory) Calls(_ context.Context, id string, callIDs ...string) ([]Call, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.find(id)
	if err != nil {
		return nil, err
	}
	var calls []Call
	for _, c := range callIDs {
		if row, ok := s.calls[c]; ok {
			calls = append(calls, row)
		}
	}
	return calls, nil
}

// Pending implements Store.
func (m *Memory) Pending(_ context.Context, id string) ([]Call, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.find(id)
	if err != nil {
		return nil, err
	}
	var calls []Call
	for _, c := range s.calls {
		if !c.Done {
			calls = append(calls, c)
		}
	}
	slices.SortFunc(calls, func(a, b Call) int { return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.ID, b.ID)) })
	return calls, nil
}

// Lock implements Store.
func (m *Memory) Lock(_ context.Context, id string) (func(), error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.locks[id] {
		return nil, &BusyError{Session: id}
	}
	m.locks[id] = true
	return sync.OnceFunc(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.locks, id)
	}), nil
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
