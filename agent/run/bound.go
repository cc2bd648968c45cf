package run

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"alisio/agent/text"
	"alisio/llm"
	"alisio/plug"
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

const (
	// maxParts, maxBlock (bytes) and maxDepth bound what a tool gives, so that no
	// result of one can not be stored. A session may hold 1,000 parts, 100 deep.
	maxParts = 900
	maxBlock = 1 << 20
	maxDepth = 90
)

// storable leaves out of a result what can not be stored: blocks that are no JSON, are
// too large or too deep, parts of no known kind, and more parts than are taken.
func storable(r plug.Result) plug.Result {
	parts := make([]llm.Part, 0, min(len(r.Parts), maxParts))
	dropped := 0
	for _, p := range r.Parts {
		known := p.Type == llm.PartText || p.Type == llm.PartImage
		block := p.Type == llm.PartUI && len(p.Block) <= maxBlock && json.Valid(p.Block) && depth(p.Block) <= maxDepth
		if known && len(parts) < maxParts || block && len(parts) < maxParts {
			parts = append(parts, p)
			continue
		}
		dropped++
	}
	if dropped > 0 {
		parts = append(parts, llm.Part{Type: llm.PartText, Text: fmt.Sprintf("[%d parts of this result could not be kept]", dropped)})
	}
	r.Parts = parts
	return r
}

// depth is how deep the values of valid JSON lie in each other.
func depth(raw []byte) int {
	deepest, level, quoted := 0, 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			level++
			deepest = max(deepest, level)
		case c == '}' || c == ']':
			level--
		}
	}
	return deepest
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
