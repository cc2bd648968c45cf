package workspace

import (
	"bytes"
	"io"
	"math/bits"
	"unicode/utf8"

	"alisio/agent/text"
)

const (
	// maxWindow is how much of a file is searched at once, in bytes: all of most
	// files. Of a longer line the parts are searched, overlapping by 1/overlapFactor
	// of the window, until one matches: "^" and "$" hold at the ends of each, and a
	// match may not be found that is longer than the overlap.
	maxWindow     = 1 << 20
	minWindow     = 64 << 10
	overlapFactor = 16

	headBytes = 8 << 10 // where a NUL makes a file of several windows binary

	defaultLine = 400     // bytes of a line shown
	maxContext  = 100     // lines before and after
	maxShown    = 1 << 16 // bytes of a line shown, at most
)

// scanner searches files one after the other, with buffers of its own.
type scanner struct {
	p       *pattern
	context int
	maxLine int
	window  int    // bytes, at most
	buf     []byte // the window
	low     []byte // lower-cased text
	next    []int  // of each literal, where it stands next; up to there it is nowhere

	emit  func(Match) bool
	done  <-chan struct{} // closed: give up
	spent int             // of work, since done was looked at
	over  bool            // it was closed
}

// piece is what of a file is in the buffer. Lines before from are context, and
// so are those from upto on.
type piece struct {
	text       []byte
	from, upto int
	line       int  // number of the line at from
	cut        bool // the line at from goes on beyond the buffer
	told       bool // it has been reported, as far as it was there
	binary     bool // a NUL stands at the start of the file
}

// file searches an open file until emit returns false or done is closed. Text
// goes through in windows that end at line ends:
//
//	read ─ first: BOM? ─ piece: context | lines to search | context, cut line
//	 └──────── keep from the context of the first line not searched ◄┘
func (s *scanner) file(src source, emit func(Match) bool) error {
	s.emit = emit
	if size := int(min(max(src.size+1, minWindow), int64(s.window))); len(s.buf) < size {
		s.buf = make([]byte, min(1<<bits.Len(uint(size-1)), s.window))
	}
	fill := src.fill
	n, err := fill(s.buf)
	if isUTF16(s.buf[:n]) {
		fill = decodeUTF16(bytes.Clone(s.buf[:n]), src).fill
		n, err = fill(s.buf)
	}
	if bytes.HasPrefix(s.buf[:n], []byte("\ufeff")) {
		n = copy(s.buf, s.buf[3:n])
	}
	pc := piece{line: 1, binary: bytes.IndexByte(s.buf[:min(n, headBytes)], 0) >= 0}
	for {
		end := err == io.EOF
		if err != nil && !end {
			return err
		}
		pc.text = s.buf[:n]
		pc.bound(s.context, end)
		if s.search(&pc) || end || s.ended() {
			return nil
		}
		n = s.slide(&pc)
		var m int
		m, err = fill(s.buf[n:])
		n += m
	}
}

// bound finds where the lines end that can be searched with what is there.
func (p *piece) bound(context int, end bool) {
	p.upto, p.cut = len(p.text), false
	if end {
		return
	}
	// Not the last line, which goes on, nor those that must be there after it,
	// unless they are too long for that.
	p.upto = back(p.text, len(p.text)+1, 1+context)
	if p.upto <= p.from {
		p.upto = back(p.text, len(p.text)+1, 1)
	}
	if p.upto <= p.from {
		p.upto, p.cut = len(p.text), true
	}
}

// back is the start of the line that is so many lines before the one at at.
func back(text []byte, at, lines int) int {
	for range lines {
		at = bytes.LastIndexByte(text[:max(at-1, 0)], '\n') + 1
	}
	return at
}

// slide moves what is still needed to the front of the buffer and tells how much
// that is.
func (s *scanner) slide(pc *piece) int {
	keep := back(pc.text, pc.upto, s.context)
	if pc.cut {
		keep = len(pc.text) - len(s.buf)/overlapFactor
		pc.upto = keep
	} else if pc.upto-keep > len(s.buf)/4 {
		keep = pc.upto // context that long is not worth its memory
	}
	pc.line += bytes.Count(pc.text[pc.from:pc.upto], []byte{'\n'})
	pc.from = pc.upto - keep
	return copy(s.buf, pc.text[keep:])
}

// search reports the matching lines of a piece. done: no more of the file is
// wanted.
func (s *scanner) search(pc *piece) (done bool) {
	hay, lits := s.hay(pc)
	line, counted := pc.line, pc.from
	text, at := false, pc.from
	if pc.told {
		i := bytes.IndexByte(pc.text[at:pc.upto], '\n')
		if i < 0 {
			return false
		}
		at, pc.told = at+i+1, false
	}
	for end := 0; at < pc.upto; at = end + 1 {
		hit, start := 0, at
		if lits {
			if hit = s.nearest(hay, at); hit == len(hay) {
				return false
			}
			start += bytes.LastIndexByte(pc.text[at:hit], '\n') + 1
		}
		end = pc.upto
		if i := bytes.IndexByte(pc.text[start:end], '\n'); i >= 0 {
			end = start + i
		}
		var loc []int
		if lits && s.p.exact {
			loc = []int{hit - start, min(hit+len(s.p.lits[0].text), end) - start}
		} else if loc = s.find(bytes.TrimSuffix(pc.text[start:end], []byte{'\r'})); loc == nil {
			if s.over {
				return true
			}
			continue
		}
		// Looked at only where it matters: a file without a match is none.
		if text = text || !pc.binary && bytes.IndexByte(pc.text, 0) < 0; !text {
			s.emit(Match{Binary: true})
			return true
		}
		line += bytes.Count(pc.text[counted:start], []byte{'\n'})
		counted = start
		if !s.report(pc, start, end, loc, line) {
			return true
		}
		pc.told = pc.cut
	}
	return false
}

// hay is the text that literals are looked for in, and whether they can be.
func (s *scanner) hay(pc *piece) ([]byte, bool) {
	hay := pc.text[:pc.upto]
	s.next = append(s.next[:0], make([]int, len(s.p.lits))...)
	if len(s.p.lits) == 0 || !s.p.fold {
		return hay, len(s.p.lits) > 0
	}
	if len(s.low) < len(hay) {
		s.low = make([]byte, max(len(hay), len(s.buf)))
	}
	ascii := lower(s.low[:len(hay)], hay)
	return s.low[:len(hay)], ascii || !s.p.narrow
}

// nearest finds the first literal from a position on, or the end of the text.
func (s *scanner) nearest(hay []byte, at int) int {
	first := len(hay)
	for i, l := range s.p.lits {
		if s.next[i] <= at {
			s.next[i] = l.find(hay, at)
		}
		first = min(first, s.next[i])
	}
	return first
}

// report hands out the line text[start:end] with a match at loc in it.
func (s *scanner) report(pc *piece, start, end int, loc []int, line int) bool {
	m := Match{Line: line}
	m.Text, m.Clipped = s.show(pc.text[start:end], loc[0], loc[1])
	m.Clipped = m.Clipped || pc.cut
	m.Before = s.lines(pc.text[back(pc.text, start, s.context):start])
	m.After = s.lines(pc.text[min(end+1, len(pc.text)):])
	return s.emit(m)
}

// lines are the first lines of text, as many as come with a match.
func (s *scanner) lines(text []byte) (out []string) {
	for len(text) > 0 && len(out) < s.context {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte{'\n'})
		shown, _ := s.show(line, 0, 0)
		out = append(out, shown)
	}
	return out
}

// show makes a line plain, clipped around the match [lo, hi) at rune borders.
func (s *scanner) show(line []byte, lo, hi int) (string, bool) {
	line = bytes.TrimSuffix(line, []byte{'\r'})
	if len(line) <= s.maxLine {
		return text.Plain(string(line)), false
	}
	// A quarter before the match, if it leaves that much.
	from := max(0, lo-max(s.maxLine/4, (s.maxLine-(hi-lo))/2))
	from = min(from, len(line)-s.maxLine)
	to := from + s.maxLine
	for i := 0; i < utf8.UTFMax && from > 0 && from < to && !utf8.RuneStart(line[from]); i++ {
		from++
	}
	for i := 0; i < utf8.UTFMax && to < len(line) && to > from && !utf8.RuneStart(line[to]); i++ {
		to--
	}
	return text.Plain(string(line[from:to])), true
}
