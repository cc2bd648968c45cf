package search

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxQuery and maxWords bound what is looked for at once: characters, words.
	maxQuery = 1_000
	maxWords = 32
)

// QueryError tells what is wrong with a query.
type QueryError string

func (e QueryError) Error() string { return string(e) }

// match makes an expression of FTS5 of what a person typed: words that all have to be
// there, "phrases", word* for what begins so, and -word for what must not be there.
// Anything else is letters to look for: nothing that is typed is an operator.
func match(query string) (string, error) {
	query = strings.ToValidUTF8(strings.ReplaceAll(query, "\x00", " "), " ")
	if utf8.RuneCountInString(query) > maxQuery {
		return "", QueryError(fmt.Sprintf("the query is longer than %d characters", maxQuery))
	}
	var with, without []string
	for _, w := range words(query) {
		says := strings.ContainsFunc(w.text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
		if !says {
			continue // a stop, or a dash by itself
		}
		term := `"` + strings.ReplaceAll(spaced(w.text), `"`, `""`) + `"`
		if w.begins {
			term += "*"
		}
		if w.not {
			without = append(without, term)
		} else {
			with = append(with, term)
		}
	}
	switch {
	case len(with) == 0 && len(without) > 0:
		return "", QueryError("say what to look for, and not only what is not to be there")
	case len(with) == 0:
		return "", QueryError("say what to look for: the query has no letter and no digit")
	case len(with)+len(without) > maxWords:
		return "", QueryError(fmt.Sprintf("the query has more than %d words", maxWords))
	}
	expr := strings.Join(with, " AND ")
	for _, w := range without {
		expr = "(" + expr + ") NOT " + w
	}
	return expr, nil
}

// word is one of a query.
type word struct {
	text        string
	not, begins bool
}

// words takes a query apart. A quote that is not closed goes to the end.
func words(query string) (all []word) {
	for query = strings.TrimSpace(query); query != ""; query = strings.TrimSpace(query) {
		var w word
		if rest, ok := strings.CutPrefix(query, "-"); ok && rest != "" && !unicode.IsSpace(rune(rest[0])) {
			w.not, query = true, rest
		}
		if rest, ok := strings.CutPrefix(query, `"`); ok {
			w.text, query, _ = strings.Cut(rest, `"`)
		} else if i := strings.IndexFunc(query, unicode.IsSpace); i >= 0 {
			w.text, query = query[:i], query[i:]
		} else {
			w.text, query = query, ""
		}
		if text, ok := strings.CutSuffix(w.text, "*"); ok {
			w.text, w.begins = text, true
		}
		all = append(all, w)
	}
	return all
}

// spaced sets the characters of scripts without spaces apart, so that each is a word,
// and a run of them a phrase.
func spaced(s string) string {
	if !strings.ContainsFunc(s, apart) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if apart(r) {
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func apart(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// parted is a text for the index: names in camel case stand in it a second time, in
// their parts.
func parted(s string) string {
	var b strings.Builder
	for _, field := range strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if parts := humps(field); len(parts) > 1 {
			b.WriteString(" " + strings.Join(parts, " "))
		}
	}
	return spaced(s) + b.String()
}

// maxHumps bounds the parts of one name.
const maxHumps = 12

// humps are the parts of a name in camel case.
func humps(name string) (parts []string) {
	if len(name) > 200 {
		return nil
	}
	runes := []rune(name)
	start := 0
	for i := 1; i < len(runes); i++ {
		upper := unicode.IsUpper(runes[i])
		if upper && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			parts, start = append(parts, string(runes[start:i])), i
		}
	}
	if parts = append(parts, string(runes[start:])); len(parts) > maxHumps {
		return nil
	}
	return parts
}
