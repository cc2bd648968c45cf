package schema

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// Columns lists the columns of a database's tables as "table.column", in lower case.
// A virtual table has none here: what makes it may not be in this program.
func Columns(from Querier) ([]string, error) {
	found, err := column[sql.NullString](from, ColumnsQuery)
	out := make([]string, len(found))
	for i, c := range found {
		out[i] = c.String
	}
	return out, err
}

// ColumnsQuery is what Columns asks.
const ColumnsQuery = `SELECT lower(m.name || '.' || ifnull(p.name, ''))
	FROM sqlite_master m LEFT JOIN pragma_table_info(iif(m.rootpage, m.name, '')) p
	WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\_%' ESCAPE '\' LIMIT 10000`

// ForeignError tells that a database is another program's.
type ForeignError struct {
	Path string
	// Why is what it has, or lacks.
	Why string
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("%q is the database of another program: %s", e.Path, e.Why)
}

// Used are the columns that the statements of package db name, as Columns lists them.
func Used() (all []string) {
	for _, t := range usedColumns {
		for _, name := range strings.Fields(t.columns) {
			all = append(all, t.name+"."+name)
		}
	}
	return all
}

// Missing returns the first of the used columns that is not there.
func Missing(there []string) string {
	for _, name := range Used() {
		if !slices.Contains(there, name) {
			return name
		}
	}
	return ""
}

// Has reports whether all columns of a list are there, "table.column" between spaces.
func Has(there []string, columns string) bool { return lacking(there, "", columns) == "" }

// Foreign refuses a database with tables that do not have the shape that the
// first version gave them: another program has tables of such names.
func Foreign(path string, there []string) error {
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

// usedColumns are the columns that the statements of package db name.
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
	{"queue", "seq session text created_ms"},
}
