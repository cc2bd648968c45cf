package tui

import "alisio/agent/text"

// Align is where the text of a column stands.
type Align uint8

// The sides.
const (
	Left Align = iota
	Right
)

// Column is a column of a Table.
type Column struct {
	Title string
	Align Align
	// Least is the width, in cells, below which the column is not clipped but left out:
	// the last ones first. Weight is its share of what must be saved; 0 is never clipped.
	Least, Weight int
}

// Table is a Block of rows in columns: as wide as they need, clipped by their weights
// where the screen is narrower.
type Table struct {
	Columns []Column
	Rows    [][]text.Styled
	// NoTitles leaves out the row of titles.
	NoTitles bool

	width  int
	widths []int
}

// between is what stands between columns.
const between = "  "

// Len lays out the columns.
func (t *Table) Len(width int) int {
	if width != t.width || t.widths == nil {
		t.width, t.widths = width, t.layout(width)
	}
	if t.NoTitles {
		return len(t.Rows)
	}
	return len(t.Rows) + 1
}

// Set replaces the rows.
func (t *Table) Set(rows [][]text.Styled) { t.Rows, t.widths = rows, nil }

// layout gives each column its width; -1 leaves it out.
func (t *Table) layout(width int) []int {
	widths := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		if !t.NoTitles {
			widths[i] = text.Width(c.Title)
		}
		for _, row := range t.Rows {
			if i < len(row) {
				widths[i] = max(widths[i], row[i].Width())
			}
		}
	}
	for excess(widths, width) > 0 {
		if !t.save(widths, excess(widths, width)) && !drop(widths) {
			break
		}
	}
	return widths
}

// excess is how many cells the columns take beyond width.
func excess(widths []int, width int) int {
	n := -len(between)
	for _, w := range widths {
		if w >= 0 {
			n += w + len(between)
		}
	}
	return n - width
}

// save takes a cell at a time from the column that has the most for its weight, until
// enough is saved; it reports whether it was.
func (t *Table) save(widths []int, cells int) bool {
	for ; cells > 0; cells-- {
		best := -1
		for i, c := range t.Columns {
			if c.Weight == 0 || widths[i] <= max(c.Least, 1) {
				continue
			}
			if best < 0 || widths[i]*c.Weight > widths[best]*t.Columns[best].Weight {
				best = i
			}
		}
		if best < 0 {
			return false
		}
		widths[best]--
	}
	return true
}

// drop leaves out the last column but the first.
func drop(widths []int) bool {
	for i := len(widths) - 1; i > 0; i-- {
		if widths[i] >= 0 {
			widths[i] = -1
			return true
		}
	}
	return false
}

// Line is the titles, or a row.
func (t *Table) Line(i int) text.Styled {
	if !t.NoTitles {
		i--
	}
	var line text.Styled
	for c, col := range t.Columns {
		if t.widths[c] < 0 {
			continue
		}
		var cell text.Styled
		switch {
		case i < 0:
			cell = text.Styled{{Text: col.Title, Style: text.Style{Role: text.Dim}}}
		case c < len(t.Rows[i]):
			cell = t.Rows[i][c]
		}
		if len(line) > 0 {
			line = line.With(between, text.Normal)
		}
		line = append(line, Pad(cell, t.widths[c], col.Align)...)
	}
	return line.Clip(t.width)
}

// Pad is a line clipped or filled with spaces to so many cells.
func Pad(l text.Styled, cells int, a Align) text.Styled {
	l = l.Clip(cells)
	n := cells - l.Width()
	if n <= 0 {
		return l
	}
	space := text.Unstyled(blanks(n))
	if a == Right {
		return append(space, l...)
	}
	return append(l[:len(l):len(l)], space...)
}

// blanks is n spaces.
func blanks(n int) string {
	const some = "                                                                                "
	for n > len(some) {
		return some + blanks(n-len(some))
	}
	return some[:max(n, 0)]
}

// Sides is a line with one text at the left and one at the right edge of so many
// cells. The left one gives way, down to nothing; then the right one is clipped.
func Sides(left, right text.Styled, cells int) text.Styled {
	const apart = 1
	r := right.Width()
	if r+apart >= cells {
		return Pad(right, cells, Right)
	}
	left = Pad(left, cells-r-apart, Left)
	return append(left.With(blanks(apart), text.Normal), right...)
}
