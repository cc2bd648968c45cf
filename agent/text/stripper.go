package text

import "unicode/utf8"

// maxLine bounds, in bytes, the unfinished line that a Stripper keeps so that
// a redraw can replace it. A longer line is passed on in pieces of this size.
const maxLine = 64 << 10

// Stripper turns the raw output of one stream of a program, arriving in any
// pieces, into plain text: valid UTF-8, of the controls only newline and tab.
//
//	bytes -> characters -> escape sequences out -> line with redraws -> dst
//
// Escape sequences (7-bit and 8-bit), other controls, bidi controls and tags
// are dropped, bytes that are no UTF-8 become U+FFFD, U+2028 and U+2029 become
// newline. After a carriage return or backspaces the next character replaces
// the rest of the line from there on, so of a line drawn many times the last
// state remains. The output does not depend on how the input was cut.
//
// Time is linear in the input, memory bounded by maxLine. The zero value is
// ready. Standard output and standard error need one each (C085). Not safe for
// concurrent use.
type Stripper struct {
	line []byte // the unfinished line, at most maxLine bytes
	at   int    // where the next character goes: len(line) but after \r or \b
	esc  escape
	cut  [utf8.UTFMax]byte // a character whose end has not arrived
	held int               // bytes in cut
}

// Append appends to dst the lines that src completes and returns dst. What
// stands after the last newline is kept: see Pending and Flush.
func (s *Stripper) Append(dst, src []byte) []byte {
	for len(src) > 0 {
		if s.held == 0 && s.esc.state == ground {
			if n := shown(src); n > 0 {
				dst = s.put(dst, src[:n])
				src = src[n:]
				continue
			}
		}
		r, n := s.next(src)
		src = src[n:]
		if s.held == 0 {
			dst = s.step(dst, r)
		}
	}
	return dst
}

// Pending is the unfinished line as it stands, for live display. It is valid
// until the next call and never longer than 64 KiB.
func (s *Stripper) Pending() []byte { return s.line }

// Flush appends the unfinished line to dst at the end of the stream, a cut-off
// character as U+FFFD, and makes s ready for another stream.
func (s *Stripper) Flush(dst []byte) []byte {
	if s.held > 0 {
		dst = s.step(dst, utf8.RuneError)
	}
	dst = append(dst, s.line...)
	*s = Stripper{line: s.line[:0]}
	return dst
}

// shown counts the bytes at the start of p that are whole characters which
// pass unchanged, tabs apart.
func shown(p []byte) int {
	i := 0
	for i < len(p) {
		if b := p[i]; b < utf8.RuneSelf {
			if b < 0x20 || b == 0x7F {
				break
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(p[i:])
		if n == 1 || isControl(r) || isRemoved(r) || r == '\u2028' || r == '\u2029' {
			break
		}
		i += n
	}
	return i
}

// next takes one character off src, with what was held before, and says how
// many bytes of src it used. With s.held > 0 after it there was none yet.
func (s *Stripper) next(src []byte) (r rune, n int) {
	buf, had := src, s.held
	if had > 0 {
		n = copy(s.cut[had:], src)
		buf = s.cut[:had+n]
	}
	if !utf8.FullRune(buf) {
		if had == 0 {
			n = copy(s.cut[:], src)
		}
		s.held = had + n
		return 0, n
	}
	r, size, ok := decode(buf)
	s.held = 0
	if !ok && size == 1 && s.esc.takesByte(buf[0]) {
		r = rune(buf[0])
	}
	// What was held is the start of a character, so size is at least had.
	return r, size - had
}

// step handles one character.
func (s *Stripper) step(dst []byte, r rune) []byte {
	if s.esc.swallows(r) {
		return dst
	}
	switch {
	case r == '\n' || r == '\u2028' || r == '\u2029':
		dst = append(append(dst, s.line...), '\n')
		s.line, s.at = s.line[:0], 0
	case r == '\r':
		s.at = 0
	case r == '\b':
		_, n := utf8.DecodeLastRune(s.line[:s.at])
		s.at -= n
	case r == '\t' || !isControl(r) && !isRemoved(r):
		var buf [utf8.UTFMax]byte
		n := utf8.EncodeRune(buf[:], r)
		dst = s.put(dst, buf[:n])
	}
	return dst
}

// put writes p, whole characters, where the line stands. It passes the line on
// before the first character that would make it longer than maxLine, so at the
// same place however the input was cut.
func (s *Stripper) put(dst, p []byte) []byte {
	s.line = s.line[:s.at]
	for len(s.line)+len(p) > maxLine {
		n := maxLine - len(s.line)
		for n > 0 && !utf8.RuneStart(p[n]) {
			n--
		}
		dst = append(append(dst, s.line...), p[:n]...)
		s.line, p = s.line[:0], p[n:]
	}
	s.line = append(s.line, p...)
	s.at = len(s.line)
	return dst
}
