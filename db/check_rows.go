package db

import (
	"database/sql"
	"strings"
)

// rows counts what a person may want to know of. A row that is no JSON is skipped
// when it is read; rows of a session that does not exist are not shown by any
// list. Each question waits for the columns that it needs.
func (c *checker) rows() error {
	for _, q := range []struct{ needs, query, one, many string }{
		{
			"messages.seq messages.body", `SELECT seq FROM messages WHERE NOT json_valid(body)`,
			"%d message can not be read and is skipped: number %s",
			"%d messages can not be read and are skipped: number %s",
		},
		{
			"events.seq events.body", `SELECT seq FROM events WHERE NOT json_valid(ifnull(body, 'null'))`,
			"%d event can not be read and is skipped: number %s",
			"%d events can not be read and are skipped: number %s",
		},
		{
			"tool_calls.result", `SELECT rowid FROM tool_calls WHERE NOT json_valid(ifnull(result, 'null'))`,
			"%d tool result can not be read and is skipped: number %s",
			"%d tool results can not be read and are skipped: number %s",
		},
		{
			"messages.seq messages.session sessions.id",
			`SELECT seq FROM messages m WHERE NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = m.session)`,
			"%d message belongs to no session: number %s",
			"%d messages belong to no session: number %s",
		},
		{
			"events.seq events.session sessions.id",
			`SELECT seq FROM events e WHERE NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = e.session)`,
			"%d event belongs to no session: number %s",
			"%d events belong to no session: number %s",
		},
		{
			"tool_calls.session tool_calls.status", `SELECT DISTINCT session FROM tool_calls WHERE status = 'pending'`,
			"%d session has tool calls of which nobody knows how they ended: %s",
			"%d sessions have tool calls of which nobody knows how they ended: %s",
		},
		{
			"runs.id runs.status", `SELECT id FROM runs WHERE status IN ('queued', 'running')`,
			"%d run is open: %s",
			"%d runs are open: %s",
		},
	} {
		if !c.has(q.needs) {
			continue
		}
		if err := c.count(q.query, q.one, q.many); err != nil {
			return err
		}
	}
	return nil
}

// count adds a note with how many rows a query gives and the first of them, in the
// words for one or for many.
func (c *checker) count(query, one, many string) error {
	n, first := 0, []string(nil)
	err := c.d.query(c.ctx, cold, query, func(rows *sql.Rows) error {
		n, first = 0, nil
		for rows.Next() {
			s, err := scanText(rows)
			if err != nil {
				return err
			}
			if n++; len(first) < shown {
				first = append(first, s)
			}
		}
		return nil
	})
	if n == 1 {
		many = one
	}
	if err == nil && n > 0 {
		c.r.Add(Note, "", many, n, strings.Join(first, ", "))
	}
	return err
}
