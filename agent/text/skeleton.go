package text

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// Skeleton is a key under which names that look alike are equal: one kind of
// space, of quotes and of dashes, letters without their accents whether they
// were composed or not, nothing invisible (C070, C071). Upper and lower case
// stay apart, as do letters that only marks below combining class 200 tell
// apart (Japanese voicing, Indic vowels). It finds what a name may have meant;
// it is no name, and nothing may be written by it.
func Skeleton(name string) string {
	if isAllASCII(name) {
		return name
	}
	out := make([]byte, 0, len(name))
	for i, r := range name {
		if isInvalid(name, i, r) {
			out = fmt.Appendf(out, `\x%02x`, name[i]) // must not join with others to a character
			continue
		}
		out = appendSkeleton(out, r)
	}
	return string(out)
}

func isAllASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// appendSkeleton appends what r looks like.
func appendSkeleton(out []byte, r rune) []byte {
	switch {
	case r < utf8.RuneSelf:
		return append(out, byte(r))
	case isSpace(r):
		return append(out, ' ')
	case r >= 0x2018 && r <= 0x201B, r == 0x2032, r == 0x02BC, r == 0xFF07:
		return append(out, '\'')
	case r >= 0x201C && r <= 0x201F, r == 0x2033, r == 0xFF02:
		return append(out, '"')
	case r >= 0x2010 && r <= 0x2015, r == 0x2212, r == 0xFE58, r == 0xFE63, r == 0xFF0D:
		return append(out, '-')
	case isHidden(r), within(combining[:], r):
		return out
	case r >= 0xAC00 && r <= 0xD7A3:
		return appendHangul(out, r)
	}
	i, ok := slices.BinarySearchFunc(decompositions[:], r, func(e [3]rune, r rune) int { return int(e[0] - r) })
	if !ok {
		return utf8.AppendRune(out, r)
	}
	out = appendSkeleton(out, decompositions[i][1])
	if second := decompositions[i][2]; second != 0 {
		out = appendSkeleton(out, second)
	}
	return out
}

// isSpace reports the spaces beyond ASCII (general category Zs).
func isSpace(r rune) bool {
	return r == 0xA0 || r == 0x1680 || r >= 0x2000 && r <= 0x200A || r == 0x202F || r == 0x205F || r == 0x3000
}

// appendHangul takes a syllable apart (The Unicode Standard 3.12).
func appendHangul(out []byte, r rune) []byte {
	const vowels, finals = 21, 28
	n := r - 0xAC00
	out = utf8.AppendRune(out, 0x1100+n/(vowels*finals))
	out = utf8.AppendRune(out, 0x1161+n%(vowels*finals)/finals)
	if final := n % finals; final > 0 {
		out = utf8.AppendRune(out, 0x11A7+final)
	}
	return out
}
