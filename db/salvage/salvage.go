// Package salvage copies what a damaged database still gives into a new one: its
// schema and its rows as SQLite finds them, piece by piece around what can not be
// read, and then the rows of pages that nothing leads to any more.
//
// It changes nothing of the damaged file. It makes no row up: where a record
// holds together but for columns that need not be there, these are left empty.
// Texts of the damaged schema are carried out only if they are one statement that
// makes a table, an index or a trigger. What a user deleted is told from what was
// lost (dead.go).
package salvage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"alisio/db/pages"
)

// Options say what to copy where.
type Options struct {
	// Conn is a connection to the new database, which is empty. It reads a
	// damaged schema as far as it goes (writable_schema).
	Conn *sql.Conn
	// From is the path of a copy of the damaged database, which SQLite may change.
	From string
	// Size is the copy's, in bytes.
	Size int64
	// Pages are those of the damaged file, nil if it has none.
	Pages *pages.File
	// Schema are the statements of a new database, for what the damaged one lost
	// of its own.
	Schema []string
	// Stray is the session that rows get that have lost theirs.
	Stray string
	// Tell takes what became of each table, and what is wrong.
	Tell func(problem bool, text string)
}

// Result codes of SQLite (rescode.html).
const (
	codeError, codeNoMemory, codeIO, codeCorrupt             = 1, 7, 10, 11
	codeTooBig, codeConstraint, codeFormat, codeNotADatabase = 18, 19, 24, 26
	codeFull                                                 = 13
)

func resultCode(err error) int {
	var coded interface{ Code() int }
	if errors.As(err, &coded) {
		return coded.Code() & 0xff
	}
	return 0
}

// damage tells errors of the file from those of the machine, such as a full disk.
func damage(err error) bool {
	switch resultCode(err) {
	case codeCorrupt, codeNotADatabase, codeError, codeFormat, codeIO, codeNoMemory, codeTooBig:
		return true
	}
	return false
}

type salvager struct {
	Options
	ctx    context.Context
	tables []*table
	// there are the columns of the tables whose schema could be read.
	there []string
	dead  dead
	// roots are what the schema says of the pages that trees begin with; empty
	// names are those of no table.
	roots map[uint32]string
}

// maxGrowth is how many times its size a database may have when it was recovered: a
// default, or an index, of a hostile schema could fill the disk.
const maxGrowth = 8

// Copy copies, and returns the texts of the triggers, which are to be made when
// everything else is in its place. An error means that the machine failed, not the
// file, or, as ErrForeign and ErrNothing, that the file is not to be copied.
func Copy(ctx context.Context, o Options) (triggers []string, err error) {
	s := &salvager{Options: o, ctx: ctx, roots: map[uint32]string{}}
	err = s.bound()
	if err == nil {
		triggers, err = s.copy()
	}
	if resultCode(err) == codeFull {
		err = fmt.Errorf("%w, or what its schema makes has more than %d times its size", err, maxGrowth)
	}
	return triggers, err
}

// bound limits the size of the new database.
func (s *salvager) bound() error {
	const least = 64 << 20
	page, ok := s.number(`PRAGMA main.page_size`)
	if !ok || page < 512 {
		page = 4096
	}
	return s.exec(fmt.Sprintf(`PRAGMA main.max_page_count = %d`, (s.Size*maxGrowth+least)/page))
}

func (s *salvager) copy() (triggers []string, err error) {
	objects, err := s.schema()
	if err != nil {
		return nil, err
	}
	hurt, err := s.make(objects)
	if err != nil {
		return nil, err
	}
	if err := s.rows(); err != nil {
		return nil, err
	}
	if err := s.own(); err != nil {
		return nil, err
	}
	for _, o := range objects {
		switch {
		case !o.plain():
		case o.kind == "index":
			if _, err := s.create(o); err != nil {
				return nil, err
			}
		case o.kind == "trigger":
			triggers = append(triggers, o.sql)
		}
	}
	s.sequence()
	s.strays()
	if hurt {
		// Of an older schema nobody knows now how much is there: all of its steps
		// are made again.
		if err := s.exec(`DELETE FROM main.schema_migrations`); err != nil && !damage(err) {
			return nil, err
		}
	}
	verdict, err := s.texts(`PRAGMA main.integrity_check(1)`)
	if err != nil || len(verdict) == 0 || verdict[0] != "ok" {
		return nil, errors.Join(err, fmt.Errorf("the new database is not whole: %v", verdict))
	}
	return triggers, nil
}

func (s *salvager) tell(problem bool, format string, args ...any) {
	s.Tell(problem, fmt.Sprintf(format, args...))
}

func (s *salvager) exec(text string, args ...any) error {
	_, err := s.Conn.ExecContext(s.ctx, text, args...)
	return err
}

// each gives the rows of a query.
func (s *salvager) each(text string, row func(*sql.Rows) error, args ...any) error {
	rows, err := s.Conn.QueryContext(s.ctx, text, args...)
	if err != nil {
		return err
	}
	for err == nil && rows.Next() {
		err = row(rows)
	}
	return errors.Join(err, rows.Err(), rows.Close())
}

// texts runs a query of one column.
func (s *salvager) texts(query string, args ...any) (out []string, err error) {
	err = s.each(query, func(rows *sql.Rows) error {
		var v sql.NullString
		err := rows.Scan(&v)
		out = append(out, v.String)
		return err
	}, args...)
	return out, err
}

func (s *salvager) number(text string, args ...any) (int64, bool) {
	var n sql.NullInt64
	err := s.Conn.QueryRowContext(s.ctx, text, args...).Scan(&n)
	return n.Int64, err == nil && n.Valid
}

// rows copies all tables' rows, first what SQLite finds.
func (s *salvager) rows() error {
	names, err := s.texts(`SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY rowid`)
	if err != nil {
		return err
	}
	for _, name := range names {
		t := &table{s: s, name: name}
		s.tables = append(s.tables, t)
		if err := errors.Join(t.look(), t.copy()); err != nil {
			return err
		}
	}
	if err := s.lost(); err != nil {
		return err
	}
	for _, t := range s.tables {
		t.report()
	}
	return nil
}

// sequence keeps numbers of lost rows from being given again.
func (s *salvager) sequence() {
	_ = s.exec(`UPDATE main.sqlite_sequence SET seq = max(seq, (SELECT o.seq FROM old.sqlite_sequence o WHERE o.name = sqlite_sequence.name))
		WHERE name IN (SELECT name FROM old.sqlite_sequence)`)
	_ = s.exec(`INSERT INTO main.sqlite_sequence (name, seq) SELECT name, seq FROM old.sqlite_sequence o
		WHERE NOT EXISTS (SELECT 1 FROM main.sqlite_sequence m WHERE m.name = o.name)`)
}

// strays gives rows that have lost their session that of their run, or else one
// that is not theirs: in none they would not be found. An older schema has no
// run to ask.
func (s *salvager) strays() {
	for _, t := range []string{"messages", "events", "tool_calls"} {
		_ = s.exec(`UPDATE main.` + t + ` SET session = (SELECT r.session FROM main.runs r WHERE r.id = run_id) WHERE session IS NULL`)
		_ = s.exec(`UPDATE main.`+t+` SET session = ? WHERE session IS NULL OR session = ''`, s.Stray)
		_ = s.exec(`UPDATE main.` + t + ` SET session = CAST(session AS TEXT) WHERE typeof(session) = 'blob'`)
	}
}
