package chatapi

import (
	"unicode/utf16"
	"unicode/utf8"
)

// walker reads the one shape that makes up nearly all of a stream, a chunk with
// nothing but a piece of text or reasoning, without allocation:
//
//	{…,"choices":[{"index":0,"delta":{"content":"…"},"finish_reason":null}],…}
//
// Keys come in any order. Anything that it is not sure of — an error, a usage
// report, a finish reason, calls, a second choice, a list, a key used twice,
// invalid UTF-8 — it leaves to encoding/json. Where it answers, it answers what
// encoding/json would.
type walker struct {
	b       []byte
	i       int
	scratch []byte

	// The results; they point into b or scratch.
	content   []byte
	reasoning [3][]byte // by reasoningFields
}

// walk reports whether it could read b.
func (w *walker) walk(b []byte) bool {
	*w = walker{b: b, scratch: w.scratch[:0]}
	return w.chunk() && w.peek() == 0 && w.i == len(b)
}

// thought returns the first reasoning that is not empty, and which field it
// came in.
func (w *walker) thought() (field int, s []byte) {
	for i, s := range w.reasoning {
		if len(s) > 0 {
			return i, s
		}
	}
	return 0, nil
}

// chunk reads the outermost object. Keys that make a chunk more than a delta
// must be null.
func (w *walker) chunk() bool {
	if !w.take('{') {
		return false
	}
	choices := false
	for first := true; ; first = false {
		key, ok := w.key(first)
		if !ok {
			return false
		}
		switch string(key) {
		case "":
			return choices
		case "choices":
			if choices || !w.take('[') || !w.choice() || !w.take(']') {
				return false
			}
			choices = true
		case "error", "usage", "x_groq", "timings", "type":
			ok = w.null()
		case "object":
			var kind []byte
			kind, ok = w.plain()
			ok = ok && string(kind) != "error"
		default:
			ok = w.skip(key)
		}
		if !ok {
			return false
		}
	}
}

// choice reads the one choice, whose index is 0 or absent.
func (w *walker) choice() bool {
	if !w.take('{') {
		return false
	}
	delta := false
	for first := true; ; first = false {
		key, ok := w.key(first)
		if !ok {
			return false
		}
		switch string(key) {
		case "":
			return delta
		case "delta":
			if delta || !w.delta() {
				return false
			}
			delta = true
		case "index":
			ok = w.take('0') && !w.digit()
		case "finish_reason":
			if w.peek() == '"' {
				var reason []byte
				reason, ok = w.plain()
				ok = ok && len(reason) == 0
			} else {
				ok = w.null()
			}
		case "message", "error", "usage":
			ok = w.null()
		default:
			ok = w.skip(key)
		}
		if !ok {
			return false
		}
	}
}

// delta reads the texts. A key used twice is left alone: encoding/json would
// take the last one, or merge.
func (w *walker) delta() bool {
	if !w.take('{') {
		return false
	}
	var seen [4]bool
	for first := true; ; first = false {
		key, ok := w.key(first)
		if !ok {
			return false
		}
		switch string(key) {
		case "":
			return true
		case "content":
			w.content, ok = w.text(&seen[0])
		case "reasoning_content":
			w.reasoning[0], ok = w.text(&seen[1])
		case "reasoning":
			w.reasoning[1], ok = w.text(&seen[2])
		case "reasoning_text":
			w.reasoning[2], ok = w.text(&seen[3])
		case "refusal", "tool_calls", "function_call", "reasoning_details", "extra_content":
			ok = w.null()
		default:
			ok = w.skip(key)
		}
		if !ok {
			return false
		}
	}
}

// peek returns the next byte that is no white space, 0 at the end.
func (w *walker) peek() byte {
	for w.i < len(w.b) {
		switch c := w.b[w.i]; c {
		case ' ', '\t', '\n', '\r':
			w.i++
		default:
			return c
		}
	}
	return 0
}

func (w *walker) take(c byte) bool {
	if w.peek() != c {
		return false
	}
	w.i++
	return true
}

// key reads a key and its colon, with the comma before it unless it is the
// first. The end of the object gives "", which is no key that a server uses.
func (w *walker) key(first bool) ([]byte, bool) {
	if w.take('}') {
		return nil, true
	}
	if !first && !w.take(',') {
		return nil, false
	}
	key, ok := w.plain()
	if !ok || len(key) == 0 || !w.take(':') {
		return nil, false
	}
	return key, true
}

// plain reads a string without escapes. It does not look at its encoding: what
// it returns is compared, never shown.
func (w *walker) plain() ([]byte, bool) {
	if !w.take('"') {
		return nil, false
	}
	rest := w.b[w.i:]
	for i, c := range rest {
		if c == '"' {
			w.i += i + 1
			return rest[:i], true
		}
		if c < ' ' || c == '\\' {
			break
		}
	}
	return nil, false
}

// text reads a string or null, once.
func (w *walker) text(seen *bool) ([]byte, bool) {
	if *seen {
		return nil, false
	}
	*seen = true
	if w.peek() != '"' {
		return nil, w.null()
	}
	w.i++
	ascii := true
	for i := w.i; i < len(w.b); i++ {
		switch c := w.b[i]; {
		case c == '"':
			s := w.b[w.i:i]
			w.i = i + 1
			return s, ascii || utf8.Valid(s)
		case c == '\\':
			return w.escaped(i)
		case c < ' ':
			return nil, false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return nil, false
}

// escaped goes on with a string whose first escape is at i. An escape always
// gives whole characters, so the bytes around it are valid UTF-8 exactly when
// the result is.
func (w *walker) escaped(i int) ([]byte, bool) {
	from := len(w.scratch)
	w.scratch = append(w.scratch, w.b[w.i:i]...)
	for w.i = i; w.i < len(w.b); {
		c := w.b[w.i]
		w.i++
		switch {
		case c == '"':
			s := w.scratch[from:]
			return s, utf8.Valid(s)
		case c < ' ':
			return nil, false
		case c != '\\':
			w.scratch = append(w.scratch, c)
		case !w.escape():
			return nil, false
		}
	}
	return nil, false
}

// escape decodes what stands behind a backslash.
func (w *walker) escape() bool {
	if w.i >= len(w.b) {
		return false
	}
	c := w.b[w.i]
	w.i++
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
		return w.unicode()
	default:
		return false
	}
	w.scratch = append(w.scratch, c)
	return true
}

// unicode decodes the rest of a \u escape, or of a pair of them. Lone surrogates
// are left to encoding/json.
func (w *walker) unicode() bool {
	r, ok := w.hex4()
	if ok && utf16.IsSurrogate(r) {
		if w.i+2 > len(w.b) || w.b[w.i] != '\\' || w.b[w.i+1] != 'u' {
			return false
		}
		w.i += 2
		low, okLow := w.hex4()
		r = utf16.DecodeRune(r, low)
		ok = okLow && r != utf8.RuneError
	}
	w.scratch = utf8.AppendRune(w.scratch, r)
	return ok
}

func (w *walker) hex4() (r rune, ok bool) {
	if w.i+4 > len(w.b) {
		return 0, false
	}
	for _, c := range w.b[w.i : w.i+4] {
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
	w.i += 4
	return r, true
}

func (w *walker) null() bool { w.peek(); return w.word("null") }

func (w *walker) word(s string) bool {
	if len(w.b)-w.i < len(s) || string(w.b[w.i:w.i+len(s)]) != s {
		return false
	}
	w.i += len(s)
	return true
}

func (w *walker) digit() bool {
	return w.i < len(w.b) && w.b[w.i] >= '0' && w.b[w.i] <= '9'
}

// skip passes over the simple value of an unknown key. encoding/json matches
// keys without regard to case, so a key that is not in plain small letters might
// be a known one.
func (w *walker) skip(key []byte) bool {
	for _, c := range key {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	switch c := w.peek(); {
	case c == '"':
		_, ok := w.plain()
		return ok
	case c == 'n':
		return w.word("null")
	case c == 't':
		return w.word("true")
	case c == 'f':
		return w.word("false")
	case c >= '1' && c <= '9':
		for w.digit() {
			w.i++
		}
		return w.whole()
	case c == '0':
		w.i++
		return w.whole()
	}
	return false
}

// whole reports whether a number ended here: fractions and exponents are left
// to encoding/json.
func (w *walker) whole() bool {
	c := w.peek()
	return c == ',' || c == '}'
}
