package session

import (
	"context"
	"slices"

	"alisio/agent/session/codec"
	"alisio/db"
	"alisio/llm"
)

var _ Compactor = (*SQLite)(nil)

// Compact implements Compactor.
func (s *SQLite) Compact(ctx context.Context, id string, c Compaction) (err error) {
	act := "compact session " + id
	var head []row
	if c.Checkpoint != nil {
		if head, err = encodeRows(id, c.RunID, []llm.Message{*c.Checkpoint}); err != nil {
			return mapped(act, err)
		}
	}
	return mapped(act, s.db.Write(ctx, db.Normal, func(tx *db.Tx) error {
		leave, stay, err := s.split(ctx, tx, id, c)
		if err != nil {
			return err
		}
		if err := tx.MarkMessages(id, true, leave...); err != nil {
			return err
		}
		return appendRows(ctx, tx, append(head, stay...))
	}))
}

// split says which of the active rows of a session leave, and which copies are made
// of them. Without a checkpoint the first ones stay as they are, up to the first that
// is shortened.
func (s *SQLite) split(ctx context.Context, tx *db.Tx, id string, c Compaction) (leave []int64, copies []row, err error) {
	rows, err := tx.ActiveMessages(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	var read []llm.Message
	var of []db.Message // of read
	for _, r := range rows {
		leave = append(leave, r.Seq)
		if m, err := codec.Decode([]byte(r.Body)); err == nil {
			read, of = append(read, m), append(of, r)
		}
	}
	at, err := sources(read, c.Kept)
	if err != nil {
		return nil, nil, err
	}
	kept, err := encodeRows(id, c.RunID, c.Kept)
	if err != nil {
		return nil, nil, err
	}
	first := 0
	for c.Checkpoint == nil && first < len(kept) && kept[first].Body == of[at[first]].Body {
		first++
	}
	for i := first; i < len(kept); i++ {
		source := of[at[i]]
		copies = append(copies, row{Message: db.Message{Session: id, RunID: source.RunID, Body: kept[i].Body, CopyOf: source.Seq}})
	}
	if c.Checkpoint == nil {
		if first == len(kept) {
			return nil, nil, nil
		}
		from := of[at[first]].Seq
		leave = slices.DeleteFunc(leave, func(seq int64) bool { return seq < from })
	}
	return leave, copies, nil
}

// UndoCompaction implements Compactor.
func (s *SQLite) UndoCompaction(ctx context.Context, id string) (restored int, err error) {
	err = s.db.Write(ctx, db.Normal, func(tx *db.Tx) error {
		rows, before, err := places(ctx, tx, id)
		if err != nil {
			return err
		}
		drop, now, ok := undone(rows)
		if !ok {
			return ErrNoCompaction
		}
		if err := tx.DropMessages(id, drop...); err != nil {
			return err
		}
		var back []int64
		for _, seq := range now {
			if !before[seq] {
				back = append(back, seq)
			}
		}
		restored = len(back)
		return tx.MarkMessages(id, false, back...)
	})
	return restored, mapped("undo compaction of session "+id, err)
}

// LastCompaction implements Compactor. What can not be read is left out.
func (s *SQLite) LastCompaction(ctx context.Context, id string) (checkpoint llm.Message, replaced []llm.Message, err error) {
	if err := s.there(ctx, id); err != nil {
		return checkpoint, nil, err
	}
	rows, _, err := places(ctx, s.db, id)
	if err != nil {
		return checkpoint, nil, mapped("read session "+id, err)
	}
	at, gone, ok := last(rows)
	if !ok {
		return checkpoint, nil, mapped("read session "+id, ErrNoCompaction)
	}
	for after := int64(0); after < at; {
		page, err := s.db.MessagesPage(ctx, id, after, rowsAtOnce)
		if err != nil || len(page) == 0 {
			return checkpoint, replaced, mapped("read session "+id, err)
		}
		for _, r := range page {
			after = r.Seq
			_, wanted := slices.BinarySearch(gone, r.Seq)
			if r.Seq != at && !wanted {
				continue
			}
			switch m, err := codec.Decode([]byte(r.Body)); {
			case err != nil:
			case r.Seq == at:
				checkpoint = m
			default:
				replaced = append(replaced, m)
			}
		}
	}
	return checkpoint, replaced, nil
}

// AddUsage implements Compactor.
func (s *SQLite) AddUsage(ctx context.Context, id string, u llm.Usage) error {
	usage, err := encodeUsage(u)
	if err != nil {
		return mapped("store session "+id, err)
	}
	return s.change(ctx, "store session "+id, func(tx *db.Tx) error { return tx.AddUsage(id, usage) })
}

// pager reads the rows of a session: the database, or what is written to it.
type pager interface {
	MessagesPage(ctx context.Context, id string, after int64, limit int) ([]db.Message, error)
}

// places reads what of the rows of a session decides whether they are active, and
// which are.
func places(ctx context.Context, from pager, id string) (rows []place, active map[int64]bool, err error) {
	active = map[int64]bool{}
	for after := int64(0); ; {
		page, err := from.MessagesPage(ctx, id, after, rowsAtOnce)
		if err != nil {
			return nil, nil, err
		}
		for _, r := range page {
			p := place{seq: r.Seq, copyOf: r.CopyOf}
			if r.CopyOf == 0 {
				m, err := codec.Decode([]byte(r.Body))
				p.checkpoint = err == nil && m.Summary
			}
			rows, active[r.Seq] = append(rows, p), !r.Compacted
			after = r.Seq
		}
		if len(page) < rowsAtOnce {
			return rows, active, nil
		}
	}
}
