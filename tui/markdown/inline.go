package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"alisio/agent/text"
)

// reach bounds, in bytes, how far apart the two ends of emphasis, code or a link may be.
// It makes what may still change of an open paragraph short, whatever its text is.
const reach = 1024

// longRun is how many equal marks in a row are text in any case.
const longRun = 32

// node is a piece of a paragraph.
type node struct {
	kind     nodeKind
	from, to int    // of the source
	text     string // what is shown
	attr     [3]int8
	link     int32 // what begins here: 1 + its index, -1 where one ends, 0 nothing
}

type nodeKind uint8

const (
	plain nodeKind = iota // text as it stands in the source
	literal
	code
	soft
	hard
	host
)

// The attributes of node.attr: how many of each begin before the node, less those that end.
const (
	bold = iota
	italic
	strike
)

// inline reads the marks in a text. It is used over and over.
type inline struct {
	s     string
	prev  rune // before s
	open  bool // more may come
	end   int  // what of s is looked at
	defs  *definitions
	known int // definitions that count

	nodes    []node
	delims   []delim
	stack    []delim
	brackets []bracket
	links    []string
	buf      []byte
	holds    int // where the first thing begins that more text may change
}

// bracket is a "[" or "![" without its end so far.
type bracket struct {
	node, delim int
	image, dead bool
}

// special are the bytes at which text may not be text.
var special = [256]bool{
	'\n': true, '\\': true, '`': true, '*': true, '_': true, '~': true, '[': true, ']': true, '!': true, '<': true, '&': true,
	':': true, '$': true,
}

// parse reads s, which is preceded by prev. With open, s may go on.
func (p *inline) parse(s string, prev rune, open bool) {
	p.s, p.prev, p.open, p.end = s, prev, open, len(s)
	p.nodes, p.delims, p.brackets, p.links = p.nodes[:0], p.delims[:0], p.brackets[:0], p.links[:0]
	if open {
		p.end = len(settled(s))
	}
	p.holds = p.end
	for i := 0; i < p.end; {
		i = p.next(i)
	}
	live := p.emphasis(0)
	if open {
		p.pretend(live)
		p.unfinished(live)
	}
}

// settled is s without the marks at its end: what they are the next characters say.
func settled(s string) string {
	end := len(s)
	for end > 0 && len(s)-end < 64 && strings.IndexByte("*_~`[!<&\\ ", s[end-1]) >= 0 {
		end--
	}
	return s[:end]
}

// next reads what begins at i and says where it ends.
func (p *inline) next(i int) int {
	s := p.s[:p.end]
	switch c := s[i]; c {
	case '\n':
		return p.newline(i)
	case '\\':
		return p.escape(i)
	case '`':
		return p.code(i)
	case '*', '_', '~':
		return p.delimiters(i)
	case '[':
		p.brackets = append(p.brackets, bracket{node: len(p.nodes), delim: len(p.delims)})
		return p.literal(i, i+1, "[")
	case '!':
		if i+1 < len(s) && s[i+1] == '[' {
			p.brackets = append(p.brackets, bracket{node: len(p.nodes), delim: len(p.delims), image: true})
			return p.literal(i, i+2, "![")
		}
	case ']':
		return p.bracket(i)
	case '<':
		return p.angle(i)
	case '&':
		return p.entity(i)
	case ':':
		if n := p.url(i); n > 0 {
			return n
		}
	case '$':
		return p.dollar(i)
	}
	j := i + 1
	for j < len(s) && !special[s[j]] {
		j++
	}
	if j < len(s) && s[j] == '\n' {
		// Blanks at the end of a line belong to the end.
		if t := strings.TrimRight(s[i:j], " "); t != "" {
			j = i + len(t)
		}
	}
	return p.add(node{kind: plain, from: i, to: j, text: s[i:j]})
}

// add takes a node in. Text goes on in the node before, where that is text.
func (p *inline) add(n node) int {
	if k := len(p.nodes); n.kind == plain && k > 0 && p.nodes[k-1].kind == plain && p.nodes[k-1].to == n.from {
		p.nodes[k-1].to, p.nodes[k-1].text = n.to, p.s[p.nodes[k-1].from:n.to]
		return n.to
	}
	p.nodes = append(p.nodes, n)
	return n.to
}

func (p *inline) literal(from, to int, s string) int {
	return p.add(node{kind: literal, from: from, to: to, text: s})
}

// undecided notes that what begins at i may be something else once more has come, and
// reports whether that may be. n is how far its end may be away.
func (p *inline) undecided(i, n int) bool {
	if !p.open || len(p.s)-i > n {
		return false
	}
	p.holds = min(p.holds, i)
	return true
}

// newline is a blank, or the end of a row after two blanks.
func (p *inline) newline(i int) int {
	kind, show := soft, " "
	if strings.HasSuffix(p.s[:i], "  ") {
		kind, show = hard, "\n"
	}
	j := i + 1
	for j < p.end && p.s[j] == ' ' {
		j++
	}
	// The blanks before may be a node of their own, where they stand behind a mark.
	if k := len(p.nodes); k > 0 && p.nodes[k-1].kind == plain && strings.Trim(p.nodes[k-1].text, " ") == "" && p.nodes[k-1].to == i {
		p.nodes[k-1].text, p.nodes[k-1].kind = "", literal
	}
	return p.add(node{kind: kind, from: i, to: j, text: show})
}

// escape is a backslash: what follows is text, a newline the end of a row. Formulas
// between \( and \) or \[ and \] stay as they are.
func (p *inline) escape(i int) int {
	if i+1 >= p.end {
		return p.literal(i, i+1, `\`)
	}
	c := p.s[i+1]
	switch {
	case c == '\n':
		j := i + 2
		for j < p.end && p.s[j] == ' ' {
			j++
		}
		return p.add(node{kind: hard, from: i, to: j, text: "\n"})
	case c == '(' || c == '[':
		ends := `\)`
		if c == '[' {
			ends = `\]`
		}
		if n := strings.Index(p.s[i:min(p.end, i+reach)], ends); n > 0 {
			return p.literal(i, i+n+2, unbroken(p.s[i:i+n+2]))
		}
		p.undecided(i, reach)
	case c > ' ' && c < 0x7F && !isAlnum(c):
	default:
		return p.literal(i, i+1, `\`)
	}
	return p.literal(i, i+2, p.s[i+1:i+2])
}

// unbroken is s in one line.
func unbroken(s string) string { return strings.ReplaceAll(s, "\n", " ") }

// code reads a code span. While its end has not come, what is there is shown as code.
func (p *inline) code(i int) int {
	n := 0
	for n <= longRun && i+n < p.end && p.s[i+n] == '`' {
		n++
	}
	if n > longRun {
		return p.literal(i, i+longRun, p.s[i:i+longRun])
	}
	for j, last := i+n, min(p.end, i+reach); j < last; {
		if p.s[j] != '`' {
			j++
			continue
		}
		k := j
		for k < p.end && p.s[k] == '`' {
			k++
		}
		if k-j == n {
			if k == len(p.s) {
				p.undecided(i, reach) // another one may follow
			}
			return p.add(node{kind: code, from: i, to: k, text: codeText(p.s[i+n : j])})
		}
		j = k
	}
	if p.undecided(i, reach) {
		return p.add(node{kind: code, from: i, to: p.end, text: strings.TrimLeft(unbroken(p.s[i+n:p.end]), " ")})
	}
	return p.literal(i, i+n, p.s[i:i+n])
}

// codeText is what a code span shows: without one blank at both ends.
func codeText(s string) string {
	s = unbroken(s)
	if len(s) > 2 && s[0] == ' ' && s[len(s)-1] == ' ' && strings.Trim(s, " ") != "" {
		return s[1 : len(s)-1]
	}
	return s
}

// dollar reads a formula in a line, $x_1$ or $$x_1$$, which stays as it is. A price is
// none: an end has no blank before and no digit behind it.
func (p *inline) dollar(i int) int {
	const far = 200
	n := 1
	if i+1 < p.end && p.s[i+1] == '$' {
		n = 2
	}
	t := p.s[i+n : min(p.end, i+far)]
	for k := 0; k < len(t) && t[k] != '\n'; k++ {
		if t[k] != '$' || k == 0 || t[k-1] == ' ' || t[k-1] == '\\' || t[0] == ' ' {
			continue
		}
		behind := i + n + k + n
		if n == 2 && !strings.HasPrefix(t[k:], "$$") || n == 1 && behind < p.end && isDigit(p.s[behind]) {
			continue
		}
		if behind >= p.end {
			p.undecided(i, far)
		}
		return p.literal(i, behind, p.s[i:behind])
	}
	if strings.IndexByte(t, '\n') < 0 {
		p.undecided(i, far)
	}
	return p.literal(i, i+n, p.s[i:i+n])
}

// before and after are the characters around the bytes i to j, blanks at the ends.
func (p *inline) around(i, j int) (before, after rune) {
	before, after = p.prev, ' '
	if i > 0 {
		before, _ = utf8.DecodeLastRuneInString(p.s[:i])
	}
	if j < p.end {
		after, _ = utf8.DecodeRuneInString(p.s[j:])
	}
	return before, after
}

// isWide reports scripts that are written without blanks between words.
func isWide(r rune) bool { return r >= 0x2E80 }

func isPunct(r rune) bool {
	if r < 0x80 {
		return r > ' ' && r < 0x7F && !isAlnum(byte(r))
	}
	return !isWide(r) && (unicode.IsPunct(r) || unicode.IsSymbol(r))
}

func isAlnum(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || isDigit(c) }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// unfinished moves holds in front of what is open: marks and brackets that the text to
// come may close, and the last node unless it is text.
func (p *inline) unfinished(live []delim) {
	for _, d := range live {
		if at := p.nodes[d.node].from; len(p.s)-at <= reach {
			p.holds = min(p.holds, at)
			break
		}
	}
	for _, b := range p.brackets {
		if at := p.nodes[b.node].from; len(p.s)-at <= reach && !b.dead {
			p.holds = min(p.holds, at)
			break
		}
	}
	if k := len(p.nodes); k > 0 && p.nodes[k-1].kind != plain {
		p.holds = min(p.holds, p.nodes[k-1].from)
	}
}

// final is how much of the text no further text changes, at most limit, at a place from
// which the rest can be read on its own: the start of a word, a mark, else somewhere in
// a long text without either.
func (p *inline) final(limit int) int {
	h := min(p.holds, limit)
	at, depth := 0, 0
	for k := range p.nodes {
		n := &p.nodes[k]
		if n.from > h {
			break
		}
		before := depth
		for _, a := range n.attr {
			depth += int(a)
		}
		if before == 0 && depth == 0 {
			at = max(at, p.boundary(n, h))
		}
		switch {
		case n.link > 0:
			depth++
		case n.link < 0:
			depth--
		}
	}
	return at
}

// boundary is the last place in a node, at most h, from which the rest can be read on its
// own; 0 for none.
func (p *inline) boundary(n *node, h int) int {
	first := 0
	if n.from < h && n.kind != soft && p.s[n.from] != '\n' && n.link >= 0 && (n.kind != plain || p.s[n.from] != ' ') {
		first = n.from
	}
	if n.kind != plain {
		return first
	}
	end := min(n.to, h)
	if i := strings.LastIndexByte(p.s[n.from:end], ' '); i >= 0 && n.from+i+1 < end && p.s[n.from+i+1] != ' ' {
		return n.from + i + 1
	}
	at := end - 16
	if at-n.from <= 256 {
		return first
	}
	for at > n.from && !utf8.RuneStart(p.s[at]) {
		at--
	}
	if at > n.from && p.s[at-1] != ' ' && p.s[at] != ' ' {
		return at
	}
	return first
}

// spans appends the text from from to to in its styles.
func (p *inline) spans(dst text.Styled, from, to int, base text.Style) text.Styled {
	var count [3]int
	link := -1
	j := joiner{dst: dst, source: p.s, buf: p.buf[:0]}
	for k := range p.nodes {
		n := &p.nodes[k]
		if n.from >= to && n.from != n.to || n.from > to {
			break
		}
		for a, d := range n.attr {
			count[a] += int(d)
		}
		switch {
		case n.link > 0:
			link = int(n.link) - 1
		case n.link < 0:
			link = -1
		}
		if n.text == "" || n.to <= from {
			continue
		}
		st := base
		for a, on := range [...]text.Attr{bold: text.Bold, italic: text.Italic, strike: text.Strike} {
			if count[a] > 0 {
				st.Attr |= on
			}
		}
		if link >= 0 {
			st.Role, st.Link = text.Link, p.links[link]
		}
		switch n.kind {
		case plain:
			j.verbatim(max(n.from, from), min(n.to, to), st)
			continue
		case code:
			st.Role = text.Code
		case hard:
			st = text.Style{}
		case host:
			st = text.Style{Role: text.Dim}
		}
		j.add(n.text, st)
	}
	j.end()
	p.buf = j.buf
	return j.dst
}

// joiner makes spans of pieces, with neighbours in one style together. What stands in one
// piece in the source is not copied.
type joiner struct {
	dst      text.Styled
	source   string
	from, to int // of the source, while the span is a piece of it
	buf      []byte
	st       text.Style
	any      bool
}

func (j *joiner) verbatim(from, to int, st text.Style) {
	switch {
	case !j.any || j.st != st:
		j.end()
		j.any, j.st, j.from, j.to = true, st, from, to
	case j.to == from && len(j.buf) == 0:
		j.to = to
	default:
		j.copied()
		j.buf = append(j.buf, j.source[from:to]...)
	}
}

func (j *joiner) add(s string, st text.Style) {
	if s == "\n" {
		j.end()
		j.dst = append(j.dst, text.Span{Text: s})
		return
	}
	if !j.any || j.st != st {
		j.end()
		j.any, j.st, j.from, j.to = true, st, 0, 0
	}
	j.copied()
	j.buf = append(j.buf, s...)
}

// copied begins to copy the span.
func (j *joiner) copied() {
	j.buf = append(j.buf, j.source[j.from:j.to]...)
	j.from, j.to = 0, 0
}

// end ends the span.
func (j *joiner) end() {
	if s := j.source[j.from:j.to]; len(j.buf) > 0 {
		j.dst = append(j.dst, text.Span{Text: string(j.buf), Style: j.st})
	} else if s != "" {
		j.dst = append(j.dst, text.Span{Text: s, Style: j.st})
	}
	j.from, j.to, j.buf, j.any = 0, 0, j.buf[:0], false
}

// appendSpan joins text to the last span, where the style is the same.
func appendSpan(dst text.Styled, s string, st text.Style) text.Styled {
	if n := len(dst); n > 0 && dst[n-1].Style == st && s != "\n" && dst[n-1].Text != "\n" {
		dst[n-1].Text += s
		return dst
	}
	return append(dst, text.Span{Text: s, Style: st})
}
