package salvage

import (
	"fmt"
	"slices"
	"strings"

	"alisio/db/pages"
)

// widths are how many columns rows have that older programs wrote: a column that
// is added later is not added to the rows that are there.
var widths = []struct {
	table   string
	columns []int
}{
	{"sessions", []int{5, 14, 16}},
	{"messages", []int{3, 4}},
	{"tool_calls", []int{4}},
	{"events", []int{5, 7}},
	{"runs", []int{12}},
}

// schemaPages reads the schema's rows from the pages themselves, those first that
// page one still leads to.
func (s *salvager) schemaPages() (all []object) {
	if s.Pages == nil || !s.Pages.UTF8() {
		return nil
	}
	for _, reached := range []bool{true, false} {
		for leaf := range s.Pages.Leaves(func(_, root uint32) bool { return (root == 1) == reached }) {
			for _, c := range leaf.Cells {
				if leaf.Keyed || !schemaShape(c.Types) {
					continue
				}
				v, err := s.Pages.Values(c)
				if err != nil || !slices.Contains([]string{"table", "index", "trigger", "view"}, string(v[0].Bytes)) {
					continue
				}
				all = append(all, object{string(v[0].Bytes), string(v[1].Bytes), string(v[4].Bytes), v[3].Int})
			}
		}
	}
	return all
}

// schemaShape knows rows of sqlite_schema: type, name, table, root, text.
func schemaShape(types []uint64) bool {
	want := []pages.Kind{pages.Text, pages.Text, pages.Text, pages.Int, pages.Text}
	if len(types) != len(want) {
		return false
	}
	for i, k := range want {
		if got := pages.KindOf(types[i]); got != k && (i < 4 || got != pages.Null) {
			return false
		}
	}
	return true
}

// lost adds the rows of pages that SQLite did not find.
func (s *salvager) lost() error {
	if s.Pages == nil {
		return nil
	}
	if !s.Pages.UTF8() {
		s.tell(false, "texts are not UTF-8: pages that nothing leads to were not looked at")
		return nil
	}
	stages, err := s.stages()
	if err != nil {
		return err
	}
	unknown := 0
	for i, wanted := range stages {
		if i == len(stages)-1 {
			s.bury()
		}
		if unknown, err = s.lostPages(wanted); err != nil {
			return err
		}
	}
	s.orphans()
	if unknown > 0 {
		s.tell(true, "%d pages hold rows of which nobody knows the table", unknown)
	}
	return nil
}

// lostPages adds the rows of the tables that are wanted, and counts the pages that
// can be no table's. Pages that a tree of the schema leads to come first, and then
// those of a larger piece of a tree: of two rows with one number the later is a
// stale copy.
func (s *salvager) lostPages(wanted []*table) (unknown int, err error) {
	for rank := range 3 {
		for leaf := range s.Pages.Leaves(func(page, root uint32) bool { return s.rank(page, root) == rank }) {
			t := s.owner(leaf)
			switch {
			case t == nil:
				if len(leaf.Cells) > 0 && !s.known(leaf) {
					unknown++
				}
			case !slices.Contains(wanted, t), rank > 0 && t.walked:
				// A table that was walked whole has lost no page: this one is free.
			default:
				if err := t.add(leaf, rank > 0); err != nil {
					return 0, err
				}
			}
		}
	}
	return unknown, nil
}

func (s *salvager) rank(page, root uint32) int {
	if _, live := s.roots[root]; live {
		return 0
	}
	if page != root {
		return 1
	}
	return 2
}

// known reports whether a page's rows are not wanted: those of indexes and of
// SQLite's own tables.
func (s *salvager) known(l pages.Leaf) bool {
	if _, live := s.roots[l.Root]; live || l.Keyed || l.Root == 1 {
		return true
	}
	types := l.Cells[0].Types
	sequence := len(types) == 2 && pages.KindOf(types[0]) == pages.Text && pages.KindOf(types[1]) == pages.Int
	return sequence || schemaShape(types)
}

// owner is the table that a page belongs to: by its root, or because the shape of
// its rows is that of no other.
func (s *salvager) owner(l pages.Leaf) *table {
	name, live := s.roots[l.Root]
	if live && name == "" {
		return nil
	}
	var best *table
	most, twice := 0, false
	for _, t := range s.tables {
		n := t.fitting(l, live && t.name == name)
		if n > 0 && live && t.name == name {
			return t
		}
		switch {
		case n > most:
			best, most, twice = t, n, false
		case n == most && n > 0:
			twice = true
		}
	}
	if twice {
		return nil
	}
	return best
}

// fitting counts the rows of a page that can be the table's.
func (t *table) fitting(l pages.Leaf, sure bool) (n int) {
	if l.Keyed != t.keyed {
		return 0
	}
	for _, c := range l.Cells {
		if t.fits(c.Types, sure) {
			n++
		}
	}
	return n
}

// fits reports whether a row can be the table's. If it is sure to be, it may have
// been written before any of its columns was added.
func (t *table) fits(types []uint64, sure bool) bool {
	columns := t.stored()
	if len(types) > len(columns) || len(types) == 0 {
		return false
	}
	if len(types) < len(columns) && !sure {
		short := slices.IndexFunc(widths, func(w struct {
			table   string
			columns []int
		}) bool {
			return w.table == t.name
		})
		if short < 0 || !slices.Contains(widths[short].columns, len(types)) {
			return false
		}
	}
	for i, serial := range types {
		if !columns[i].takes(serial) {
			return false
		}
	}
	return true
}

// add adds a page's rows, but for those that are there, and, if the page may be a
// free one, those that were deleted.
func (t *table) add(l pages.Leaf, stray bool) (err error) {
	defer t.close()
	if err := t.s.exec(`BEGIN`); err != nil {
		return err
	}
	defer func() {
		if err == nil {
			err = t.s.exec(`COMMIT`)
		} else {
			_ = t.s.exec(`ROLLBACK`)
		}
	}()
	name, live := t.s.roots[l.Root]
	for _, c := range l.Cells {
		if !t.fits(c.Types, live && name == t.name) {
			continue
		}
		values, err := t.s.Pages.Values(c)
		if err != nil || stray && t.s.dead.has(t, c.ID, values) {
			continue
		}
		n, err := t.insert(c.ID, values)
		if err != nil && !damage(err) {
			return err
		}
		t.found += n
		if n > 0 && stray && t.name == sessionsTable {
			t.s.dead.strays = append(t.s.dead.strays, c.ID)
		}
	}
	return nil
}

func (t *table) insert(id int64, values []pages.Value) (int64, error) {
	var names []string
	var args []any
	if !t.keyed {
		names, args = append(names, t.rowid), append(args, id)
	}
	columns := t.stored()
	for i, v := range values {
		if columns[i].alias {
			continue
		}
		names, args = append(names, quote(columns[i].name)), append(args, argument(v))
	}
	return t.try(fmt.Sprintf(`INSERT OR IGNORE INTO main.%s (%s) VALUES (?%s)`,
		quote(t.name), strings.Join(names, ", "), strings.Repeat(", ?", len(names)-1)), args...)
}

// argument is a value as database/sql takes it.
func argument(v pages.Value) any {
	switch v.Kind {
	case pages.Int:
		return v.Int
	case pages.Real:
		return v.Real
	case pages.Text:
		return string(v.Bytes)
	case pages.Blob:
		return v.Bytes
	}
	return nil
}
