package tuitest

import "unicode/utf8"

// The bounds of what one sequence may hold; what comes beyond is swallowed up to its
// end and told as unknown.
const (
	maxParams = 32
	maxParam  = 1 << 16
	maxString = 4 << 20 // an OSC, DCS or APC; a picture in one piece is the longest
)

// state is where the parser stands, after the state machine of VT500 by Paul Williams,
// with strings of all kinds in one state.
type state uint8

const (
	ground state = iota
	escape
	escapeInter
	csiParam
	csiInter
	csiIgnore
	inString
	stringEscape // an ESC within a string: its end if \ follows
)

// param is one number of a sequence; -1 when it was left out.
type param struct {
	value  int
	joined bool // to the one before, by a colon
}

// sequence is one CSI or escape sequence, and the introducer of a DCS.
type sequence struct {
	prefix byte // one of <=>? or 0
	inter  []byte
	params []param
	final  byte
	bad    bool
}

func (s *sequence) reset() { *s = sequence{inter: s.inter[:0], params: s.params[:0]} }

// key is the sequence without its numbers, as "?h" or " q".
func (s *sequence) key() string {
	var b [8]byte
	k := b[:0]
	if s.prefix != 0 {
		k = append(k, s.prefix)
	}
	k = append(k, s.inter...)
	return string(append(k, s.final))
}

// n is parameter i, def where it was left out or does not exist.
func (s *sequence) n(i, def int) int {
	if i < len(s.params) && s.params[i].value >= 0 {
		return s.params[i].value
	}
	return def
}

// count is parameter i as a number of times: 1 for none and for 0.
func (s *sequence) count(i int) int { return max(s.n(i, 1), 1) }

// parser cuts a stream of bytes, in whatever pieces it comes, into what a terminal does.
type parser struct {
	state state
	seq   sequence
	kind  byte // of the string: ']' OSC, 'P' DCS, '_' APC, '^' PM, 'X' SOS
	text  []byte
	long  bool
	rest  [utf8.UTFMax]byte // the start of a character whose end has not come
	nrest int
}

// sink does what the parser reads.
type sink interface {
	print(r rune)
	control(b byte)
	escape(s *sequence)
	csi(s *sequence)
	str(kind byte, s *sequence, text []byte, long bool)
}

func (p *parser) feed(b []byte, to sink) {
	for i := 0; i < len(b); {
		c := b[i]
		switch {
		case p.nrest > 0:
			i += p.character(b[i:], to)
		case p.state == inString && c >= 0x20 && c != 0x7F:
			p.add(c)
			i++
		case c < 0x80 || p.state != ground:
			p.step(c, to)
			i++
		default:
			i += p.character(b[i:], to)
		}
	}
}

// character reads one character that is not ASCII, or a part of it, and tells how many
// bytes of b it took. What is no UTF-8 becomes U+FFFD, one for each part that can be no
// start of a character (Unicode 16, 3.9).
func (p *parser) character(b []byte, to sink) int {
	n := copy(p.rest[p.nrest:], b)
	whole := p.rest[:p.nrest+n]
	if !utf8.FullRune(whole) {
		p.nrest = len(whole)
		return n
	}
	r, size := utf8.DecodeRune(whole)
	took := size - p.nrest
	if r == utf8.RuneError && size == 1 {
		// The bytes before, which were a start, are one error; the byte that broke it
		// is read again.
		took = max(0, p.badLen(whole)-p.nrest)
	}
	p.nrest = 0
	if r >= 0x80 && r < 0xA0 {
		p.c1(byte(r), to)
	} else {
		to.print(r)
	}
	return took
}

// badLen is how many bytes of b, which is no UTF-8, are one error.
func (p *parser) badLen(b []byte) int {
	n := 1
	for n < len(b) && !utf8.FullRune(b[:n]) {
		n++
	}
	// The byte that made it full and wrong is not part of it, but for a first byte
	// that is wrong by itself.
	return max(1, n-1)
}

// c1 is a control of the upper set, which stands for an escape sequence.
func (p *parser) c1(b byte, to sink) {
	p.state = ground
	p.step(0x1B, to)
	p.step(b-0x40, to)
}

func (p *parser) add(c byte) {
	if len(p.text) >= maxString {
		p.long = true
		return
	}
	p.text = append(p.text, c)
}

// step takes one byte that is not part of a character beyond ASCII.
func (p *parser) step(c byte, to sink) {
	switch {
	case p.state == inString || p.state == stringEscape:
		p.stringByte(c, to)
	case c == 0x18 || c == 0x1A: // CAN, SUB
		p.state = ground
	case c == 0x1B:
		p.state = escape
		p.seq.reset()
	case c < 0x20:
		to.control(c)
	case c == 0x7F:
	case p.state == ground:
		to.print(rune(c))
	case p.state == escape || p.state == escapeInter:
		p.escapeByte(c, to)
	default:
		p.csiByte(c, to)
	}
}

func (p *parser) escapeByte(c byte, to sink) {
	switch {
	case c >= 0x80:
		p.state = ground
	case c < 0x30:
		p.seq.inter = append(p.seq.inter, c)
		p.state = escapeInter
		if len(p.seq.inter) > 2 {
			p.state = csiIgnore
		}
	case p.state == escape && c == '[':
		p.state = csiParam
	case p.state == escape && (c == ']' || c == 'P' || c == '_' || c == '^' || c == 'X'):
		p.state, p.kind, p.text, p.long = inString, c, p.text[:0], false
	default:
		p.state = ground
		p.seq.final = c
		to.escape(&p.seq)
	}
}

func (p *parser) csiByte(c byte, to sink) {
	switch {
	case c >= 0x80:
		p.state = csiIgnore
	case c >= 0x40:
		ignore := p.state == csiIgnore
		p.state = ground
		p.seq.final = c
		p.seq.bad = p.seq.bad || ignore
		to.csi(&p.seq)
	case c < 0x30:
		p.seq.inter = append(p.seq.inter, c)
		p.state = csiInter
		if len(p.seq.inter) > 2 {
			p.state = csiIgnore
		}
	case p.state != csiParam:
		p.state = csiIgnore
	case c >= '<':
		if p.seq.prefix != 0 || len(p.seq.params) > 0 {
			p.state = csiIgnore
		}
		p.seq.prefix = c
	default:
		p.seq.digit(c)
	}
}

// digit takes a digit, a semicolon or a colon of the parameters.
func (s *sequence) digit(c byte) {
	if len(s.params) == 0 {
		s.params = append(s.params, param{value: -1})
	}
	last := &s.params[len(s.params)-1]
	switch {
	case c == ';' || c == ':':
		if len(s.params) == maxParams {
			s.bad = true
			return
		}
		s.params = append(s.params, param{-1, c == ':'})
	case last.value < 0:
		last.value = int(c - '0')
	default:
		last.value = min(last.value*10+int(c-'0'), maxParam)
	}
}

// stringByte takes a byte below 0x20, or one after an ESC, within a string. The data of
// a DCS starts behind its introducer, which is cut off here when the string ends.
func (p *parser) stringByte(c byte, to sink) {
	switch {
	case p.state == stringEscape && c == '\\', p.state == inString && c == 7 && p.kind == ']':
		p.endString(to)
	case p.state == stringEscape:
		// Any other escape sequence ends the string without its being heard.
		p.state = ground
		p.step(0x1B, to)
		p.step(c, to)
	case c == 0x1B:
		p.state = stringEscape
	case c == 0x18 || c == 0x1A:
		p.state = ground
	case p.kind != ']':
		p.add(c)
	}
}

func (p *parser) endString(to sink) {
	p.state = ground
	p.seq.reset()
	text := p.text
	if p.kind == 'P' {
		text = p.introducer(text)
	}
	to.str(p.kind, &p.seq, text, p.long)
	if cap(p.text) > 1<<16 {
		p.text = nil
	}
}

// introducer reads the numbers and the final byte that a DCS starts with into seq, and
// gives what is left.
func (p *parser) introducer(b []byte) []byte {
	for i, c := range b {
		switch {
		case c >= '<' && c <= '?' && i == 0:
			p.seq.prefix = c
		case c >= '0' && c <= ';':
			p.seq.digit(c)
		case c >= 0x20 && c < 0x30 && len(p.seq.inter) < 2:
			p.seq.inter = append(p.seq.inter, c)
		case c >= 0x40 && c < 0x7F:
			p.seq.final = c
			return b[i+1:]
		default:
			p.seq.bad = true
			return b
		}
	}
	p.seq.bad = true
	return nil
}
