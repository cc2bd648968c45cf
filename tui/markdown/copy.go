package markdown

import "strings"

// Source is the source of the block that row i is of, without the marks of quotes and
// lists around it: of code the one line, without its wrapping. Empty rows have none.
func (d *Doc) Source(i int) string {
	r, l := d.row(i)
	if r == nil || l == nil || len(r.line) == int(r.lead) && !l.code() {
		return ""
	}
	s := l.text
	if l == d.blocks.leaf {
		s = d.blocks.buf.String()
	}
	if !l.code() {
		return strings.TrimRight(s, "\n")
	}
	if r.src < 0 || int(r.src) > len(s) {
		return ""
	}
	s, _, _ = strings.Cut(s[r.src:], "\n")
	return s
}

// Copy is the text of the rows from from up to to for a clipboard: without bars, margins
// and fill, rows that were wrapped in one line again, of code the whole lines with their
// tabs, each once.
func (d *Doc) Copy(from, to int) string {
	var b strings.Builder
	var last *leaf
	line := int32(-1)
	for i := from; i < to; i++ {
		r, l := d.row(i)
		if r == nil {
			break
		}
		if l != nil && l.code() && len(r.line) > int(r.lead) {
			if l == last && r.src == line {
				continue
			}
			last, line = l, r.src
			if r.src >= 0 {
				newline(&b, i > from)
				b.WriteString(d.Source(i))
			}
			continue
		}
		last = nil
		s := r.line[r.lead : len(r.line)-int(r.tail)].String()
		if r.soft && i > from {
			if l == nil || l.kind != table {
				b.WriteByte(' ')
				b.WriteString(s)
				continue
			}
		}
		newline(&b, i > from)
		b.WriteString(s)
	}
	return b.String()
}

func newline(b *strings.Builder, more bool) {
	if more {
		b.WriteByte('\n')
	}
}
