package tuitest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// modeNames lists the modes that differ from a fresh terminal's, "-" before those that
// are off where they are usually on. The visible cursor has a place of its own.
func (t *Terminal) modeNames() []string {
	var names []string
	for _, n := range slices.Sorted(maps.Keys(t.private)) {
		m, _ := modeOf(n)
		switch {
		case n == 25 || n == 1049:
		case t.private[n]:
			names = append(names, m.name)
		default:
			names = append(names, "-"+m.name)
		}
	}
	if t.ansi[4] {
		names = append(names, "insert")
	}
	if t.ansi[20] {
		names = append(names, "newline")
	}
	if f := t.on.flags(); f != 0 {
		names = append(names, fmt.Sprintf("kitty-keys=%d", f))
	}
	if t.other != 0 {
		names = append(names, fmt.Sprintf("other-keys=%d", t.other))
	}
	if g := t.on; g.top > 0 || g.bottom < g.height-1 {
		names = append(names, fmt.Sprintf("region=%d-%d", g.top, g.bottom))
	}
	return names
}

var shapeNames = [...]string{"", "blinking-block", "block", "blinking-underline", "underline", "blinking-bar", "bar"}

// Dump is the screen as text that people read and diff: the rows in a frame, then the
// cursor, the modes, the pictures and, row by row, what is styled how. Places count
// from 0, row before column; a run of columns names its first and its last.
func (s *Screen) Dump() string {
	var b strings.Builder
	kind := "main"
	if s.Alternate {
		kind = "alternate"
	}
	fmt.Fprintf(&b, "%dx%d %s\n", s.Columns, s.Rows, kind)
	edge := "+" + strings.Repeat("-", s.Columns) + "+\n"
	b.WriteString(edge)
	for y, cells := range s.Cells {
		end := "|"
		if s.Wrapped[y] {
			end = "\\" // goes on in the next row
		}
		b.WriteString("|" + rowText(cells) + end + "\n")
	}
	b.WriteString(edge)
	fmt.Fprintf(&b, "cursor %s\n", s.Cursor)
	if s.Title != "" {
		fmt.Fprintf(&b, "title %q\n", s.Title)
	}
	if len(s.Modes) > 0 {
		fmt.Fprintf(&b, "modes %s\n", strings.Join(s.Modes, " "))
	}
	for _, p := range s.Images {
		fmt.Fprintf(&b, "image %s\n", p)
	}
	for y, cells := range s.Cells {
		if runs := styleRuns(cells); len(runs) > 0 {
			fmt.Fprintf(&b, "%d: %s\n", y, strings.Join(runs, "; "))
		}
	}
	return b.String()
}

func (c Cursor) String() string {
	s := fmt.Sprintf("%d,%d", c.Row, c.Column)
	if c.Shape > 0 && c.Shape < len(shapeNames) {
		s += " " + shapeNames[c.Shape]
	}
	if c.Pending {
		s += " pending"
	}
	if c.Hidden {
		s += " hidden"
	}
	return s
}

func (p Placement) String() string {
	s := fmt.Sprintf("%s %d,%d %dx%d cells", p.Protocol, p.Row, p.Column, p.Columns, p.Rows)
	if p.Image != 0 {
		s += fmt.Sprintf(" id=%d", p.Image)
	}
	if p.Virtual {
		s += " virtual"
	}
	return s
}

// styleRuns lists the runs of cells that have one style other than the default.
func styleRuns(cells []Cell) []string {
	var runs []string
	for from := 0; from < len(cells); {
		to := from
		for to+1 < len(cells) && cells[to+1].Style == cells[from].Style {
			to++
		}
		if style := cells[from].Style.String(); style != "" {
			place := fmt.Sprint(from)
			if to > from {
				place = fmt.Sprintf("%d-%d", from, to)
			}
			runs = append(runs, place+" "+style)
		}
		from = to + 1
	}
	return runs
}

// Dump is the dump of the screen that is shown.
func (t *Terminal) Dump() string { return t.Screen().Dump() }
