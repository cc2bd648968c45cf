package wire

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"alisio/llm"
)

// maxText is the longest piece of foreign text in an error, in characters.
const maxText = 400

// Clean makes foreign text fit for an error: one line, no control or invisible
// formatting characters, valid UTF-8, at most 400 characters, no final full
// stop, and "[redacted]" in place of the key.
func (s Server) Clean(text string) string {
	// No more than this can survive; it also bounds the work.
	text = text[:min(len(text), 16*maxText)]
	line := s.redact(oneLine(text))
	if utf8.RuneCountInString(line) > maxText {
		line = strings.TrimSpace(string([]rune(line)[:maxText-1])) + "…"
	}
	return strings.TrimSuffix(line, ".")
}

// oneLine comes before redact: taking characters out could put a key together
// again.
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

func (s Server) redact(text string) string {
	return llm.Redact(text, strings.TrimSpace(s.Key))
}
