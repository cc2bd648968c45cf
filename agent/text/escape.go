package text

// state says in which kind of escape sequence a stream is (ECMA-48; xterm
// ctlseqs for the ways out).
type state uint8

const (
	ground  state = iota
	escaped       // after ESC
	control       // CSI parameters up to the final byte
	device        // the string of OSC, DCS, SOS, PM or APC
)

const (
	esc = 0x1B
	bel = 0x07
	can = 0x18
	sub = 0x1A
	// C1, the 8-bit forms of ESC P, ESC X, ESC [, ESC \, ESC ], ESC ^, ESC _.
	dcs = 0x90
	sos = 0x98
	csi = 0x9B
	st  = 0x9C
	osc = 0x9D
	pm  = 0x9E
	apc = 0x9F
)

// maxEscape bounds, in characters, what one escape sequence may swallow: a
// sequence that never ends must not hide the output after it. It has room for
// the longest piece that the kitty graphics protocol allows (4,096 and a head).
const maxEscape = 8 << 10

// escape follows escape sequences through a stream of characters.
type escape struct {
	state state
	n     int // characters of the sequence so far
}

// takesByte reports whether b, alone and no UTF-8, is meant as a C1 control.
// Other stray bytes are text in some other encoding: they become U+FFFD.
func (e *escape) takesByte(b byte) bool {
	return introduces(rune(b)) != ground || b == st && e.state == device
}

// introduces gives the state that a C1 control opens, ground for none.
func introduces(r rune) state {
	switch r {
	case csi:
		return control
	case dcs, sos, osc, pm, apc:
		return device
	}
	return ground
}

// swallows reports whether r belongs to an escape sequence, and moves on.
//
//	ground -ESC-> escaped -[-> control -@..~-> ground
//	   |             |`-]PX^_-> device -BEL,ST,CAN,SUB-> ground
//	   |             `-0..~-> ground
//	   `-C1-> control, device
//
// ESC and C1 open a new sequence from every state. Newline ends every sequence
// and is not swallowed, nor is a character that can not belong to one: what is
// no escape sequence is shown.
func (e *escape) swallows(r rune) bool {
	if r == esc {
		e.state, e.n = escaped, 0
		return true
	}
	if next := introduces(r); next != ground {
		e.state, e.n = next, 0
		return true
	}
	if e.n++; e.n > maxEscape || r == '\n' {
		e.state = ground
	}
	switch e.state {
	case escaped:
		return e.afterEsc(r)
	case control:
		return e.inControl(r)
	case device:
		if r == bel || r == st || r == can || r == sub {
			e.state = ground
		}
		return true
	}
	return false
}

// afterEsc handles the characters of a sequence that ESC opened.
func (e *escape) afterEsc(r rune) bool {
	switch {
	case r == '[' && e.n == 1:
		e.state, e.n = control, 0
	case e.n == 1 && (r == ']' || r == 'P' || r == 'X' || r == '^' || r == '_'):
		e.state, e.n = device, 0
	case r >= 0x20 && r <= 0x2F: // intermediate, as in ESC ( B
	default:
		e.state = ground
		return r >= 0x30 && r <= 0x7E
	}
	return true
}

// inControl handles the characters after CSI.
func (e *escape) inControl(r rune) bool {
	if r >= 0x20 && r <= 0x3F {
		return true
	}
	e.state = ground
	return r >= 0x40 && r <= 0x7E
}
