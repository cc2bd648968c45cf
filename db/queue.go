package db

import (
	"context"
	"database/sql"
)

// FactQueued is a text that waits for a session, or no longer.
const FactQueued Kind = "queued text"

// Queued is a text that waits for the next turn of a session.
type Queued struct {
	// Seq grows within the database.
	Seq       int64
	Session   string
	Text      string
	CreatedMs int64
}

// Enqueue adds a text behind those that wait for a session; ErrNotFound if there
// is no such session.
func (t *Tx) Enqueue(q Queued) error {
	_, err := t.record(Fact{Kind: FactQueued, Session: q.Session}, `INSERT INTO queue (session, text, created_ms) VALUES (?, ?, ?)`,
		q.Session, q.Text, q.CreatedMs)
	return err
}

// Dequeue takes away what waits for a session up to a number, that included.
func (t *Tx) Dequeue(session string, upTo int64) error {
	return t.recordOne(Fact{Kind: FactQueued, Session: session}, `DELETE FROM queue WHERE session = ? AND seq <= ?`, session, upTo)
}

// Queue returns the first texts that wait for a session, in their order.
func (r reads) Queue(ctx context.Context, session string, limit int) ([]Queued, error) {
	return list(ctx, r.src, hot, `SELECT seq, session, text, created_ms FROM queue WHERE session = ? ORDER BY seq LIMIT ?`,
		func(rows *sql.Rows) (Queued, error) {
			var seq, created number
			var session, body text
			err := rows.Scan(&seq, &session, &body, &created)
			return Queued{Seq: int64(seq), Session: string(session), Text: string(body), CreatedMs: int64(created)}, err
		}, session, page(limit))
}
