package diff

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// hunk reads a hunk: its header and as many lines as that says.
func (p *parser) hunk() (Hunk, error) {
	h, err := hunkHeader(p.take())
	if err != nil {
		return h, err
	}
	old, new := side{left: h.OldLines}, side{left: h.NewLines}
	for old.left > 0 || new.left > 0 {
		if p.rest == "" {
			return h, fmt.Errorf("hunk ends too early: %d old and %d new lines missing", old.left, new.left)
		}
		line := hunkLine(p.take())
		if line.Kind == 0 {
			return h, fmt.Errorf("got %.40q in a hunk: %d old and %d new lines missing", line.Text, old.left, new.left)
		}
		if strings.HasPrefix(p.rest, `\ `) && !strings.HasPrefix(p.rest, cutMark) {
			p.take()
			line.NoEOL = true
		}
		if line.Kind != Added {
			err = old.take(line.NoEOL)
		}
		if line.Kind != Removed && err == nil {
			err = new.take(line.NoEOL)
		}
		if err != nil {
			return h, err
		}
		h.Lines = append(h.Lines, line)
	}
	// A line that could go on with the hunk: its header was wrong. "--- " is more
	// likely the next file.
	if line := p.peek(); line != "" && strings.IndexByte(" +-", line[0]) >= 0 && !strings.HasPrefix(line, "--- ") {
		p.line++
		return h, errTooLong
	}
	return h, nil
}

var errTooLong = errors.New("hunk has more lines than its header says")

// side is one side of a hunk while it is read.
type side struct {
	left  int
	ended bool // a line without a newline came
}

// take counts one line; noEOL: the side ends with it.
func (s *side) take(noEOL bool) error {
	if s.left--; s.left < 0 {
		return errTooLong
	}
	if s.ended {
		return errors.New("line after one without a newline")
	}
	s.ended = noEOL
	return nil
}

// hunkLine takes a line apart. An empty line is empty context whose space an
// editor has taken. Kind is 0 for a line that has no place in a hunk.
func hunkLine(line string) Line {
	if line == "" || line == "\r" {
		return Line{Kind: Same, Text: line}
	}
	switch k := Kind(line[0]); k {
	case Same, Added, Removed:
		return Line{Kind: k, Text: line[1:]}
	}
	return Line{Text: line}
}

// hunkHeader reads "@@ -start,count +start,count @@ section".
func hunkHeader(line string) (Hunk, error) {
	var h Hunk
	bad := fmt.Errorf("bad hunk header %.80q", line)
	rest, ok := strings.CutPrefix(line, "@@ -")
	ranges, section, ok2 := strings.Cut(rest, " @@")
	before, after, ok3 := strings.Cut(ranges, " +")
	if !ok || !ok2 || !ok3 {
		return h, bad
	}
	h.Section = strings.TrimSpace(section)
	var okOld, okNew bool
	h.OldStart, h.OldLines, okOld = extentOf(before)
	h.NewStart, h.NewLines, okNew = extentOf(after)
	if !okOld || !okNew || h.OldLines == 0 && h.NewLines == 0 {
		return h, bad
	}
	return h, nil
}

// extentOf reads "start,count" or "start". Both have at most nine digits, and a
// start of 0 has a count of 0.
func extentOf(s string) (start, count int, ok bool) {
	first, second, both := strings.Cut(s, ",")
	if !both {
		second = "1"
	}
	start, ok1 := number(first)
	count, ok2 := number(second)
	return start, count, ok1 && ok2 && (start > 0 || count == 0)
}

// number reads plain digits: strconv alone would take a sign too.
func number(s string) (int, bool) {
	if len(s) > 9 || s == "" || s[0] < '0' || s[0] > '9' {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}

// follows reports whether h begins after the end of prev, on both sides.
func follows(h, prev Hunk) bool {
	return after(h.OldStart, h.OldLines, prev.OldStart, prev.OldLines) &&
		after(h.NewStart, h.NewLines, prev.NewStart, prev.NewLines)
}

// after compares the places: a hunk without lines on this side lies behind its
// start.
func after(start, count, prevStart, prevCount int) bool {
	if count == 0 {
		start++
	}
	if prevCount == 0 {
		prevStart++
	}
	return start >= prevStart+prevCount
}

// Stat counts the lines that a patch adds and removes. It takes any text: what
// stands outside of hunks does not count.
func Stat(patch string) (added, removed int) {
	p := parser{rest: patch}
	old, new := 0, 0 // lines that the hunk still has
	for p.rest != "" {
		line := p.take()
		if old <= 0 && new <= 0 {
			if h, err := hunkHeader(line); err == nil {
				old, new = h.OldLines, h.NewLines
			}
			continue
		}
		switch hunkLine(line).Kind {
		case Same:
			old, new = old-1, new-1
		case Added:
			added, new = added+1, new-1
		case Removed:
			removed, old = removed+1, old-1
		}
	}
	return added, removed
}
