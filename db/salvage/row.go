package salvage

import (
	"database/sql"
	"errors"
	"fmt"
	"math"
)

// gaps asks for each row that is not there yet by its number alone: where pages
// are out of order, a walk over them misses rows that a search finds. Of a row
// that can not be read whole it takes the columns that can.
func (t *table) gaps() error {
	type gap struct{ low, high int64 }
	var all []gap
	next := t.low
	err := t.s.each(`SELECT `+t.rowid+` FROM main.`+quote(t.name)+` ORDER BY `+t.rowid, func(rows *sql.Rows) error {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return err
		}
		if n > next {
			all = append(all, gap{next, n - 1})
		}
		if n >= next && n < math.MaxInt64 {
			next = n + 1
		}
		return nil
	})
	if err != nil {
		return err
	}
	all = append(all, gap{next, t.high})
	tries := 0
	for _, g := range all {
		for n := g.low; n <= g.high && tries < maxTries; n++ {
			tries++
			copied, err := t.try(t.single, n)
			if err != nil && damage(err) {
				copied, err = t.parts(n)
			}
			if err != nil {
				return err
			}
			t.copied += copied
		}
	}
	return nil
}

// parts copies a row without the columns that can not be read, if it is still
// worth something then.
func (t *table) parts(n int64) (copied int64, err error) {
	// Most such rows are lost whole, which one question tells.
	if ok, err := t.reads(t.needed, n); err != nil || !ok {
		return 0, err
	}
	var empty []string
	for _, c := range t.shared {
		ok, err := t.reads(quote(c.name), n)
		if err != nil {
			return 0, err
		}
		if !ok {
			empty = append(empty, c.name)
		}
	}
	to, of := t.lists(empty)
	copied, err = t.try(fmt.Sprintf(`INSERT OR IGNORE INTO main.%[1]s (%[4]s, %[2]s) SELECT %[4]s, %[3]s FROM old.%[1]s WHERE %[4]s = ?`,
		quote(t.name), to, of, t.rowid), n)
	if err != nil && damage(err) {
		return 0, nil
	}
	if copied > 0 && t.lost > 0 && t.lost < math.MaxInt64 {
		t.lost--
	}
	return copied, err
}

// reads reports whether columns of a row can be read.
func (t *table) reads(columns string, n int64) (bool, error) {
	st, err := t.statement(`SELECT length(quote(concat(` + columns + `))) FROM old.` + quote(t.name) + ` WHERE ` + t.rowid + ` = ?`)
	if err == nil {
		var length int64
		err = st.QueryRowContext(t.s.ctx, n).Scan(&length)
	}
	if err == nil || damage(err) || errors.Is(err, sql.ErrNoRows) {
		return err == nil, nil
	}
	return false, err
}
