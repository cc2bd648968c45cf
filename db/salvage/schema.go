package salvage

import (
	"database/sql"
	"slices"
	"strings"

	"alisio/db/scan"
)

// object is a row of sqlite_schema.
type object struct {
	kind, name, sql string
	root            int64
}

// schema attaches the damaged database as old and returns what can be read of
// its schema: by SQLite, and of pages that it does not find.
func (s *salvager) schema() (all []object, err error) {
	err = s.exec(`ATTACH ? AS old`, s.From)
	if err == nil {
		err = s.each(`SELECT type, name, rootpage, sql FROM old.sqlite_master`, func(rows *sql.Rows) error {
			var kind, name, text sql.NullString
			var root sql.NullInt64
			// A root that is no number makes a broken row, not a broken schema.
			if rows.Scan(&kind, &name, &root, &text) == nil {
				all = append(all, object{kind.String, name.String, text.String, root.Int64})
			}
			return nil
		})
	}
	if err != nil && !damage(err) {
		return nil, err
	}
	for _, o := range s.schemaPages() {
		if !slices.ContainsFunc(all, func(have object) bool { return have.name == o.name }) {
			all = append(all, o)
		}
	}
	for _, o := range all {
		if o.root > 0 && o.root <= 1<<32-1 {
			s.roots[uint32(o.root)] = ""
			if o.kind == "table" {
				s.roots[uint32(o.root)] = o.name
			}
		}
	}
	if err != nil && len(all) == 0 {
		s.tell(true, "nothing can be read of the schema: %v", err)
	}
	return all, nil
}

// plain reports whether an object is made by its own text: SQLite's own tables
// and automatic indexes are not, and search indexes are filled anew by others.
func (o object) plain() bool {
	sc := scan.Scanner{Text: o.sql}
	words := sc.Statement()
	if scan.At(words, 0) != "CREATE" || strings.HasPrefix(strings.ToLower(o.name), "sqlite_") {
		return false
	}
	switch o.kind {
	case "table":
		// Only a list of columns makes an empty table.
		return scan.At(words, 1) == "TABLE" && scan.At(words, 3) == "(" && sc.Statement() == nil
	case "index":
		return (scan.At(words, 1) == "INDEX" || scan.At(words, 2) == "INDEX") && sc.Statement() == nil
	}
	return o.kind == "trigger" && scan.At(words, 1) == "TRIGGER" && endsOnce(&sc)
}

// ordinary reports whether an object claims to be a table that its own text makes.
func (o object) ordinary() bool {
	sc := scan.Scanner{Text: o.sql}
	words := sc.Statement()
	return scan.At(words, 1) != "VIRTUAL" && !strings.HasPrefix(strings.ToLower(o.name), "sqlite_")
}

// endsOnce reports whether what follows a trigger's first statement is its other
// statements and its END, and nothing behind it.
func endsOnce(sc *scan.Scanner) bool {
	for {
		words := sc.Statement()
		switch scan.At(words, 0) {
		case "INSERT", "UPDATE", "DELETE", "SELECT", "REPLACE", "WITH":
		case "END":
			return len(words) == 1 && sc.Statement() == nil
		default:
			return false
		}
	}
}

// make makes the tables, and this program's own where the schema has lost some.
// It reports whether these now stand beside older ones.
func (s *salvager) make(objects []object) (hurt bool, err error) {
	made := 0
	for _, o := range objects {
		if o.kind != "table" {
			continue
		}
		if !o.plain() {
			if o.ordinary() {
				s.tell(true, "table %s can not be made again: its text has no list of columns", o.name)
				hurt = true
			}
			continue
		}
		ok, err := s.create(o)
		if err != nil {
			return false, err
		}
		if ok {
			made++
		} else {
			hurt = true
		}
	}
	s.there, err = s.texts(`SELECT lower(m.name || '.' || p.name) FROM main.sqlite_master m, pragma_table_info(m.name, 'main') p WHERE m.type = 'table'`)
	if err != nil {
		return false, err
	}
	// One that was never there, in an older database, is made by the same steps.
	if hurt = hurt || s.lacks(); hurt {
		for _, text := range s.Schema {
			if err := s.exec(text); err != nil && !damage(err) {
				return false, err
			}
		}
	}
	return hurt && made > 0, nil
}

// lacks reports whether the new database is without a table of this program.
func (s *salvager) lacks() bool {
	for _, text := range s.Schema {
		sc := scan.Scanner{Text: text}
		words := sc.Statement()
		if scan.At(words, 0) != "CREATE" || scan.At(words, 1) != "TABLE" {
			continue
		}
		if n, _ := s.number(`SELECT count(*) FROM main.sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE`, scan.At(words, 2)); n == 0 {
			return true
		}
	}
	return false
}

// create makes an object, unless there is one of that name.
func (s *salvager) create(o object) (ok bool, err error) {
	if n, _ := s.number(`SELECT count(*) FROM main.sqlite_master WHERE name = ?`, o.name); n > 0 {
		return true, nil
	}
	err = s.exec(o.sql)
	if err == nil {
		return true, nil
	}
	if !damage(err) && resultCode(err) != codeConstraint {
		return false, err
	}
	s.tell(true, "%s %s can not be made again: %v", o.kind, o.name, err)
	return false, nil
}
