package text

import (
	"unicode"
	"unicode/utf8"
)

// Fold is s in lower case, byte for byte as long as s: a place in the one is a place
// in the other. A letter whose lower case takes other bytes stays as it is, and so
// does what is no UTF-8.
func Fold(s string) string {
	for i, r := range s {
		if unicode.ToLower(r) == r {
			continue
		}
		out := append(make([]byte, 0, len(s)), s[:i]...)
		for s = s[i:]; s != ""; {
			r, n := utf8.DecodeRuneInString(s)
			if l := unicode.ToLower(r); utf8.RuneLen(l) == n {
				out = utf8.AppendRune(out, l)
			} else {
				out = append(out, s[:n]...)
			}
			s = s[n:]
		}
		return string(out)
	}
	return s
}
