package db

import (
	"context"
	"database/sql"
)

// Workspace is a directory that sessions work in.
type Workspace struct {
	Path         string
	Label        string
	Pinned       bool
	LastOpenedMs int64
}

// OpenWorkspace notes that a workspace was opened, in ms since the epoch.
func (t *Tx) OpenWorkspace(path string, ms int64) error {
	_, err := t.record(Fact{Kind: FactWorkspace, Key: path}, `INSERT INTO workspaces (path, last_opened_at) VALUES (?, ?)
		ON CONFLICT (path) DO UPDATE SET last_opened_at = excluded.last_opened_at`, path, nullNumber(ms))
	return err
}

// LabelWorkspace sets a workspace's label, empty for none, and whether it is
// pinned; nil leaves either as it is.
func (t *Tx) LabelWorkspace(path string, label *string, pinned *bool) error {
	f := Fact{Kind: FactWorkspace, Key: path}
	if label != nil {
		if _, err := t.record(f, `INSERT INTO workspaces (path, label) VALUES (?, ?)
			ON CONFLICT (path) DO UPDATE SET label = excluded.label`, path, nullText(*label)); err != nil {
			return err
		}
	}
	if pinned != nil {
		if _, err := t.record(f, `INSERT INTO workspaces (path, pinned) VALUES (?, ?)
			ON CONFLICT (path) DO UPDATE SET pinned = excluded.pinned`, path, bit(*pinned)); err != nil {
			return err
		}
	}
	return nil
}

// Workspaces returns all workspaces, the last opened first.
func (r reads) Workspaces(ctx context.Context) ([]Workspace, error) {
	return list(ctx, r.src, cold, `SELECT path, label, pinned, last_opened_at FROM workspaces
		ORDER BY ifnull(last_opened_at, 0) DESC, path`, func(rows *sql.Rows) (Workspace, error) {
		var path, label text
		var pinned, opened number
		err := rows.Scan(&path, &label, &pinned, &opened)
		return Workspace{Path: string(path), Label: string(label), Pinned: pinned != 0, LastOpenedMs: int64(opened)}, err
	})
}
