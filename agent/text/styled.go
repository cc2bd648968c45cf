package text

import (
	"slices"
	"strings"
)

// Role says what a piece of text is. A theme of the screen decides how that looks.
type Role uint8

// The roles. As the ground of a Style only Normal, Chosen, Found, the changed ones
// and Quiet are used.
const (
	Normal Role = iota
	Dim         // secondary
	Accent      // what the eye should find: the prompt, the state of the work
	Good        // done
	Warn        // asks for attention
	Bad         // failed, refused
	Heading
	Quote
	Code // in the line of a text
	Link
	Keyword // the roles of source text, from here to Mark
	String
	Number
	Comment
	Name // of a function, a type, a key
	Mark // operators and punctuation that bear meaning
	Added
	Removed
	AddedWord // what is new within a changed line
	RemovedWord
	Chosen // the row or the text that is selected
	Found  // what a search matched
	Quiet  // the ground of code, of a bar
	Roles  = iota
)

// Attr is a set of attributes that text has beside its colours.
type Attr uint8

// The attributes. Terminals without one show the text plain.
const (
	Bold Attr = 1 << iota
	Italic
	Underline
	Strike
	Reverse
	Faint
)

// Style is how a span is shown: what it is, what its ground is, its attributes and
// where it leads (a URL that was checked, or nothing). The zero value is plain text.
type Style struct {
	Role, On Role
	Attr     Attr
	Link     string
}

// Span is a piece of text in one style. Its text has no control characters, newlines
// and tabs included: it has passed Line, Plain or Tabs.
type Span struct {
	Text string
	Style
}

// Styled is one line of text in pieces.
type Styled []Span

// Of is a line in one role.
func Of(s string, role Role) Styled { return Styled{{s, Style{Role: role}}} }

// Unstyled is a plain line.
func Unstyled(s string) Styled { return Styled{{Text: s}} }

// With is the line with another piece after it. It shares nothing with l that a
// later With changes.
func (l Styled) With(s string, role Role) Styled {
	return append(slices.Clip(l), Span{s, Style{Role: role}})
}

// String is the text without its styles.
func (l Styled) String() string {
	if len(l) == 1 {
		return l[0].Text
	}
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Width is the number of cells of the line. A cluster lies in one span: what a span
// begins with is not joined to the span before.
func (l Styled) Width() int {
	n := 0
	for _, s := range l {
		n += Width(s.Text)
	}
	return n
}

// Clip is the line in at most so many cells, its end "…" where some is left out.
func (l Styled) Clip(cells int) Styled {
	used := 0
	for i, s := range l {
		w := Width(s.Text)
		if used+w > cells || used+w == cells && l[i+1:].Width() > 0 {
			// "…" stands in the style of what it replaces, and needs a cell of its own.
			s.Text = clipTo(s.Text, cells-used)
			return append(slices.Clone(l[:i]), s)
		}
		used += w
	}
	return l
}

// clipTo is the start of s with "…", where more comes after s or s is too long.
func clipTo(s string, cells int) string {
	if Width(s) < cells {
		return s + ellipsis
	}
	return Clip(s+" ", cells)
}

// Slice is the part of the line from byte from to byte to of its String.
func (l Styled) Slice(from, to int) Styled {
	var out Styled
	at := 0
	for _, s := range l {
		start, end := max(from-at, 0), min(to-at, len(s.Text))
		at += len(s.Text)
		if start < end {
			s.Text = s.Text[start:end]
			out = append(out, s)
		}
	}
	return out
}

// Restyled is the line with the bytes from to to of its String changed by how.
func (l Styled) Restyled(from, to int, how func(Style) Style) Styled {
	size := 0
	for _, s := range l {
		size += len(s.Text)
	}
	mid := l.Slice(from, to)
	for i := range mid {
		mid[i].Style = how(mid[i].Style)
	}
	return slices.Concat(l.Slice(0, from), mid, l.Slice(max(from, to), size))
}

// Wrap cuts the line, as the function Wrap does a text, into lines of at most so many
// cells. There is always at least one.
func (l Styled) Wrap(cells int) []Styled {
	if l.Width() <= cells {
		return []Styled{l}
	}
	var lines []Styled
	for _, p := range wrap(l.String(), cells) {
		line := l.Slice(p.from, p.to)
		if p.tooWide {
			line = Styled{{ellipsis, line[0].Style}}
		}
		lines = append(lines, line)
	}
	return lines
}
