package db

import "context"

// CallsPage returns up to limit calls of a session's journal behind the row after,
// in the order in which they were written, and the last one's row; none at the
// end. The limit is at least 1 and at most 10,000.
func (r reads) CallsPage(ctx context.Context, session string, after int64, limit int) (calls []Call, last int64, err error) {
	last, err = one(ctx, r.src, cold, `SELECT max(rowid) FROM (SELECT rowid FROM tool_calls
		WHERE session = ? AND rowid > ? ORDER BY rowid LIMIT ?)`, scanNumber, session, after, page(limit))
	if err != nil {
		return nil, 0, err
	}
	calls, err = list(ctx, r.src, cold, `SELECT session, call_id, status, result, run_id, name, effect, started_at, ended_at
		FROM tool_calls WHERE session = ? AND rowid > ? AND rowid <= ? ORDER BY rowid`, scanCall, session, after, last)
	return calls, last, err
}
