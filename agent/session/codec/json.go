package codec

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"
	"unicode/utf8"
)

// The functions of this file walk over JSON without copying it. Each asks for
// text that json.Valid has passed, which bounds the nesting at 10,000 too; they
// use no recursion and run in linear time. Values are slices of the text,
// without the white space around them.

// ValueAt returns the value that begins at or after b[i] and the index behind it.
func ValueAt(b []byte, i int) (value []byte, end int) {
	i = skipSpace(b, i)
	switch b[i] {
	case '"':
		end = stringEnd(b, i)
	case '{', '[':
		end = nestedEnd(b, i)
	default:
		end = i + 1
		for end < len(b) && !bytes.ContainsRune([]byte(",]} \t\r\n"), rune(b[end])) {
			end++
		}
	}
	return b[i:end], end
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// stringEnd returns the index behind the string whose opening quote is b[i].
func stringEnd(b []byte, i int) int {
	start := i + 1
	for {
		quote := start + bytes.IndexByte(b[start:], '"')
		slashes := 0
		for quote-slashes > start && b[quote-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return quote + 1
		}
		start = quote + 1
	}
}

// nestedEnd returns the index behind the object or array that begins at b[i].
func nestedEnd(b []byte, i int) int {
	depth := 0
	for {
		switch b[i] {
		case '"':
			i = stringEnd(b, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		i++
		if depth == 0 {
			return i
		}
	}
}

// Fields yields the keys and values of an object in order, repeated ones too;
// nothing for any other value.
func Fields(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		if len(object) == 0 || object[0] != '{' {
			return
		}
		i := skipSpace(object, 1)
		for object[i] != '}' {
			key, end := ValueAt(object, i)
			colon := skipSpace(object, end)
			value, end := ValueAt(object, colon+1)
			name, _ := unquote(key)
			if !yield(name, value) {
				return
			}
			if i = skipSpace(object, end); object[i] == ',' {
				i = skipSpace(object, i+1)
			}
		}
	}
}

// elementsOf yields the values of an array in order; nothing for any other
// value.
func elementsOf(array []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if len(array) == 0 || array[0] != '[' {
			return
		}
		i := skipSpace(array, 1)
		for array[i] != ']' {
			value, end := ValueAt(array, i)
			if !yield(value) {
				return
			}
			if i = skipSpace(array, end); array[i] == ',' {
				i = skipSpace(array, i+1)
			}
		}
	}
}

// unquote reads a JSON string. Exact is false if the text can not hold what
// stands there: half a surrogate pair, or bytes that are no UTF-8.
func unquote(raw []byte) (text string, exact bool) {
	inner := raw[1 : len(raw)-1]
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner), true
	}
	if err := json.Unmarshal(raw, &text); err != nil {
		return "", false
	}
	const replaced = "\uFFFD"
	return text, strings.Count(text, replaced) == bytes.Count(raw, []byte(replaced))
}

// hexDigits are those of \u escapes.
const hexDigits = "0123456789abcdef"

// AppendString adds a JSON string. Control characters, U+007F to U+009F, U+2028
// and U+2029 are escaped, so that no reader takes a part of it for a line or
// for a command of its terminal; bytes that are no UTF-8 become U+FFFD.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < 0x7f && c != '"' && c != '\\' {
			i++
			continue
		}
		r, size := rune(c), 1
		if c >= utf8.RuneSelf {
			if r, size = utf8.DecodeRuneInString(s[i:]); plainRune(r, size) {
				i += size
				continue
			}
		}
		b = append(b, s[start:i]...)
		b = appendEscaped(b, r, size)
		i += size
		start = i
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}

// plainRune tells of a rune outside ASCII that stands for itself.
func plainRune(r rune, size int) bool {
	return r > 0x9f && r != '\u2028' && r != '\u2029' && (r != utf8.RuneError || size > 1)
}

// appendEscaped adds one rune of the basic plane as an escape; size is that of its
// encoding, one for a byte that is no UTF-8.
func appendEscaped(b []byte, r rune, size int) []byte {
	switch {
	case r == '"' || r == '\\':
		return append(b, '\\', byte(r))
	case r == '\n':
		return append(b, `\n`...)
	case r == '\r':
		return append(b, `\r`...)
	case r == '\t':
		return append(b, `\t`...)
	case r == utf8.RuneError && size == 1:
		return append(b, "\uFFFD"...)
	}
	return append(b, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}
