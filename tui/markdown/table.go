package markdown

import (
	"slices"
	"strings"

	"alisio/agent/text"
)

// settleRows is how many rows of a table decide how wide its columns are. Later rows are
// fitted in, so that what stands above them stays.
const settleRows = 24

// leastCells is what a column that is cut needs; with less the table is shown as records.
const leastCells = 6

// grid is the layout of a table.
type grid struct {
	head   []text.Styled
	align  []byte // 'l', 'c', 'r'
	rows   [][]text.Styled
	widths []int // that the cells so far want
	fixed  bool  // widths stay
	fit    []int // the columns, nil for records
	lines  int   // of the source that were read
	laid   []row // of head and rows, for fit
	laidOf int   // rows in laid
}

// cells cuts a row of a table into its cells. "\|" is no border.
func cells(line string) []string {
	line = strings.Trim(line, " \t")
	line = strings.TrimPrefix(line, "|")
	var out []string
	start := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '|':
			out = append(out, line[start:i])
			start = i + 1
		}
	}
	if rest := line[min(start, len(line)):]; strings.Trim(rest, " \t") != "" || len(out) == 0 {
		out = append(out, rest)
	}
	for i := range out {
		out[i] = strings.ReplaceAll(strings.Trim(out[i], " \t"), `\|`, "|")
	}
	return out
}

// delimiters is how many columns a line like "|:--|--:|" has, 0 for any other line.
func delimiters(t string) int {
	if strings.Trim(t, "|:- \t") != "" || strings.IndexByte(t, '-') < 0 {
		return 0
	}
	out := cells(t)
	for _, c := range out {
		if c = strings.TrimSuffix(strings.TrimPrefix(c, ":"), ":"); c == "" || strings.Trim(c, "-") != "" {
			return 0
		}
	}
	return len(out)
}

// table lays out the complete lines of body, and extra as a row that is not complete.
func (e *engine) table(body, extra string, done bool) []row {
	g := e.grid
	for {
		n := strings.IndexByte(body[e.at:], '\n')
		if n < 0 {
			break
		}
		line := body[e.at : e.at+n]
		e.at += n + 1
		if g.lines++; g.lines == 2 {
			g.align = aligns(line, len(g.head))
			continue
		}
		c := e.parsed(line)
		if g.lines == 1 {
			g.head, g.widths = c, want(nil, c)
			continue
		}
		if g.fixed {
			e.record(g.fit, c)
			continue
		}
		g.rows, g.widths = append(g.rows, c), want(g.widths, c)
		if len(g.rows) == settleRows {
			e.settle()
		}
	}
	if done {
		e.settle()
		return nil
	}
	var part []text.Styled
	if extra != "" {
		part = e.parsed(extra)
	}
	if g.fixed {
		if part == nil {
			return nil
		}
		return e.again(func() { e.record(g.fit, part) })
	}
	widths := g.widths
	if part != nil {
		widths = want(slices.Clone(widths), part)
	}
	return e.growing(e.fit(widths), part)
}

// growing is the table so far, of which columns may still become wider.
func (e *engine) growing(fit []int, part []text.Styled) []row {
	g := e.grid
	if g.laid == nil || !slices.Equal(fit, g.fit) {
		g.fit, g.laidOf = fit, 0
		g.laid = e.again(func() { e.header(fit) })
	}
	g.laid = append(g.laid, e.again(func() {
		e.flow.started = true
		for ; g.laidOf < len(g.rows); g.laidOf++ {
			e.record(fit, g.rows[g.laidOf])
		}
	})...)
	if part == nil {
		return slices.Clip(g.laid)
	}
	return append(slices.Clip(g.laid), e.again(func() {
		e.flow.started = true
		e.record(fit, part)
	})...)
}

// settle fixes the columns and gives out what is there.
func (e *engine) settle() {
	g := e.grid
	if g.fixed {
		return
	}
	g.fixed, g.fit, g.laid = true, e.fit(g.widths), nil
	e.header(g.fit)
	for _, r := range g.rows {
		e.record(g.fit, r)
	}
	g.rows = nil
}

// parsed reads the cells of a row: as many as the head has, the last with what is over.
func (e *engine) parsed(line string) []text.Styled {
	c := cells(squeeze(line))
	if n := len(e.grid.head); n > 0 {
		if len(c) > n {
			c = append(c[:n-1:n-1], strings.Join(c[n-1:], " | "))
		}
		for len(c) < n {
			c = append(c, "")
		}
	}
	out := make([]text.Styled, len(c))
	for i, s := range c {
		e.par.parse(s, ' ', false)
		out[i] = e.par.spans(nil, 0, len(s), e.base)
	}
	return out
}

// want widens widths to what a row wants.
func want(widths []int, row []text.Styled) []int {
	for i, c := range row {
		if i == len(widths) {
			widths = append(widths, 1)
		}
		for _, l := range split(c) {
			widths[i] = max(widths[i], l.Width())
		}
	}
	return widths
}

// split cuts a cell at its line breaks.
func split(c text.Styled) []text.Styled {
	var out []text.Styled
	start := 0
	for i, s := range c {
		if s.Text == "\n" {
			out = append(out, c[start:i:i])
			start = i + 1
		}
	}
	return append(out, c[start:])
}

func aligns(line string, n int) []byte {
	out := make([]byte, n)
	for i, c := range cells(line) {
		switch {
		case i >= n:
		case strings.HasPrefix(c, ":") && strings.HasSuffix(c, ":") && len(c) > 1:
			out[i] = 'c'
		case strings.HasSuffix(c, ":"):
			out[i] = 'r'
		}
	}
	return out
}

// fit gives each column what it wants; where there is less room, narrow ones keep what
// they want and the others share the rest. Nil says that a table is not possible.
func (e *engine) fit(widths []int) []int {
	n := len(widths)
	room := e.cells - 3*(n-1)
	fit := slices.Clone(widths)
	for left, wide := room, n; ; {
		share := 0
		if wide > 0 {
			share = left / wide
		}
		again := false
		left, wide = room, n
		for _, w := range widths {
			if w <= share {
				left, wide = left-w, wide-1
			}
		}
		if wide == 0 {
			return fit
		}
		if s := left / wide; s > share {
			again = true
			share = s
		}
		if again {
			continue
		}
		if share < leastCells {
			return nil
		}
		over := left % wide
		for i, w := range widths {
			if w > share {
				fit[i] = share
				if over > 0 {
					fit[i], over = share+1, over-1
				}
			}
		}
		return fit
	}
}

// header gives out the head of the table and the line under it.
func (e *engine) header(fit []int) {
	head := make([]text.Styled, len(e.grid.head))
	for i, c := range e.grid.head {
		head[i] = c.Restyled(0, len(c.String()), func(s text.Style) text.Style {
			s.Attr |= text.Bold
			return s
		})
	}
	if fit == nil {
		var all text.Styled
		for i, c := range head {
			if i > 0 {
				all = append(all, text.Span{Text: " │ ", Style: text.Style{Role: text.Dim}})
			}
			all = append(all, c...)
		}
		e.put(all)
		e.flush()
		return
	}
	e.across(fit, head)
	var b strings.Builder
	for i, w := range fit {
		if i > 0 {
			b.WriteString("─┼─")
		}
		b.WriteString(strings.Repeat("─", w))
	}
	e.emit(text.Of(b.String(), text.Dim))
}

// record gives out one row of the table.
func (e *engine) record(fit []int, row []text.Styled) {
	if fit != nil {
		e.across(fit, row)
		return
	}
	e.emit(text.Of(strings.Repeat("─", min(e.cells, 8)), text.Dim))
	for i, c := range row {
		if len(c) == 0 {
			continue
		}
		name := ""
		if i < len(e.grid.head) {
			name = strings.ReplaceAll(e.grid.head[i].String(), "\n", " ")
		}
		line := text.Styled{}
		if name != "" {
			line = append(line, text.Span{Text: name + ": ", Style: text.Style{Attr: text.Bold}})
		}
		e.put(append(line, c...))
		e.flush()
	}
}

// across gives out cells beside each other, each over as many rows as it takes.
func (e *engine) across(fit []int, row []text.Styled) {
	lines := make([][]text.Styled, len(fit))
	height := 1
	for i := range fit {
		if i < len(row) {
			for _, l := range split(row[i]) {
				lines[i] = append(lines[i], l.Wrap(fit[i])...)
			}
		}
		height = max(height, len(lines[i]))
	}
	for y := range height {
		var line text.Styled
		for i, w := range fit {
			if i > 0 {
				line = append(line, text.Span{Text: " │ ", Style: text.Style{Role: text.Dim}})
			}
			var cell text.Styled
			if y < len(lines[i]) {
				cell = lines[i][y]
			}
			line = e.pad(line, cell, w, i)
		}
		for n := len(line); n > 0 && strings.Trim(line[n-1].Text, " ") == "" && line[n-1].Role == text.Normal; n-- {
			line = line[:n-1]
		}
		e.flow.soft = y > 0
		e.emit(line)
	}
	e.flow.soft = false
}

// pad appends a cell to a line, with blanks on the side that its column says.
func (e *engine) pad(line, cell text.Styled, w, column int) text.Styled {
	free := max(w-cell.Width(), 0)
	before := 0
	if column < len(e.grid.align) {
		switch e.grid.align[column] {
		case 'r':
			before = free
		case 'c':
			before = free / 2
		}
	}
	if before > 0 {
		line = append(line, text.Span{Text: strings.Repeat(" ", before)})
	}
	line = append(line, cell...)
	if free > before {
		line = append(line, text.Span{Text: strings.Repeat(" ", free-before)})
	}
	return line
}
