package tui

import (
	"strings"

	"alisio/agent/text"
)

// finder is what is looked for in a Viewer, and the match that is looked at.
type finder struct {
	query string // folded
	at    Point
	found bool
	// The line that was joined last: rows of one line are painted one after the other.
	line joined
}

// joined is a line over its rows.
type joined struct {
	first Place
	text  string // folded
	rows  []piece
}

// piece is where a row stands in a line: text[from:to] is the row from byte head on.
type piece struct{ from, to, head int }

// join is the line that begins at the row first.
func (v *Viewer) join(first Place) joined {
	j := joined{first: first}
	var b strings.Builder
	for p, l := first, v.len(first.Block); p.Row < l; p.Row++ {
		if p != first {
			gap, yes := v.continues(p)
			if !yes {
				break
			}
			b.WriteString(gap)
		}
		row := v.line(p).String()
		head, end := v.text(p, len(row))
		j.rows = append(j.rows, piece{b.Len(), b.Len() + end - head, head})
		b.WriteString(row[head:end])
	}
	j.text = text.Fold(b.String())
	return j
}

// point is where byte i of a line stands.
func (j joined) point(i int) Point {
	for n, r := range j.rows {
		if i < r.to || n == len(j.rows)-1 {
			return Point{Place{j.first.Block, j.first.Row + n}, max(i-r.from, 0) + r.head}
		}
	}
	return Point{Place: j.first}
}

// offset is where a point of one of its rows stands in a line.
func (j joined) offset(p Point) int {
	r := j.rows[p.Row-j.first.Row]
	return r.from + max(p.Byte-r.head, 0)
}

// match is where in the line the next match begins, at from or after it, or else the
// last that begins before from; -1: there is none.
func (j joined) match(query string, from int, forward bool) int {
	if forward {
		if i := strings.Index(j.text[min(from, len(j.text)):], query); i >= 0 {
			return from + i
		}
		return -1
	}
	return strings.LastIndex(j.text[:min(from-1+len(query), len(j.text))], query)
}

// whole is, as from of a search backwards, the end of every line.
const whole = 1 << 30

// Find looks for text, in any case of letters, from the top of the window on and then
// from the start; it shows the first match, and marks all that are shown. An empty
// query ends the search. It reports whether there is a match.
func (v *Viewer) Find(query string) bool {
	v.find = finder{query: text.Fold(text.Line(query))}
	v.settle()
	if v.find.query == "" || v.top.Block >= len(v.blocks) || v.len(v.top.Block) == 0 {
		return false
	}
	first, _ := v.logical(v.top)
	return v.seek(first, 0, true)
}

// Next goes to the next match, Previous to the one before; both go round at the ends.
func (v *Viewer) Next() bool { return v.again(true) }

// Previous goes to the match before.
func (v *Viewer) Previous() bool { return v.again(false) }

func (v *Viewer) again(forward bool) bool {
	if !v.find.found || v.find.at.Block >= len(v.blocks) || v.find.at.Row >= v.len(v.find.at.Block) {
		return v.Find(v.find.query)
	}
	first, _ := v.logical(v.find.at.Place)
	from := v.join(first).offset(v.find.at)
	if forward {
		from++
	}
	return v.seek(first, from, forward)
}

// seek goes through the lines, from byte from of the one that begins at first, once
// round, to the next match.
func (v *Viewer) seek(first Place, from int, forward bool) bool {
	line, round := first, false
	for {
		j := v.join(line)
		if i := j.match(v.find.query, from, forward); i >= 0 {
			v.find.at, v.find.found = j.point(i), true
			v.Show(v.find.at.Place)
			return true
		}
		if from = 0; !forward {
			from = whole
		}
		next, ok := v.neighbour(line, forward)
		if !ok {
			if round {
				break
			}
			round = true
			next = v.edge(forward)
		}
		if round && (forward && first.before(next) || !forward && next.before(first)) {
			break
		}
		line = next
	}
	v.find.found = false
	return false
}

// neighbour is where the next line begins, or the one before.
func (v *Viewer) neighbour(line Place, forward bool) (next Place, ok bool) {
	if forward {
		_, last := v.logical(line)
		next, _ = v.step(last, 1)
		return next, next.Block < len(v.blocks)
	}
	next, missing := v.step(line, -1)
	if missing > 0 || v.len(next.Block) == 0 {
		return line, false
	}
	next, _ = v.logical(next)
	return next, true
}

// edge is where the first line begins, or the last. There is one.
func (v *Viewer) edge(forward bool) Place {
	if forward {
		p, _ := v.step(Place{}, 0)
		return p
	}
	p, _ := v.step(Place{Block: len(v.blocks)}, -1)
	p, _ = v.logical(p)
	return p
}

// Found is what is looked for, as it is compared, and whether it is anywhere.
func (v *Viewer) Found() (query string, found bool) { return v.find.query, v.find.found }

// paint marks the matches in a row. The one that is looked at is told from the others
// by its attribute.
func (f *finder) paint(v *Viewer, p Place, line text.Styled) text.Styled {
	if f.query == "" {
		return line
	}
	first, _ := v.logical(p)
	if f.line.first != first || p.Row-first.Row >= len(f.line.rows) || p == first {
		f.line = v.join(first)
	}
	row := f.line.rows[p.Row-first.Row]
	shift := row.head - row.from
	for i := 0; ; i++ {
		n := strings.Index(f.line.text[i:], f.query)
		if n < 0 || i+n >= row.to {
			return line
		}
		i += n
		from, to := max(i, row.from), min(i+len(f.query), row.to)
		if from >= to {
			continue
		}
		current := f.found && f.at == f.line.point(i)
		line = line.Restyled(from+shift, to+shift, func(s text.Style) text.Style {
			if s.On = text.Found; current {
				s.Attr |= text.Reverse
			}
			return s
		})
	}
}
