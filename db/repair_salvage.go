package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"

	"alisio/db/scan"

	sqlite3 "modernc.org/sqlite/lib"
)

const (
	// maxTries bounds how many ranges of one table are tried, about a second's
	// work for each 50,000.
	maxTries = 200_000
	// leastRow is what a row with its key and its index entry takes, in bytes.
	leastRow = 32
	// salvagePragmas: a damaged schema is read as far as it goes, which defensive
	// mode would not allow; its functions have no effects.
	salvagePragmas = "_txlock=immediate&_pragma=busy_timeout(200)&_pragma=trusted_schema(0)&_pragma=writable_schema(1)" +
		"&_pragma=cell_size_check(1)&_pragma=foreign_keys(0)&_pragma=journal_mode(MEMORY)&_pragma=synchronous(OFF)"
)

// salvage copies schema and rows of the database at from into the empty one at
// to. Names of tables and columns come from the file: they are quoted.
func (p *repair) salvage(ctx context.Context, from, to string) error {
	if !hasSessions(ctx, from) {
		// What is left belongs into a schema that this program opens.
		d, err := Open(ctx, Options{Path: to, Home: p.o.Home})
		if err != nil {
			return err
		}
		if err := d.Close(); err != nil {
			return err
		}
	}
	pool, conn, err := openRaw(ctx, writable(to, salvagePragmas))
	if err != nil {
		return err
	}
	s := salvager{ctx: ctx, conn: conn, r: p.r, limit: max(size(from), 1)}
	err = s.all(from)
	if err := errors.Join(err, conn.Close(), pool.Close()); err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// hasSessions reports whether the table without which nothing is a database of
// ours can be found in the schema of a damaged one.
func hasSessions(ctx context.Context, path string) bool {
	pool, conn, err := openRaw(ctx, writable(path, salvagePragmas))
	if err != nil {
		return false
	}
	defer pool.Close()
	defer conn.Close()
	var n int
	err = conn.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'sessions'`).Scan(&n)
	return err == nil && n == 1
}

type salvager struct {
	ctx  context.Context
	conn *sql.Conn
	r    *Report
	// limit is the size of the damaged file: no table of it has more rows.
	limit int64
}

// query implements source.
func (s *salvager) query(ctx context.Context, _ heat, text string, each func(*sql.Rows) error, args ...any) error {
	rows, err := s.conn.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	return drain(rows, each)
}

// object is a row of sqlite_schema.
type object struct{ kind, name, table, sql string }

func (s *salvager) all(from string) error {
	if err := s.exec(`ATTACH ? AS old`, from); err != nil {
		return s.nothing(err)
	}
	objects, err := s.objects()
	if err != nil {
		if err := s.nothing(err); err != nil || len(objects) == 0 {
			return err
		}
	}
	for _, kind := range []string{"table", "index", "trigger"} {
		for _, o := range objects {
			if o.kind == kind && o.plain() {
				if err := s.make(o); err != nil {
					return err
				}
			}
		}
	}
	s.sequence()
	var verdict string
	if err := s.conn.QueryRowContext(s.ctx, `PRAGMA main.integrity_check(1)`).Scan(&verdict); err != nil || verdict != "ok" {
		return errors.Join(err, fmt.Errorf("the new database is not whole: %s", verdict))
	}
	return s.exec(`DETACH old`)
}

// nothing turns damage that leaves nothing to read into a finding.
func (s *salvager) nothing(err error) error {
	if !damage(err) {
		return err
	}
	s.r.add(Problem, "look for a backup beside it", "nothing can be read of the damaged file, or it is no database: %v", err)
	return nil
}

// damage tells errors of the file from those of the machine, such as a full disk.
func damage(err error) bool {
	switch resultCode(err) & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_IOERR,
		sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_TOOBIG:
		return true
	}
	return false
}

func (s *salvager) exec(text string, args ...any) error {
	_, err := s.conn.ExecContext(s.ctx, text, args...)
	return err
}

func (s *salvager) objects() (out []object, err error) {
	rows, err := s.conn.QueryContext(s.ctx, `SELECT type, name, tbl_name, sql FROM old.sqlite_master`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var kind, name, table, text text
		if err := rows.Scan(&kind, &name, &table, &text); err != nil {
			return out, err
		}
		out = append(out, object{string(kind), string(name), string(table), string(text)})
	}
	return out, rows.Err()
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
		return scan.At(words, 1) == "TABLE" && sc.Statement() == nil
	case "index":
		return (scan.At(words, 1) == "INDEX" || scan.At(words, 2) == "INDEX") && sc.Statement() == nil
	}
	return scan.At(words, 1) == "TRIGGER"
}

// make creates one object, unless this program's own schema has it, and copies
// its rows.
func (s *salvager) make(o object) error {
	there, err := list(s.ctx, s, cold, `SELECT name FROM main.sqlite_master WHERE name = ?`, scanText, o.name)
	if err != nil {
		return err
	}
	if len(there) == 0 {
		err = s.exec(o.sql)
	}
	if err != nil {
		if !damage(err) && resultCode(err)&0xff != sqlite3.SQLITE_CONSTRAINT {
			return err
		}
		s.r.add(Problem, "", "%s %s can not be made again: %v", o.kind, o.name, err)
		return nil
	}
	if o.kind != "table" {
		return nil
	}
	t := &salvage{s: s}
	if err := t.prepare(o.name); err != nil {
		return err
	}
	return t.rows(o.name)
}

// sequence keeps numbers of lost rows from being given again.
func (s *salvager) sequence() {
	_ = s.exec(`UPDATE main.sqlite_sequence SET seq = max(seq, (SELECT o.seq FROM old.sqlite_sequence o WHERE o.name = sqlite_sequence.name))
		WHERE name IN (SELECT name FROM old.sqlite_sequence)`)
	_ = s.exec(`INSERT INTO main.sqlite_sequence (name, seq) SELECT name, seq FROM old.sqlite_sequence o
		WHERE NOT EXISTS (SELECT 1 FROM main.sqlite_sequence m WHERE m.name = o.name)`)
}
