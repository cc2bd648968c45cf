package tuitest

import (
	"strings"
	"unicode/utf8"

	"alisio/agent/text"
)

const asciiText = " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"

// textOf is a character as text, without an allocation for the common ones.
func textOf(r rune) string {
	if r >= 0x20 && r < 0x7F {
		return asciiText[r-0x20 : r-0x20+1]
	}
	return string(r)
}

// charsets are the two sets that SI and SO choose from; true is the line drawing of DEC.
type charsets struct {
	drawing [2]bool
	shifted int
}

// drawingSet are the characters of the DEC line drawing set, from '`' on.
const drawingSet = "◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·"

func (c *charsets) translate(r rune) rune {
	if !c.drawing[c.shifted] || r < '`' || r > '~' {
		return r
	}
	n := int(r - '`')
	for _, d := range drawingSet {
		if n == 0 {
			return d
		}
		n--
	}
	return r
}

// clusters reports whether text is measured by clusters now.
func (t *Terminal) clusters() bool {
	return t.opts.Clusters == Always || t.opts.Clusters == OnDemand && t.private[2027]
}

// sumWidth is the width of one code point as wcwidth of the C library has it.
func sumWidth(r rune) int {
	if r >= 0x1F1E6 && r <= 0x1F1FF {
		return 1 // a regional indicator: neutral by East Asian width
	}
	return text.ClusterWidth(string(r))
}

func (t *Terminal) print(r rune) {
	r = t.sets.translate(r)
	if t.join(r) {
		return
	}
	w := 1
	if r >= 0x7F {
		if w = sumWidth(r); t.clusters() {
			w = text.ClusterWidth(string(r))
		}
	}
	if w == 0 {
		return // joins something, and nothing is there
	}
	t.last = textOf(r)
	t.place(t.last, w)
}

// join adds r to the cell before the cursor, if it belongs to the cluster there.
func (t *Terminal) join(r rune) bool {
	g := t.on
	x := g.x - 1
	// Without wrapping the cursor stays on what it wrote last.
	if g.pending {
		x = g.x
	}
	if x < 0 {
		return false
	}
	cells := g.row().cells
	if cells[x].Width == 0 && x > 0 {
		x--
	}
	c := &cells[x]
	if r < 0x7F && (len(c.Text) < 2 || !t.clusters()) {
		return false // the usual case; only a prepended mark joins what follows
	}
	whole := c.String() + string(r)
	switch {
	case len(whole) > 256: // no cluster that means something
		return sumWidth(r) == 0
	case t.clusters():
		size, width := text.First(whole)
		if size != len(whole) {
			return false
		}
		t.fit(x, whole, width)
	case sumWidth(r) > 0:
		return false
	case r == 0xFE0F && t.opts.WideVS16:
		t.fit(x, whole, text.ClusterWidth(whole))
	default:
		c.Text = whole
	}
	t.last = whole
	return true
}

// fit gives the cell at x another text, and another width where it has changed.
func (t *Terminal) fit(x int, s string, width int) {
	g := t.on
	c := &g.row().cells[x]
	c.Text = s
	switch {
	case width == c.Width || width < 1:
	case width == 2 && x+1 < g.columns:
		g.part(g.y, x+2)
		g.row().cells[x+1] = Cell{Style: c.Style}
		c.Width = 2
		g.x, g.pending = x+2, false
		if g.x == g.columns {
			g.x, g.pending = g.columns-1, true
		}
	case width == 2 && t.on7():
		// No room: it moves to the next row as one that was wide from the start.
		style := c.Style
		*c = Cell{Width: 1, Style: groundOf(style)}
		old := t.pen
		t.pen = style
		t.wrapLine()
		t.place(s, 2)
		t.pen = old
	case width == 1 && c.Width == 2:
		c.Width = 1
		g.row().cells[x+1] = Cell{Width: 1, Style: groundOf(c.Style)}
		g.x, g.pending = x+1, false
	}
}

func (t *Terminal) on7() bool { return t.modeSet(7) }

// wrapLine goes on in the next row.
func (t *Terminal) wrapLine() {
	g := t.on
	g.row().wrapped = true
	g.pending = false
	g.lineFeed(t.ground())
	g.x = 0
}

// place writes one cluster at the cursor.
func (t *Terminal) place(s string, width int) {
	g := t.on
	if width > g.columns {
		return
	}
	if g.pending && t.on7() {
		t.wrapLine()
	}
	if g.x+width > g.columns {
		if !t.on7() {
			return // a wide character on the last column
		}
		t.wrapLine()
	}
	if t.ansi[4] {
		g.insert(width, t.ground())
	}
	g.part(g.y, g.x)
	g.part(g.y, g.x+width)
	cells := g.row().cells
	cells[g.x] = Cell{Text: s, Width: width, Style: t.pen}
	if width == 2 {
		cells[g.x+1] = Cell{Style: t.pen}
	}
	g.covered(g.y, g.x, g.x+width)
	t.sync.touched = true
	if g.x += width; g.x >= g.columns {
		g.x, g.pending = g.columns-1, true
	}
}

// repeat is REP: the last character n times more.
func (t *Terminal) repeat(n int) {
	if t.last == "" {
		return
	}
	w := text.ClusterWidth(t.last)
	if r, size := utf8.DecodeRuneInString(t.last); size == len(t.last) && !t.clusters() {
		w = sumWidth(r)
	}
	for range min(n, t.on.columns*t.on.height) {
		t.place(strings.Clone(t.last), max(w, 1))
	}
}

// ground is the style that erased cells take.
func (t *Terminal) ground() Style {
	if t.opts.NoBCE {
		return Style{}
	}
	return groundOf(t.pen)
}

// control carries out a C0 control.
func (t *Terminal) control(b byte) {
	g := t.on
	switch b {
	case 0x07:
		t.notice(Notice{Kind: "bell"})
	case 0x08:
		if g.x > 0 && !g.pending {
			g.x--
		}
		g.pending = false
	case 0x09:
		t.tab(1)
	case 0x0A, 0x0B, 0x0C:
		g.pending = false
		g.lineFeed(t.ground())
		if t.ansi[20] {
			g.x = 0
		}
	case 0x0D:
		g.x, g.pending = 0, false
	case 0x0E:
		t.sets.shifted = 1
	case 0x0F:
		t.sets.shifted = 0
	case 0x00:
	default:
		t.unknown("control %#02x", b)
	}
}

// tab moves to the n-th next tab stop, or back.
func (t *Terminal) tab(n int) {
	g := t.on
	for ; n > 0 && g.x < g.columns-1; n-- {
		for g.x++; g.x < g.columns-1 && !t.tabs[g.x]; g.x++ {
		}
	}
	for ; n < 0 && g.x > 0; n++ {
		g.pending = false
		for g.x--; g.x > 0 && !t.tabs[g.x]; g.x-- {
		}
	}
}
