package tui

import (
	"strings"

	"alisio/agent/text"
)

// Point is a byte of a row of a Viewer.
type Point struct {
	Place
	Byte int
}

func (p Point) before(q Point) bool {
	return p.Place.before(q.Place) || p.Place == q.Place && p.Byte < q.Byte
}

// selection is what a person marked: from where the button went down to where the
// pointer is. Both are cluster borders; to is beyond the last of them.
type selection struct {
	on       bool
	from, to Point
}

// order gives the ends as they stand in the text.
func (s selection) order() (from, to Point) {
	if s.to.before(s.from) {
		return s.to, s.from
	}
	return s.from, s.to
}

// within is the bytes of the row at p that are selected.
func (s selection) within(p Place, size int) (from, to int) {
	a, b := s.order()
	if !s.on || p.before(a.Place) || b.Place.before(p) {
		return 0, 0
	}
	to = size
	if p == a.Place {
		from = min(a.Byte, size)
	}
	if p == b.Place {
		to = min(b.Byte, size)
	}
	return from, max(to, from)
}

// paint marks what is selected of a row.
func (s selection) paint(p Place, line text.Styled) text.Styled {
	from, to := s.within(p, len(line.String()))
	if from == to {
		return line
	}
	return line.Restyled(from, to, func(st text.Style) text.Style { st.On = text.Chosen; return st })
}

// border is the byte of a line at which the cell in a column begins, and end that at
// which it ends: a cluster is selected whole.
func border(line string, column int) (begin, end int) {
	at := 0
	for at < len(line) {
		n, w := text.First(line[at:])
		if column < w {
			return at, at + n
		}
		at, column = at+n, column-w
	}
	return at, at
}

// point is the cluster in a cell of the window: below the last row the end of it.
func (v *Viewer) point(column, row int) (begin, end Point, ok bool) {
	p, ok := v.At(row)
	if !ok {
		p, _ = v.step(p, -1)
		if p.Block >= len(v.blocks) || v.len(p.Block) == 0 {
			return Point{}, Point{}, false
		}
		size := len(v.line(p).String())
		return Point{p, size}, Point{p, size}, true
	}
	b, e := border(v.line(p).String(), max(column, 0))
	return Point{p, b}, Point{p, e}, true
}

// Press begins a selection at a cell of the window, counted from 0.
func (v *Viewer) Press(column, row int) {
	begin, _, ok := v.point(column, row)
	v.mark = selection{on: ok, from: begin, to: begin}
}

// Drag takes the selection to a cell. Above and below the window it scrolls by a row.
func (v *Viewer) Drag(column, row int) {
	if !v.mark.on {
		return
	}
	switch {
	case row < 0:
		v.Scroll(-1)
	case row >= v.height:
		v.Scroll(1)
	}
	begin, end, ok := v.point(column, min(max(row, 0), v.height-1))
	if !ok {
		return
	}
	if begin.before(v.mark.from) {
		v.mark.to = begin
	} else {
		v.mark.to = end
	}
}

// Word selects the word at a cell: letters and digits that stand together, or else the
// one cluster.
func (v *Viewer) Word(column, row int) {
	begin, end, ok := v.point(column, row)
	if v.mark = (selection{on: ok, from: begin, to: end}); !ok {
		return
	}
	line := v.line(begin.Place).String()
	if !wordy(line[begin.Byte:end.Byte]) {
		return
	}
	v.mark.from.Byte, v.mark.to.Byte = 0, len(line)
	at := 0
	for cluster := range text.Graphemes(line) {
		if !wordy(cluster) {
			if at < begin.Byte {
				v.mark.from.Byte = at + len(cluster)
			} else if at > begin.Byte {
				v.mark.to.Byte = at
				break
			}
		}
		at += len(cluster)
	}
}

// wordy reports whether a cluster is part of a word, a path or a name.
func wordy(cluster string) bool {
	return cluster != "" && !strings.ContainsAny(cluster, " \t'\"`()[]{}<>,;:│|“”‘’")
}

// Row selects the whole line at a row of the window.
func (v *Viewer) Row(row int) {
	begin, _, ok := v.point(0, row)
	if !ok {
		return
	}
	from, to := v.logical(begin.Place)
	v.mark = selection{on: true, from: Point{from, 0}, to: Point{to, len(v.line(to).String())}}
}

// Unselect takes the selection away.
func (v *Viewer) Unselect() { v.mark = selection{} }

// Selected is the text that is selected: rows that are pieces of one line as one line,
// without what only stands before them, and without spaces at the ends of lines.
func (v *Viewer) Selected() string {
	from, to := v.mark.order()
	if !v.mark.on || from == to {
		return ""
	}
	var b strings.Builder
	for p := from.Place; p.Block < len(v.blocks) && !to.Place.before(p); p, _ = v.step(p, 1) {
		if p.Row >= v.len(p.Block) {
			continue // it shrank since
		}
		line := v.line(p).String()
		start, end := v.mark.within(p, len(line))
		first, last := v.text(p, len(line))
		start, end = max(start, first), min(end, last)
		if p != from.Place {
			if joint, yes := v.continues(p); yes {
				b.WriteString(joint)
			} else {
				b.WriteByte('\n')
			}
		}
		b.WriteString(line[start:max(start, end)])
	}
	lines := strings.Split(b.String(), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

// text is the bytes of a row of so many that are text.
func (v *Viewer) text(p Place, size int) (from, to int) {
	f, ok := v.blocks[p.Block].(Framed)
	if !ok {
		return 0, size
	}
	from, to = f.Text(p.Row)
	return min(from, size), min(max(to, from), size)
}

// continues reports whether the row goes on with the line of the one before.
func (v *Viewer) continues(p Place) (gap string, yes bool) {
	c, ok := v.blocks[p.Block].(Continuing)
	if !ok || p.Row == 0 {
		return "", false
	}
	return c.Continues(p.Row)
}

// logical is the first and the last row of the line that a row is of.
func (v *Viewer) logical(p Place) (first, last Place) {
	first, last = p, p
	for {
		if _, yes := v.continues(first); !yes {
			break
		}
		first.Row--
	}
	for last.Row+1 < v.len(last.Block) {
		if _, yes := v.continues(Place{last.Block, last.Row + 1}); !yes {
			break
		}
		last.Row++
	}
	return first, last
}
