package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

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
	sc := scanner{text: o.sql}
	words := sc.statement()
	if at(words, 0) != "CREATE" || strings.HasPrefix(strings.ToLower(o.name), "sqlite_") {
		return false
	}
	switch o.kind {
	case "table":
		return at(words, 1) == "TABLE" && sc.statement() == nil
	case "index":
		return (at(words, 1) == "INDEX" || at(words, 2) == "INDEX") && sc.statement() == nil
	}
	return at(words, 1) == "TRIGGER"
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

// salvage is the copying of one table, in pieces around what can not be read.
type salvage struct {
	s *salvager
	// whole, span and single copy all rows, those of a range of rowids, and one.
	whole  string
	span   string
	single string
	// prepared are the statements by their text.
	prepared map[string]*sql.Stmt
	low      int64
	high     int64
	copied   int64
	lost     int64
	tries    int
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// prepare makes the texts of a table's statements. A damaged row may have lost a
// value that must not be NULL: it gets the default, rather than be left out.
func (t *salvage) prepare(name string) error {
	columns, err := t.columns(`SELECT name FROM pragma_table_info(?1, 'main') WHERE name IN
		(SELECT name FROM pragma_table_info(?1, 'old')) ORDER BY cid`, name)
	if err != nil {
		return err
	}
	must, err := t.columns(`SELECT name FROM pragma_table_info(?1, 'main') WHERE "notnull" AND pk = 0`, name)
	if err != nil {
		return err
	}
	into, from := make([]string, len(columns)), make([]string, len(columns))
	for i, c := range columns {
		into[i], from[i] = quote(c), quote(c)
		if slices.Contains(must, c) {
			value, err := t.columns(`SELECT ifnull(dflt_value, '''''') FROM pragma_table_info(?1, 'main') WHERE name = ?2`, name, c)
			if err != nil {
				return err
			}
			from[i] = fmt.Sprintf("ifnull(%s, %s)", quote(c), strings.Join(value, ""))
		}
	}
	to, of := strings.Join(into, ", "), strings.Join(from, ", ")
	t.whole = fmt.Sprintf(`INSERT OR IGNORE INTO main.%[1]s (%[2]s) SELECT %[3]s FROM old.%[1]s`, quote(name), to, of)
	byRow := fmt.Sprintf(`INSERT OR IGNORE INTO main.%[1]s (rowid, %[2]s) SELECT rowid, %[3]s FROM old.%[1]s WHERE rowid`, quote(name), to, of)
	t.span, t.single = byRow+` BETWEEN ? AND ?`, byRow+` = ?`
	return nil
}

// columns runs a query of one text.
func (t *salvage) columns(query string, args ...any) ([]string, error) {
	return list(t.s.ctx, t.s, cold, query, scanText, args...)
}

// rows copies what can be read.
func (t *salvage) rows(name string) error {
	defer t.close()
	n, err := t.try(t.whole)
	t.copied = n
	failed := err != nil
	if failed && !damage(err) {
		return err
	}
	if n, ok := t.number(`SELECT wr FROM pragma_table_list(?) WHERE schema = 'main'`, name); ok && n != 0 {
		if failed {
			err = t.ends(name)
		}
		t.report(name)
		return err
	}
	t.bounds(name)
	if failed {
		if err := t.piece(t.low, t.high); err != nil {
			return err
		}
	}
	if err := t.gaps(name); err != nil {
		return err
	}
	t.report(name)
	return nil
}

// bounds looks for the first and the last rowid. What can not be looked up is
// guessed: numbers start at one, and a row takes some bytes.
func (t *salvage) bounds(name string) {
	t.low, t.high = 1, t.s.limit/leastRow
	if v, ok := t.number(`SELECT ifnull(min(rowid), 1) FROM old.` + quote(name)); ok {
		t.low = v
	}
	last, known := t.number(`SELECT ifnull(max(rowid), 0) FROM old.` + quote(name))
	if known {
		t.high = last
	}
	if v, ok := t.number(`SELECT seq FROM old.sqlite_sequence WHERE name = ?`, name); ok {
		t.low, t.high = 1, max(last, v)
	}
}

// gaps asks for each row that is not there yet by its number alone: where pages
// are out of order, a walk over them misses rows that a search finds.
func (t *salvage) gaps(name string) error {
	type gap struct{ low, high int64 }
	var all []gap
	next := t.low
	have, err := list(t.s.ctx, t.s, cold, `SELECT rowid FROM main.`+quote(name)+` ORDER BY rowid`, scanNumber)
	if err != nil {
		return err
	}
	for _, n := range have {
		if n > next {
			all = append(all, gap{next, n - 1})
		}
		next = max(next, n+1)
	}
	all = append(all, gap{next, t.high})
	tries := 0
	for _, g := range all {
		for n := g.low; n <= g.high && tries < maxTries; n++ {
			tries++
			copied, err := t.try(t.single, n)
			if err != nil && !damage(err) {
				return err
			}
			t.copied += copied
		}
	}
	return nil
}

// ends copies a table without rowids: from its first row on and from its last
// row back, each as far as it goes. What lies between two damaged places is lost.
func (t *salvage) ends(name string) error {
	t.lost = math.MaxInt64
	keys, err := t.columns(`SELECT name FROM pragma_table_info(?, 'main') WHERE pk > 0 ORDER BY pk`, name)
	if err != nil {
		return err
	}
	for _, direction := range []string{" ASC", " DESC"} {
		order := make([]string, len(keys))
		for i, k := range keys {
			order[i] = quote(k) + direction
		}
		text := t.whole + ` ORDER BY ` + strings.Join(order, ", ") + ` LIMIT ? OFFSET ?`
		offset := int64(0)
		for step := int64(4096); step > 0 && offset < t.s.limit; {
			n, err := t.try(text, step, offset)
			if err != nil && !damage(err) {
				return err
			}
			if err != nil {
				step /= 2
				continue
			}
			t.copied += n
			offset += step
		}
	}
	return nil
}

// piece copies a range; where that fails it copies both halves, down to the
// single row that can not be read.
func (t *salvage) piece(low, high int64) error {
	if low > high {
		return nil
	}
	if t.tries++; t.tries > maxTries {
		t.lost = math.MaxInt64
		return nil
	}
	n, err := t.try(t.span, low, high)
	if err == nil {
		t.copied += n
		return nil
	}
	if !damage(err) {
		return err
	}
	if low == high {
		if t.lost < math.MaxInt64 {
			t.lost++
		}
		return nil
	}
	middle := low + (high-low)/2
	if err := t.piece(low, middle); err != nil {
		return err
	}
	return t.piece(middle+1, high)
}

func (t *salvage) try(text string, args ...any) (int64, error) {
	st := t.prepared[text]
	if st == nil {
		var err error
		if st, err = t.s.conn.PrepareContext(t.s.ctx, text); err != nil {
			return 0, err
		}
		if t.prepared == nil {
			t.prepared = map[string]*sql.Stmt{}
		}
		t.prepared[text] = st
	}
	result, err := st.ExecContext(t.s.ctx, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (t *salvage) close() {
	for _, st := range t.prepared {
		_ = st.Close()
	}
}

func (t *salvage) number(text string, args ...any) (int64, bool) {
	var n sql.NullInt64
	err := t.s.conn.QueryRowContext(t.s.ctx, text, args...).Scan(&n)
	return n.Int64, err == nil && n.Valid
}

// report says how many rows there are. An index often still knows how many there
// were; else the numbers that could not be read are the most that were lost.
func (t *salvage) report(name string) {
	lost := t.lost
	if all, ok := t.number(`SELECT count(*) FROM old.` + quote(name)); ok {
		lost = max(all-t.copied, 0)
	}
	switch {
	case lost == 0:
		t.s.r.add(Good, "", "%s: all %d rows recovered", name, t.copied)
	case lost == math.MaxInt64 || lost > t.s.limit:
		t.s.r.add(Problem, "", "%s: %d rows recovered, nobody knows how many lost", name, t.copied)
	default:
		t.s.r.add(Problem, "", "%s: %d rows recovered, %d lost", name, t.copied, lost)
	}
}
