package db

import (
	"context"
	"database/sql"
)

// CallRow is a row of the journal with its number, which grows as it is written.
type CallRow struct {
	Call
	Row int64
}

// CallsPage returns up to limit calls of a session's journal behind the number
// after, in the order in which they were written. The limit is at least 1 and at
// most 10,000. Which rows these are an index tells: results are read of no other.
func (r reads) CallsPage(ctx context.Context, session string, after int64, limit int) ([]CallRow, error) {
	return list(ctx, r.src, cold, `SELECT session, call_id, status, result, run_id, name, effect, started_at, ended_at, rowid
		FROM tool_calls WHERE rowid IN (SELECT rowid FROM tool_calls WHERE session = ? AND rowid > ? ORDER BY rowid LIMIT ?)
		ORDER BY rowid`, scanCallRow, session, after, page(limit))
}

func scanCallRow(rows *sql.Rows) (CallRow, error) {
	var session, id, status, result, run, name, effect text
	var started, ended, row number
	err := rows.Scan(&session, &id, &status, &result, &run, &name, &effect, &started, &ended, &row)
	return CallRow{Row: int64(row), Call: Call{Session: string(session), ID: string(id), Status: string(status), Result: string(result),
		RunID: string(run), Name: string(name), Effect: string(effect), StartedMs: int64(started), EndedMs: int64(ended)}}, err
}
