package tuitest

import "slices"

// mode is a private mode that terminals know.
type mode struct {
	number int
	name   string
	on     bool // in a fresh terminal
}

// knownModes are the private modes of DEC, xterm and after. What the virtual terminal
// does for each stands where it does it; those of the keyboard and the mouse decide what
// is sent for input.
var knownModes = []mode{
	{1, "application-cursor", false},
	{3, "132-columns", false},
	{5, "reverse-screen", false},
	{6, "origin", false},
	{7, "autowrap", true},
	{8, "autorepeat", true},
	{9, "mouse-x10", false},
	{12, "blink", false},
	{25, "cursor", true},
	{45, "reverse-wrap", false},
	{47, "alternate-47", false},
	{66, "application-keypad", false},
	{1000, "mouse-click", false},
	{1002, "mouse-drag", false},
	{1003, "mouse-move", false},
	{1004, "focus", false},
	{1005, "mouse-utf8", false},
	{1006, "mouse-sgr", false},
	{1007, "alternate-scroll", false},
	{1015, "mouse-urxvt", false},
	{1016, "mouse-pixels", false},
	{1034, "meta-8bit", false},
	{1036, "meta-escape", true},
	{1039, "alt-escape", true},
	{1047, "alternate-1047", false},
	{1048, "saved-cursor", false},
	{1049, "alternate", false},
	{2004, "paste", false},
	{2026, "synchronized", false},
	{2027, "clusters", false},
	{2031, "scheme-reports", false},
	{2048, "resize-reports", false},
}

func modeOf(number int) (mode, bool) {
	i := slices.IndexFunc(knownModes, func(m mode) bool { return m.number == number })
	if i < 0 {
		return mode{}, false
	}
	return knownModes[i], true
}

// lacks reports whether the options leave out a mode, which is then ignored as a
// terminal ignores one that came after it.
func (o *Options) lacks(number int) bool {
	switch number {
	case 2026:
		return !o.Sync
	case 2027:
		return o.Clusters == Sums
	case 2031:
		return !o.Scheme
	case 2048:
		return !o.InBand
	}
	return false
}

// modeSet reports whether a private mode is on.
func (t *Terminal) modeSet(number int) bool {
	on, told := t.private[number]
	if !told {
		m, _ := modeOf(number)
		return m.on
	}
	return on
}

// setMode keeps the modes that differ from a fresh terminal's.
func (t *Terminal) setMode(number int, on bool) {
	if m, _ := modeOf(number); m.on == on {
		delete(t.private, number)
	} else {
		t.private[number] = on
	}
}

// csiMode is what sets and asks for modes.
func (t *Terminal) csiMode(key string, s *sequence) bool {
	on := s.final == 'h'
	switch key {
	case "?h", "?l":
		known := true
		for i := range s.params {
			known = t.privateMode(s.n(i, 0), on) && known
		}
		return known
	case "h", "l":
		for i := range s.params {
			if n := s.n(i, 0); n == 4 || n == 20 || n == 34 {
				t.ansi[n] = on
			} else {
				return false
			}
		}
	case "?$p":
		t.answer("\x1b[?%d;%d$y", s.n(0, 0), t.modeState(s.n(0, 0)))
	case "$p":
		v := 0
		if n := s.n(0, 0); n == 4 || n == 20 {
			v = 2
			if t.ansi[n] {
				v = 1
			}
		}
		t.answer("\x1b[%d;%d$y", s.n(0, 0), v)
	case "!p":
		t.softReset()
	case " q":
		if s.n(0, 0) > 6 {
			return false
		}
		t.shape = s.n(0, 0)
	case "?s", "?r": // XTSAVE and XTRESTORE
		return false
	default:
		return false
	}
	return true
}

// modeState is the answer to DECRQM: 0 not known, 1 set, 2 reset, 3 always set.
func (t *Terminal) modeState(number int) int {
	_, known := modeOf(number)
	switch {
	case number == 2027 && t.opts.Clusters == Always:
		return 3
	case !known || t.opts.lacks(number):
		return 0
	case t.modeSet(number):
		return 1
	}
	return 2
}

func (t *Terminal) privateMode(number int, on bool) bool {
	if _, known := modeOf(number); !known {
		return false
	}
	if t.opts.lacks(number) {
		return true
	}
	was := t.modeSet(number)
	switch number {
	case 6:
		t.setMode(6, on)
		t.place2(0, 0)
	case 47, 1047, 1049:
		t.alternate(number, on)
		for _, other := range []int{47, 1047, 1049} {
			t.setMode(other, false)
		}
	case 1048:
		if on {
			t.save()
		} else {
			t.restore()
		}
		return true
	case 1000, 1002, 1003, 9:
		// One of them is on at a time.
		for _, other := range []int{9, 1000, 1002, 1003} {
			t.setMode(other, false)
		}
	case 2026:
		t.sync.mode(t, on)
	}
	t.setMode(number, on)
	if number == 2048 && on && !was {
		t.reportSize()
	}
	return true
}

// alternate goes to the other screen and back. 1049 saves the cursor before and clears
// the screen; a screen has a keyboard stack of its own.
func (t *Terminal) alternate(number int, on bool) {
	if on == (t.on == t.alt) {
		return
	}
	from := t.on
	if on {
		if number == 1049 {
			t.save()
		}
		t.on = t.alt
		t.on.moveTo(from.x, from.y)
		if number == 1049 {
			t.on.eraseRows(0, t.on.height, Style{})
			t.on.images = nil
		}
		return
	}
	if number != 47 {
		t.on.eraseRows(0, t.on.height, Style{})
		t.on.images = nil
	}
	t.on.top, t.on.bottom = 0, t.on.height-1
	t.on = t.main
	t.on.moveTo(from.x, from.y)
	if number == 1049 {
		t.restore()
	}
}

// softReset is DECSTR.
func (t *Terminal) softReset() {
	for _, n := range []int{1, 6, 7, 25, 66} {
		m, _ := modeOf(n)
		t.setMode(n, m.on)
	}
	delete(t.ansi, 4)
	t.pen, t.sets = Style{}, charsets{}
	g := t.on
	g.top, g.bottom = 0, g.height-1
	g.saved = cursorState{}
	g.pending = false
}
