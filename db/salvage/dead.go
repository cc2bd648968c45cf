package salvage

import (
	"database/sql"
	"slices"

	"alisio/db/pages"
)

// The tables that tell what was deleted.
const (
	sessionsTable  = "sessions"
	deletionsTable = "deletions"
)

// dead tells what was deleted from what was lost: rows which nothing leads to may be
// either, whatever a list of free pages says that may be damaged itself.
type dead struct {
	// live are the sessions that the damaged database has by its table or an index
	// of it; nil where neither could be read.
	live map[string]bool
	// gone are, without these, the sessions of which a record says that they were
	// deleted, those below them, and none that was found where it belongs.
	gone map[string]bool
	// strays are the rowids of sessions that were on pages which may be free.
	strays []int64
}

// has reports whether a row was deleted: the table's index does not know its number,
// or it belongs to a deleted session, or is one: its number may be another's by now.
func (d *dead) has(t *table, id int64, values []pages.Value) bool {
	numbered := false // no other row has ever had its number
	name := ""
	switch t.name {
	case sessionsTable:
		name = "id"
	case "messages", "events", "tool_calls", "runs", "blob_refs", "queue":
		name, numbered = "session", t.name == "messages" || t.name == "events" || t.name == "queue"
	}
	if t.indexed {
		if _, found := slices.BinarySearch(t.live, id); !found || numbered || d.live == nil {
			return !found
		}
	}
	for i, c := range t.stored() {
		if c.name != name || i >= len(values) || values[i].Kind != pages.Text {
			continue
		}
		id := string(values[i].Bytes)
		if d.live != nil {
			return !d.live[id]
		}
		return d.gone[id]
	}
	return false
}

// stages are the tables whose lost rows are added one after the other: each stage
// tells what of the next was deleted.
func (s *salvager) stages() ([][]*table, error) {
	if !s.Pages.FreeKnown() {
		s.tell(false, "not all free pages are known: the indexes, and the records of deleted sessions, say what was deleted")
	}
	for _, t := range s.tables {
		if err := t.index(); err != nil {
			return nil, err
		}
	}
	live, err := s.texts(`SELECT id FROM old.sessions`)
	if err != nil && !damage(err) {
		return nil, err
	}
	if err == nil {
		found, err := s.texts(`SELECT id FROM main.sessions`)
		s.dead.live = set(append(live, found...))
		return [][]*table{s.tables}, err
	}
	stages := make([][]*table, 3)
	for _, t := range s.tables {
		i := 2
		switch t.name {
		case deletionsTable:
			i = 0
		case sessionsTable:
			i = 1
		}
		stages[i] = append(stages[i], t)
	}
	return stages, nil
}

// index asks the damaged database for the numbers of all rows. An index, from which
// SQLite takes them where there is one, knows them though the table is broken.
func (t *table) index() error {
	if t.walked || t.keyed || len(t.shared) == 0 {
		return nil
	}
	err := t.s.each(`SELECT `+t.rowid+` FROM old.`+quote(t.name), func(rows *sql.Rows) error {
		var n int64
		err := rows.Scan(&n)
		t.live = append(t.live, n)
		return err
	})
	if err != nil && !damage(err) {
		return err
	}
	t.indexed = err == nil
	slices.Sort(t.live)
	return nil
}

// bury finds out which sessions are gone, and takes them out again. Sessions that
// were found where they belong are not: one may have been deleted and imported
// again.
func (s *salvager) bury() {
	if s.dead.live != nil || s.dead.gone != nil {
		return
	}
	s.dead.gone = map[string]bool{}
	rows, below := map[string]int64{}, map[string][]string{}
	for _, n := range s.dead.strays {
		var id, parent sql.NullString
		if err := s.Conn.QueryRowContext(s.ctx, `SELECT id, parent_id FROM main.sessions WHERE rowid = ?`, n).Scan(&id, &parent); err == nil {
			rows[id.String] = n
			below[parent.String] = append(below[parent.String], id.String)
		}
	}
	all, _ := s.texts(`SELECT id FROM main.sessions`)
	found := set(all)
	// A schema of before there were records has none.
	left, _ := s.texts(`SELECT session FROM main.deletions`)
	for len(left) > 0 {
		id := left[len(left)-1]
		left = left[:len(left)-1]
		n, stray := rows[id]
		if s.dead.gone[id] || found[id] && !stray {
			continue
		}
		s.dead.gone[id] = true
		left = append(left, below[id]...)
		if stray && s.exec(`DELETE FROM main.sessions WHERE rowid = ?`, n) == nil {
			s.table(sessionsTable).found--
		}
	}
}

// orphans takes out sessions of pages that may be free of which there is no message,
// and no parent: of those below a deleted one the rows between may be gone.
func (s *salvager) orphans() {
	for more := s.dead.gone != nil; more; {
		more = false
		for _, n := range s.dead.strays {
			r, err := s.Conn.ExecContext(s.ctx, `DELETE FROM main.sessions WHERE rowid = ? AND parent_id NOT IN (SELECT id FROM main.sessions)
				AND NOT EXISTS (SELECT 1 FROM main.messages m WHERE m.session = sessions.id)`, n)
			if err != nil {
				return
			}
			if k, _ := r.RowsAffected(); k > 0 {
				s.table(sessionsTable).found--
				more = true
			}
		}
	}
}

func (s *salvager) table(name string) *table {
	i := slices.IndexFunc(s.tables, func(t *table) bool { return t.name == name })
	return s.tables[i]
}

func set(all []string) map[string]bool {
	out := make(map[string]bool, len(all))
	for _, s := range all {
		out[s] = true
	}
	return out
}
