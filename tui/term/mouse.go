package term

// mouse is a report in the SGR form (mode 1006): CSI < b ; x ; y M, or m for a release.
func mouse(l list, release bool) Event {
	if len(l) != 3 {
		return nil
	}
	return pointer(l.at(0, 0), l.at(1, 1), l.at(2, 1), release)
}

// x10 is a report of a terminal that does not know mode 1006: CSI M and three bytes
// with 32 added. A release does not tell of which button.
func x10(p []byte) (n int, event Event) {
	const size = 6
	if len(p) < size {
		return 0, nil
	}
	b := int(p[3]) - 32
	if b < 0 || p[4] < 33 || p[5] < 33 {
		return 3, nil
	}
	return size, pointer(b, int(p[4])-32, int(p[5])-32, b&3 == 3 && b&(32|64) == 0)
}

// pointer is a mouse event of the bits b: 0–1 the button, 2–4 Shift, Alt and Ctrl, 5 a
// move, 6 the wheel. Columns and rows count from 1.
func pointer(b, column, row int, release bool) Event {
	if b < 0 || b >= 128 || column < 1 || row < 1 {
		return nil // further buttons
	}
	m := Mouse{Column: column - 1, Row: row - 1}
	for bit, mod := range map[int]Mods{4: Shift, 8: Alt, 16: Ctrl} {
		if b&bit != 0 {
			m.Mods |= mod
		}
	}
	button, moved := b&3, b&32 != 0
	switch {
	case b&64 != 0:
		m.Button = WheelUp + Button(button)
		if release {
			return nil
		}
	case button == 3:
		m.Button = NoButton
		if release {
			m.Action = Released
		}
	default:
		m.Button = LeftButton + Button(button)
	}
	switch {
	case release:
		m.Action = Released
	case moved && m.Button != NoButton:
		m.Action = Dragged
	}
	return m
}
