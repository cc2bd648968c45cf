package screen

import (
	"strconv"

	"alisio/agent/text"
)

// unknown is a row or column that is not known.
const unknown = -1

// pen writes a frame: it knows where the terminal's cursor stands and in which colours it
// writes, and emits what changes.
type pen struct {
	buf    []byte
	start  int // of what follows the head
	sync   bool
	row    int
	column int
	look   look
	link   string
	shown  bool // the cursor
	told   bool // the terminal knows whether it is
}

// Synchronized output (mode 2026): the terminal shows what is between at once.
const (
	beginSync  = "\x1b[?2026h"
	endSync    = "\x1b[?2026l"
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
)

// begin starts a frame.
func (p *pen) begin(s *Screen) {
	p.buf = p.buf[:0]
	p.sync = s.features.Sync
	if p.sync {
		p.add(beginSync)
	}
	p.start = len(p.buf)
	if s.whole {
		p.row, p.column, p.told = unknown, unknown, false
	}
}

func (p *pen) add(s string) { p.buf = append(p.buf, s...) }

func (p *pen) num(n int) { p.buf = strconv.AppendInt(p.buf, int64(n), 10) }

// take is what was written, without ends.
func (p *pen) take() []byte { return p.buf[p.start:] }

// end puts the cursor where it belongs, and is the whole frame; nothing where nothing
// is to be written.
func (p *pen) end(c Cursor) []byte {
	drawn := len(p.buf) > p.start
	stays := !c.Shown || c.Row == p.row && c.Column == p.column
	if !drawn && p.told && c.Shown == p.shown && stays {
		return nil
	}
	if drawn && !p.sync && p.shown && p.told {
		// Without synchronized output the cursor would be seen running about.
		p.buf = append(p.buf[:p.start], append([]byte(hideCursor), p.buf[p.start:]...)...)
		p.shown = false
	}
	if p.link != "" {
		p.setLink("")
	}
	if c.Shown {
		p.move(c.Row, c.Column)
	}
	switch {
	case c.Shown && (!p.shown || !p.told):
		p.add(showCursor)
	case !c.Shown && (p.shown || !p.told):
		p.add(hideCursor)
	}
	p.shown, p.told = c.Shown, true
	if p.sync {
		p.add(endSync)
	}
	return p.buf
}

// move moves the cursor to a cell in as few bytes as there are for it.
func (p *pen) move(row, column int) {
	switch {
	case row == p.row && column == p.column:
	case row == p.row && column == 0:
		p.add("\r")
	case row == p.row && p.column != unknown && column > p.column:
		p.add("\x1b[")
		if n := column - p.column; n > 1 {
			p.num(n)
		}
		p.add("C")
	case row == p.row:
		p.add("\x1b[")
		p.num(column + 1)
		p.add("G")
	case p.row != unknown && row == p.row+1 && column == 0:
		p.add("\r\n")
	default:
		p.add("\x1b[")
		p.num(row + 1)
		if column > 0 {
			p.add(";")
			p.num(column + 1)
		}
		p.add("H")
	}
	p.row, p.column = row, column
}

// write writes the glyph of a cell in its colours.
func (p *pen) write(c cell, s *Screen) {
	if c.width == 0 {
		c.text = " "
	}
	p.set(s.palette.look(c.style))
	if s.features.Links && c.style.Link != p.link {
		p.setLink(c.style.Link)
	}
	p.add(c.text)
}

// plain takes all colours off.
func (p *pen) plain(s *Screen) {
	p.set(look{})
	if p.link != "" {
		p.setLink("")
	}
}

// setLink begins a hyperlink, or ends one (OSC 8). Its id joins the parts of one that
// stands on several rows.
func (p *pen) setLink(url string) {
	safe, ok := safeURL(url)
	if !ok {
		safe = ""
	}
	p.link = url
	p.add("\x1b]8;")
	if safe != "" {
		p.add("id=")
		p.buf = strconv.AppendUint(p.buf, uint64(hash(safe)), 36)
	}
	p.add(";")
	p.add(safe)
	p.add("\x1b\\")
}

// hash is FNV-1a.
func hash(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}

// set changes the colours and attributes to those of a look: only what differs, or all
// anew where that is shorter.
func (p *pen) set(l look) {
	if l == p.look {
		return
	}
	if l == (look{}) {
		p.add("\x1b[m")
		p.look = l
		return
	}
	var one, two [64]byte
	change := l.change(one[:0], p.look)
	anew := l.change(append(two[:0], "0;"...), look{})
	if len(anew) < len(change) {
		change = anew
	}
	p.add("\x1b[")
	p.buf = append(p.buf, change[:len(change)-1]...)
	p.add("m")
	p.look = l
}

// look is how a cell is drawn.
type look struct {
	fg, bg color
	attr   text.Attr
}

// change appends the parameters of SGR, each with a semicolon, that make l of another
// look.
func (l look) change(dst []byte, from look) []byte {
	code := func(n int) { dst = append(strconv.AppendInt(dst, int64(n), 10), ';') }
	off := from.attr &^ l.attr
	on := l.attr &^ from.attr
	for _, a := range [...]struct {
		attr    text.Attr
		on, off int
	}{{text.Italic, 3, 23}, {text.Underline, 4, 24}, {text.Reverse, 7, 27}, {text.Strike, 9, 29}} {
		if off&a.attr != 0 {
			code(a.off)
		}
		if on&a.attr != 0 {
			code(a.on)
		}
	}
	if off&(text.Bold|text.Faint) != 0 {
		code(22) // ends both
		on |= l.attr & (text.Bold | text.Faint)
	}
	if on&text.Bold != 0 {
		code(1)
	}
	if on&text.Faint != 0 {
		code(2)
	}
	if l.fg != from.fg {
		dst = l.fg.append(dst, 30)
	}
	if l.bg != from.bg {
		dst = l.bg.append(dst, 40)
	}
	return dst
}
