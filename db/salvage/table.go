package salvage

import (
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strings"
)

const (
	// maxTries bounds how many ranges of one table are tried, and how many single
	// rows: about five seconds' work. Where that is too little the pages
	// themselves, which are read afterwards, give the rows.
	maxTries = 10_000
	// leastRow is what a row with its key and its index entry takes, in bytes.
	leastRow = 32
)

// table is the copying of one table, in pieces around what can not be read.
type table struct {
	s    *salvager
	name string
	// keyed tells a table WITHOUT ROWID; rowid is what its number is called else.
	keyed   bool
	rowid   string
	columns []column
	// shared are the columns that the damaged database has too, none if the
	// table can not be asked for there.
	shared []column
	// whole, span and single copy all rows, those of a range of rowids, and one.
	whole  string
	span   string
	single string
	// needed are the columns without which a row is worth nothing.
	needed string
	// prepared are the statements by their text.
	prepared map[string]*sql.Stmt
	low      int64
	high     int64
	copied   int64
	lost     int64
	// walked: SQLite found all rows by the table's own tree.
	walked bool
	// live are the numbers of its rows by an index of it, if it was indexed.
	live    []int64
	indexed bool
	// found are rows of pages that nothing leads to.
	found int64
	tries int
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// look finds out about the columns and makes the texts of the statements.
func (t *table) look() error {
	n, _ := t.s.number(`SELECT wr FROM pragma_table_list(?) WHERE schema = 'main'`, t.name)
	t.keyed = n != 0
	var err error
	if t.columns, err = t.s.columns(t.name); err != nil {
		return err
	}
	there, err := t.s.texts(`SELECT name FROM pragma_table_info(?, 'old')`, t.name)
	if err != nil && !damage(err) {
		return err
	}
	t.rowid = "rowid"
	for i, c := range t.columns {
		t.columns[i].alias = c.alias && !t.keyed
		if slices.Contains(there, c.name) {
			t.shared = append(t.shared, c)
		}
		if strings.EqualFold(c.name, "rowid") {
			t.rowid = "_rowid_"
		}
	}
	t.needed = "1"
	for _, c := range t.shared {
		if c.needed() {
			t.needed += ", " + quote(c.name)
		}
	}
	to, of := t.lists(nil)
	if t.keyed {
		t.whole = fmt.Sprintf(`INSERT OR IGNORE INTO main.%[1]s (%[2]s) SELECT %[3]s FROM old.%[1]s`, quote(t.name), to, of)
		return nil
	}
	t.whole = fmt.Sprintf(`INSERT OR IGNORE INTO main.%[1]s (%[4]s, %[2]s) SELECT %[4]s, %[3]s FROM old.%[1]s`, quote(t.name), to, of, t.rowid)
	t.span, t.single = t.whole+` WHERE `+t.rowid+` BETWEEN ? AND ?`, t.whole+` WHERE `+t.rowid+` = ?`
	return nil
}

// lists are the columns to fill, and of what, but for those of the damaged
// database that are left empty. A damaged row may have lost a value that must
// not be NULL: it gets the default, rather than be left out.
func (t *table) lists(empty []string) (to, of string) {
	var into, from []string
	for _, c := range t.shared {
		into = append(into, quote(c.name))
		switch value := quote(c.name); {
		case slices.Contains(empty, c.name):
			from = append(from, c.fallback())
		case c.must:
			from = append(from, fmt.Sprintf("ifnull(%s, %s)", value, c.fallback()))
		default:
			from = append(from, value)
		}
	}
	return strings.Join(into, ", "), strings.Join(from, ", ")
}

// copy copies what SQLite finds.
func (t *table) copy() error {
	if len(t.shared) == 0 {
		return nil
	}
	defer t.close()
	n, err := t.try(t.whole)
	t.copied = n
	failed := err != nil
	if failed && !damage(err) {
		return err
	}
	all, known := t.count()
	t.walked = !failed && (!known || all == n)
	if t.keyed {
		if failed {
			return t.ends()
		}
		return nil
	}
	t.bounds()
	if failed {
		if err := t.piece(t.low, t.high); err != nil {
			return err
		}
	}
	return t.gaps()
}

// bounds looks for the first and the last rowid. What can not be looked up is
// guessed: numbers start at one, and a row takes some bytes.
func (t *table) bounds() {
	t.low, t.high = 1, t.s.Size/leastRow
	if v, ok := t.s.number(`SELECT ifnull(min(` + t.rowid + `), 1) FROM old.` + quote(t.name)); ok {
		t.low = v
	}
	last, known := t.s.number(`SELECT ifnull(max(` + t.rowid + `), 0) FROM old.` + quote(t.name))
	if known {
		t.high = last
	}
	if v, ok := t.s.number(`SELECT seq FROM old.sqlite_sequence WHERE name = ?`, t.name); ok {
		t.low, t.high = 1, max(last, v)
	}
}

// ends copies a table without rowids: from its first row on and from its last
// row back, each as far as it goes. What lies between two damaged places is lost.
func (t *table) ends() error {
	t.lost = math.MaxInt64
	var keys []string
	for _, c := range t.stored() {
		if c.key > 0 {
			keys = append(keys, quote(c.name))
		}
	}
	for _, direction := range []string{" ASC", " DESC"} {
		text := t.whole + ` ORDER BY ` + strings.Join(keys, direction+", ") + direction + ` LIMIT ? OFFSET ?`
		offset := int64(0)
		for step := int64(4096); step > 0 && offset < t.s.Size; {
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
func (t *table) piece(low, high int64) error {
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

func (t *table) statement(text string) (*sql.Stmt, error) {
	st := t.prepared[text]
	if st == nil {
		var err error
		if st, err = t.s.Conn.PrepareContext(t.s.ctx, text); err != nil {
			return nil, err
		}
		if t.prepared == nil {
			t.prepared = map[string]*sql.Stmt{}
		}
		t.prepared[text] = st
	}
	return st, nil
}

func (t *table) try(text string, args ...any) (int64, error) {
	st, err := t.statement(text)
	if err != nil {
		return 0, err
	}
	result, err := st.ExecContext(t.s.ctx, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (t *table) close() {
	for _, st := range t.prepared {
		_ = st.Close()
	}
	t.prepared = nil
}

// count is how many rows there were, if the table, or an index, still knows it.
func (t *table) count() (int64, bool) {
	return t.s.number(`SELECT count(*) FROM old.` + quote(t.name))
}

// report says how many rows there are. An index often still knows how many there
// were; else the numbers that could not be read are the most that were lost.
func (t *table) report() {
	there, lost := t.copied+t.found, t.lost
	all, known := t.count()
	switch {
	case known:
		lost = max(all-there, 0)
	case lost < math.MaxInt64:
		lost = max(lost-t.found, 0)
	}
	switch {
	case len(t.shared) == 0 && t.found > 0:
		t.s.tell(true, "%s: %d rows recovered from single pages, nobody knows how many lost", t.name, t.found)
	case len(t.shared) == 0:
	case lost == 0:
		t.s.tell(false, "%s: all %d rows recovered", t.name, there)
	case lost == math.MaxInt64 || lost > t.s.Size:
		t.s.tell(true, "%s: %d rows recovered, nobody knows how many lost", t.name, there)
	default:
		t.s.tell(true, "%s: %d rows recovered, %d lost", t.name, there, lost)
	}
}
