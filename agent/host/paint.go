package host

import (
	"strings"

	"alisio/agent/text"
	"alisio/plug"
)

// Bounds of what an extension draws.
const (
	maxMascotLines = 12
	maxScreenLines = 60
	maxColumns     = 1000
	tabStop        = 8
	// maxStyles is how many SGR sequences may be in force at one place.
	maxStyles = 8
	// maxCluster bounds, in bytes, what stands in one place: no towers of marks.
	maxCluster = 64
	reset      = "\x1b[0m"
)

// paint makes what an extension drew safe to print: of escape sequences only SGR,
// and that only with colour; tabs are spaces, other controls are gone, without
// Unicode "?" stands for all that is not ASCII; no line is wider than the columns
// and there are no more of them than lines. Each line closes the styles that it
// opens, and those that go on are opened again in the next, so that lines can be
// put beside each other. Lines at the end that are empty are left out.
func paint(s string, t plug.Terminal, lines int) []string {
	p := painter{t: t, lines: lines}
	for rest := text.Prefix(s, maxRaw); rest != "" && len(p.done) < lines; {
		at, n := nextSGR(rest)
		p.text(text.Plain(rest[:at]))
		if n > 0 && t.Color {
			p.style(rest[at : at+n])
		}
		rest = rest[at+n:]
	}
	p.endLine()
	done := p.done[:min(len(p.done), lines)]
	for len(done) > 0 && strings.Trim(done[len(done)-1], " ") == "" {
		done = done[:len(done)-1]
	}
	return done
}

// nextSGR finds the next sequence ESC [ digits ; : m and its length; without one
// the place is the end.
func nextSGR(s string) (at, n int) {
	const longest = 64
	for from := 0; ; {
		i := strings.Index(s[from:], "\x1b[")
		if i < 0 {
			return len(s), 0
		}
		at = from + i
		end := at + 2
		for end < len(s) && end-at < longest && strings.IndexByte("0123456789;:", s[end]) >= 0 {
			end++
		}
		if end < len(s) && s[end] == 'm' {
			return at, end + 1 - at
		}
		from = at + 2
	}
}

// painter draws line by line.
type painter struct {
	t     plug.Terminal
	lines int
	done  []string
	line  strings.Builder
	cells int
	// full: the columns are used up, the rest of the line is left out.
	full bool
	// styles are in force, written those that the line has.
	styles  []string
	written bool
}

// style brings an SGR sequence into force, from the next character on.
func (p *painter) style(sgr string) {
	params := sgr[2 : len(sgr)-1]
	if strings.Trim(params, "0") == "" {
		p.closeStyles()
		p.styles = p.styles[:0]
		return
	}
	p.closeStyles()
	if len(p.styles) == maxStyles {
		p.styles = append(p.styles[:0], p.styles[1:]...)
	}
	p.styles = append(p.styles, sgr)
}

// closeStyles ends what the line has open.
func (p *painter) closeStyles() {
	if p.written {
		p.line.WriteString(reset)
		p.written = false
	}
}

func (p *painter) text(s string) {
	for c := range text.Graphemes(s) {
		if len(p.done) >= p.lines {
			return
		}
		switch c {
		case "\n":
			p.endLine()
		case "\t":
			for range tabStop - p.cells%tabStop {
				p.put(" ", 1)
			}
		default:
			p.cluster(c)
		}
	}
}

// cluster puts one grapheme cluster: what takes no cell is left out, what is too
// much for one place or beyond the terminal's characters is "?".
func (p *painter) cluster(c string) {
	width := text.ClusterWidth(c)
	switch {
	case width == 0:
		return // nobody would see it, and many could stand in one place
	case len(c) > maxCluster || !p.t.Unicode && c[0] >= 0x80:
		c, width = "?", 1
	case !p.t.Unicode && len(c) > 1:
		c, width = c[:1], 1 // a letter with marks on it
	}
	p.put(c, width)
}

// put writes what has a width, with the styles in force before it. What does not fit
// fills the line: nothing behind it is shown, be it narrower.
func (p *painter) put(c string, width int) {
	if p.full || p.cells+width > p.t.Columns {
		p.full = true
		return
	}
	if !p.written && len(p.styles) > 0 {
		for _, s := range p.styles {
			p.line.WriteString(s)
		}
		p.written = true
	}
	p.line.WriteString(c)
	p.cells += width
}

func (p *painter) endLine() {
	p.closeStyles()
	p.done = append(p.done, p.line.String())
	p.line.Reset()
	p.cells, p.full = 0, false
}

// cells is the width of a painted line.
func cells(line string) int {
	width := 0
	for line != "" {
		at, n := nextSGR(line)
		width += text.Width(line[:at])
		line = line[at+n:]
	}
	return width
}
