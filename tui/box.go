package tui

import (
	"strings"

	"alisio/agent/text"
)

// Box is lines in a frame of so many columns with a title in its upper edge. A frame
// narrower than its own edges is left out.
func Box(title text.Styled, lines []text.Styled, columns int) []text.Styled {
	inner := Inside(columns)
	if inner < 1 {
		return lines
	}
	const edges = 2
	head := text.Of("┌", text.Dim)
	rest := columns - edges
	if len(title) > 0 && rest > 4 {
		title = title.Clip(rest - 3)
		head = append(head.With(" ", text.Normal), title...).With(" ", text.Normal)
		rest -= title.Width() + 2
	}
	out := []text.Styled{head.With(strings.Repeat("─", rest)+"┐", text.Dim)}
	for _, l := range lines {
		row := append(text.Of("│ ", text.Dim), Pad(l, inner, Left)...)
		out = append(out, row.With(" │", text.Dim))
	}
	return append(out, text.Of("└"+strings.Repeat("─", columns-edges)+"┘", text.Dim))
}

// Inside is the columns within the frame of a Box of so many.
func Inside(columns int) int { return columns - 4 }

// Rule is a line over so many columns.
func Rule(columns int) text.Styled { return text.Of(strings.Repeat("─", max(columns, 0)), text.Dim) }

// RuleWith is a Rule with a text near its right end.
func RuleWith(columns int, label text.Styled) text.Styled {
	w := label.Width()
	if w+6 > columns {
		return Rule(columns)
	}
	line := text.Of(strings.Repeat("─", columns-w-4)+" ", text.Dim)
	return append(line, label...).With(" ──", text.Dim)
}
