package pages

import (
	"encoding/binary"
	"errors"
	"iter"
	"math"
)

// maxRecord is what one row may have, in bytes: SQLite's own limit.
const maxRecord = 1_000_000_000

// ErrBroken tells that a row's overflow pages do not give it whole.
var ErrBroken = errors.New("the row is not whole")

// Leaf is a page with rows.
type Leaf struct {
	Page uint32
	// Root is the page from which it is reached, itself where nothing leads to it.
	Root uint32
	// Keyed tells a page of an index or of a table WITHOUT ROWID.
	Keyed bool
	Cells []Cell
}

// Cell is a row whose head is sound.
type Cell struct {
	// ID is the rowid; zero in a keyed page.
	ID int64
	// Types are the serial types of the columns ("Record Format").
	Types []uint64
	local []byte
	// whole is the record's length, next the first overflow page.
	whole int64
	next  uint32
	// body is where the values begin.
	body int
}

// Kind says what a value is.
type Kind int

// The kinds of values.
const (
	Null Kind = iota
	Int
	Real
	Text
	Blob
)

// KindOf is what a serial type stands for.
func KindOf(serial uint64) Kind {
	switch {
	case serial == 0:
		return Null
	case serial == 7:
		return Real
	case serial < 12:
		return Int
	case serial%2 == 0:
		return Blob
	}
	return Text
}

// Value is one column of a row.
type Value struct {
	Kind  Kind
	Int   int64
	Real  float64
	Bytes []byte
}

// Leaves gives the pages that hold rows and are not free, of those that want
// names by page and root. Interior pages of keyed trees hold rows too.
func (f *File) Leaves(want func(page, root uint32) bool) iter.Seq[Leaf] {
	return func(yield func(Leaf) bool) {
		for n := uint32(1); n <= f.count; n++ {
			if k := f.kinds[n]; k == 0 || k == tableInterior || f.free[n] {
				continue
			}
			root := f.root(n)
			if !want(n, root) {
				continue
			}
			if t, ok := f.tree(n); ok && !yield(f.leaf(n, root, t)) {
				return
			}
		}
	}
}

func (f *File) leaf(n, root uint32, t tree) Leaf {
	l := Leaf{Page: n, Root: root, Keyed: t.kind != tableLeaf}
	page := t.page[:min(len(t.page), f.usable)]
	for i := range t.cells {
		p := t.pointer(i)
		if t.kind == indexInterior {
			p += 4
		}
		if p < t.end || p >= len(page) {
			continue
		}
		if c, ok := f.cell(page[p:], l.Keyed); ok {
			l.Cells = append(l.Cells, c)
		}
	}
	return l
}

// cell reads one cell: its length, its rowid, the head of its record.
func (f *File) cell(b []byte, keyed bool) (c Cell, ok bool) {
	whole, n := varint(b)
	if n == 0 || whole < 2 || whole > maxRecord || whole > uint64(f.count)*uint64(f.usable) {
		return c, false
	}
	b = b[n:]
	if !keyed {
		id, n := varint(b)
		if n == 0 {
			return c, false
		}
		c.ID, b = int64(id), b[n:]
	}
	c.whole = int64(whole)
	local := f.local(int(whole), keyed)
	if len(b) < local {
		return c, false
	}
	c.local = b[:local]
	if int64(local) < c.whole {
		if len(b) < local+4 {
			return c, false
		}
		c.next = binary.BigEndian.Uint32(b[local:])
	}
	return c, c.head()
}

// local is how much of a record lies on its page ("B-tree Pages").
func (f *File) local(whole int, keyed bool) int {
	most := f.usable - 35
	if keyed {
		most = (f.usable-12)*64/255 - 23
	}
	if whole <= most {
		return whole
	}
	least := (f.usable-12)*32/255 - 23
	if k := least + (whole-least)%(f.usable-4); k <= most {
		return k
	}
	return least
}

// head reads the types of a record. All lengths together are the record's.
func (c *Cell) head() bool {
	size, n := varint(c.local)
	if n == 0 || size < uint64(n) || size > uint64(len(c.local)) {
		return false
	}
	c.body = int(size)
	sum := int64(size)
	for b := c.local[n:c.body]; len(b) > 0; {
		serial, n := varint(b)
		if n == 0 || serial == 10 || serial == 11 || serial > 2*maxRecord+13 {
			return false
		}
		b = b[n:]
		c.Types = append(c.Types, serial)
		if sum += width(serial); sum > c.whole {
			return false
		}
	}
	return sum == c.whole
}

// width is how many bytes a value of a type has.
func width(serial uint64) int64 {
	switch {
	case serial >= 12:
		return int64(serial-12) / 2
	case serial >= 8:
		return 0
	case serial == 5:
		return 6
	case serial >= 6:
		return 8
	}
	return int64(serial)
}

// Values reads a row whole. Its overflow pages are then no other's.
func (f *File) Values(c Cell) ([]Value, error) {
	record, err := f.record(c)
	if err != nil {
		return nil, err
	}
	out := make([]Value, 0, len(c.Types))
	b := record[c.body:]
	for _, serial := range c.Types {
		n := width(serial)
		out = append(out, value(serial, b[:n]))
		b = b[n:]
	}
	return out, nil
}

func (f *File) record(c Cell) ([]byte, error) {
	record := c.local[:len(c.local):len(c.local)]
	var chain []uint32
	next := c.next
	for missing := c.whole - int64(len(record)); missing > 0; {
		if next < 2 || next > f.count || f.kinds[next] != 0 || f.free[next] || f.used[next] || f.budget <= 0 {
			return nil, ErrBroken
		}
		f.budget--
		page := f.page(next)
		n := int(min(missing, int64(f.usable-4)))
		if len(page) < 4+n {
			return nil, ErrBroken
		}
		chain = append(chain, next)
		record = append(record, page[4:4+n]...)
		missing -= int64(n)
		next = binary.BigEndian.Uint32(page)
	}
	if c.next != 0 && next != 0 {
		return nil, ErrBroken
	}
	for i, n := range chain {
		if f.used[n] {
			for _, n := range chain[:i] {
				f.used[n] = false
			}
			return nil, ErrBroken
		}
		f.used[n] = true
	}
	return record, nil
}

func value(serial uint64, b []byte) Value {
	v := Value{Kind: KindOf(serial)}
	switch v.Kind {
	case Text, Blob:
		v.Bytes = b
	case Real:
		v.Real = math.Float64frombits(binary.BigEndian.Uint64(b))
	case Int:
		if serial >= 8 {
			v.Int = int64(serial - 8)
			break
		}
		if b[0] >= 0x80 {
			v.Int = -1
		}
		for _, x := range b {
			v.Int = v.Int<<8 | int64(x)
		}
	}
	return v
}

// varint reads a number of up to nine bytes, of which the last has eight bits;
// n is zero where it does not end.
func varint(b []byte) (v uint64, n int) {
	for i, x := range b[:min(len(b), 9)] {
		if i == 8 {
			return v<<8 | uint64(x), 9
		}
		v = v<<7 | uint64(x&0x7f)
		if x < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}
