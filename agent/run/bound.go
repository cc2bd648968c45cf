package run

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"alisio/agent/text"
	"alisio/llm"
)

// bound makes a result fit to be stored and sent: valid UTF-8, at most limit
// characters of text over all its parts, with the cut marked. Head and tail
// stay, since an error is as often at the end as at the start; the whole is kept
// as a blob, which the mark names.
func (l *loop) bound(d done, limit int) done {
	r := &d.result
	parts := make([]llm.Part, len(r.Parts))
	chars := 0
	for i, p := range r.Parts {
		if p.Type == llm.PartText {
			p.Text = strings.ToValidUTF8(p.Text, "\uFFFD")
			chars += utf8.RuneCountInString(p.Text)
		}
		parts[i] = p
	}
	r.Parts = parts
	r.Summary = text.Short(r.Summary, 60)
	if chars <= limit {
		return d
	}
	if d.chars == 0 {
		d.chars = chars
		d.whole = l.keep(r.PlainText())
	}
	left := limit
	for i, p := range parts {
		if p.Type == llm.PartText {
			n := utf8.RuneCountInString(p.Text)
			parts[i].Text = cut(p.Text, left, d)
			left = dec(left, n)
		}
	}
	return d
}

// keep stores the whole of a result and returns its name, or nothing.
func (l *loop) keep(text string) string {
	if l.o.Keep == nil {
		return ""
	}
	name, err := l.o.Keep(context.WithoutCancel(l.ctx), l.in.SessionID, text)
	if err != nil {
		return "" // the mark then says nothing of it; what is shown is all there is
	}
	return name
}

func dec(left, used int) int { return max(0, left-used) }

// cut shortens s to limit characters, or to the mark alone when that is longer:
// two thirds of what is kept are from the start and one from the end.
func cut(s string, limit int, d done) string {
	n := utf8.RuneCountInString(s)
	if n <= limit {
		return s
	}
	mark := d.mark()
	keep := dec(limit, utf8.RuneCountInString(mark))
	tail := keep / 3
	return text.Head(s, keep-tail) + mark + last(s, tail)
}

// mark stands where a result was cut, and says where the whole is.
func (d done) mark() string {
	where := ""
	if d.whole != "" {
		where = "; read_file opens the whole, " + d.whole
	}
	return fmt.Sprintf("\n[… cut here, %d characters in all%s …]\n", d.chars, where)
}

// last returns the last n characters of s.
func last(s string, n int) string {
	end := len(s)
	for ; n > 0 && end > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:end])
		end -= size
	}
	return s[end:]
}
