package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"alisio/db"
	"alisio/llm"
)

// What the queue of a session may hold (spec runner.md).
const (
	MaxQueued      = 20
	MaxQueuedChars = 50_000
)

var (
	// ErrQueueFull tells that a session's queue holds MaxQueued texts.
	ErrQueueFull = errors.New("the queue is full")
	// ErrQueueText tells of a text that can not be queued.
	ErrQueueText = errors.New("the text can not be queued")
)

// Queue is what a store implements that keeps texts for the next turn of a
// session's run, or for its next run. A text is in the queue or in the transcript,
// whatever happens: never in both, and never in none.
type Queue interface {
	// Enqueue adds a text behind those that wait. The session must exist;
	// ErrQueueFull and ErrQueueText tell why one was not taken.
	Enqueue(ctx context.Context, id, text string) error
	// Drain moves all texts, in one commit, from the queue to the end of the
	// history, where each is a user message of the run, and returns these in order.
	// An empty queue stores nothing.
	Drain(ctx context.Context, id, runID string) ([]llm.Message, error)
	// Queued returns the texts that wait, the first come first.
	Queued(ctx context.Context, id string) ([]string, error)
}

// queueable checks a text that is to join a queue of so many, and makes it valid
// UTF-8.
func queueable(text string, waiting int) (string, error) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	switch n := utf8.RuneCountInString(text); {
	case strings.TrimSpace(text) == "":
		return "", fmt.Errorf("%w: it is empty", ErrQueueText)
	case n > MaxQueuedChars:
		return "", fmt.Errorf("%w: it has %d characters, more than %d", ErrQueueText, n, MaxQueuedChars)
	case waiting >= MaxQueued:
		return "", fmt.Errorf("%w: %d texts wait for the next turn", ErrQueueFull, waiting)
	}
	return text, nil
}

// queuedMessage is what a text becomes.
func queuedMessage(text string) llm.Message { return llm.Message{Role: llm.RoleUser, Text: text} }

// Enqueue implements Queue.
func (m *Memory) Enqueue(_ context.Context, id, text string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.find(id)
	if err == nil {
		text, err = queueable(text, len(s.queue))
	}
	if err != nil {
		return fmt.Errorf("enqueue: %w", err)
	}
	s.queue = append(s.queue, text)
	return nil
}

// Drain implements Queue.
func (m *Memory) Drain(_ context.Context, id, _ string) ([]llm.Message, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.find(id)
	if err != nil {
		return nil, fmt.Errorf("drain queue: %w", err)
	}
	var moved []llm.Message
	for _, text := range s.queue {
		moved = append(moved, queuedMessage(text))
	}
	s.messages, s.queue = append(s.messages, moved...), nil
	return moved, nil
}

// Queued implements Queue.
func (m *Memory) Queued(_ context.Context, id string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.find(id)
	if err != nil {
		return nil, fmt.Errorf("read queue: %w", err)
	}
	return append([]string(nil), s.queue...), nil
}

var _ Queue = (*SQLite)(nil)

// allQueued is more than ever wait, whoever wrote the rows.
const allQueued = 1000

// Enqueue implements Queue.
func (s *SQLite) Enqueue(ctx context.Context, id, text string) error {
	return s.change(ctx, "enqueue for session "+id, func(tx *db.Tx) error {
		waiting, err := tx.Queue(ctx, id, allQueued)
		if err != nil {
			return err
		}
		valid, err := queueable(text, len(waiting))
		if err != nil {
			return err
		}
		return tx.Enqueue(db.Queued{Session: id, Text: valid, CreatedMs: time.Now().UnixMilli()})
	})
}

// Drain implements Queue, in one transaction; in none where nothing waits, as
// nearly always.
func (s *SQLite) Drain(ctx context.Context, id, runID string) ([]llm.Message, error) {
	act := "drain the queue of session " + id
	waiting, err := s.db.Queue(ctx, id, 1)
	if err != nil {
		return nil, mapped(act, err)
	}
	if len(waiting) == 0 {
		return nil, s.there(ctx, id)
	}
	var moved []llm.Message
	err = s.change(ctx, act, func(tx *db.Tx) error {
		moved = nil
		waiting, err := tx.Queue(ctx, id, allQueued)
		if err != nil || len(waiting) == 0 {
			return err
		}
		for _, q := range waiting {
			moved = append(moved, queuedMessage(q.Text))
		}
		rows, err := encodeRows(id, runID, moved)
		if err != nil {
			return err
		}
		if err := appendRows(ctx, tx, rows); err != nil {
			return err
		}
		return tx.Dequeue(id, waiting[len(waiting)-1].Seq)
	})
	if err != nil {
		return nil, err
	}
	return moved, nil
}

// Queued implements Queue.
func (s *SQLite) Queued(ctx context.Context, id string) ([]string, error) {
	waiting, err := s.db.Queue(ctx, id, allQueued)
	if err != nil {
		return nil, mapped("read the queue of session "+id, err)
	}
	if len(waiting) == 0 {
		return nil, s.there(ctx, id)
	}
	texts := make([]string, len(waiting))
	for i, q := range waiting {
		texts[i] = q.Text
	}
	return texts, nil
}
