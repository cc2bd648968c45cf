package session

import (
	"context"
	"time"

	"alisio/db"
	"alisio/llm"
)

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
