package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Run is the row of one run (spec store.md, "Runs").
type Run struct {
	ID      string
	Session string
	// Status is queued, running, or one of the states that are never left.
	Status        string
	RequestID     string
	CorrelationID string
	// OwnerPID is the process that works on it. Owner says which that is; it is
	// empty, but for the pid, in rows of older programs.
	OwnerPID  int
	Owner     Owner
	Model     string
	CreatedMs int64
	StartedMs int64
	EndedMs   int64
	Error     string
	// Usage is JSON.
	Usage string
}

const runColumns = `r.id, r.session, r.status, r.request_id, r.correlation_id, r.owner_pid, r.owner_boot, r.owner_start, r.model,
	r.created_at, r.started_at, r.ended_at, r.error, r.usage`

func scanRun(rows *sql.Rows) (Run, error) {
	var id, session, status, request, correlation, boot, model, fault, usage text
	var pid, start, created, started, ended number
	err := rows.Scan(&id, &session, &status, &request, &correlation, &pid, &boot, &start, &model,
		&created, &started, &ended, &fault, &usage)
	return Run{ID: string(id), Session: string(session), Status: string(status), RequestID: string(request),
		CorrelationID: string(correlation), OwnerPID: int(pid), Owner: Owner{PID: int(pid), Boot: string(boot), Start: int64(start)},
		Model: string(model), CreatedMs: int64(created), StartedMs: int64(started), EndedMs: int64(ended),
		Error: string(fault), Usage: string(usage)}, err
}

// BeginRun adds a run; ErrExists if its id, or its request id in that session,
// is taken, ErrNotFound if there is no such session. The transaction goes on
// after either.
func (t *Tx) BeginRun(r Run) error {
	pid := r.Owner.PID
	if pid == 0 {
		pid = r.OwnerPID
	}
	_, err := t.record(Fact{Kind: FactRun, Session: r.Session, Key: r.ID}, `INSERT INTO runs
		(id, session, status, request_id, correlation_id, owner_pid, owner_boot, owner_start, model, created_at, started_at, ended_at, error, usage)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.ID, r.Session, r.Status, nullText(r.RequestID), nullText(r.CorrelationID), nullNumber(int64(pid)), nullText(r.Owner.Boot), nullNumber(r.Owner.Start),
		nullText(r.Model), r.CreatedMs, nullNumber(r.StartedMs), nullNumber(r.EndedMs), nullText(r.Error), nullText(r.Usage))
	return err
}

// EndRun stores how a run ended: Status, EndedMs, Error and Usage. ErrEnded if
// it has ended already, ErrNotFound if it is not there.
func (t *Tx) EndRun(r Run) error {
	err := t.recordOne(Fact{Kind: FactRun, Session: r.Session, Key: r.ID}, `UPDATE runs SET status = ?, ended_at = ?, error = ?, usage = ?
		WHERE id = ? AND status IN ('queued', 'running')`, r.Status, nullNumber(r.EndedMs), nullText(r.Error), nullText(r.Usage), r.ID)
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	if _, err := t.Run(context.Background(), r.ID); err != nil {
		return err
	}
	return fmt.Errorf("store run: %w", ErrEnded)
}

// MoveRequest gives the request id of an interrupted run to the run that
// continues it, in the same session. A run without one gives none; ErrNotFound
// if there is no such interrupted run, or no run to continue it.
func (t *Tx) MoveRequest(from, to string) error {
	old, err := one(context.Background(), t, hot, `SELECT `+runColumns+` FROM runs r WHERE r.id = ? AND r.status = 'interrupted'`, scanRun, from)
	if err != nil || old.RequestID == "" {
		return err
	}
	f := Fact{Kind: FactRun, Session: old.Session, Key: from}
	if err := t.recordOne(f, `UPDATE runs SET request_id = NULL WHERE id = ?`, from); err != nil {
		return err
	}
	f.Key = to
	return t.recordOne(f, `UPDATE runs SET request_id = ? WHERE id = ? AND session = ?`, old.RequestID, to, old.Session)
}

// Run returns a run, or ErrNotFound.
func (r reads) Run(ctx context.Context, id string) (Run, error) {
	return one(ctx, r.src, hot, `SELECT `+runColumns+` FROM runs r WHERE r.id = ?`, scanRun, id)
}

// RunByRequest returns the run of a request id in a session or, if that is
// empty, the first that was stored in all sessions of a workspace; or ErrNotFound.
// Sessions that were imported count there for none: whoever made the export
// chose the ids.
func (r reads) RunByRequest(ctx context.Context, session, workspace, requestID string) (Run, error) {
	if session != "" {
		return one(ctx, r.src, hot, `SELECT `+runColumns+` FROM runs r WHERE r.session = ? AND r.request_id = ?`, scanRun, session, requestID)
	}
	// CROSS JOIN keeps the order: few runs have the request, a workspace may
	// have thousands of sessions.
	return one(ctx, r.src, hot, `SELECT `+runColumns+` FROM runs r CROSS JOIN sessions s ON s.id = r.session
		WHERE r.request_id = ?1 AND s.workspace = ?2 AND substr(ifnull(s.options, ''), 1, length(?3)) <> ?3
		ORDER BY r.rowid LIMIT 1`, scanRun, requestID, workspace, ImportedMark)
}

// Runs returns up to limit runs of a session, the last stored first, whatever
// the clock said.
func (r reads) Runs(ctx context.Context, session string, limit int) ([]Run, error) {
	return list(ctx, r.src, cold, `SELECT `+runColumns+` FROM runs r WHERE r.rowid IN
		(SELECT rowid FROM runs WHERE session = ? ORDER BY rowid DESC LIMIT ?) ORDER BY r.rowid DESC`, scanRun, session, page(limit))
}

// RunBefore returns the run of a session that was stored before another, or
// ErrNotFound.
func (r reads) RunBefore(ctx context.Context, session, id string) (Run, error) {
	return one(ctx, r.src, cold, `SELECT `+runColumns+` FROM runs r WHERE r.rowid =
		(SELECT max(rowid) FROM runs WHERE session = ?1 AND rowid < (SELECT rowid FROM runs WHERE id = ?2))`, scanRun, session, id)
}

// OpenRuns returns the runs that stand as queued or running.
func (r reads) OpenRuns(ctx context.Context) ([]Run, error) {
	return list(ctx, r.src, hot, `SELECT `+runColumns+` FROM runs r WHERE r.status IN ('queued', 'running')`, scanRun)
}
