package salvage

import (
	"cmp"
	"database/sql"
	"slices"
	"strings"

	"alisio/db/pages"
)

// column is one column of a table of the new database.
type column struct {
	name string
	kind affinity
	// must: it is NOT NULL.
	must bool
	// standard is the text of its default, empty for none.
	standard string
	// key is its place in the primary key, from one on, or zero.
	key int
	// alias: it is another name of the rowid, and NULL in the record.
	alias bool
}

// affinity is what a column makes of values (datatype3.html, "Determination Of
// Column Affinity").
type affinity int

const (
	anything affinity = iota
	integers
	texts
)

func affinityOf(declared string) affinity {
	d := strings.ToUpper(declared)
	switch {
	case strings.Contains(d, "INT"):
		return integers
	case strings.Contains(d, "CHAR"), strings.Contains(d, "CLOB"), strings.Contains(d, "TEXT"):
		return texts
	}
	return anything
}

// columns returns a table's columns in the order in which they were declared.
func (s *salvager) columns(table string) (out []column, err error) {
	var integer string
	err = s.each(`SELECT name, type, "notnull", ifnull(dflt_value, ''), pk FROM pragma_table_info(?, 'main') ORDER BY cid`, func(rows *sql.Rows) error {
		var c column
		var declared string
		if err := rows.Scan(&c.name, &declared, &c.must, &c.standard, &c.key); err != nil {
			return err
		}
		c.kind = affinityOf(declared)
		if c.key > 0 && strings.EqualFold(declared, "INTEGER") {
			integer = c.name
		}
		c.must = c.must && c.key == 0
		out = append(out, c)
		return nil
	}, table)
	keys := 0
	for _, c := range out {
		if c.key > 0 {
			keys++
		}
	}
	for i := range out {
		out[i].alias = keys == 1 && out[i].name == integer
	}
	return out, err
}

// fallback is the text of the value of a column that can not be read.
func (c column) fallback() string {
	switch {
	case c.standard != "":
		return c.standard
	case c.must:
		return "''"
	}
	return "NULL"
}

// needed reports whether a row is worth nothing without the column.
func (c column) needed() bool {
	return c.key > 0 || c.must && c.standard == "" || c.name == "body"
}

// takes reports whether a value of a serial type can be in the column.
func (c column) takes(serial uint64) bool {
	kind := pages.KindOf(serial)
	switch {
	case c.alias:
		return kind == pages.Null
	case kind == pages.Null:
		return !c.must && c.key == 0
	case c.kind == integers:
		return kind == pages.Int
	case c.kind == texts:
		return kind == pages.Text
	}
	return true
}

// stored returns the columns in the order of a record: without rowids the key
// comes first ("WITHOUT ROWID", withoutrowid.html).
func (t *table) stored() []column {
	if !t.keyed {
		return t.columns
	}
	place := func(c column) int {
		if c.key > 0 {
			return c.key
		}
		return len(t.columns) + 1
	}
	out := slices.Clone(t.columns)
	slices.SortStableFunc(out, func(a, b column) int { return cmp.Compare(place(a), place(b)) })
	return out
}
