package db

import (
	"context"
	"database/sql"
)

// Counts says how much a session holds, its children not counted in.
type Counts struct {
	Messages int
	Events   int
	Calls    int
	Runs     int
	// Bytes are those of all bodies and results.
	Bytes int64
}

// Counts counts a session's rows. It reads all of them: it is for the preview of
// a deletion, not for lists.
func (r reads) Counts(ctx context.Context, session string) (Counts, error) {
	return one(ctx, r.src, cold, `SELECT m.n, e.n, c.n, (SELECT count(*) FROM runs WHERE session = ?1), m.bytes + e.bytes + c.bytes FROM
		(SELECT count(*) AS n, ifnull(sum(octet_length(body)), 0) AS bytes FROM messages WHERE session = ?1) m,
		(SELECT count(*) AS n, ifnull(sum(octet_length(body)), 0) AS bytes FROM events WHERE session = ?1) e,
		(SELECT count(*) AS n, ifnull(sum(octet_length(result)), 0) AS bytes FROM tool_calls WHERE session = ?1) c`,
		func(rows *sql.Rows) (Counts, error) {
			var messages, events, calls, runs, bytes number
			err := rows.Scan(&messages, &events, &calls, &runs, &bytes)
			return Counts{Messages: int(messages), Events: int(events), Calls: int(calls), Runs: int(runs), Bytes: int64(bytes)}, err
		}, session)
}

// CountMessages returns how many messages of a session are kept. It reads an
// index alone.
func (r reads) CountMessages(ctx context.Context, session string) (int, error) {
	n, err := one(ctx, r.src, cold, `SELECT count(*) FROM messages WHERE session = ?`, scanNumber, session)
	return int(n), err
}

// CountSessions returns how many sessions a list without a limit has, and counts no
// further than most. It reads their rows, and makes nothing of them.
func (r reads) CountSessions(ctx context.Context, q SessionQuery, most int) (int, error) {
	const open = `SELECT count(*) FROM (SELECT 1 FROM sessions WHERE (?1 OR parent_id IS NULL) AND (?2 OR archived_at IS NULL)`
	args := []any{bit(q.Children), bit(q.Archived), most}
	query := open + ` LIMIT ?3)`
	if q.Workspace != "" {
		query, args = open+` AND workspace = ?4 LIMIT ?3)`, append(args, q.Workspace)
	}
	n, err := one(ctx, r.src, cold, query, scanNumber, args...)
	return int(n), err
}
