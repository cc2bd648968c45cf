package wire

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"alisio/llm"
)

const (
	// maxText is the longest piece of foreign text in an error, in characters.
	maxText = 400
	// keyStart is how many bytes of a key's beginning tell nothing yet.
	keyStart = 3
)

// Clean makes foreign text fit for an error: one line, no control or invisible
// formatting characters, valid UTF-8, at most 400 characters, no final full
// stop, and "[redacted]" in place of keys. No more than the first 64 KiB are
// looked at.
func (s Server) Clean(text string) string {
	line := s.redact(oneLine(s.redact(text[:min(len(text), maxBody)])))
	if utf8.RuneCountInString(line) > maxText {
		line = strings.TrimSpace(string([]rune(line)[:maxText-1])) + "…"
	}
	return strings.TrimSuffix(line, ".")
}

// oneLine stands between two redactions: it takes the blanks out by which a key
// would be known, and taking characters out could put a key together again.
func oneLine(text string) string {
	var b strings.Builder
	space := false
	for _, c := range text {
		switch {
		case unicode.IsSpace(c):
			space = true
			continue
		case unicode.IsControl(c), unicode.Is(unicode.Cf, c):
			continue
		}
		if space && b.Len() > 0 {
			b.WriteByte(' ')
		}
		space = false
		b.WriteRune(c)
	}
	return b.String()
}

// redact also takes the beginning of a key from the end, where a text may have
// been cut inside it.
func (s Server) redact(text string) string {
	keys := append([]string{strings.TrimSpace(s.Key)}, s.Secrets...)
	text = llm.Redact(text, keys...)
	if n := llm.MayBegin([]byte(text), keys...); n > keyStart {
		text = text[:len(text)-n] + "[redacted]"
	}
	return text
}
