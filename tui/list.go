package tui

import "alisio/agent/text"

// Window is which of many rows are shown, and which of them is chosen. It scrolls no
// more than it must to show that one.
type Window struct {
	Count  int // of all rows
	Height int // rows that are shown
	Chosen int
	top    int
}

// Move moves the choice by so many rows, and stops at the ends.
func (w *Window) Move(n int) { w.Choose(w.Chosen + n) }

// Choose chooses a row, the nearest that there is.
func (w *Window) Choose(i int) { w.Chosen = max(min(i, w.Count-1), 0) }

// Page moves by so many windows, less a row.
func (w *Window) Page(n int) { w.Move(n * max(w.Height-1, 1)) }

// Top is the first row that is shown.
func (w *Window) Top() int {
	w.Choose(w.Chosen)
	h := max(w.Height, 1)
	w.top = max(min(w.top, w.Chosen), w.Chosen-h+1)
	w.top = max(min(w.top, w.Count-h), 0)
	return w.top
}

// Hidden is how many rows there are above and below the window.
func (w *Window) Hidden() (above, below int) {
	above = w.Top()
	return above, max(w.Count-above-w.Height, 0)
}

// List is rows of which one is chosen.
type List struct {
	Window
	Rows []text.Styled
	// Label, where it is set, is a second text at the right edge of each row.
	Labels []text.Styled
	// Numbered rows are chosen with 1 to 9, too.
	Numbered bool
}

// NewList is a list of rows that shows so many of them.
func NewList(height int, rows ...text.Styled) *List {
	return &List{Rows: rows, Window: Window{Count: len(rows), Height: height}}
}

// Lines are the rows that are shown, each as wide as that, the chosen one marked by ›
// and by its ground.
func (l *List) Lines(width int) []text.Styled {
	l.Count = len(l.Rows)
	var lines []text.Styled
	top := l.Top()
	for i := top; i < min(top+l.Height, l.Count); i++ {
		row := l.Rows[i]
		if i < len(l.Labels) && len(l.Labels[i]) > 0 {
			row = Sides(row, l.Labels[i], width-markWidth)
		}
		lines = append(lines, Row(row, width, i == l.Chosen))
	}
	return lines
}

const markWidth = 2

// Row is a row of something to choose from, filled to a width: where it is chosen a ›
// and another ground say so.
func Row(row text.Styled, width int, chosen bool) text.Styled {
	if !chosen {
		return Pad(append(text.Unstyled("  "), row...), width, Left)
	}
	return Ground(Pad(append(text.Of("› ", text.Accent), row...), width, Left), text.Chosen)
}

// Ground is a line on another ground, where it has none of its own.
func Ground(l text.Styled, on text.Role) text.Styled {
	out := make(text.Styled, len(l))
	for i, s := range l {
		if s.On == text.Normal {
			s.On = on
		}
		out[i] = s
	}
	return out
}
