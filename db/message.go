package db

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Message is a stored message.
type Message struct {
	// Seq grows within the database; AppendMessage gives it.
	Seq     int64
	Session string
	RunID   string
	// Body is JSON.
	Body string
	// Compacted: it is kept and no longer sent.
	Compacted bool
	// CopyOf is the Seq of the message that this one is a copy of, zero for none.
	CopyOf int64
}

func scanMessage(rows *sql.Rows) (Message, error) {
	var session, run, body text
	var seq, compacted, copyOf number
	err := rows.Scan(&seq, &session, &run, &body, &compacted, &copyOf)
	return Message{Seq: int64(seq), Session: string(session), RunID: string(run), Body: string(body),
		Compacted: compacted != 0, CopyOf: int64(copyOf)}, err
}

// AppendMessage adds a message to the end of its session, whose last change moves
// on as by an event. ErrNotFound if there is no such session. The message's own Seq
// is ignored.
func (t *Tx) AppendMessage(m Message) (seq int64, err error) {
	f := Fact{Kind: FactMessage, Session: m.Session}
	res, err := t.record(f, `INSERT INTO messages (session, run_id, body, compacted, copy_of) VALUES (?, ?, ?, ?, ?)`,
		m.Session, nullText(m.RunID), m.Body, bit(m.Compacted), nullNumber(m.CopyOf))
	if err != nil {
		return 0, err
	}
	if err := t.touch(f, time.Now().UnixMilli()); err != nil {
		return 0, err
	}
	if seq, err = res.LastInsertId(); err != nil {
		return 0, fmt.Errorf("store message: %w", err)
	}
	return seq, nil
}

// ActiveMessages returns the messages of a session that are sent, in order.
func (r reads) ActiveMessages(ctx context.Context, session string) ([]Message, error) {
	return list(ctx, r.src, hot, `SELECT seq, session, run_id, body, compacted, copy_of FROM messages
		WHERE session = ? AND compacted = 0 ORDER BY seq`, scanMessage, session)
}

// MessagesPage returns up to limit messages of a session behind the number
// after, all that are kept. The limit is at least 1 and at most 10,000.
func (r reads) MessagesPage(ctx context.Context, session string, after int64, limit int) ([]Message, error) {
	return list(ctx, r.src, cold, `SELECT seq, session, run_id, body, compacted, copy_of FROM messages
		WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?`, scanMessage, session, after, page(limit))
}

// MessagesSince returns messages of all sessions behind the number after, in order:
// up to limit of them, bounded like that of MessagesPage, and no more once their bodies
// are longer than so many bytes together. There is one at least, if there is any.
func (r reads) MessagesSince(ctx context.Context, after int64, limit int, bytes int64) ([]Message, error) {
	type length struct{ seq, bytes number }
	lengths, err := list(ctx, r.src, cold, `SELECT seq, octet_length(body) FROM messages WHERE seq > ? ORDER BY seq LIMIT ?`,
		func(rows *sql.Rows) (l length, err error) {
			err = rows.Scan(&l.seq, &l.bytes)
			return l, err
		}, after, page(limit))
	if err != nil {
		return nil, err
	}
	last := after
	for i, l := range lengths {
		if bytes -= int64(l.bytes); bytes < 0 && i > 0 {
			break
		}
		last = int64(l.seq)
	}
	return list(ctx, r.src, cold, `SELECT seq, session, run_id, body, compacted, copy_of FROM messages
		WHERE seq > ? AND seq <= ? ORDER BY seq`, scanMessage, after, last)
}

// LastMessage is the highest number that a message ever had, also one that is gone.
func (r reads) LastMessage(ctx context.Context) (int64, error) {
	n, err := one(ctx, r.src, cold, `SELECT ifnull(max(seq), 0) FROM sqlite_sequence WHERE name = 'messages'`,
		func(rows *sql.Rows) (n number, err error) {
			err = rows.Scan(&n)
			return n, err
		})
	return int64(n), err
}
