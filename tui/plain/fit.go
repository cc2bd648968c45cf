package plain

import (
	"io"
	"strings"

	"alisio/agent/text"
	"alisio/tui/term"
)

// Fit breaks lines that are longer than the terminal that w is, between words where
// there are some. Where w is none, nothing is changed: programs read lines as they are.
func Fit(w io.Writer, s string) string {
	if width, _ := term.Size(w); width > 0 {
		return fit(s, max(width, fewestCells))
	}
	return s
}

// leastText is what columns in front of a text leave to it at least, in cells, where the
// screen is not narrow.
const leastText = 24

// gap stands between two columns (text.Table).
const gap = "  "

// fit has the rest of a line stand below its last column that leaves room for it, and
// where there is none, two cells in.
func fit(s string, cells int) string {
	var b strings.Builder
	most := max(cells/2, cells-leastText)
	for line := range strings.SplitAfterSeq(s, "\n") {
		body := strings.TrimSuffix(line, "\n")
		if text.Width(body) <= cells {
			b.WriteString(line)
			continue
		}
		head := ""
		for at := range body {
			if at < len(gap) || body[at] == ' ' || body[at-len(gap):at] != gap {
				continue
			}
			if text.Width(body[:at]) > most {
				break
			}
			head = body[:at]
		}
		indent := strings.Repeat(" ", text.Width(head))
		pieces := text.Wrap(body[len(head):], cells-len(indent))
		if head == "" {
			indent = gap
			rest := strings.TrimLeft(body[len(pieces[0]):], " ")
			pieces = append(pieces[:1], text.Wrap(rest, cells-len(indent))...)
		}
		b.WriteString(head + strings.Join(pieces, "\n"+indent) + line[len(body):])
	}
	return b.String()
}
