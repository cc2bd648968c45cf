package tools

import (
	"fmt"
	"html"
	"strings"

	"alisio/agent/text"
)

const (
	// maxMissText and maxMissLines bound how much of a file and of oldText are
	// compared to explain a miss.
	maxMissText  = 4 << 20
	maxMissLines = 400
	// minTelling is how long newText must be for its presence to tell anything.
	minTelling = 10
	// maxShown bounds the lines that an explanation shows, maxShownLine each.
	maxShown     = 12
	maxShownLine = 300
)

// explainMiss says why find does not occur in flat, both with LF, and shows the
// lines that come nearest. Weak models come out of a miss only when they are
// told what is different.
func explainMiss(flat, find, put string) string {
	const miss = "oldText is not in the file"
	if why := mistake(flat, find); why != "" {
		return miss + ": " + why
	}
	done := ""
	if len(strings.TrimSpace(put)) >= minTelling && !strings.Contains(find, put) && strings.Contains(flat, put) {
		done = "; newText is already there, so perhaps this edit was made before"
	}
	lines := strings.Split(flat[:min(len(flat), maxMissText)], "\n")
	want := strings.Split(strings.TrimSuffix(find, "\n"), "\n")
	want = want[:min(len(want), maxMissLines)]
	if why := overlooked(lines, want); why != "" {
		return miss + done + ": " + why
	}
	if bare := strings.Split(withoutNumbers(strings.Join(want, "\n")), "\n"); bare[0] != want[0] {
		if why := overlooked(lines, bare); why != "" {
			return miss + ": it holds the line numbers of read_file, and without them " + why
		}
	}
	if s := nearestBlock(lines, want); s != "" {
		return miss + done + "; " + s
	}
	if at := nearestLine(lines, want); at >= 0 {
		return fmt.Sprintf("%s%s; the nearest lines are\n%s", miss, done, numbered(lines, max(at-2, 0), min(at+3, len(lines))))
	}
	return miss + done + " and nothing in it is similar: read it again"
}

// overlooked says in what want differs from lines of the file that are equal in
// everything else.
func overlooked(lines, want []string) string {
	for _, l := range looks() {
		if at := l.find(lines, want); at >= 0 {
			return l.reason(lines[at:at+len(want)], want) + "; the file has\n" + numbered(lines, at, at+len(want))
		}
	}
	return ""
}

// mistake names what models do to a text on its way, when undoing it makes the
// text match.
func mistake(flat, find string) string {
	for _, m := range []struct{ undone, why string }{
		{withoutNumbers(find), "it holds the line numbers of read_file; leave these out"},
		{unescaped(find), `it is escaped once too often (\n, \t or \" are written out); give the text itself`},
		{html.UnescapeString(find), "it holds HTML entities such as &lt;; give the characters themselves"},
		{strings.ReplaceAll(find, "\n", `\n`), `where it has a line end, the file has a backslash and an n`},
	} {
		if m.undone != find && m.undone != "" && strings.Contains(flat, m.undone) {
			return m.why
		}
	}
	return ""
}

// withoutNumbers takes "12<tab>" or "12: " from the start of every line; text
// in which a line has none stays as it is.
func withoutNumbers(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if line == "" {
			continue
		}
		t := strings.TrimLeft(line, " ")
		digits := strings.TrimLeft(t, "0123456789")
		if digits == t {
			return s
		}
		cut := false
		for _, mark := range []string{"\t", "→", ": ", "- ", "| "} {
			if rest, ok := strings.CutPrefix(digits, mark); ok {
				lines[i], cut = rest, true
				break
			}
		}
		if !cut {
			return s
		}
	}
	return strings.Join(lines, "\n")
}

// unescaped undoes one level of escapes as JSON and most languages have them.
func unescaped(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\"`, `"`, `\'`, `'`, `\r`, "").Replace(s)
}

// look is a way of comparing lines that overlooks something.
type look struct {
	what  string
	blind func(string) string
}

// looks are the ways of comparing, from the closest on: the first that fits names
// the smallest difference.
func looks() []look {
	space := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	return []look{
		{"white space at line ends", func(s string) string { return strings.TrimRight(s, " \t") }},
		{"indentation", strings.TrimSpace},
		{"white space", space},
		{"upper and lower case", strings.ToLower},
		{"look-alike characters (quotes, dashes, spaces, accents)", skeleton},
		{"white space, case and look-alike characters", func(s string) string { return space(strings.ToLower(skeleton(s))) }},
	}
}

// skeleton is text.Skeleton, which is the identity for ASCII.
func skeleton(s string) string {
	if isASCII(s) {
		return s
	}
	return text.Skeleton(s)
}

// find returns where want stands in lines when the difference is overlooked, or
// -1. The first line of want may be the end of a line, the last the start.
func (l look) find(lines, want []string) int {
	blind := make([]string, len(want))
	empty := true
	for i, s := range want {
		blind[i] = l.blind(s)
		empty = empty && strings.TrimSpace(blind[i]) == ""
	}
	if empty {
		return -1
	}
	seen := make([]string, len(lines))
	for i, s := range lines {
		seen[i] = l.blind(s)
	}
	for i := 0; i+len(want) <= len(seen); i++ {
		if fits(seen[i:i+len(want)], blind) {
			return i
		}
	}
	return -1
}

// fits compares as many lines as want has.
func fits(seen, want []string) bool {
	last := len(want) - 1
	if last == 0 {
		return strings.Contains(seen[0], want[0])
	}
	if !strings.HasSuffix(seen[0], want[0]) || !strings.HasPrefix(seen[last], want[last]) {
		return false
	}
	for i := 1; i < last; i++ {
		if seen[i] != want[i] {
			return false
		}
	}
	return true
}

// reason says what differs, and for indentation how.
func (l look) reason(have, want []string) string {
	why := "it differs in " + l.what
	if l.what != "indentation" {
		return why
	}
	for i := range want {
		h, w := indent(have[i]), indent(want[i])
		switch {
		case h == w:
			continue
		case strings.Contains(h, "\t") && !strings.Contains(w, "\t"):
			return why + " (the file has tabs, oldText has spaces)"
		case strings.Contains(w, "\t") && !strings.Contains(h, "\t"):
			return why + " (the file has spaces, oldText has tabs)"
		}
		return fmt.Sprintf("%s (the file has %d characters of it, oldText %d)", why, len(h), len(w))
	}
	return why
}

// indent is the white space that a line begins with.
func indent(s string) string { return s[:len(s)-len(strings.TrimLeft(s, " \t"))] }

// nearestBlock finds where most lines of want stand in order, and shows those
// that are different. Every line that is equal votes for a place where want could
// begin. It returns "" when there is nothing to go by.
func nearestBlock(lines, want []string) string {
	index := make(map[string][]int)
	for j, s := range want {
		if s = strings.TrimSpace(s); len(s) > 2 && len(index[s]) < 8 {
			index[s] = append(index[s], j)
		}
	}
	// votes[k] counts the lines that are right if want begins at line k-len(want).
	votes := make([]int32, len(lines)+len(want)+1)
	top := 0
	for i, s := range lines {
		for _, j := range index[strings.TrimSpace(s)] {
			k := i - j + len(want)
			if votes[k]++; votes[k] > votes[top] {
				top = k
			}
		}
	}
	if len(want) < 2 || votes[top] == 0 {
		return ""
	}
	best := top - len(want)
	var b strings.Builder
	from, to := max(best, 0), min(best+len(want), len(lines))
	same, shown := 0, 0
	for i := from; i < to; i++ {
		if lines[i] == want[i-best] {
			same++
		}
	}
	fmt.Fprintf(&b, "lines %d-%d come nearest, %d of %s are the same; different are\n", from+1, to, same, count(len(want), "line"))
	for i := from; i < to && shown < maxShown/4; i++ {
		if w := want[i-best]; lines[i] != w {
			fmt.Fprintf(&b, "%s  oldText has: %s\n", numbered(lines, i, i+1)+"\n", showLine(w))
			shown++
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// nearestLine returns the line that shares most pairs of bytes with the longest
// line of want, or -1 when none is similar.
func nearestLine(lines, want []string) int {
	longest := ""
	for _, s := range want {
		if s = strings.TrimSpace(s); len(s) > len(longest) {
			longest = s
		}
	}
	longest = longest[:min(len(longest), maxShownLine)]
	if len(longest) < 3 {
		return -1
	}
	var pairs [1 << 16]bool
	for i := range len(longest) - 1 {
		pairs[uint16(longest[i])<<8|uint16(longest[i+1])] = true
	}
	best, at := 0.5, -1
	for i, s := range lines {
		s = strings.TrimSpace(s[:min(len(s), 2*maxShownLine)])
		same := 0
		for k := range max(len(s)-1, 0) {
			if pairs[uint16(s[k])<<8|uint16(s[k+1])] {
				same++
			}
		}
		if score := 2 * float64(same) / float64(len(s)+len(longest)-2); score > best {
			best, at = score, i
		}
	}
	return at
}

// numbered shows lines from to before to as read_file does.
func numbered(lines []string, from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		if i > from {
			b.WriteByte('\n')
		}
		if i == from+maxShown {
			b.WriteString("…")
			break
		}
		fmt.Fprintf(&b, "%d\t%s", i+1, showLine(lines[i]))
	}
	return b.String()
}

// showLine is a line of a file for a result: visible and bounded.
func showLine(s string) string {
	b, used, _ := appendVisible(nil, []byte(s), maxShownLine)
	if used < len(s) {
		b = append(b, "…"...)
	}
	return string(b)
}
