// Package tui is the toolkit of the screens: pieces that lay out text in rows and keep
// what a person does with them, and the loop that joins keys, events and frames.
//
//	Block      something that is shown in rows: Wrapped, Lines, Table, Diff
//	Viewer     many blocks, scrolled, searched, selected from
//	List Tree  rows of which one is chosen
//	Box Bar Spinner
//	Loop       state → frame → screen, and nothing while nothing changes
//
// It draws lines of text.Styled and writes no byte to a terminal: tui/screen does. It
// knows nothing of models, sessions or tools, and starts no goroutine but the Loop's.
// What it is given to show is foreign: Clean and the constructors that say so take
// control characters out, the rest expects text that is free of them.
package tui

import (
	"strings"

	"alisio/agent/text"
)

// Block is something that is shown in rows.
type Block interface {
	// Len lays the block out for so many columns and is the number of its rows. It is
	// cheap where neither the width nor the content changed.
	Len(width int) int
	// Line is row i, counted from 0, at the width that Len was asked for last.
	Line(i int) text.Styled
}

// Continuing is what a Block has whose rows are pieces of longer lines: a search finds
// and a copy gives the lines.
type Continuing interface {
	// Continues reports whether row i goes on with the line of row i-1, and what stood
	// at the break and is in neither.
	Continues(i int) (gap string, yes bool)
}

// Framed is what a Block has that draws something beside its text, or fills its rows:
// only the text is searched and copied.
type Framed interface {
	// Text is the bytes of row i that are text.
	Text(i int) (from, to int)
}

// Clean is foreign text as lines that can be shown: without controls, tabs expanded.
// A newline at the end opens no line.
func Clean(s string) []string {
	s = text.Tabs(text.Plain(s), 0)
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// Lines is a Block of rows that are clipped, not wrapped.
type Lines []text.Styled

// Len is the number of rows.
func (l Lines) Len(int) int { return len(l) }

// Line is row i; the screen clips it.
func (l Lines) Line(i int) text.Styled { return l[i] }

// Wrapped is a Block of lines that are broken where they do not fit.
type Wrapped struct {
	lines []text.Styled
	// The layout for width: the rows, and of which line each is a piece.
	width int
	rows  []text.Styled
	of    []int
}

// Wrap is a Block of lines that are broken where they do not fit.
func Wrap(lines ...text.Styled) *Wrapped { return &Wrapped{lines: lines} }

// Foreign is a Block of foreign text in one role.
func Foreign(s string, role text.Role) *Wrapped {
	w := &Wrapped{}
	for _, line := range Clean(s) {
		w.lines = append(w.lines, text.Of(line, role))
	}
	return w
}

// Add puts lines at the end. Only they are laid out.
func (w *Wrapped) Add(lines ...text.Styled) { w.lines = append(w.lines, lines...) }

// Len lays out what was added since it was asked for this width.
func (w *Wrapped) Len(width int) int {
	width = max(width, 1)
	if width != w.width {
		w.width, w.rows, w.of = width, w.rows[:0], w.of[:0]
	}
	next := 0
	if n := len(w.of); n > 0 {
		next = w.of[n-1] + 1
	}
	for ; next < len(w.lines); next++ {
		for _, row := range w.lines[next].Wrap(width) {
			w.rows, w.of = append(w.rows, row), append(w.of, next)
		}
	}
	return len(w.rows)
}

// Line is row i.
func (w *Wrapped) Line(i int) text.Styled { return w.rows[i] }

// Continues reports whether row i is of the same line as the one before; the gap is
// the spaces at which the line was broken.
func (w *Wrapped) Continues(i int) (gap string, yes bool) {
	if i == 0 || w.of[i] != w.of[i-1] {
		return "", false
	}
	first := i - 1
	for first > 0 && w.of[first-1] == w.of[i] {
		first--
	}
	return lost(w.lines[w.of[i]].String(), w.rows[first:i]), true
}

// lost is the spaces of a line after its first rows: at the break that follows them.
func lost(line string, rows []text.Styled) string {
	for _, row := range rows {
		_, rest, found := strings.Cut(line, row.String())
		if !found {
			return "" // a cluster too wide for a row, shown as …
		}
		line = rest
	}
	return line[:len(line)-len(strings.TrimLeft(line, " "))]
}

// Indented is a Block with something before its first row and before the others, which
// take the same number of cells.
type Indented struct {
	Block
	First, Rest text.Styled
}

// Len is that of the block in what is left of the width.
func (b Indented) Len(width int) int { return b.Block.Len(max(width-b.First.Width(), 1)) }

// Line is row i with what stands before it.
func (b Indented) Line(i int) text.Styled {
	head := b.Rest
	if i == 0 {
		head = b.First
	}
	return append(head[:len(head):len(head)], b.Block.Line(i)...)
}

// Continues is that of the block.
func (b Indented) Continues(i int) (gap string, yes bool) {
	if c, ok := b.Block.(Continuing); ok {
		return c.Continues(i)
	}
	return "", false
}

// Text is the bytes of row i that are the block's, of the last layout.
func (b Indented) Text(i int) (from, to int) {
	head := b.Rest
	if i == 0 {
		head = b.First
	}
	from = len(head.String())
	line := b.Block.Line(i)
	if f, ok := b.Block.(Framed); ok {
		start, end := f.Text(i)
		return from + start, from + end
	}
	return from, from + len(line.String())
}
