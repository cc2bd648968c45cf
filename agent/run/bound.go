package run

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"alisio/llm"
	"alisio/plug"
)

// bound makes a result fit to be stored and sent: valid UTF-8, at most max
// characters of text over all its parts, with the cut marked. Head and tail
// stay, since an error is as often at the end as at the start.
func bound(r plug.Result, max int) plug.Result {
	left := max
	parts := make([]llm.Part, 0, len(r.Parts))
	for _, p := range r.Parts {
		if p.Type == llm.PartText {
			p.Text = cut(strings.ToValidUTF8(p.Text, "\uFFFD"), left)
			left = dec(left, utf8.RuneCountInString(p.Text))
		}
		parts = append(parts, p)
	}
	r.Parts = parts
	r.Summary = clip(strings.ToValidUTF8(r.Summary, "\uFFFD"), 60)
	return r
}

func dec(left, used int) int { return max(0, left-used) }

// cut keeps the first two thirds and the last third of max characters.
func cut(s string, max int) string {
	if len(s) <= max {
		return s
	}
	n := utf8.RuneCountInString(s)
	if n <= max {
		return s
	}
	tail := max / 3
	head := max - tail
	return fmt.Sprintf("%s\n[… %d characters left out here …]\n%s", first(s, head), n-head-tail, last(s, tail))
}

// first returns the first n characters of s, last the last n.
func first(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

func last(s string, n int) string {
	end := len(s)
	for ; n > 0 && end > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:end])
		end -= size
	}
	return s[end:]
}

// clip cuts s to n characters without a word about it.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	if c := first(s, n-1); len(c) < len(s) && utf8.RuneCountInString(s) > n {
		return c + "…"
	}
	return s
}
