package text

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Plain is what a Stripper makes of the whole of s: valid UTF-8 without escape
// sequences, controls other than newline and tab, bidi controls and hidden
// tags, with redraws collapsed. Text that is clean is returned as it is,
// without an allocation.
func Plain(s string) string {
	if isClean(s) {
		return s
	}
	var st Stripper
	out := st.Append(make([]byte, 0, len(s)+utf8.UTFMax), []byte(s))
	return string(st.Flush(out))
}

// isClean reports whether a Stripper would leave s as it is.
func isClean(s string) bool {
	for i := 0; i < len(s); {
		if b := s[i]; b < utf8.RuneSelf {
			if b < 0x20 && b != '\n' && b != '\t' || b == 0x7F {
				return false
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if n == 1 || isControl(r) || isRemoved(r) || r == '\u2028' || r == '\u2029' {
			return false
		}
		i += n
	}
	return true
}

// Line is Plain for one line of a screen: each run of spaces, tabs and newlines
// is one space, none at the ends.
func Line(s string) string {
	s = Plain(s)
	if !strings.ContainsAny(s, "\n\t") && !strings.Contains(s, "  ") {
		return strings.Trim(s, " ")
	}
	blank := func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' }
	return strings.Join(strings.FieldsFunc(s, blank), " ")
}

// Visible shows s to a person who must judge it: nothing is removed, every
// character that could be overlooked or taken for a space (controls, bidi and
// zero-width characters, odd spaces, variation selectors) is written as
// <U+202E>, a byte that is no UTF-8 as <0x9B>. Newline and tab stay.
func Visible(s string) string {
	if isShown(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, "<0x%02X>", s[i])
		case isHidden(r) && r != '\n' && r != '\t':
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// isShown reports whether Visible would leave s as it is.
func isShown(s string) bool {
	for i, r := range s {
		if isHidden(r) && r != '\n' && r != '\t' || isInvalid(s, i, r) {
			return false
		}
	}
	return true
}

// IsPlain reports whether s is valid UTF-8 in which a reader sees every
// character for what it is: no controls (newline and tab are some), no bidi,
// zero-width or other invisible characters, no space but U+0020.
func IsPlain(s string) bool {
	for i, r := range s {
		if isHidden(r) || isInvalid(s, i, r) {
			return false
		}
	}
	return true
}

// isInvalid tells a byte that is no UTF-8 from a U+FFFD that was written.
func isInvalid(s string, i int, r rune) bool {
	return r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD")
}

// Valid is s with every part that is no UTF-8 replaced by U+FFFD and nothing
// else changed: for encoders that must not fail (spec events.md, JSONL).
func Valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	p, out := []byte(s), make([]byte, 0, len(s)+utf8.UTFMax)
	for len(p) > 0 {
		r, n, _ := decode(p)
		out = utf8.AppendRune(out, r)
		p = p[n:]
	}
	return string(out)
}
