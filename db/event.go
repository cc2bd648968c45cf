package db

import (
	"context"
	"database/sql"
	"fmt"
)

// Event is a stored run event.
type Event struct {
	// Seq grows within the database; AddEvent gives it.
	Seq     int64
	Session string
	RunID   string
	Type    string
	// Body is the event's data, JSON.
	Body          string
	CorrelationID string
	CreatedMs     int64
	// RunSeq is the event's number in its run, zero in rows of older programs.
	RunSeq int64
}

func scanEvent(rows *sql.Rows) (Event, error) {
	var session, run, kind, body, correlation text
	var seq, created, runSeq number
	err := rows.Scan(&seq, &session, &run, &kind, &body, &correlation, &created, &runSeq)
	return Event{Seq: int64(seq), Session: string(session), RunID: string(run), Type: string(kind), Body: string(body),
		CorrelationID: string(correlation), CreatedMs: int64(created), RunSeq: int64(runSeq)}, err
}

// AddEvent adds an event to its session; ErrNotFound if there is none. The
// session's last change moves on when it is a second or more behind.
func (t *Tx) AddEvent(e Event) (seq int64, err error) {
	f := Fact{Kind: FactEvent, Session: e.Session, Key: e.RunID}
	res, err := t.record(f, `INSERT INTO events (session, run_id, type, body, correlation_id, created_at, run_seq)
		SELECT id, ?2, ?3, ?4, ?5, ?6, ?7 FROM sessions WHERE id = ?1`,
		e.Session, nullText(e.RunID), e.Type, e.Body, nullText(e.CorrelationID), nullNumber(e.CreatedMs), nullNumber(e.RunSeq))
	if err != nil {
		return 0, err
	}
	switch n, err := res.RowsAffected(); {
	case err != nil:
		return 0, fmt.Errorf("store event: %w", err)
	case n == 0:
		return 0, fmt.Errorf("store event: %w: the session", ErrNotFound)
	}
	if err := t.touch(f, e.CreatedMs); err != nil {
		return 0, err
	}
	if seq, err = res.LastInsertId(); err != nil {
		return 0, fmt.Errorf("store event: %w", err)
	}
	return seq, nil
}

// touch moves a session's last change on when it is a second or more behind: each
// time costs three pages, of the row and of two indexes.
func (t *Tx) touch(f Fact, ms int64) error {
	if last, known := t.d.writer.changes[f.Session]; known && ms < last+touchMs {
		return nil
	}
	_, err := t.record(f, `UPDATE sessions SET updated_at = ?1 WHERE id = ?2 AND ifnull(updated_at, 0) <= ?1 - ?3`, ms, f.Session, touchMs)
	if err == nil {
		t.changed(f.Session, ms)
	}
	return err
}

// touchMs is by how much a session's last change may be behind, in ms.
const touchMs = 1000

// changed notes that the row of a session tells of a change at ms. A transaction
// that is undone leaves a note that ages like the others.
func (t *Tx) changed(session string, ms int64) {
	if c := t.d.writer.changes; len(c) < 1000 || c[session] != 0 {
		c[session] = ms
	}
}

// EventsPage returns up to limit events of a session behind the number after.
// The limit is at least 1 and at most 10,000.
func (r reads) EventsPage(ctx context.Context, session string, after int64, limit int) ([]Event, error) {
	return list(ctx, r.src, cold, `SELECT seq, session, run_id, type, body, correlation_id, created_at, run_seq FROM events
		WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?`, scanEvent, session, after, page(limit))
}

// RunEvents returns the events of one run, in order.
func (r reads) RunEvents(ctx context.Context, session, run string) ([]Event, error) {
	return list(ctx, r.src, cold, `SELECT seq, session, run_id, type, body, correlation_id, created_at, run_seq FROM events
		WHERE session = ? AND run_id = ? ORDER BY seq`, scanEvent, session, run)
}

// EventsOf returns the last events of a type in a session, the newest first, at most
// limit, which is bounded like that of EventsPage. It looks at the type of each event of
// the session.
func (r reads) EventsOf(ctx context.Context, session, eventType string, limit int) ([]Event, error) {
	return list(ctx, r.src, cold, `SELECT seq, session, run_id, type, body, correlation_id, created_at, run_seq FROM events
		WHERE session = ? AND type = ? ORDER BY seq DESC LIMIT ?`, scanEvent, session, eventType, page(limit))
}

// EventsBefore counts the events of a run that are stored before the number seq.
// first is the RunSeq of the run's first event: zero in runs of older programs.
func (r reads) EventsBefore(ctx context.Context, session, run string, seq int64) (count, first int64, err error) {
	n, err := one(ctx, r.src, cold, `SELECT count(*), (SELECT run_seq FROM events WHERE session = ?1 AND run_id IS ?2 ORDER BY seq LIMIT 1)
		FROM events WHERE session = ?1 AND run_id IS ?2 AND seq < ?3`, scanTwo, session, nullText(run), seq)
	return n[0], n[1], err
}

func scanTwo(rows *sql.Rows) ([2]int64, error) {
	var a, b number
	err := rows.Scan(&a, &b)
	return [2]int64{int64(a), int64(b)}, err
}
