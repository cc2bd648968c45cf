package wire

// maxRaw is how deep the values in a value may lie that a Scanner passes over.
const maxRaw = 100

// Members gives the members of the object that is the rest of the text to take,
// as pieces of it, until that says no. It refuses what encoding/json might read
// in another way: a key that is not in plain small letters, with the whole. What
// take got counts only when Members reports true.
func (s *Scanner) Members(take func(key, value []byte) bool) bool {
	if !s.Take('{') {
		return false
	}
	for first := true; ; first = false {
		key, ok := s.Key(first)
		if !ok || len(key) == 0 {
			return ok && s.End()
		}
		value, ok := s.Raw()
		if !ok || !small(key) || !take(key, value) {
			return false
		}
	}
}

// Raw passes over any value and returns its text, which encoding/json would take
// as well.
func (s *Scanner) Raw() ([]byte, bool) {
	s.Peek()
	from := s.i
	if !s.value(0) {
		return nil, false
	}
	return s.b[from:s.i], true
}

// value passes over a value with depth others around it.
func (s *Scanner) value(depth int) bool {
	switch c := s.Peek(); {
	case c == '"':
		s.i++
		return s.quoted()
	case c == '{':
		return s.list('}', depth)
	case c == '[':
		return s.list(']', depth)
	case c == 'n':
		return s.word("null")
	case c == 't':
		return s.word("true")
	case c == 'f':
		return s.word("false")
	}
	return s.number()
}

// list passes over an array, or an object, up to its end.
func (s *Scanner) list(end byte, depth int) bool {
	s.i++
	if s.Take(end) {
		return true
	}
	if depth == maxRaw {
		return false
	}
	for {
		if end == '}' && !(s.Take('"') && s.quoted() && s.Take(':')) {
			return false
		}
		if !s.value(depth + 1) {
			return false
		}
		if s.Take(end) {
			return true
		}
		if !s.Take(',') {
			return false
		}
	}
}

// quoted passes over the rest of a string.
func (s *Scanner) quoted() bool {
	for {
		end := special(s.b, s.i)
		if end == len(s.b) {
			return false
		}
		s.i = end + 1
		switch s.b[end] {
		case '"':
			return true
		case '\\':
			if !s.passEscape() {
				return false
			}
		default:
			return false
		}
	}
}

// passEscape passes over what stands behind a backslash. A lone surrogate is as
// valid as any other.
func (s *Scanner) passEscape() bool {
	if s.i == len(s.b) {
		return false
	}
	c := s.b[s.i]
	s.i++
	switch c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	case 'u':
		_, ok := s.hex4()
		return ok
	}
	return false
}

// number passes over a number.
func (s *Scanner) number() bool {
	s.word("-")
	if !s.word("0") && !s.digits() {
		return false
	}
	if s.word(".") && !s.digits() {
		return false
	}
	if s.word("e") || s.word("E") {
		_ = s.word("+") || s.word("-")
		return s.digits()
	}
	return true
}

// digits passes over at least one digit.
func (s *Scanner) digits() bool {
	from := s.i
	for s.Digit() {
		s.i++
	}
	return s.i > from
}

// CutText returns what stands in text behind the string that raw says, which is
// valid JSON; false when text does not begin so. It copies neither, and decodes a
// character at a time: servers repeat at the end, in full, what they have sent in
// pieces. What is no string, or holds half a surrogate pair, says nothing that a
// text begins with.
func CutText[T string | []byte](text T, raw []byte) (rest T, ok bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return rest, false
	}
	s := Scanner{b: raw, i: 1}
	for {
		end := special(raw, s.i)
		if text, ok = cutPrefix(text, raw[s.i:end]); !ok || end == len(raw) {
			return rest, false
		}
		s.i, s.scratch = end+1, s.scratch[:0]
		switch {
		case raw[end] == '"':
			return text, s.i == len(raw)
		case raw[end] != '\\' || !s.escape():
			return rest, false
		}
		if text, ok = cutPrefix(text, s.scratch); !ok {
			return rest, false
		}
	}
}

func cutPrefix[T string | []byte](text T, prefix []byte) (T, bool) {
	if len(text) < len(prefix) || string(text[:len(prefix)]) != string(prefix) {
		return text, false
	}
	return text[len(prefix):], true
}

// PastString returns the index behind the end of the string that begins at i in
// valid JSON.
func PastString(raw []byte, i int) int {
	for i = special(raw, i+1); i < len(raw) && raw[i] != '"'; {
		i = special(raw, min(i+2, len(raw)))
	}
	return min(i+1, len(raw))
}
