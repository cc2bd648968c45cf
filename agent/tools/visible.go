package tools

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// oddities tells what a piece of text held that can not be shown as it is.
type oddities struct {
	// invalid: bytes that are not UTF-8, shown as U+FFFD.
	invalid bool
	// hidden: characters that show nothing or reorder what is shown, written
	// as <U+001B>.
	hidden bool
}

func (o *oddities) add(p oddities) {
	o.invalid = o.invalid || p.invalid
	o.hidden = o.hidden || p.hidden
}

// appendVisible appends a line of a file to dst, at most limit bytes of it,
// and returns how many bytes of line that took. Unlike text for a screen, the
// content of a file must not lose a character: what is hidden is spelled out,
// since a model has to edit what really stands there.
func appendVisible(dst, line []byte, limit int) ([]byte, int, oddities) {
	var odd oddities
	start, i := len(dst), 0
	for i < len(line) {
		n := plainPrefix(line[i:], limit-(len(dst)-start))
		dst = append(dst, line[i:i+n]...)
		if i += n; i == len(line) {
			break
		}
		r, size := utf8.DecodeRune(line[i:])
		shown := line[i : i+size]
		switch {
		case r == utf8.RuneError && size == 1:
			shown = []byte("\uFFFD")
			odd.invalid = true
		case hidden(r):
			shown = fmt.Appendf(nil, "<U+%04X>", r)
			odd.hidden = true
		}
		if len(dst)-start+len(shown) > limit {
			break
		}
		dst = append(dst, shown...)
		i += size
	}
	return dst, i, odd
}

// plainPrefix is the length of the printable ASCII at the start of b, at most
// limit. Nearly all of nearly all files goes through here.
func plainPrefix(b []byte, limit int) int {
	b = b[:max(min(len(b), limit), 0)]
	for i, c := range b {
		if (c < ' ' && c != '\t') || c > '~' {
			return i
		}
	}
	return len(b)
}

// hidden reports whether a character is invisible or changes the order of
// others. The joiners and the variation selectors are not among them: writing
// systems and emoji need these.
func hidden(r rune) bool {
	switch {
	case r < 0x20:
		return r != '\t'
	case r < 0x7F:
		return false
	case r <= 0x9F, r == 0xAD, r == 0x61C, r == 0x200B, r == 0x200E, r == 0x200F, r == 0xFEFF:
		return true
	case r >= 0x2028 && r <= 0x202E, r >= 0x2060 && r <= 0x206F, r >= 0xFFF9 && r <= 0xFFFB:
		return true
	}
	return r >= 0xE0000 && r <= 0xE0FFF
}

// visible is appendVisible for whole text, such as a patch: LF stays, and a CR
// before it is left out.
func visible(text []byte) string {
	var b []byte
	for len(text) > 0 {
		line, rest, found := bytes.Cut(text, []byte{'\n'})
		line = bytes.TrimSuffix(line, []byte{'\r'})
		b, _, _ = appendVisible(b, line, len(line)*8)
		if found {
			b = append(b, '\n')
		}
		text = rest
	}
	return string(b)
}
