// Package markdown lays out Markdown that arrives in pieces as rows of a terminal. Only
// what is new is read and wrapped: a delta at the end of a long message costs what it
// costs at the start, also within one long paragraph, block of code or table.
//
//	delta -> input (safe text) -> blocks (closed leaves, an open one) -> engine -> rows
//	                                                         closed rows | open tail
//
// It is CommonMark with tables, tasks, strikethrough and footnotes as far as it matters
// to people who read what models write. Where it departs:
//
//   - What comes later does not change what stands above: a reference counts behind its
//     definition alone, only a single line is made a heading by the line under it, a list
//     has empty rows where its source has, emphasis reaches 1,024 bytes.
//   - Emphasis and code of which the end has not come are shown as if it had.
//   - HTML and formulas are text; of HTML only <br> does something.
//   - Only http and https lead anywhere, and their host is shown where the text of the
//     link differs. Everything else is shown as text.
//
// All text is foreign: it passes the sanitiser of agent/text before it is read, and no
// input makes the work grow faster than its length.
package markdown

import (
	"sort"
	"strings"

	"alisio/agent/text"
)

// keep bounds the rows that stay in memory of leaves that nobody looks at.
const keep = 4096

// Doc is a document that grows. The zero value is an empty one. Not safe for concurrent
// use.
type Doc struct {
	in     input
	part   string // the line that has not ended
	mid    bool   // its start was applied; what comes belongs to the open leaf
	done   bool
	blocks blocks
	leaves []*leaf
	par    inline

	width int
	stale bool    // something came since the last layout
	laid  int     // leaves that are laid out and closed
	count int     // their rows
	eng   *engine // of the open leaf
	of    *leaf   // the leaf that eng is of
	tail  []row   // rows of the open leaf, and of the one that the last line begins, that may change
	mine  int     // rows of tail that are of the open leaf
	held  int     // rows of closed leaves in memory
}

// Append adds text.
func (d *Doc) Append(delta string) {
	if d.done || delta == "" {
		return
	}
	d.feed(d.in.add(delta))
}

// Finish says that the document is complete. What is appended later is ignored.
func (d *Doc) Finish() {
	if d.done {
		return
	}
	d.feed(d.in.finish())
	if d.mid || d.part != "" {
		d.end()
	}
	d.close()
	d.done, d.stale = true, true
}

// feed takes safe text line by line.
func (d *Doc) feed(s string) {
	if s == "" {
		return
	}
	d.stale = true
	for {
		line, rest, ended := strings.Cut(s, "\n")
		d.add(line)
		if !ended {
			return
		}
		d.end()
		s = rest
	}
}

// add takes a piece of a line. Of a line that is too long the start decides.
func (d *Doc) add(s string) {
	if d.mid {
		d.middle(s)
		return
	}
	d.part += s
	for len(d.part) > maxLine && !d.mid {
		head := text.Prefix(d.part, maxLine)
		d.part = d.part[len(head):]
		v := d.blocks.classify(head)
		if v.act != blank {
			d.start(v)
		}
	}
}

// start applies the start of a line of which the rest is text, whatever it is.
func (d *Doc) start(v verdict) {
	d.apply(v, false)
	if d.blocks.leaf == nil {
		return
	}
	rest := d.part
	d.part, d.mid = "", true
	if rest != "" {
		d.middle(rest)
	}
}

// end ends the line.
func (d *Doc) end() {
	if !d.mid {
		d.apply(d.blocks.classify(d.part), true)
		d.part = ""
		return
	}
	d.mid = false
	if l := d.blocks.leaf; l != nil && l.kind != paragraph {
		d.blocks.buf.WriteByte('\n')
	}
}

// settles reports whether a line that has not ended is text of its leaf, whatever comes.
func (b *blocks) settles(v verdict) bool {
	t := strings.TrimLeft(v.text, " \t")
	switch {
	case t == "":
		return false
	case v.act == more && b.leaf.kind == fenced:
		n := run(t)
		return t[0] != b.fence.char || n < len(t) && strings.Trim(t[n:], " \t") != ""
	case v.act == more && b.leaf.kind == paragraph, v.act == begin && v.kind == paragraph:
		return len(t) > maxHead && strings.IndexByte(t[:maxHead], '|') < 0 && strings.IndexByte(`[<$\`, t[0]) < 0 && !structural(t[:maxHead]) &&
			(t[0] != '#' && t[0] != '`' && t[0] != '~' || len(t) > maxShort)
	}
	return false
}

// Len is how many rows the document takes at a width, and makes it the width of Line.
func (d *Doc) Len(width int) int {
	width = max(width, 1)
	if width != d.width {
		d.width, d.stale = width, true
		d.laid, d.count, d.held, d.eng = 0, 0, 0, nil
		for _, l := range d.leaves {
			l.rows = nil
		}
	}
	if d.stale {
		d.layout()
	}
	n := d.count + len(d.tail)
	if d.eng != nil {
		n += len(d.eng.rows)
	}
	return n
}

// layout brings the rows up to what was appended.
func (d *Doc) layout() {
	d.stale = false
	var v verdict
	if !d.mid && d.part != "" {
		if v = d.blocks.classify(d.part); d.blocks.settles(v) {
			d.part = ""
			d.start(v)
			v = verdict{}
		}
	}
	for d.laid < len(d.leaves) && d.leaves[d.laid] != d.blocks.leaf {
		d.finished(d.leaves[d.laid])
	}
	d.tail = nil
	b := &d.blocks
	hidden := structural(v.text) && !(v.act == more && b.leaf.code() && !structuralFence(v.text, b.fence))
	if b.leaf != nil {
		d.open(v, hidden)
	}
	d.mine = len(d.tail)
	if v.act == begin && (!hidden || v.kind == fenced && v.info != "") && (v.text != "" || v.kind == fenced) {
		d.guess(v)
	}
}

// structuralFence reports a line that may become the end of a fence.
func structuralFence(t string, f fence) bool {
	t = strings.Trim(t, " \t")
	return t == "" || t[0] == f.char && run(t) == len(t)
}

// finished lays out a leaf that is closed, with the engine that began it.
func (d *Doc) finished(l *leaf) {
	e := d.eng
	if e == nil || d.of != l {
		e = d.newEngine(l, d.width)
	}
	d.eng = nil
	e.run(l.text, len(l.text), "", true)
	l.rows, l.n, l.row = e.rows, len(e.rows), d.count
	d.count += l.n
	d.laid++
	d.hold(l)
}

// hold counts the rows in memory, and drops those of all other leaves when there are many.
func (d *Doc) hold(l *leaf) {
	if d.held += l.n; d.held > max(keep, 2*l.n) {
		rows := l.rows
		d.Drop()
		l.rows, d.held = rows, l.n
	}
}

// open lays out the open leaf, with what the line that has not ended adds to it.
func (d *Doc) open(v verdict, hidden bool) {
	b := &d.blocks
	body := b.buf.String()
	if d.eng == nil || d.of != b.leaf {
		d.eng, d.of = d.newEngine(b.leaf, d.width), b.leaf
	}
	extra, sure := "", len(body)
	switch {
	case b.leaf.kind == paragraph:
		if sure = b.hold; v.act == more && !hidden && strings.IndexByte(`<$\`, v.text[0]) < 0 {
			sure = len(body)
		}
		if v.act == more && !hidden {
			extra = "\n" + squeeze(v.text)
			if body == "" {
				extra = extra[1:]
			}
		} else if b.hold == 0 && strings.HasPrefix(body, "|") {
			d.tail = d.likely(b.leaf, body) // the head of a table, as it seems
			return
		}
	case v.act == more && !hidden:
		extra = v.text
	}
	d.tail = d.eng.run(body, sure, extra, false)
}

// likely lays out the line of a paragraph as the head of a table.
func (d *Doc) likely(l *leaf, line string) []row {
	head := *l
	head.kind = table
	e := d.newEngine(&head, d.width)
	rows := e.run(line+"\n", 0, "", false)
	if len(d.eng.rows) == 0 {
		rows = append(e.rows, rows...)
	}
	return rows
}

// guess lays out the leaf that the line which has not ended begins.
func (d *Doc) guess(v verdict) {
	l := d.newLeaf(v)
	s := v.text
	if n := len(v.frames); n > 0 && l.kind == paragraph {
		s = v.frames[n-1].task(s)
	}
	if l.kind == paragraph && len(s) > 1 && s[0] == '|' {
		l.kind = table
		s = squeeze(s) + "\n"
	} else if l.kind <= heading {
		s = squeeze(s)
	}
	e := d.newEngine(l, d.width)
	open := e.run(s, 0, "", l.kind == rule)
	d.tail = append(append(d.tail, e.rows...), open...)
}

// row is the row i.
func (d *Doc) row(i int) (*row, *leaf) {
	if d.width == 0 {
		d.Len(80) // nobody has said how wide the screen is
	} else if d.stale {
		d.Len(d.width)
	}
	if i < 0 {
		return nil, nil
	}
	if i < d.count {
		k := sort.Search(d.laid, func(k int) bool { return d.leaves[k].row > i }) - 1
		l := d.leaves[k]
		if l.rows == nil {
			e := d.newEngine(l, d.width)
			e.run(l.text, len(l.text), "", true)
			l.rows = e.rows
			d.hold(l)
		}
		return &l.rows[i-l.row], l
	}
	i -= d.count
	if d.eng != nil {
		if i < len(d.eng.rows) {
			return &d.eng.rows[i], d.blocks.leaf
		}
		i -= len(d.eng.rows)
	}
	if i < d.mine {
		return &d.tail[i], d.blocks.leaf
	}
	if i < len(d.tail) {
		return &d.tail[i], nil
	}
	return nil, nil
}

// Line is the row i at the width that Len was last asked for, nil where there is none. It
// is shared and not to be changed.
func (d *Doc) Line(i int) text.Styled {
	if r, _ := d.row(i); r != nil {
		return r.line
	}
	return nil
}

// Closed is how many rows from the first on will not change any more at this width,
// whatever is appended.
func (d *Doc) Closed() int {
	if d.width > 0 {
		d.Len(d.width)
	}
	if d.eng != nil {
		return d.count + len(d.eng.rows)
	}
	return d.count
}

// Drop frees the rows of what is closed; Line makes them again as they are asked for.
func (d *Doc) Drop() {
	for _, l := range d.leaves[:d.laid] {
		l.rows = nil
	}
	d.held = 0
}
