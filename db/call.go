package db

import (
	"context"
	"database/sql"
	"fmt"
)

// Call is a row of the journal: pending before an effect starts, completed with
// its result after (spec runner.md, "Crash safety").
type Call struct {
	Session string
	ID      string
	// Status is Pending or Completed.
	Status string
	// Result is JSON, empty while pending.
	Result string
	// RunID, Name and Effect are empty, and times zero, in rows of older programs.
	RunID     string
	Name      string
	Effect    string
	StartedMs int64
	EndedMs   int64
}

// The states of calls.
const (
	Pending   = "pending"
	Completed = "completed"
)

func scanCall(rows *sql.Rows) (Call, error) {
	var session, id, status, result, run, name, effect text
	var started, ended number
	err := rows.Scan(&session, &id, &status, &result, &run, &name, &effect, &started, &ended)
	return Call{Session: string(session), ID: string(id), Status: string(status), Result: string(result), RunID: string(run),
		Name: string(name), Effect: string(effect), StartedMs: int64(started), EndedMs: int64(ended)}, err
}

// BeginCall stores that a call is about to have its effect; ErrExists if the
// session's journal holds the id already.
func (t *Tx) BeginCall(c Call) error {
	return t.recordOne(Fact{Kind: FactCall, Session: c.Session, Key: c.ID}, `INSERT INTO tool_calls (session, call_id, status, run_id, name, effect, started_at)
		SELECT id, ?2, 'pending', ?3, ?4, ?5, ?6 FROM sessions WHERE id = ?1`,
		c.Session, c.ID, nullText(c.RunID), nullText(c.Name), nullText(c.Effect), nullNumber(c.StartedMs))
}

// EndCall stores a call's result, whether or not the call was begun. What its
// begin stored stays.
func (t *Tx) EndCall(c Call) error {
	return t.recordOne(Fact{Kind: FactCall, Session: c.Session, Key: c.ID}, `INSERT INTO tool_calls
		(session, call_id, status, result, run_id, name, effect, started_at, ended_at)
		SELECT id, ?2, 'completed', ?3, ?4, ?5, ?6, ?7, ?8 FROM sessions WHERE id = ?1
		ON CONFLICT (session, call_id) DO UPDATE SET status = 'completed', result = excluded.result, ended_at = excluded.ended_at,
			run_id = ifnull(run_id, excluded.run_id), name = ifnull(name, excluded.name),
			effect = ifnull(effect, excluded.effect), started_at = ifnull(started_at, excluded.started_at)`,
		c.Session, c.ID, c.Result, nullText(c.RunID), nullText(c.Name), nullText(c.Effect), nullNumber(c.StartedMs), nullNumber(c.EndedMs))
}

// Calls returns the journal's rows of the ids that it holds, in their order.
func (r reads) Calls(ctx context.Context, session string, ids []string) ([]Call, error) {
	var out []Call
	for _, id := range ids {
		found, err := list(ctx, r.src, hot, `SELECT session, call_id, status, result, run_id, name, effect, started_at, ended_at
			FROM tool_calls WHERE session = ? AND call_id = ?`, scanCall, session, id)
		if err != nil {
			return nil, fmt.Errorf("read journal: %w", err)
		}
		out = append(out, found...)
	}
	return out, nil
}

// PendingCalls returns the calls of a session of which no end is known.
func (r reads) PendingCalls(ctx context.Context, session string) ([]Call, error) {
	return list(ctx, r.src, hot, `SELECT session, call_id, status, result, run_id, name, effect, started_at, ended_at
		FROM tool_calls WHERE session = ? AND status = 'pending' ORDER BY rowid`, scanCall, session)
}

// PendingEffects returns, for each session with calls of which no end is known,
// their effects.
func (r reads) PendingEffects(ctx context.Context) (map[string][]string, error) {
	all, err := list(ctx, r.src, cold, `SELECT session, effect FROM tool_calls WHERE status = 'pending'`, func(rows *sql.Rows) ([2]string, error) {
		var session, effect text
		err := rows.Scan(&session, &effect)
		return [2]string{string(session), string(effect)}, err
	})
	effects := make(map[string][]string)
	for _, p := range all {
		effects[p[0]] = append(effects[p[0]], p[1])
	}
	return effects, err
}
