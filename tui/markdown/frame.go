package markdown

import (
	"strconv"
	"strings"

	"alisio/agent/text"
)

// maxDepth bounds how deep quotes and lists go into each other. What is deeper is text.
const maxDepth = 24

// frame is a quote or an item of a list around blocks.
type frame struct {
	up      *frame
	quote   bool
	delim   byte // of an item: '-', '*', '+', '.', ')', and '^' of a footnote
	number  int
	content int    // columns from the start of the item to its text
	marker  string // what is shown in front of its first row
	role    text.Role
	filled  bool // something is in it
}

// takes reads the part of a line that says that it belongs to the frame.
func (f *frame) takes(c *cursor) bool {
	if f.quote {
		return quoteMark(c)
	}
	if c.next() == 0 {
		return f.filled
	}
	if c.indent() < f.content {
		return false
	}
	c.skip(f.content)
	return true
}

// quoteMark reads ">" and one blank.
func quoteMark(c *cursor) bool {
	n := c.indent()
	if n > 3 || c.next() != '>' {
		return false
	}
	c.skip(n)
	c.read(1)
	c.skip(1)
	return true
}

// item reads the marker of a list item: digits and a delimiter, or a bullet. Without one
// nothing is read.
func item(c *cursor) *frame {
	indent, t := c.indent(), c.ink()
	f := &frame{}
	n := 0
	for n < len(t) && n < 10 && t[n] >= '0' && t[n] <= '9' {
		n++
	}
	switch {
	case n == 10 || t == "":
		return nil
	case n > 0 && n < len(t) && (t[n] == '.' || t[n] == ')'):
		f.number, _ = strconv.Atoi(t[:n])
	case n == 0 && strings.IndexByte("-+*", t[0]) >= 0:
	default:
		return nil
	}
	f.delim = t[n]
	n++
	if n < len(t) && t[n] != ' ' && t[n] != '\t' {
		return nil
	}
	c.skip(indent)
	c.read(n)
	blanks := c.indent()
	if c.next() == 0 || blanks > 4 {
		blanks = 1
	}
	c.skip(blanks)
	f.content = indent + n + blanks
	return f
}

// ordered reports an item with a number.
func (f *frame) ordered() bool { return f.delim == '.' || f.delim == ')' }

// name gives the item its marker. before is the item in whose place it stands, so that
// numbers go on as CommonMark counts them.
func (f *frame) name(before *frame) {
	f.role = text.Dim
	if f.ordered() {
		if before != nil && before.delim == f.delim {
			f.number = before.number + 1
		}
		f.marker = strconv.Itoa(f.number) + string(f.delim)
		return
	}
	level := 0
	for up := f.up; up != nil; up = up.up {
		if !up.quote && !up.ordered() && up.delim != '^' {
			level++
		}
	}
	f.marker = [...]string{"•", "◦", "‣"}[level%3]
}

// task makes the item a task where its text begins with a box, and gives the rest.
func (f *frame) task(s string) string {
	if f.quote || len(s) < 4 || s[0] != '[' || s[2] != ']' || s[3] != ' ' {
		return s
	}
	box, role := "☐", text.Normal
	switch s[1] {
	case ' ':
	case 'x', 'X':
		box, role = "☑", text.Good
	default:
		return s
	}
	if f.ordered() {
		box = f.marker + " " + box
	}
	f.marker, f.role = box, role
	return strings.TrimLeft(s[4:], " ")
}

const bar = "▏ "

// prefixes are what stands in front of the rows of a leaf.
type prefixes struct {
	first, rest text.Styled
	gap         text.Styled // of the empty row before it
	cells       int
}

// prefix makes the prefixes of a leaf: bars of quotes, markers of the frames that it is
// the first leaf of, blanks. They take at most half of the width: of frames that are
// deeper the outer ones are left out.
func prefix(in *frame, fresh, width int) prefixes {
	var chain []*frame
	for f := in; f != nil; f = f.up {
		chain = append(chain, f)
	}
	var p prefixes
	from := 0
	for from < len(chain) && p.cells+chain[from].cells() <= width/2 {
		p.cells += chain[from].cells()
		from++
	}
	for i := from - 1; i >= 0; i-- {
		f := chain[i]
		depth := len(chain) - i
		if f.quote {
			s := text.Span{Text: bar, Style: text.Style{Role: text.Quote}}
			p.first, p.rest = append(p.first, s), append(p.rest, s)
			if depth <= fresh {
				p.gap = append(p.gap, s)
			}
			continue
		}
		blank := text.Span{Text: strings.Repeat(" ", f.cells())}
		p.rest = append(p.rest, blank)
		if depth <= fresh {
			p.first, p.gap = append(p.first, blank), append(p.gap, blank)
			continue
		}
		p.first = append(p.first, text.Span{Text: f.marker, Style: text.Style{Role: f.role}}, text.Span{Text: " "})
	}
	for len(p.gap) > 0 && p.gap[len(p.gap)-1].Role != text.Quote {
		p.gap = p.gap[:len(p.gap)-1]
	}
	return p
}

// cells is the width of the frame's part of a prefix.
func (f *frame) cells() int {
	if f.quote {
		return 2
	}
	return text.Width(f.marker) + 1
}
