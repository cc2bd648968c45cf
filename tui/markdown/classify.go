package markdown

import "strings"

// kind is what a leaf is.
type kind uint8

const (
	paragraph kind = iota
	heading
	fenced
	indented
	raw // HTML or a formula: its lines as they are
	table
	rule
)

// Bounds in bytes, which make what a line is known soon: of a line that is longer only
// the start decides.
const (
	maxHead  = 200  // an underlined heading; the part of a table's head that has a "|"
	maxShort = 512  // a heading, a fence, a rule, a definition
	maxRow   = 4000 // a row of a table
	maxLine  = 4096 // what is looked at of any line
)

// action is what a line does.
type action uint8

const (
	blank  action = iota // ends what a blank line ends
	more                 // goes on with the open leaf
	begin                // begins a leaf
	closes               // is the end of a fence
	under                // makes the open paragraph a heading
	header               // makes the last line of the open paragraph the head of a table
	define               // defines a reference
)

// verdict says what a line does, without having done it.
type verdict struct {
	act    action
	keep   int // frames that go on
	frames []*frame
	kind   kind
	level  int
	text   string // what it adds
	info   string // of a fence
	fence  fence
	ends   string // what ends a formula
	whole  bool   // the formula ends in the line that begins it
}

// fence is the opening line of fenced code.
type fence struct {
	char   byte
	n      int
	indent int
}

// classify says what a line does after the lines so far.
func (b *blocks) classify(line string) verdict {
	c := cursor{s: line}
	v := verdict{}
	for v.keep < len(b.stack) && b.stack[v.keep].takes(&c) {
		v.keep++
	}
	all := v.keep == len(b.stack)
	if b.leaf != nil && all && b.within(&c, &v) {
		return v
	}
	if c.next() == 0 {
		return v
	}
	inParagraph := b.leaf != nil && b.leaf.kind == paragraph
	for {
		if c.indent() >= 4 && (!inParagraph || len(v.frames) > 0) {
			c.skip(4)
			v.act, v.kind, v.text = begin, indented, c.text()
			return v
		}
		if c.indent() >= 4 {
			break
		}
		interrupts := inParagraph && all && len(v.frames) == 0
		if interrupts && b.underline(&c, &v) || block(&c, &v, inParagraph && len(v.frames) == 0) {
			return v
		}
		if !b.container(&c, &v, interrupts) {
			break
		}
		if c.next() == 0 {
			if v.frames[len(v.frames)-1].quote {
				return v
			}
			v.act, v.kind = begin, paragraph
			return v
		}
	}
	v.text = c.ink()
	switch {
	case b.leaf != nil && all && len(v.frames) == 0 && b.leaf.kind == table && len(line) <= maxRow && strings.IndexByte(v.text, '|') >= 0:
		v.act = more
	case inParagraph && len(v.frames) == 0:
		v.act, v.keep = more, len(b.stack)
	default:
		v.act, v.kind = begin, paragraph
	}
	return v
}

// within handles a line in an open leaf that only its own end ends.
func (b *blocks) within(c *cursor, v *verdict) bool {
	switch b.leaf.kind {
	case fenced:
		t := c.ink()
		if n := run(t); c.indent() <= 3 && n >= b.fence.n && t[0] == b.fence.char && strings.Trim(t[n:], " \t") == "" && len(t) <= maxShort {
			v.act = closes
			return true
		}
		c.skip(min(c.indent(), b.fence.indent))
		v.act, v.text = more, c.text()
		return true
	case raw:
		if c.next() == 0 {
			return false
		}
		v.act, v.text = more, c.text()
		v.whole = b.ends != "" && len(v.text) <= maxShort && strings.HasSuffix(strings.TrimRight(v.text, " \t"), b.ends)
		return true
	case indented:
		if c.next() == 0 || c.indent() < 4 {
			return false
		}
		c.skip(4)
		v.act, v.text = more, c.text()
		return true
	}
	return false
}

// underline handles the line that makes something of the line before it.
func (b *blocks) underline(c *cursor, v *verdict) bool {
	t := strings.TrimRight(c.ink(), " \t")
	if len(c.s) > maxShort {
		return false
	}
	if b.lines == 1 && b.hold == 0 && b.size() <= maxHead && b.size() > 0 && (t[0] == '=' || t[0] == '-') && run(t) == len(t) {
		v.act, v.level = under, 1
		if t[0] == '-' {
			v.level = 2
		}
		return true
	}
	if head := b.held(); strings.IndexByte(head, '|') >= 0 && delimiters(t) == len(cells(head)) {
		v.act, v.text = header, t
		return true
	}
	return false
}

// container reads the marker of a quote, an item or a footnote. interrupts says that
// it would end a paragraph, which not every item may.
func (b *blocks) container(c *cursor, v *verdict, interrupts bool) bool {
	depth := v.keep + len(v.frames)
	if depth >= maxDepth {
		return false
	}
	f := &frame{quote: true}
	if !quoteMark(c) {
		at := *c
		if f = item(c); f == nil && !interrupts {
			f = note(c)
		}
		if f == nil {
			return false
		}
		if interrupts && (c.next() == 0 || f.ordered() && f.number != 1) {
			*c = at
			return false
		}
	}
	switch {
	case len(v.frames) > 0:
		f.up = v.frames[len(v.frames)-1]
	case v.keep > 0:
		f.up = b.stack[v.keep-1]
	}
	if !f.quote && f.delim != '^' {
		var before *frame
		if len(v.frames) == 0 && v.keep < len(b.stack) {
			before = b.stack[v.keep]
		}
		f.name(before)
	}
	v.frames = append(v.frames, f)
	return true
}

// note reads "[^1]:", the start of a footnote.
func note(c *cursor) *frame {
	t := c.ink()
	if !strings.HasPrefix(t, "[^") {
		return nil
	}
	end := strings.Index(t[:min(len(t), 64)], "]:")
	if end < 3 || strings.ContainsAny(t[2:end], " []") {
		return nil
	}
	c.skip(c.indent())
	c.read(end + 2)
	c.skip(c.indent())
	return &frame{delim: '^', content: 4, marker: "[" + t[2:end] + "]"}
}

// block reads what begins a leaf by its first characters.
func block(c *cursor, v *verdict, inParagraph bool) bool {
	t := c.ink()
	if len(t) == 0 {
		return false
	}
	short := len(c.s) <= maxShort
	switch t[0] {
	case '#':
		n := run(t)
		if !short || n > 6 || n < len(t) && t[n] != ' ' && t[n] != '\t' {
			return false
		}
		v.act, v.kind, v.level, v.text = begin, heading, n, title(t[n:])
		return true
	case '`', '~':
		n := run(t)
		if !short || n < 3 || t[0] == '`' && strings.IndexByte(t[n:], '`') >= 0 {
			return false
		}
		v.act, v.kind, v.info = begin, fenced, strings.Trim(t[n:], " \t")
		v.fence = fence{t[0], n, c.indent()}
		return true
	case '-', '_', '*':
		if !short || !isRule(t) {
			return false
		}
		v.act, v.kind = begin, rule
		return true
	case '<':
		if !isHTML(t) {
			return false
		}
		v.act, v.kind, v.text = begin, raw, c.text()
		return true
	case '$', '\\':
		return formula(c, v, t)
	case '[':
		if inParagraph || !short || !isDefinition(t) {
			return false
		}
		v.act, v.text = define, t
		return true
	}
	return false
}

// formula reads the start of a formula of several lines, "$$" or "\[".
func formula(c *cursor, v *verdict, t string) bool {
	ends := "$$"
	if strings.HasPrefix(t, `\[`) {
		ends = `\]`
	} else if !strings.HasPrefix(t, "$$") {
		return false
	}
	t = strings.TrimRight(t, " \t")
	i := strings.Index(t[2:], ends)
	if i >= 0 && (i+4 < len(t) || len(c.s) > maxShort) {
		return false // text goes on behind it
	}
	v.act, v.kind, v.text, v.ends, v.whole = begin, raw, c.text(), ends, i >= 0
	return true
}

// run is how often the first byte of t stands there.
func run(t string) int {
	n := 0
	for n < len(t) && t[n] == t[0] {
		n++
	}
	return n
}

// title is the text of a heading, without the marks that may end it.
func title(t string) string {
	t = strings.Trim(t, " \t")
	cut := strings.TrimRight(t, "#")
	if cut == "" || cut != t && (cut[len(cut)-1] == ' ' || cut[len(cut)-1] == '\t') {
		return strings.TrimRight(cut, " \t")
	}
	return t
}

// isRule reports three or more of one mark and nothing but blanks beside.
func isRule(t string) bool {
	n := 0
	for i := range len(t) {
		switch t[i] {
		case t[0]:
			n++
		case ' ', '\t':
		default:
			return false
		}
	}
	return n >= 3
}

// htmlBlocks are the elements that begin a block (CommonMark 4.6, those in use).
const htmlBlocks = " address article aside blockquote body button center col colgroup dd details dialog dir div dl dt " +
	"fieldset figcaption figure footer form frame h1 h2 h3 h4 h5 h6 head header hr html iframe input label legend li link " +
	"main menu meta nav ol option p param pre script section select style summary svg table tbody td textarea tfoot th " +
	"thead title tr ul video audio picture source img "

// isHTML reports the start of a block of HTML.
func isHTML(t string) bool {
	if strings.HasPrefix(t, "<!--") || strings.HasPrefix(t, "<?") || strings.HasPrefix(t, "<!D") || strings.HasPrefix(t, "<!d") {
		return true
	}
	name := strings.TrimPrefix(t[1:], "/")
	end := 0
	for end < len(name) && end < 12 && (name[end]|0x20 >= 'a' && name[end]|0x20 <= 'z' || name[end] >= '0' && name[end] <= '9') {
		end++
	}
	if end == 0 || end < len(name) && strings.IndexByte(" \t/>", name[end]) < 0 {
		return false
	}
	return strings.Contains(htmlBlocks, " "+strings.ToLower(name[:end])+" ")
}

// structural reports text of which more is needed to know what it is.
func structural(t string) bool {
	return strings.Trim(t, "#>-+*_=|:`~.)0123456789 \t") == ""
}
