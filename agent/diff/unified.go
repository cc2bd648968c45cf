package diff

import (
	"bytes"
	"fmt"
	"math"
	"slices"
)

const (
	devNull = "/dev/null"
	noEOL   = `\ No newline at end of file`
	// binaryMark stands for hunks where a content holds a NUL byte.
	binaryMark = "Binary files differ"
	// cutMark begins the line that stands for what UnifiedMax left out.
	cutMark = `\ diff cut: `
)

// Unified is the diff of two contents in unified form with so many lines of
// context, "" when they are equal. A nil content is a file that does not exist
// (/dev/null), an empty one that does. Line ends are kept as they are, a last
// line without one is marked. Names with unusual characters are quoted as git
// does. Parse reads the result.
func Unified(path string, before, after []byte, context int) string {
	return UnifiedMax(path, before, after, context, math.MaxInt)
}

// UnifiedMax is Unified with at most about limit bytes of hunks: whole lines, with
// right counts, and after them a line that says how many changed lines are
// missing.
func UnifiedMax(path string, before, after []byte, context, limit int) string {
	if bytes.Equal(before, after) && (before == nil) == (after == nil) {
		return ""
	}
	w := writer{context: max(context, 0), left: limit}
	w.name("--- ", "a/", path, before == nil)
	w.name("+++ ", "b/", path, after == nil)
	if bytes.IndexByte(before, 0) >= 0 || bytes.IndexByte(after, 0) >= 0 {
		return w.out.String() + binaryMark + "\n"
	}
	w.a, w.b = split(before), split(after)
	w.hunks(compare(w.a, w.b))
	return w.out.String()
}

// writer writes the hunks of one file.
type writer struct {
	out            bytes.Buffer
	a, b           [][]byte
	context        int
	left           int  // bytes
	full           bool // a line did not fit: nothing more is written
	added, removed int  // lines left out
}

// name writes a name line: --- or +++.
func (w *writer) name(mark, prefix, path string, missing bool) {
	name := quote(prefix + path)
	if missing {
		name = devNull
	}
	w.out.WriteString(mark)
	w.out.WriteString(name)
	if bytes.IndexByte([]byte(name), ' ') >= 0 && name[0] != '"' {
		w.out.WriteByte('\t') // ends a name with spaces, as in git
	}
	w.out.WriteByte('\n')
}

// hunks writes the changes, those that are near each other as one hunk.
func (w *writer) hunks(changes []change) {
	for len(changes) > 0 {
		n := 1
		for n < len(changes) && changes[n].a0-changes[n-1].a1 <= 2*min(w.context, math.MaxInt/2) {
			n++
		}
		w.hunk(changes[:n])
		changes = changes[n:]
	}
	if w.full {
		fmt.Fprintf(&w.out, "%s%d added and %d removed lines more\n", cutMark, w.added, w.removed)
	}
}

// hunk writes one hunk, or as much of it as fits.
func (w *writer) hunk(changes []change) {
	first, last := changes[0], changes[len(changes)-1]
	lead := min(w.context, first.a0)
	tail := min(w.context, len(w.a)-last.a1)
	h := hunkBody{writer: w, a: first.a0 - lead, b: first.b0 - lead}
	for _, c := range changes {
		h.lines(' ', w.a[h.a+h.old:c.a0])
		h.lines('-', w.a[c.a0:c.a1])
		h.lines('+', w.b[c.b0:c.b1])
	}
	h.lines(' ', w.a[last.a1:last.a1+tail])
	if !h.changed { // cut within its leading context: nothing to show
		return
	}
	fmt.Fprintf(&w.out, "@@ -%s +%s @@\n", extent(h.a, h.old), extent(h.b, h.new))
	w.out.Write(h.text)
}

// hunkBody is the text of a hunk with its counts.
type hunkBody struct {
	*writer
	text     []byte
	a, b     int // lines before it
	old, new int // lines in it
	changed  bool
}

// lines adds lines of one kind. What does not fit is counted instead.
func (h *hunkBody) lines(kind Kind, lines [][]byte) {
	for _, line := range lines {
		size := len(line) + 2
		if h.full = h.full || size > h.left; h.full {
			h.leaveOut(kind)
			continue
		}
		h.left -= size
		h.text = append(append(h.text, byte(kind)), line...)
		if line[len(line)-1] != '\n' {
			h.text = append(h.text, "\n"+noEOL+"\n"...)
		}
		h.count(kind)
	}
}

// count notes a line that was written.
func (h *hunkBody) count(kind Kind) {
	if kind != Added {
		h.old++
	}
	if kind != Removed {
		h.new++
	}
	h.changed = h.changed || kind != Same
}

// leaveOut notes a line that did not fit; context is not worth a word.
func (h *hunkBody) leaveOut(kind Kind) {
	switch kind {
	case Added:
		h.added++
	case Removed:
		h.removed++
	}
}

// extent is start,count of a hunk after so many lines: count 1 is left out, and
// with count 0 the start is the line before.
func extent(before, count int) string {
	switch count {
	case 0:
		return fmt.Sprintf("%d,0", before)
	case 1:
		return fmt.Sprintf("%d", before+1)
	}
	return fmt.Sprintf("%d,%d", before+1, count)
}

// quote writes a name as git does with core.quotePath off: in double quotes
// with octal escapes when it holds anything that is not printed.
func quote(name string) string {
	if !slices.ContainsFunc([]rune(name), isOdd) {
		return name
	}
	b := []byte{'"'}
	for i, r := range name {
		part := name[i : i+runeLen(name[i:], r)]
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case isOdd(r):
			for j := range len(part) {
				b = fmt.Appendf(b, `\%03o`, part[j])
			}
		default:
			b = append(b, part...)
		}
	}
	return string(append(b, '"'))
}
