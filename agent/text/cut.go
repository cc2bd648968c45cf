package text

import "unicode/utf8"

// Prefix is the longest start of s of at most so many bytes that ends with a whole
// character.
func Prefix(s string, bytes int) string {
	if len(s) <= bytes {
		return s
	}
	end := max(bytes, 0)
	for i := 1; i < utf8.UTFMax && end > 0 && !utf8.RuneStart(s[end]); i++ {
		end--
	}
	return s[:end]
}

// Head is the first n characters of s as valid UTF-8. No more of s is looked at.
func Head(s string, n int) string {
	if len(s) > n {
		s = s[:offset(s, n)]
	}
	return Valid(s)
}

// offset is where the character after the first n begins, at most len(s).
func offset(s string, n int) int {
	for i := range s {
		if n--; n < 0 {
			return i
		}
	}
	return len(s)
}

// Short is s as valid UTF-8 where it has at most n characters, else its start with
// "…" as the last of n. Of a longer s no more is looked at.
func Short(s string, n int) string {
	if len(s) <= n {
		return Valid(s)
	}
	at := offset(s, n-1)
	if offset(s[at:], 1) == len(s)-at {
		return Valid(s)
	}
	return Valid(s[:at]) + ellipsis
}

// spare is how many bytes for each character that is kept OneLine looks at: those of
// escape sequences and blanks come to nothing.
const spare = 4 * utf8.UTFMax

// OneLine is Line in at most n characters, the last of them "…" where the rest
// was left out: for titles, labels and what a message repeats of foreign text. The
// work is bounded by n.
func OneLine(s string, n int) string {
	start := Prefix(s, n*spare)
	line := Line(start)
	if len(start) < len(s) {
		line += ellipsis
	}
	return Short(line, n)
}
