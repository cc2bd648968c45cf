package db

import (
	"fmt"
	"slices"
	"strings"
)

// shape lists the columns of a database's tables as "table.column", in lower case.
// A virtual table has none here: what makes it may not be in this program.
const shape = `SELECT lower(m.name || '.' || ifnull(p.name, ''))
	FROM sqlite_master m LEFT JOIN pragma_table_info(iif(m.rootpage, m.name, '')) p
	WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\_%' ESCAPE '\' LIMIT 10000`

// ForeignError tells that a database is another program's.
type ForeignError struct {
	Path string
	why  string
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("%q is the database of another program: %s", e.Path, e.why)
}

// checkColumns tells whether a database of a newer program still has all that
// this one reads and writes. It is opened as it is, or refused.
func (d *DB) checkColumns(version int64) error {
	there, err := d.shape()
	if err != nil {
		return err
	}
	for _, t := range usedColumns {
		if name := lacking(there, t.name+".", t.columns); name != "" {
			return fmt.Errorf("%q was changed by a newer alisio (version %d) and has no %s.%s: update alisio", d.path, version, t.name, name)
		}
	}
	return nil
}

// checkFirst refuses a database with tables that do not have the shape that the
// first version gave them: another program has tables of such names.
func checkFirst(path string, there []string) error {
	has := func(table string) bool {
		return slices.ContainsFunc(there, func(c string) bool { return strings.HasPrefix(c, table+".") })
	}
	if len(there) > 0 && !has("sessions") {
		table, _, _ := strings.Cut(there[0], ".")
		return &ForeignError{path, fmt.Sprintf("it has a table %.40q and no sessions", table)}
	}
	for _, t := range firstColumns {
		if name := lacking(there, t.name+".", t.columns); name != "" && has(t.name) {
			return &ForeignError{path, fmt.Sprintf("its table %s has no column %s", t.name, name)}
		}
	}
	return nil
}

// lacking returns the first of some columns that is not there, when table stands
// before it.
func lacking(there []string, table, columns string) string {
	for _, name := range strings.Fields(columns) {
		if !slices.Contains(there, table+name) {
			return name
		}
	}
	return ""
}

// firstColumns are the columns of version 1, which all later ones have too.
var firstColumns = []struct{ name, columns string }{
	{"sessions", "id workspace provider model locked_pid"},
	{"messages", "seq session body"},
	{"tool_calls", "session call_id status result"},
	{"events", "seq session run_id type body"},
	{"plugin_state", "plugin key value"},
	{"schema_migrations", "version"},
}

// usedColumns are the columns that the statements of this package name.
var usedColumns = []struct{ name, columns string }{
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
