package db

import "strings"

// ImportedMark is how the options of an imported session begin. It is the first
// field, so that it is found without reading JSON that somebody else made.
const ImportedMark = `{"imported":`

// Imported reports whether a session was imported: its runs, and their request
// ids, are not those of its workspace.
func (s Session) Imported() bool { return strings.HasPrefix(s.Options, ImportedMark) }

// SetWorkspace sets where a session works, and its options along with it.
func (t *Tx) SetWorkspace(id, workspace, options string) error {
	return t.recordOne(Fact{Kind: FactSession, Session: id, Key: "workspace"},
		`UPDATE sessions SET workspace = ?, options = ? WHERE id = ?`, nullText(workspace), nullText(options), id)
}
