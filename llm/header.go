package llm

import (
	"slices"
	"strings"
)

// longWord is the length in bytes from which a word in a header's value is taken
// for a secret of its own.
const longWord = 16

// HeaderSecrets returns the keys to look for where the value of a header is secret:
// all of it, as it is and with single blanks; what follows its first word, which
// may be a scheme ("Bearer", "Basic", "Token"); each long word and parameter. Whoever
// repeats such a value may repeat a part.
func HeaderSecrets(value string) []string {
	words := strings.Fields(value)
	if len(words) == 0 {
		return nil
	}
	parts := []string{value, strings.Join(words, " "), strings.Join(words[1:], " ")}
	if len(words) > 1 {
		parts = append(parts, strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(value), words[0])))
	}
	for _, w := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" \t,;\"'=", r) }) {
		if len(w) >= longWord {
			parts = append(parts, w)
		}
	}
	slices.Sort(parts)
	return slices.DeleteFunc(slices.Compact(parts), func(p string) bool { return p == "" })
}
