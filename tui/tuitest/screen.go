package tuitest

import (
	"slices"
	"strings"
)

// Cursor is the cursor of the terminal, counted from 0.
type Cursor struct {
	Column, Row int
	Hidden      bool
	Shape       int  // as DECSCUSR has it: 0 default, 1 and 2 block, 3 and 4 underline, 5 and 6 bar; odd ones blink
	Pending     bool // the last column was written: the next character wraps
}

// Screen is what a person sees at one moment, and the modes that are set.
type Screen struct {
	Columns, Rows int
	Cells         [][]Cell
	Wrapped       []bool // the row's text goes on in the next
	Cursor        Cursor
	Title         string
	Alternate     bool
	Modes         []string // those that differ from a fresh terminal's
	Images        []Placement
}

// Screen is what is shown: while a synchronized update is under way, what was there
// before it.
func (t *Terminal) Screen() *Screen {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sync.shown != nil {
		t.sync.spare = nil
		return t.sync.shown
	}
	return t.snapshot(nil)
}

// snapshot copies what is there, into the memory of an older one that nobody needs.
func (t *Terminal) snapshot(old *Screen) *Screen {
	g := t.on
	s := &Screen{
		Columns: g.columns, Rows: g.height, Title: t.title.text, Alternate: g == t.alt, Modes: t.modeNames(),
		Cursor: Cursor{g.x, g.y, !t.modeSet(25), t.shape, g.pending && t.on7()}, Images: slices.Clone(g.images),
	}
	if old != nil && old.Columns == s.Columns && old.Rows == s.Rows {
		s.Cells, s.Wrapped = old.Cells, old.Wrapped
	} else {
		s.Wrapped = make([]bool, s.Rows)
		all := make([]Cell, g.columns*g.height)
		for y := range g.rows {
			s.Cells = append(s.Cells, all[y*g.columns:(y+1)*g.columns:(y+1)*g.columns])
		}
	}
	for y, r := range g.rows {
		copy(s.Cells[y], r.cells)
		s.Wrapped[y] = r.wrapped
	}
	return s
}

// Row is the text of a row, without the blanks at its end.
func (s *Screen) Row(y int) string {
	if y < 0 || y >= len(s.Cells) {
		return ""
	}
	return strings.TrimRight(rowText(s.Cells[y]), " ")
}

// Text is the text of the screen: its rows, without empty ones at the end.
func (s *Screen) Text() string {
	var rows []string
	for y := range s.Cells {
		rows = append(rows, s.Row(y))
	}
	return strings.TrimRight(strings.Join(rows, "\n"), "\n")
}

// Contains reports whether a text stands on the screen, in one row or over rows that
// the terminal wrapped.
func (s *Screen) Contains(text string) bool {
	var b strings.Builder
	for y := range s.Cells {
		if s.Wrapped[y] {
			b.WriteString(rowText(withoutPadding(s.Cells[y])))
		} else {
			b.WriteString(s.Row(y) + "\n")
		}
	}
	return strings.Contains(b.String(), text)
}

// Find gives the place of the first cell of a text that stands in one row.
func (s *Screen) Find(text string) (column, row int, ok bool) {
	for y, cells := range s.Cells {
		before, _, found := strings.Cut(rowText(cells), text)
		if !found {
			continue
		}
		n := 0
		for x, c := range cells {
			if n >= len(before) && c.Width > 0 {
				return x, y, true
			}
			n += len(c.String())
		}
	}
	return 0, 0, false
}

// Cell is the cell at a place; outside of the screen it is empty.
func (s *Screen) Cell(column, row int) Cell {
	if row < 0 || row >= len(s.Cells) || column < 0 || column >= s.Columns {
		return Cell{}
	}
	return s.Cells[row][column]
}

// Text is the text of the screen that is shown.
func (t *Terminal) Text() string { return t.Screen().Text() }

// Row is the text of one row of the screen that is shown.
func (t *Terminal) Row(y int) string { return t.Screen().Row(y) }

// History is the text of the rows that scrolled out of the main screen, the oldest
// first, as they were wrapped.
func (t *Terminal) History() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []string
	for _, r := range t.main.kept() {
		out = append(out, r.String())
	}
	return out
}

// Lines is the text of the main screen with what scrolled out of it, rows that the
// terminal wrapped joined, without empty lines at the end: what a person finds who
// scrolls back.
func (t *Terminal) Lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var lines []string
	var b strings.Builder
	for _, r := range slices.Concat(t.main.kept(), t.main.rows) {
		if r.wrapped {
			b.WriteString(rowText(withoutPadding(r.cells)))
			continue
		}
		b.WriteString(r.String())
		lines = append(lines, b.String())
		b.Reset()
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
