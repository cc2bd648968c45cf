package text

import "unicode/utf8"

const (
	textStyle  = 0xFE0E // VS15
	emojiStyle = 0xFE0F // VS16

	// The halfwidth voicing marks belong to the cluster before them but are
	// drawn in a cell of their own.
	halfVoiced, halfSemivoiced = 0xFF9E, 0xFF9F
)

// measure is the width of a cluster while its characters come in: that of its
// widest character, at most 2, except where a variation selector right after
// the base chooses: text presentation 1, emoji presentation 2 (C091).
type measure struct {
	base  property
	width int
	count int // characters after the base
}

func (m *measure) add(r rune, p property) {
	m.count++
	switch {
	case r == emojiStyle && m.base.emoji():
		m.width = 2
	case r == textStyle && m.base.emoji() && m.count == 1:
		m.width = 1
	case r == halfVoiced || r == halfSemivoiced:
		m.width = min(m.width+1, 2)
	default:
		m.width = max(m.width, p.width())
	}
}

// Width is the number of cells that s takes: the sum over its grapheme
// clusters. East Asian Wide and Fullwidth characters and emoji take 2,
// ambiguous ones 1, combining marks and controls 0; newline and tab are
// controls, so lines are split and tabs expanded before.
func Width(s string) int {
	total := 0
	for i := 0; i < len(s); {
		if isASCII(s[i]) && (i+1 == len(s) || isASCII(s[i+1])) {
			total, i = total+1, i+1
			continue
		}
		n, w := First(s[i:])
		total, i = total+w, i+n
	}
	return total
}

// ClusterWidth is the width of one grapheme cluster: 0, 1 or 2.
func ClusterWidth(cluster string) int {
	_, w := First(cluster)
	return w
}

const (
	ellipsis      = "…"
	ellipsisWidth = 1
)

// Clip is s when it fits in so many cells; else as many whole clusters of it
// as fit with "…" after them. The result is never wider than cells.
func Clip(s string, cells int) string {
	if cells < ellipsisWidth {
		return ""
	}
	keep, total := 0, 0
	for i := 0; i < len(s); {
		n, w := First(s[i:])
		if total += w; total > cells {
			return s[:keep] + ellipsis
		}
		if i += n; total <= cells-ellipsisWidth {
			keep = i
		}
	}
	return s
}

// Doubtful reports whether terminals differ in the width of a cluster: emoji, whose
// number grows yearly, and whatever is joined of several characters but plain
// combining marks on a letter. After one of these a screen says where it goes on
// (C091).
func Doubtful(cluster string) bool {
	r, n := utf8.DecodeRuneInString(cluster)
	p := propertyOf(r)
	if n == len(cluster) {
		return p.class() == pictographic && p.width() == 2 || p.class() == regional || p.width() == 0
	}
	for _, next := range cluster[n:] {
		q := propertyOf(next)
		if q.width() != 0 || next == emojiStyle || next == textStyle || q.class() == zwj || q.class() == spacingMark || q.class() == prepend {
			return true
		}
	}
	return p.width() == 0 || p.class() == prepend
}
