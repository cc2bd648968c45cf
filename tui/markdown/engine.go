package markdown

import (
	"strings"
	"unicode/utf8"

	"alisio/agent/text"
	"alisio/tui/lex"
)

// engine lays out one leaf at one width, and goes on where it was when more of the leaf
// has come:
//
//	text of the leaf: ... final rows ... at | looked at again with every delta
//
// What lies behind at is short by the bounds of the parser, so a delta costs the same
// at the end of a long message as at its start.
type engine struct {
	leaf  *leaf
	par   *inline
	cells int // for text, without prefix and margin
	pre   prefixes
	base  text.Style

	rows   []row // that do not change any more
	at     int   // bytes of the leaf's text that are in them or in flow
	flow   flow
	src    int32
	margin int // of code

	lexer lex.Lexer
	state lex.State
	long  bool // the start of the line at at is in flow
	col   int  // of a long line

	grid *grid
}

// window is how much of a long paragraph is read at once: some times reach.
const window = 8 * reach

// longLine bounds what of a line of code is coloured, and laid out again while it grows.
const longLine = 1024

func (d *Doc) newEngine(l *leaf, width int) *engine {
	e := &engine{leaf: l, par: &d.par, pre: prefix(l.in, l.fresh, width)}
	e.cells = max(width-e.pre.cells, 1)
	for f := l.in; f != nil; f = f.up {
		if f.quote {
			e.base.Role = text.Quote
		}
	}
	e.par.defs, e.par.known = &d.blocks.defs, l.defs
	if l.gap {
		e.rows = append(e.rows, row{line: e.pre.gap, lead: uint8(len(e.pre.gap))})
	}
	switch l.kind {
	case heading:
		e.base = text.Style{Role: text.Heading, Attr: text.Bold}
		if l.level == 1 {
			e.base.Attr |= text.Underline
		}
		mark := text.Span{Text: strings.Repeat("#", l.level) + " ", Style: text.Style{Role: text.Dim}}
		if l.level+1 < e.cells {
			e.pre.first = append(e.pre.first, mark)
			e.pre.rest = append(e.pre.rest, text.Span{Text: strings.Repeat(" ", l.level+1)})
			e.cells -= l.level + 1
		}
	case fenced, indented:
		switch {
		case e.cells >= 40:
			e.margin = 2
		case e.cells > 3:
			e.margin = 1
		}
		e.cells = max(e.cells-e.margin, 1)
		e.src = -1
		e.label()
	case table:
		e.grid = &grid{}
	}
	return e
}

// label names the language of code above it.
func (e *engine) label() {
	name, _, _ := strings.Cut(e.leaf.info, " ")
	e.lexer, _ = lex.Lookup(e.leaf.info)
	if name = strings.Trim(name, "{}"); name != "" {
		e.emit(text.Styled{{Text: text.Clip(text.Line(name), e.cells), Style: text.Style{Role: text.Dim}}})
	}
	e.src = 0
}

// run lays out body, of which the first sure bytes stay what they are, and extra, which is
// behind it for now. It returns the rows that may still change; with done there are none.
func (e *engine) run(body string, sure int, extra string, done bool) []row {
	e.par.known = e.leaf.defs
	switch e.leaf.kind {
	case paragraph, heading:
		return e.inline(body, sure, extra, done)
	case table:
		return e.table(body, extra, done)
	case rule:
		if done && !e.flow.started {
			e.emit(text.Of(strings.Repeat("─", e.cells), text.Dim))
		}
		return nil
	}
	return e.verbatim(body, extra, done)
}

// again runs lay on a copy of the state, and returns the rows that it made.
func (e *engine) again(lay func()) []row {
	kept := *e
	n := len(e.rows)
	e.flow.pend = append(text.Styled(nil), e.flow.pend...)
	lay()
	made := append([]row(nil), e.rows[n:]...)
	rows := e.rows[:n]
	*e = kept
	e.rows = rows
	return made
}

func (e *engine) inline(body string, sure int, extra string, done bool) []row {
	prev, _ := utf8.DecodeLastRuneInString(body[:e.at])
	if e.at == 0 {
		prev = ' '
	}
	tail := body[e.at:] + extra
	for done && len(tail) > window {
		// In pieces: what is read of a long text at once would take many times its size.
		e.par.parse(tail[:len(text.Prefix(tail, window))], prev, true)
		q := e.par.final(window)
		if q == 0 {
			break
		}
		e.put(e.par.spans(nil, 0, q, e.base))
		prev, _ = utf8.DecodeLastRuneInString(tail[:q])
		tail = tail[q:]
	}
	e.par.parse(tail, prev, !done)
	if done {
		e.put(e.par.spans(nil, 0, len(tail), e.base))
		e.flush()
		e.at = len(body)
		return nil
	}
	end := len(tail)
	if q := e.par.final(sure - e.at); q > 0 {
		e.put(e.par.spans(nil, 0, q, e.base))
		e.at += q
		return e.again(func() {
			e.put(e.par.spans(nil, q, end, e.base))
			e.flush()
		})
	}
	return e.again(func() {
		e.put(e.par.spans(nil, 0, end, e.base))
		e.flush()
	})
}

// verbatim lays out code, and what is shown as it is, line by line.
func (e *engine) verbatim(body, extra string, done bool) []row {
	for {
		n := strings.IndexByte(body[e.at:], '\n')
		if n < 0 {
			break
		}
		e.from()
		e.source(body[e.at:e.at+n], true)
		e.at += n + 1
	}
	e.from()
	tail := body[e.at:]
	if len(tail) > longLine {
		e.at += e.source(tail, false)
		tail = body[e.at:]
	}
	if tail += extra; done {
		if tail != "" || e.long {
			e.source(tail, true)
		}
		e.at = len(body)
		return nil
	}
	if tail == "" && !e.long {
		return nil
	}
	return e.again(func() { e.source(tail, true) })
}

// from notes that a line begins here.
func (e *engine) from() {
	if !e.long {
		e.src = int32(e.at)
	}
}

// source lays out a line of code, or of a long one what has come of it, and says how much
// of it that is. Only the start of a long line is coloured.
func (e *engine) source(line string, ended bool) int {
	used := 0
	if !e.long {
		head := text.Prefix(line, longLine)
		shown := text.Tabs(head, 0)
		var spans text.Styled
		if e.leaf.code() {
			e.state, spans = e.lexer.Line(e.state, shown)
		} else {
			spans = text.Styled{{Text: shown, Style: text.Style{Role: text.Dim}}}
		}
		e.put(spans)
		used, e.col = len(head), text.Width(shown)
		e.long = true
	}
	for used < len(line) {
		part := text.Prefix(line[used:], longLine)
		if !ended && len(part) < longLine-4 {
			break
		}
		shown := text.Tabs(part, e.col)
		e.col += text.Width(shown)
		used += len(part)
		e.put(text.Styled{{Text: shown, Style: text.Style{Role: e.plain()}}})
	}
	if ended {
		e.flush()
		e.long = false
	}
	return used
}

// plain is the role of text that is not coloured.
func (e *engine) plain() text.Role {
	if e.leaf.code() {
		return text.Normal
	}
	return text.Dim
}
