package markdown

import "strings"

// leaf is a block without blocks in it: the text of a paragraph, of code, of a table.
type leaf struct {
	kind  kind
	level int // of a heading
	gap   bool
	whole bool // nothing comes after its first line
	in    *frame
	fresh int    // frames around it that had leaves before it
	text  string // without the marks of its frames; set when the leaf is closed
	info  string
	ends  string
	defs  int // definitions that were known where it began

	rows []row // nil when they were dropped
	n    int   // rows, with the gap
	row  int   // the first of them
}

// blocks is the state of the block parser between lines.
type blocks struct {
	stack []*frame
	leaf  *leaf // the open one, the last of the document, or nil
	buf   *strings.Builder
	hold  int // where in buf the last line begins, while the next may still change what it is
	lines int // of the paragraph
	fence fence
	ends  string
	empty int  // blank lines in indented code, which count when more code comes
	blank bool // a blank line since the last leaf
	defs  definitions
}

// size is how much text the open leaf has.
func (b *blocks) size() int { return b.buf.Len() }

// held is the last line of the open paragraph, where it may become a table's head.
func (b *blocks) held() string { return b.buf.String()[min(b.hold, b.size()):] }

// apply does what a line says. line is false for the start of a line that goes on.
func (d *Doc) apply(v verdict, line bool) {
	b := &d.blocks
	switch v.act {
	case more:
		d.extend(v, line)
		return
	case under:
		b.leaf.kind, b.leaf.level = heading, v.level
		d.eng = nil
		d.close()
		return
	case header:
		d.head(v)
		return
	case blank:
		if b.leaf != nil && b.leaf.kind == indented && v.keep == len(b.stack) {
			b.empty++
			return
		}
		b.blank = true
	}
	d.close()
	b.stack = append(b.stack[:v.keep:v.keep], v.frames...)
	switch v.act {
	case define:
		b.defs.add(v.text)
	case begin:
		d.begin(d.newLeaf(v), v, line)
	}
}

// newLeaf is the leaf that a line begins.
func (d *Doc) newLeaf(v verdict) *leaf {
	b := &d.blocks
	l := &leaf{kind: v.kind, level: v.level, info: v.info, ends: v.ends, whole: v.whole, fresh: v.keep, defs: len(b.defs.list)}
	inItem := false
	if n := len(v.frames); n > 0 {
		l.in = v.frames[n-1]
		for _, f := range v.frames {
			inItem = inItem || !f.quote
		}
	} else if v.keep > 0 {
		l.in = b.stack[v.keep-1]
	}
	if n := len(d.leaves); n > 0 {
		before := d.leaves[n-1].kind
		l.gap = b.blank || before >= fenced || !inItem && v.kind >= heading
	}
	return l
}

// begin opens a leaf with its first line.
func (d *Doc) begin(l *leaf, v verdict, line bool) {
	b := &d.blocks
	for _, f := range v.frames {
		f.filled = true
	}
	d.leaves = append(d.leaves, l)
	b.leaf, b.buf, b.lines, b.hold, b.empty, b.blank = l, &strings.Builder{}, 0, 0, 0, false
	b.fence, b.ends = v.fence, v.ends
	switch l.kind {
	case fenced:
	case rule:
		d.close()
	case heading:
		b.buf.WriteString(squeeze(v.text))
		d.close()
	case paragraph:
		s := v.text
		if n := len(v.frames); n > 0 {
			f := v.frames[n-1]
			s = f.task(s)
			f.filled = s != ""
		}
		if s != "" {
			d.line(s, line)
		}
	default:
		d.verbatim(v.text, line)
		if l.whole {
			d.close()
		}
	}
}

// extend adds a line to the open leaf.
func (d *Doc) extend(v verdict, line bool) {
	b := &d.blocks
	b.blank = false
	for _, f := range b.stack {
		f.filled = true
	}
	switch b.leaf.kind {
	case paragraph:
		d.line(v.text, line)
	case table:
		d.verbatim(v.text, true)
	case indented:
		for ; b.empty > 0; b.empty-- {
			b.buf.WriteByte('\n')
		}
		d.verbatim(v.text, line)
	default:
		d.verbatim(v.text, line)
		if b.leaf.kind == raw && v.whole {
			d.close()
		}
	}
}

// line adds a line to a paragraph. It is held where the next one may make something
// else of it.
func (d *Doc) line(s string, line bool) {
	b := &d.blocks
	if b.size() > 0 {
		b.buf.WriteByte('\n')
	}
	b.hold = b.size()
	b.lines++
	s = squeeze(s)
	b.buf.WriteString(s)
	if !line || !headish(s, b.lines == 1) {
		b.hold = b.size()
	}
}

// headish reports whether the next line could make a line a heading or a table's head.
func headish(s string, first bool) bool {
	if len(s) <= maxHead {
		return first || strings.IndexByte(s, '|') >= 0
	}
	return len(s) <= maxRow && strings.IndexByte(s[:maxHead], '|') >= 0
}

// verbatim adds a line of which blanks count. It ends with a newline, once it has ended.
func (d *Doc) verbatim(s string, line bool) {
	d.blocks.buf.WriteString(s)
	if line {
		d.blocks.buf.WriteByte('\n')
	}
}

// head makes the held line of the paragraph a table's head.
func (d *Doc) head(v verdict) {
	b := &d.blocks
	head, before := b.held(), b.buf.String()[:b.hold]
	l := &leaf{kind: table, in: b.leaf.in, fresh: v.keep, gap: true, defs: len(b.defs.list)}
	if before == "" {
		l.gap, l.fresh = b.leaf.gap || len(d.leaves) > 1 && b.leaf.fresh == v.keep, b.leaf.fresh
		d.leaves = d.leaves[:len(d.leaves)-1]
		d.laid = min(d.laid, len(d.leaves))
		d.eng = nil
	} else {
		b.buf = &strings.Builder{}
		b.buf.WriteString(before)
		d.close()
	}
	d.leaves = append(d.leaves, l)
	b.leaf, b.buf, b.blank = l, &strings.Builder{}, false
	b.buf.WriteString(head + "\n" + v.text + "\n")
}

// close ends the open leaf.
func (d *Doc) close() {
	b := &d.blocks
	if b.leaf == nil {
		return
	}
	s := b.buf.String()
	if b.leaf.kind == paragraph || b.leaf.kind == heading {
		s = strings.TrimRight(s, " \n")
	}
	b.leaf.text = strings.Clone(s)
	b.leaf, b.buf = nil, nil
}

// squeeze makes blanks of tabs and at most two blanks of any number: two at the end of a
// line say that it ends there.
func squeeze(s string) string {
	if strings.IndexByte(s, '\t') < 0 && !strings.Contains(s, "   ") {
		return s
	}
	return string(squeezed(nil, s, 0))
}

// squeezed appends s to dst after so many blanks.
func squeezed(dst []byte, s string, blanks int) []byte {
	for i := range len(s) {
		c := s[i]
		if c == '\t' {
			c = ' '
		}
		if c != ' ' {
			blanks = 0
		} else if blanks++; blanks > 2 {
			continue
		}
		dst = append(dst, c)
	}
	return dst
}

// middle adds to the line of which the start was applied.
func (d *Doc) middle(s string) {
	b := &d.blocks
	if b.leaf.kind != paragraph {
		b.buf.WriteString(s)
		return
	}
	end := b.buf.String()
	end = end[max(0, len(end)-2):]
	blanks := len(end) - len(strings.TrimRight(end, " "))
	b.buf.Write(squeezed(nil, s, blanks))
	b.hold = b.size()
}
