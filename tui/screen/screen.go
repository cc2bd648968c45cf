// Package screen brings frames to a terminal: lines of text become cells, cells are
// compared with those that are shown, and the difference is one write.
//
//	Frame → cells → rows that moved → cells that changed → bytes → one Write
//
// It is the last guard before the terminal: whatever a line holds, only text, colours
// that a theme chose, and links that were checked come out; a line that is too wide is
// clipped, and no glyph is split at an edge. It knows no widget, waits for nothing and
// starts no goroutine.
package screen

import (
	"io"
	"slices"

	"alisio/agent/text"
	"alisio/tui/term"
)

// Frame is what the screen is to show.
type Frame struct {
	// Lines from the top; the rows below the last are blank, lines beyond the screen are
	// not shown.
	Lines  []text.Styled
	Cursor Cursor
	Images []Placement
}

// Cursor is the cell of the caret, counted from 0, where it is shown: the terminal's own
// cursor stands there after each frame, so input methods open at the right place (C102).
type Cursor struct {
	Column, Row int
	Shown       bool
}

// Screen is what a terminal shows. It is not safe for concurrent use.
type Screen struct {
	out      io.Writer
	features term.Features
	theme    Theme
	palette  palette
	columns  int
	rows     int

	lines  []text.Styled // of the last frame, as they are on the screen
	shown  [][]cell
	next   []cell
	whole  bool // nothing is known of what is on the screen
	cursor Cursor
	images images
	pen    pen
	known  interned
}

// New is the screen of a terminal that is drawn on through out. It draws all of the
// first frame.
func New(out io.Writer, f term.Features, t Theme, columns, rows int) *Screen {
	s := &Screen{out: out, features: f, theme: t, palette: t.at(f.Colors)}
	s.Resize(columns, rows)
	return s
}

// Size is the columns and rows of the screen.
func (s *Screen) Size() (columns, rows int) { return s.columns, s.rows }

// Resize gives the screen another size. The next frame is drawn whole.
func (s *Screen) Resize(columns, rows int) {
	s.columns, s.rows = max(columns, 1), max(rows, 1)
	s.lines = make([]text.Styled, s.rows)
	s.shown = make([][]cell, s.rows)
	for i := range s.shown {
		s.shown[i] = make([]cell, s.columns)
	}
	s.next = make([]cell, s.columns)
	s.Invalidate()
}

// Invalidate forgets what is on the screen: the next frame is drawn whole.
func (s *Screen) Invalidate() { s.whole = true }

// SetFeatures takes in what became known of the terminal.
func (s *Screen) SetFeatures(f term.Features) {
	if s.features != f {
		s.features, s.palette = f, s.theme.at(f.Colors)
		s.Invalidate()
	}
}

// SetTheme chooses other colours.
func (s *Screen) SetTheme(t Theme) {
	s.theme, s.palette = t, t.at(s.features.Colors)
	s.Invalidate()
}

// Draw brings a frame to the terminal in one write, and writes nothing where nothing
// changed. After an error the next frame is drawn whole.
func (s *Screen) Draw(f Frame) error {
	p := &s.pen
	p.begin(s)
	if s.whole {
		s.wipe()
	} else if len(f.Images) == 0 && len(s.images.placed) == 0 {
		s.scroll(f.Lines)
	}
	for row := range s.rows {
		var line text.Styled
		if row < len(f.Lines) {
			line = f.Lines[row]
		}
		if s.whole || !same(line, s.lines[row]) {
			s.drawRow(row, line)
		}
	}
	s.drawImages(f.Images)
	s.whole = false
	body := p.end(s.cursorAt(f.Cursor))
	if len(body) == 0 {
		return nil
	}
	if _, err := s.out.Write(body); err != nil {
		s.Invalidate()
		return err
	}
	return nil
}

// cursorAt is where the cursor is on the screen: inside of it.
func (s *Screen) cursorAt(c Cursor) Cursor {
	c.Column = min(max(c.Column, 0), s.columns-1)
	c.Row = min(max(c.Row, 0), s.rows-1)
	return c
}

// wipe begins a screen of which nothing is known.
func (s *Screen) wipe() {
	// Without wrapping a glyph that is wider than we think does not reach the next row.
	s.pen.add("\x1b[?7l\x1b[r\x1b[0m\x1b]8;;\x1b\\\x1b[H\x1b[2J")
	s.pen.row, s.pen.column = 0, 0
	s.pen.look, s.pen.link = look{}, ""
	s.forget()
	for i := range s.shown {
		clear(s.shown[i])
		s.lines[i] = nil
	}
}

// same reports whether two lines show the same.
func same(a, b text.Styled) bool { return slices.Equal(a, b) }

// drawRow writes what changed in a row.
func (s *Screen) drawRow(row int, line text.Styled) {
	doubtful := s.fill(s.next, line)
	old := s.shown[row]
	from := 0
	if doubtful || slices.ContainsFunc(old, func(c cell) bool { return c.doubtful }) {
		// What the terminal made of the row is not known: it is erased and written whole, and
		// the column told after each cluster that is doubtful (C091).
		if !blank(old) {
			s.pen.move(row, 0)
			s.pen.plain(s)
			s.pen.add("\x1b[K")
		}
		s.writeCells(row, 0, s.columns, true)
	} else {
		for from < s.columns {
			if s.next[from] == old[from] {
				from++
				continue
			}
			to := s.changedTo(old, from)
			s.writeCells(row, from, to, false)
			from = to
		}
	}
	s.shown[row], s.next = s.next, old
	s.lines[row] = append(s.lines[row][:0], line...)
}

// bridge is how many cells that did not change are written again rather than passed
// over: moving takes as many bytes.
const bridge = 4

// changedTo is the end of the cells from one on that are written together.
func (s *Screen) changedTo(old []cell, from int) int {
	to := from + 1
	for i := from + 1; i < s.columns && i-to <= bridge; i++ {
		if s.next[i] != old[i] {
			to = i + 1
		} else if len(s.next[i].text) > 1 || s.next[i].style != s.next[from].style {
			break
		}
	}
	for to < s.columns && s.next[to].width == rest {
		to++ // never the half of a glyph
	}
	return to
}

// writeCells writes cells of the row s.next. Blanks up to the end of the row are erased.
func (s *Screen) writeCells(row, from, to int, resync bool) {
	end := to
	if to == s.columns || blank(s.next[to:]) && (resync || !blank(s.shown[row][to:])) {
		for end > from && s.next[end-1].isBlank() {
			end--
		}
		if s.columns-end < len("\x1b[K") && !resync {
			end = to
		}
	}
	for i := from; i < end; i++ {
		c := s.next[i]
		if c.width == rest {
			continue
		}
		s.pen.move(row, i)
		s.pen.write(c, s)
		if s.pen.column = i + max(int(c.width), 1); c.doubtful && !s.features.Clusters {
			s.pen.column = unknown
		}
		if s.pen.column >= s.columns {
			s.pen.column = unknown // the terminal waits with the wrap, or does not
			s.pen.row = unknown
		}
	}
	if end < to || end < s.columns && (to == s.columns) {
		s.pen.move(row, end)
		s.pen.plain(s)
		s.pen.add("\x1b[K")
	}
}

// Leave is what takes our traces off the terminal: pictures, colours, a link.
func (s *Screen) Leave() error {
	s.pen.begin(s)
	s.forget()
	s.pen.plain(s)
	s.Invalidate()
	_, err := s.out.Write(append(s.pen.take(), "\x1b[0m\x1b]8;;\x1b\\\x1b[?25h\x1b[?7h"...))
	return err
}
