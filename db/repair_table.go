package db

import (
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strings"
)

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
