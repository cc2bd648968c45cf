package db

import (
	"context"
	"database/sql"
	"encoding/json"
)

// LastRuns returns the states of the last stored runs of sessions, by session:
// for a page of a list in one query, which costs each session one look at an
// index. Sessions without a run are left out.
func (r reads) LastRuns(ctx context.Context, sessions []string) (map[string]string, error) {
	ids, err := json.Marshal(sessions)
	if err != nil {
		return nil, err
	}
	rows, err := list(ctx, r.src, cold, `SELECT session, status FROM json_each(?) AS page CROSS JOIN runs
		ON runs.rowid = (SELECT max(rowid) FROM runs WHERE session = page.value)`, func(rows *sql.Rows) ([2]string, error) {
		var session, status text
		err := rows.Scan(&session, &status)
		return [2]string{string(session), string(status)}, err
	}, string(ids))
	last := make(map[string]string, len(rows))
	for _, row := range rows {
		last[row[0]] = row[1]
	}
	return last, err
}
