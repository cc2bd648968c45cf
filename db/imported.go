package db

import (
	"context"
	"encoding/json"
	"strings"
)

// ImportedMark is how the options of an imported session begin. It is the first
// field, so that it is found without reading JSON that somebody else made.
const ImportedMark = `{"imported":`

// Imported reports whether a session was imported: its runs, and their request
// ids, are not those of its workspace.
func (s Session) Imported() bool { return strings.HasPrefix(s.Options, ImportedMark) }

// SessionAlike returns the id of a session that begins with an id, or with which
// that id begins, be it the same; or ErrNotFound.
func (r reads) SessionAlike(ctx context.Context, id string) (string, error) {
	beginnings := make([]string, len(id))
	for i := range beginnings {
		beginnings[i] = id[:i+1]
	}
	page, err := json.Marshal(beginnings)
	if err != nil {
		return "", err
	}
	return one(ctx, r.src, cold, `SELECT sessions.id FROM json_each(?3) AS page CROSS JOIN sessions ON sessions.id = page.value
		UNION ALL SELECT id FROM sessions WHERE id >= ?1 AND id < ?2 LIMIT 1`,
		scanText, id, prefixEnd(id), string(page))
}

// SetWorkspace sets where a session works, and its options along with it.
func (t *Tx) SetWorkspace(id, workspace, options string) error {
	return t.recordOne(Fact{Kind: FactSession, Session: id, Key: "workspace"},
		`UPDATE sessions SET workspace = ?, options = ? WHERE id = ?`, nullText(workspace), nullText(options), id)
}
