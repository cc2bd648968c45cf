package db

import (
	"context"
	"database/sql"

	"alisio/db/salvage"
)

// sessionsBatch is how many sessions are made up in one transaction.
const sessionsBatch = 500

// makeSessions makes a session for every id that messages, events, runs, calls or
// queued texts name and that has none: without it nobody could reach them. What was
// written of a deleted session behind its end makes none. It returns how many it made.
func makeSessions(ctx context.Context, d *DB) (made int, err error) {
	ids, err := list(ctx, d, cold, `SELECT id FROM (
		SELECT session AS id FROM messages UNION SELECT id FROM (SELECT session AS id FROM events UNION SELECT session FROM runs
		UNION SELECT session FROM tool_calls UNION SELECT session FROM queue) WHERE id NOT IN (SELECT session FROM deletions)) n
		WHERE n.id <> '' AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = n.id)`, scanText)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	workspace := ""
	if all, err := d.Workspaces(ctx); err != nil {
		return 0, err
	} else if len(all) == 1 {
		workspace = all[0].Path
	}
	for len(ids) > 0 {
		batch := ids[:min(len(ids), sessionsBatch)]
		ids = ids[len(batch):]
		err := d.Write(ctx, Full, func(t *Tx) error {
			for _, id := range batch {
				s, err := t.guess(ctx, id)
				if err != nil {
					return err
				}
				s.Workspace = workspace
				if err := t.CreateSession(s); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return made, err
		}
		made += len(batch)
	}
	return made, nil
}

// guess says of a lost session what its rows still tell.
func (t *Tx) guess(ctx context.Context, id string) (Session, error) {
	s, err := one(ctx, t, cold, `SELECT min(at), max(at), (SELECT model FROM runs WHERE session = ?1 ORDER BY created_at DESC, rowid DESC LIMIT 1)
		FROM (SELECT created_at AS at FROM events WHERE session = ?1
		UNION ALL SELECT created_at FROM runs WHERE session = ?1 UNION ALL SELECT ended_at FROM runs WHERE session = ?1) WHERE at > 0`,
		func(rows *sql.Rows) (Session, error) {
			var first, last number
			var model text
			err := rows.Scan(&first, &last, &model)
			return Session{ID: id, Model: string(model), CreatedMs: int64(first), UpdatedMs: int64(last)}, err
		}, id)
	if err != nil {
		return s, err
	}
	// What no person said is no title.
	bodies, err := list(ctx, t, cold, `SELECT body FROM messages WHERE session = ? AND iif(json_valid(body), body ->> '$.role' || ifnull(body ->> '$.context', ''), '') = 'user'
		ORDER BY seq LIMIT 1`, scanText, id)
	if err == nil && len(bodies) > 0 {
		s.Title = salvage.Title(bodies[0])
	}
	return s, err
}
