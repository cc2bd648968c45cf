package tuitest

// csiReport is what asks the terminal something.
func (t *Terminal) csiReport(key string, s *sequence) bool {
	g := t.on
	switch key {
	case "c":
		if s.n(0, 0) != 0 {
			return false
		}
		t.answer("\x1b[?62;22c")
	case ">c":
		t.answer("\x1b[>1;10;0c")
	case "=c":
	case ">q":
		if t.opts.Name != "" {
			t.answer("\x1bP>|%s\x1b\\", t.opts.Name)
		}
	case "n":
		switch s.n(0, 0) {
		case 5:
			t.answer("\x1b[0n")
		case 6:
			y := g.y
			if t.private[6] {
				y -= g.top
			}
			t.answer("\x1b[%d;%dR", y+1, g.x+1)
		default:
			return false
		}
	case "?n":
		switch {
		case s.n(0, 0) == 996 && t.opts.Scheme:
			t.reportScheme()
		case s.n(0, 0) == 6:
			t.answer("\x1b[?%d;%dR", g.y+1, g.x+1)
		case s.n(0, 0) != 996:
			return false
		}
	case "t":
		return t.window(s)
	case "g":
		return t.clearStops(s.n(0, 0))
	default:
		return false
	}
	return true
}

func (t *Terminal) clearStops(how int) bool {
	switch how {
	case 0:
		t.tabs[t.on.x] = false
	case 3:
		clear(t.tabs)
	default:
		return false
	}
	return true
}

// window is what xterm's window operations ask and keep.
func (t *Terminal) window(s *sequence) bool {
	g, w, h := t.on, t.opts.CellWidth, t.opts.CellHeight
	switch s.n(0, 0) {
	case 14:
		t.answer("\x1b[4;%d;%dt", g.height*h, g.columns*w)
	case 16:
		t.answer("\x1b[6;%d;%dt", h, w)
	case 18:
		t.answer("\x1b[8;%d;%dt", g.height, g.columns)
	case 22:
		if len(t.title.stack) < maxStack {
			t.title.stack = append(t.title.stack, t.title.text)
		}
	case 23:
		if n := len(t.title.stack); n > 0 {
			t.title.text, t.title.stack = t.title.stack[n-1], t.title.stack[:n-1]
		}
	default:
		return false
	}
	return true
}

// reportSize is the report of mode 2048, reportScheme that of mode 2031.
func (t *Terminal) reportSize() {
	g, o := t.on, t.opts
	t.answer("\x1b[48;%d;%d;%d;%dt", g.height, g.columns, g.height*o.CellHeight, g.columns*o.CellWidth)
}

func (t *Terminal) reportScheme() {
	n := 1
	if t.light {
		n = 2
	}
	t.answer("\x1b[?997;%dn", n)
}

// csiKeys is how the keyboard is set up: the kitty protocol, and xterm's modifyOtherKeys.
func (t *Terminal) csiKeys(key string, s *sequence) bool {
	g := t.on
	switch key {
	case ">m", ">n":
		if s.n(0, 0) != 4 {
			return key == ">n"
		}
		if t.opts.OtherKeys {
			t.other = 0
			if key == ">m" {
				t.other = min(s.n(1, 0), 2)
			}
		}
	case ">f":
		if s.n(0, 0) == 4 && t.opts.OtherKeys {
			t.format = min(s.n(1, 0), 1)
		}
	case "?m":
		if t.opts.OtherKeys {
			t.answer("\x1b[>4;%dm", t.other)
		}
	case ">u", "<u", "=u", "?u":
		if t.opts.Kitty {
			t.keyboard(g, s)
		}
	default:
		return false
	}
	return true
}

// keyboard changes the stack of the screen's keyboard flags; its last entry counts.
func (t *Terminal) keyboard(g *grid, s *sequence) {
	switch s.prefix {
	case '>':
		if len(g.keys) == maxStack {
			g.keys = append(g.keys[:0], g.keys[1:]...)
		}
		g.keys = append(g.keys, s.n(0, 0)&31)
	case '<':
		g.keys = g.keys[:max(0, len(g.keys)-s.count(0))]
	case '=':
		if len(g.keys) == 0 {
			g.keys = append(g.keys, 0)
		}
		at, flags := &g.keys[len(g.keys)-1], s.n(0, 0)&31
		switch s.n(1, 1) {
		case 1:
			*at = flags
		case 2:
			*at |= flags
		case 3:
			*at &^= flags
		}
	case '?':
		t.answer("\x1b[?%du", g.flags())
	}
}

func (g *grid) flags() int {
	if len(g.keys) == 0 {
		return 0
	}
	return g.keys[len(g.keys)-1]
}
