package tuitest

// sgr changes the pen. It reports whether all of the numbers are known.
func (t *Terminal) sgr(params []param) bool {
	if len(params) == 0 {
		params = []param{{value: 0}}
	}
	known := true
	for i := 0; i < len(params); {
		n := 1 // numbers that belong together
		for i+n < len(params) && params[i+n].joined {
			n++
		}
		used := t.pen.change(params[i:i+n], params[i:])
		if used == 0 {
			known, used = false, n
		}
		i += used
	}
	return known
}

// change carries out one item, which is group; rest is what follows with semicolons, too.
// It gives how many numbers it took, 0 when it is not known. A link is no part of SGR.
func (s *Style) change(group, rest []param) int {
	code := max(group[0].value, 0)
	switch {
	case code == 4 && len(group) == 2:
		if group[1].value > int(Dashed) {
			return 0
		}
		s.Underline = Underline(max(group[1].value, 0))
	case code == 38 || code == 48 || code == 58:
		return s.extended(code, group, rest)
	case len(group) > 1:
		return 0
	case code == 0:
		*s = Style{Link: s.Link, LinkID: s.LinkID}
	case code == 4:
		s.Underline = Single
	case code == 21:
		s.Underline = Double
	case code == 24:
		s.Underline = NoUnderline
	case code == 22:
		s.Attr &^= Bold | Faint
	case code == 39:
		s.Fg = Default
	case code == 49:
		s.Bg = Default
	case code == 59:
		s.Line = Default
	case code >= 30 && code <= 37:
		s.Fg = Indexed(code - 30)
	case code >= 40 && code <= 47:
		s.Bg = Indexed(code - 40)
	case code >= 90 && code <= 97:
		s.Fg = Indexed(code - 90 + 8)
	case code >= 100 && code <= 107:
		s.Bg = Indexed(code - 100 + 8)
	default:
		return s.attribute(code)
	}
	return len(group)
}

// attribute sets or clears an attribute that has a number for each.
func (s *Style) attribute(code int) int {
	for _, a := range []struct {
		on, off int
		attr    Attr
	}{
		{1, 0, Bold}, {2, 0, Faint}, {3, 23, Italic}, {5, 25, Blink}, {6, 0, Blink}, {7, 27, Reverse}, {8, 28, Hidden},
		{9, 29, Strike}, {53, 55, Overline},
	} {
		switch code {
		case a.on:
			s.Attr |= a.attr
			return 1
		case a.off:
			s.Attr &^= a.attr
			return 1
		}
	}
	return 0
}

// extended reads 38, 48 and 58: 5;n and 2;r;g;b with semicolons, 5:n, 2:r:g:b and
// 2:space:r:g:b with colons.
func (s *Style) extended(code int, group, rest []param) int {
	args, used := group[1:], len(group)
	if len(args) == 0 {
		args = rest[1:]
		switch {
		case len(args) >= 2 && args[0].value == 5:
			args, used = args[:2], 3
		case len(args) >= 4 && args[0].value == 2:
			args, used = args[:4], 5
		default:
			return 0
		}
	} else if len(args) == 5 || len(args) == 6 {
		args = append([]param{args[0]}, args[2:5]...)
	}
	var c Color
	v := func(i int) int { return max(args[i].value, 0) }
	switch {
	case len(args) == 2 && args[0].value == 5 && v(1) <= 255:
		c = Indexed(v(1))
	case len(args) == 4 && args[0].value == 2 && max(v(1), v(2), v(3)) <= 255:
		c = RGB(v(1), v(2), v(3))
	default:
		return 0
	}
	switch code {
	case 38:
		s.Fg = c
	case 48:
		s.Bg = c
	default:
		s.Line = c
	}
	return used
}
