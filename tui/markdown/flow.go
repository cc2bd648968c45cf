package markdown

import (
	"strings"

	"alisio/agent/text"
)

// row is a row of the screen.
type row struct {
	line       text.Styled
	lead, tail uint8 // spans of its prefix, and of filling, which are no text
	soft       bool  // it goes on with the row before
	src        int32 // where the line of code begins that it is of, -1 for the label
}

// flow is the open row of a leaf, and what comes before the next one.
type flow struct {
	pend    text.Styled
	size    int  // bytes in pend
	seen    int  // of these, what was found to fit
	eats    bool // a row was full before a blank: blanks go with the break
	soft    bool // what is in pend goes on with the row before
	started bool // the first row of the leaf is there
}

// portion is how many bytes are wrapped at once, which keeps the work linear.
const portion = 512

// put adds text, in which a span "\n" ends a row. Rows that are full are given out. A row
// has a bound in bytes as well: marks without a width do not fill it.
func (e *engine) put(spans text.Styled) {
	most := 16*e.cells + 1024
	for _, s := range spans {
		if s.Text == "\n" {
			e.flush()
			continue
		}
		if e.flow.eats {
			s.Text = strings.TrimLeft(s.Text, " ")
			e.flow.eats = s.Text == ""
		}
		for s.Text != "" {
			part := text.Prefix(s.Text, max(min(portion, most-e.flow.size), 4))
			e.flow.pend = appendSpan(e.flow.pend, part, s.Style)
			e.flow.size += len(part)
			s.Text = s.Text[len(part):]
			if e.flow.size-e.flow.seen >= portion || e.flow.size+4 > most {
				e.wrap()
			}
			if e.flow.size+4 > most {
				e.flush()
				e.flow.soft = true
			}
		}
	}
	e.wrap()
}

// wrap gives out the full rows of what is pending.
func (e *engine) wrap() {
	lines := e.lines(e.flow.pend)
	if len(lines) < 2 {
		e.flow.seen = e.flow.size
		return
	}
	for _, l := range lines[:len(lines)-1] {
		e.emit(l)
		e.flow.soft = true
	}
	e.flow.eats = len(lines[len(lines)-1]) == 0 && !e.leaf.code() && strings.HasSuffix(e.flow.pend.String(), " ")
	e.flow.pend, e.flow.size = append(text.Styled(nil), lines[len(lines)-1]...), 0
	for _, s := range e.flow.pend {
		e.flow.size += len(s.Text)
	}
	e.flow.seen = e.flow.size
}

// lines cuts a line into rows: text between words, code anywhere.
func (e *engine) lines(l text.Styled) []text.Styled {
	if e.leaf.kind == fenced || e.leaf.kind == indented {
		return chop(l, e.cells)
	}
	return l.Wrap(e.cells)
}

// flush ends the open row.
func (e *engine) flush() {
	e.wrap()
	l := e.flow.pend
	if e.leaf.code() && len(l) > 0 {
		l = chop(l, e.cells)[0] // one glyph may be wider than the screen
	}
	if n := len(l); n > 0 && !e.leaf.code() {
		if l[n-1].Text = strings.TrimRight(l[n-1].Text, " "); l[n-1].Text == "" {
			l = l[:n-1]
		}
	}
	if len(l) > 0 || !e.flow.soft {
		e.emit(l)
	}
	e.flow.pend, e.flow.size, e.flow.seen, e.flow.soft, e.flow.eats = nil, 0, 0, false, false
}

// code reports a leaf of which all blanks count.
func (l *leaf) code() bool { return l.kind == fenced || l.kind == indented }

// emit gives out a row with its prefix.
func (e *engine) emit(l text.Styled) {
	front := e.pre.rest
	if !e.flow.started {
		front = e.pre.first
	}
	e.flow.started = true
	line := make(text.Styled, 0, len(front)+len(l)+2)
	line = append(line, front...)
	r := row{soft: e.flow.soft, src: e.src, lead: uint8(len(front))}
	if e.leaf.code() {
		mark := strings.Repeat(" ", e.margin)
		if e.flow.soft {
			mark = [...]string{"", "↳", "↳ "}[e.margin]
		}
		line = append(line, text.Span{Text: mark, Style: text.Style{Role: text.Dim, On: text.Quiet}})
		r.lead++
		used := 0
		for _, s := range l {
			s.On = text.Quiet
			line = append(line, s)
			used += text.Width(s.Text)
		}
		if used < e.cells {
			line = append(line, text.Span{Text: strings.Repeat(" ", e.cells-used), Style: text.Style{On: text.Quiet}})
			r.tail = 1
		}
	} else {
		line = append(line, l...)
	}
	r.line = line
	e.rows = append(e.rows, r)
}

// chop cuts a line after so many cells, and loses nothing of it.
func chop(l text.Styled, cells int) []text.Styled {
	if l.Width() <= cells {
		return []text.Styled{l}
	}
	var rows []text.Styled
	var line text.Styled
	used := 0
	for _, s := range l {
		from := 0
		for i := 0; i < len(s.Text); {
			n, w := text.First(s.Text[i:min(len(s.Text), i+256)])
			wide := w > cells
			if wide {
				w = 1
			}
			if used+w > cells && used > 0 {
				line = piece(line, s, from, i)
				rows, line, from, used = append(rows, line), nil, i, 0
			}
			if wide {
				line = append(piece(line, s, from, i), text.Span{Text: "…", Style: s.Style})
				from = i + n
			}
			i, used = i+n, used+w
		}
		line = piece(line, s, from, len(s.Text))
	}
	return append(rows, line)
}

// piece appends a part of a span.
func piece(line text.Styled, s text.Span, from, to int) text.Styled {
	if from >= to {
		return line
	}
	return append(line, text.Span{Text: s.Text[from:to], Style: s.Style})
}
