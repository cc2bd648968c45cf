package text

import "strings"

// tabStop is the distance of tab stops: that of every terminal.
const tabStop = 8

// Tabs is s with each tab as the spaces up to the next stop of eight, where s begins
// in a column of the screen. A newline begins at column 0.
func Tabs(s string, column int) string {
	if strings.IndexByte(s, '\t') < 0 {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		i := strings.IndexAny(s, "\t\n")
		if i < 0 {
			b.WriteString(s)
			break
		}
		b.WriteString(s[:i])
		if s[i] == '\n' {
			b.WriteByte('\n')
			column = 0
		} else {
			column += Width(s[:i])
			n := tabStop - column%tabStop
			b.WriteString("        "[:n])
			column += n
		}
		s = s[i+1:]
	}
	return b.String()
}
