package wire

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// Scanner reads the plain JSON of a stream's deltas without allocation, for
// clients that know the one shape that makes up nearly all of a stream. Whatever
// it is not sure of it refuses, and encoding/json reads the text instead. Where
// it answers, it answers what encoding/json would.
type Scanner struct {
	b       []byte
	i       int
	scratch []byte
}

// Reset makes the scanner read b. What it returned for the text before is no
// longer valid.
func (s *Scanner) Reset(b []byte) { s.b, s.i, s.scratch = b, 0, s.scratch[:0] }

// End reports whether nothing but white space is left.
func (s *Scanner) End() bool { return s.Peek() == 0 && s.i == len(s.b) }

// Small reads a whole number from 0 to 9999.
func (s *Scanner) Small() (n int, ok bool) {
	if s.Peek(); !s.Digit() {
		return 0, false
	}
	from := s.i
	for ; s.Digit() && s.i < from+5; s.i++ {
		n = 10*n + int(s.b[s.i]-'0')
	}
	if s.i == from+5 || s.b[from] == '0' && s.i > from+1 {
		return 0, false
	}
	return n, s.whole()
}

// Peek returns the next byte that is no white space, 0 at the end.
func (s *Scanner) Peek() byte {
	for s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return c
		}
	}
	return 0
}

// Take passes over c, and the white space before it, if it is next.
func (s *Scanner) Take(c byte) bool {
	if s.Peek() != c {
		return false
	}
	s.i++
	return true
}

// Key reads a key and its colon, with the comma before it unless it is the
// first. The end of the object gives "", which is no key that a server uses.
func (s *Scanner) Key(first bool) ([]byte, bool) {
	if s.Take('}') {
		return nil, true
	}
	if !first && !s.Take(',') {
		return nil, false
	}
	key, ok := s.Plain()
	if !ok || len(key) == 0 || !s.Take(':') {
		return nil, false
	}
	return key, true
}

// Plain reads a string without escapes. It does not look at its encoding: what
// it returns is compared, never shown.
func (s *Scanner) Plain() ([]byte, bool) {
	if !s.Take('"') {
		return nil, false
	}
	from, end := s.i, special(s.b, s.i)
	if end == len(s.b) || s.b[end] != '"' {
		return nil, false
	}
	s.i = end + 1
	return s.b[from:end], true
}

// Text reads a string or null, once.
func (s *Scanner) Text(seen *bool) ([]byte, bool) {
	if *seen {
		return nil, false
	}
	*seen = true
	if s.Peek() != '"' {
		return nil, s.Null()
	}
	s.i++
	end := special(s.b, s.i)
	switch {
	case end == len(s.b):
		return nil, false
	case s.b[end] == '"':
		text := s.b[s.i:end]
		s.i = end + 1
		return text, utf8.Valid(text)
	case s.b[end] == '\\':
		return s.escaped(end)
	}
	return nil, false
}

// special returns the index of the first byte from i on that ends a plain piece
// of a JSON string: a quote, a backslash or a control character; len(b) for none.
// It looks at eight bytes at once: subtracting borrows from the top bit of a byte
// that is too small, and a wrong borrow comes only behind a right one, so that
// the lowest is always right.
func special(b []byte, i int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		quote, slash := w^'"'*ones, w^'\\'*ones
		hit := ((w-' '*ones)&^w | (quote-ones)&^quote | (slash-ones)&^slash) & tops
		if hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < ' ' || c == '"' || c == '\\' {
			return i
		}
	}
	return len(b)
}

// escaped goes on with a string whose first escape is at i. An escape always
// gives whole characters, so the bytes around it are valid UTF-8 exactly when
// the result is.
func (s *Scanner) escaped(i int) ([]byte, bool) {
	from := len(s.scratch)
	for end := i; end < len(s.b); end = special(s.b, s.i) {
		s.scratch = append(s.scratch, s.b[s.i:end]...)
		s.i = end + 1
		switch s.b[end] {
		case '"':
			text := s.scratch[from:]
			return text, utf8.Valid(text)
		case '\\':
			if s.escape() {
				continue
			}
		}
		return nil, false
	}
	return nil, false
}

// escape decodes what stands behind a backslash.
func (s *Scanner) escape() bool {
	if s.i >= len(s.b) {
		return false
	}
	c := s.b[s.i]
	s.i++
	switch c {
	case '"', '\\', '/':
	case 'n':
		c = '\n'
	case 't':
		c = '\t'
	case 'r':
		c = '\r'
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'u':
		return s.unicode()
	default:
		return false
	}
	s.scratch = append(s.scratch, c)
	return true
}

// unicode decodes the rest of a \u escape, or of a pair of them. Lone surrogates
// are left to encoding/json.
func (s *Scanner) unicode() bool {
	r, ok := s.hex4()
	if ok && utf16.IsSurrogate(r) {
		if s.i+2 > len(s.b) || s.b[s.i] != '\\' || s.b[s.i+1] != 'u' {
			return false
		}
		s.i += 2
		low, okLow := s.hex4()
		r = utf16.DecodeRune(r, low)
		ok = okLow && r != utf8.RuneError
	}
	s.scratch = utf8.AppendRune(s.scratch, r)
	return ok
}

func (s *Scanner) hex4() (r rune, ok bool) {
	if s.i+4 > len(s.b) {
		return 0, false
	}
	for _, c := range s.b[s.i : s.i+4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	s.i += 4
	return r, true
}

// Null passes over null if it is next.
func (s *Scanner) Null() bool { s.Peek(); return s.word("null") }

func (s *Scanner) word(want string) bool {
	if len(s.b)-s.i < len(want) || string(s.b[s.i:s.i+len(want)]) != want {
		return false
	}
	s.i += len(want)
	return true
}

// Digit reports whether a digit is next.
func (s *Scanner) Digit() bool {
	return s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9'
}

// Skip passes over the simple value of an unknown key.
func (s *Scanner) Skip(key []byte) bool {
	if !small(key) {
		return false
	}
	switch c := s.Peek(); {
	case c == '"':
		_, ok := s.Plain()
		return ok
	case c == 'n':
		return s.word("null")
	case c == 't':
		return s.word("true")
	case c == 'f':
		return s.word("false")
	case c >= '1' && c <= '9':
		for s.Digit() {
			s.i++
		}
		return s.whole()
	case c == '0':
		s.i++
		return s.whole()
	}
	return false
}

// small reports whether a key is in plain small letters. encoding/json matches
// keys without regard to case, so one that is not might be a known one.
func small(key []byte) bool {
	for _, c := range key {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}

// whole reports whether a number ended here: fractions and exponents are left
// to encoding/json.
func (s *Scanner) whole() bool {
	c := s.Peek()
	return c == ',' || c == '}'
}
