package search

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"alisio/agent/session"
	"alisio/agent/text"
)

// around is how much of a message is shown of a hit, in characters.
const around = 160

// cut takes what stands around the first word out of the message of a hit, and reports
// whether that is there: a repair of the database may have lost it.
func (x *Index) cut(ctx context.Context, h *Hit, query string) (there bool, err error) {
	page, err := x.store.MessagesPage(ctx, h.Session.ID, h.Seq-1, 1)
	if err != nil || len(page) == 0 || page[0].Seq != h.Seq || page[0].Err != nil {
		return false, err
	}
	m := page[0].Message
	h.Role = m.Role
	said := wordsOf(session.Filed{Stored: page[0]})
	i, _ := place(said, query)
	near := text.Line(strings.ToValidUTF8(said[max(0, i-4*around):min(len(said), i+8*around)], ""))
	i, n := place(near, query)
	h.Before, h.Match, h.After = tail(near[:i], around/2), near[i:i+n], text.Head(near[i+n:], around)
	return true, nil
}

// place is where the first of the words of a query stands in a text, and how long it is
// there: as a word, else as a part of one. Letters that differ in marks alone are not
// found here, and nothing is marked.
func place(said, query string) (at, length int) {
	low := text.Fold(said)
	for _, alone := range []bool{true, false} {
		found := false
		for _, w := range words(query) {
			needle := text.Fold(w.text)
			if w.not || needle == "" {
				continue
			}
			if i := find(low, needle, alone, w.begins); i >= 0 && (!found || i < at) {
				at, length, found = i, len(needle), true
			}
		}
		if found {
			break
		}
	}
	return at, length
}

// find is where a needle stands in a text, or -1; alone: not within a word, but that it
// may begin one.
func find(low, needle string, alone, begins bool) int {
	for from := 0; ; {
		i := strings.Index(low[from:], needle)
		if i < 0 {
			return -1
		}
		i += from
		end := i + len(needle)
		if !alone || (!joins(low, i) && (begins || !joins(low, end))) {
			return i
		}
		_, n := utf8.DecodeRuneInString(low[i:])
		from = i + n
	}
}

// joins reports whether a word goes on over a place in a text.
func joins(s string, i int) bool {
	a, _ := utf8.DecodeLastRuneInString(s[:i])
	b, _ := utf8.DecodeRuneInString(s[i:])
	return i > 0 && i < len(s) && inWord(a) && inWord(b)
}

func inWord(r rune) bool {
	return !apart(r) && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// tail is the end of a line, of so many characters at most.
func tail(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	clusters := slices.Collect(text.Graphemes(s))
	i := len(clusters)
	for room := n; i > 0; i-- {
		if room -= utf8.RuneCountInString(clusters[i-1]); room < 0 {
			break
		}
	}
	return "…" + strings.Join(clusters[i:], "")
}
