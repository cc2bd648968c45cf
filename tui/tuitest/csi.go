package tuitest

import "fmt"

// csi carries out a control sequence. What is malformed or not known is recorded and
// does nothing.
func (t *Terminal) csi(s *sequence) {
	key := s.key()
	if s.bad || !(t.csiCursor(key, s) || t.csiEdit(key, s) || t.csiMode(key, s) || t.csiReport(key, s) || t.csiKeys(key, s)) {
		t.unknown("%s", s.text("CSI"))
	}
}

// text is the sequence as a person writes it.
func (s *sequence) text(kind string) string {
	out := kind + " "
	if s.prefix != 0 {
		out += string(s.prefix)
	}
	for i, p := range s.params {
		switch {
		case p.joined:
			out += ":"
		case i > 0:
			out += ";"
		}
		if p.value >= 0 {
			out += fmt.Sprint(p.value)
		}
	}
	if s.final == 0 {
		return out + string(s.inter)
	}
	return out + string(s.inter) + string(rune(s.final))
}

// csiCursor is what moves the cursor.
func (t *Terminal) csiCursor(key string, s *sequence) bool {
	g := t.on
	n := s.count(0)
	switch key {
	case "A", "F":
		t.up(n)
	case "B", "e", "E":
		t.down(n)
	case "C", "a":
		g.moveTo(g.x+n, g.y)
	case "D", "j":
		g.moveTo(g.x-n, g.y)
	case "G", "`":
		g.moveTo(n-1, g.y)
	case "H", "f":
		t.place2(s.count(1)-1, n-1)
	case "d":
		t.place2(g.x, n-1)
	case "I":
		t.tab(min(n, g.columns))
	case "Z":
		t.tab(-min(n, g.columns))
	case "r":
		t.region(s)
	case "s":
		t.save()
	case "u":
		t.restore()
	default:
		return false
	}
	if key == "E" || key == "F" {
		g.moveTo(0, g.y)
	}
	return true
}

// up and down stop at the margin of the scroll region, when they start within it.
func (t *Terminal) up(n int) {
	g, limit := t.on, 0
	if g.y >= g.top {
		limit = g.top
	}
	g.moveTo(g.x, max(g.y-n, limit))
}

func (t *Terminal) down(n int) {
	g, limit := t.on, t.on.height-1
	if g.y <= g.bottom {
		limit = g.bottom
	}
	g.moveTo(g.x, min(g.y+n, limit))
}

// place2 moves to a place, which counts from the scroll region in origin mode.
func (t *Terminal) place2(x, y int) {
	g := t.on
	if t.private[6] {
		g.moveTo(x, min(y+g.top, g.bottom))
		return
	}
	g.moveTo(x, y)
}

func (t *Terminal) region(s *sequence) {
	g := t.on
	top, bottom := s.count(0)-1, s.n(1, g.height)
	if bottom == 0 || bottom > g.height {
		bottom = g.height
	}
	if top >= bottom-1 {
		return // a region has two rows at least
	}
	g.top, g.bottom = top, bottom-1
	t.place2(0, 0)
}

func (t *Terminal) save() {
	g := t.on
	g.saved = cursorState{g.x, g.y, g.pending, t.pen, t.private[6], t.sets}
}

func (t *Terminal) restore() {
	g, c := t.on, t.on.saved
	g.moveTo(c.x, c.y)
	g.pending = c.pending && g.x == g.columns-1
	t.pen, t.sets = c.pen, c.sets
	t.setMode(6, c.origin)
}

// csiEdit is what changes cells.
func (t *Terminal) csiEdit(key string, s *sequence) bool {
	g := t.on
	n, ground := s.count(0), t.ground()
	switch key {
	case "@":
		g.insert(n, ground)
	case "P":
		g.remove(n, ground)
	case "X":
		g.erase(g.y, g.x, g.x+n, ground)
	case "L", "M":
		if g.y < g.top || g.y > g.bottom {
			return true
		}
		if key == "L" {
			g.scrollDown(g.y, g.bottom, n, ground)
		} else {
			g.takeOut(n, ground)
		}
		g.x = 0
	case "S":
		g.scrollUp(g.top, g.bottom, n, ground)
	case "T":
		g.scrollDown(g.top, g.bottom, n, ground)
	case "J", "?J":
		return t.eraseDisplay(s.n(0, 0))
	case "K", "?K":
		return t.eraseLine(s.n(0, 0))
	case "b":
		t.repeat(n)
	case "m":
		return t.sgr(s.params)
	default:
		return false
	}
	if key != "S" && key != "T" && key != "b" {
		g.pending = false
	}
	t.sync.touched = true
	return true
}

// takeOut is DL: what goes is no history, even in the first row.
func (g *grid) takeOut(n int, ground Style) {
	keep := g.keep
	g.keep = 0
	g.scrollUp(g.y, g.bottom, n, ground)
	g.keep = keep
}

func (t *Terminal) eraseDisplay(how int) bool {
	g, ground := t.on, t.ground()
	switch how {
	case 0:
		g.erase(g.y, g.x, g.columns, ground)
		g.eraseRows(g.y+1, g.height, ground)
	case 1:
		g.eraseRows(0, g.y, ground)
		g.erase(g.y, 0, g.x+1, ground)
	case 2:
		g.eraseRows(0, g.height, ground)
		g.images = nil
	case 3:
		g.history = nil
		return true
	default:
		return false
	}
	g.pending = false
	t.sync.touched = true
	return true
}

func (t *Terminal) eraseLine(how int) bool {
	g, ground := t.on, t.ground()
	switch how {
	case 0:
		g.erase(g.y, g.x, g.columns, ground)
	case 1:
		g.erase(g.y, 0, g.x+1, ground)
	case 2:
		g.erase(g.y, 0, g.columns, ground)
	default:
		return false
	}
	g.pending = false
	t.sync.touched = true
	return true
}

// escape carries out an escape sequence.
func (t *Terminal) escape(s *sequence) {
	g := t.on
	switch s.key() {
	case "7":
		t.save()
	case "8":
		t.restore()
	case "D":
		g.pending = false
		g.lineFeed(t.ground())
	case "E":
		g.x, g.pending = 0, false
		g.lineFeed(t.ground())
	case "M":
		g.pending = false
		g.reverseFeed(t.ground())
	case "H":
		t.tabs[g.x] = true
	case "c":
		t.fresh(g.columns, g.height)
	case "=", ">":
		t.setMode(66, s.final == '=')
	case "#8":
		t.align()
	case "(0", ")0":
		t.sets.drawing[s.inter[0]-'('] = true
	case "(B", ")B", "(A", ")A":
		t.sets.drawing[s.inter[0]-'('] = false
	case "\\": // the end of a string that was given up
	case " F", " G", "%G": // the size of answers' controls; UTF-8, which it is
	default:
		t.unknown("%s", s.text("ESC"))
	}
	t.sync.touched = true
}

// align fills the screen with E (DECALN).
func (t *Terminal) align() {
	g := t.on
	g.top, g.bottom = 0, g.height-1
	for y := range g.rows {
		for x := range g.rows[y].cells {
			g.rows[y].cells[x] = Cell{Text: "E", Width: 1}
		}
		g.rows[y].wrapped = false
	}
	g.moveTo(0, 0)
}
