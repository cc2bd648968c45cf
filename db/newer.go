package db

import (
	"fmt"
	"slices"
	"strings"
)

// checkColumns tells whether a database of a newer program still has all that
// this one reads and writes. It is opened as it is, or refused.
func (d *DB) checkColumns(version int64) error {
	for _, t := range usedColumns {
		there, err := d.columns(t.table)
		if err != nil {
			return err
		}
		for _, name := range strings.Fields(t.columns) {
			if !slices.Contains(there, name) {
				return fmt.Errorf("%q was changed by a newer alisio (version %d) and has no %s.%s: update alisio", d.path, version, t.table, name)
			}
		}
	}
	return nil
}

// checkFirst refuses a database with tables that do not have the shape that the
// first version gave them: another program has tables of such names.
func (d *DB) checkFirst(tables []string) error {
	if !slices.Contains(tables, "sessions") {
		return fmt.Errorf("%q is the database of another program: it has a table %.40q and no sessions", d.path, tables[0])
	}
	for _, t := range firstColumns {
		if !slices.Contains(tables, t.table) {
			continue
		}
		there, err := d.columns(t.table)
		if err != nil {
			return err
		}
		for _, name := range strings.Fields(t.columns) {
			if !slices.Contains(there, name) {
				return fmt.Errorf("%q is the database of another program: its table %s has no column %s", d.path, t.table, name)
			}
		}
	}
	return nil
}

// firstColumns are the columns of version 1, which all later ones have too.
var firstColumns = []struct{ table, columns string }{
	{"sessions", "id workspace provider model locked_pid"},
	{"messages", "seq session body"},
	{"tool_calls", "session call_id status result"},
	{"events", "seq session run_id type body"},
	{"plugin_state", "plugin key value"},
	{"schema_migrations", "version"},
}

// usedColumns are the columns that the statements of this package name.
var usedColumns = []struct{ table, columns string }{
	{"sessions", "id workspace provider model locked_pid parent_id depth agent status title usage options created_at updated_at pinned archived_at locked_boot locked_start"},
	{"messages", "seq session body compacted copy_of run_id"},
	{"tool_calls", "session call_id status result run_id name effect started_at ended_at"},
	{"events", "seq session run_id type body created_at correlation_id run_seq"},
	{"plugin_state", "plugin key value"},
	{"runs", "id session status request_id correlation_id owner_pid model created_at started_at ended_at error usage owner_boot owner_start"},
	{"workspaces", "path label pinned last_opened_at"},
	{"blobs", "hash mime size width height created_at"},
	{"blob_refs", "session seq hash"},
	{"deletions", "session title workspace messages deleted_at"},
}
