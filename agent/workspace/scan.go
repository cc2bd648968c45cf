package workspace

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"

	"alisio/agent/text"
)

const (
	// defaultWindow is how much of a file is searched at once, in bytes: all of
	// most files.
	defaultWindow = 8 << 20
	// maxWindow is how much a line, with its context, may grow the window to. Of
	// a longer line the parts are searched, overlapping by a small part of the
	// window: it can be told once for each.
	maxWindow     = 64 << 20
	overlapFactor = 1024

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
	window  int    // bytes
	most    int    // bytes that the window may grow to
	buf     []byte // grows to the largest window
	low     []byte // lower-cased text
	next    []int  // of each literal, where it stands next; -1 for nowhere

	emit func(Match) bool
}

// piece is what of a file is in the buffer. Lines before from are context, and
// so are those from upto on.
type piece struct {
	text       []byte
	from, upto int
	line       int  // number of the line at from
	cut        bool // the line at from goes on beyond the buffer
	binary     bool // a NUL stands at the start of the file
}

// file searches an open file and tells whether to go on. Text goes through in
// windows that end at line ends:
//
//	read ─ first: BOM? ─ piece: context | lines to search | context, cut line
//	 └──────── keep from the context of the first line not searched ◄┘
func (s *scanner) file(src *source, emit func(Match) bool) (more bool, err error) {
	s.emit = emit
	size := int(min(max(src.size+1, 512), int64(s.window)))
	s.grow(size, 0)
	n, err := src.fill(s.buf[:size])
	if isUTF16(s.buf[:n]) && err == io.EOF {
		return s.utf16(s.buf[:n]), nil
	}
	if bytes.HasPrefix(s.buf[:n], []byte("\ufeff")) {
		n = copy(s.buf, s.buf[3:n])
	}
	pc := piece{line: 1, binary: bytes.IndexByte(s.buf[:min(n, headBytes)], 0) >= 0}
	for {
		end := err == io.EOF
		if err != nil && !end {
			return true, err
		}
		pc.text = s.buf[:n]
		pc.bound(s.context, end, len(s.buf) >= s.most)
		if pc.upto > pc.from {
			if more, over := s.search(&pc); !more || over {
				return more, nil
			}
		}
		if end {
			return true, nil
		}
		n = s.slide(&pc)
		var m int
		m, err = src.fill(s.buf[n:])
		n += m
	}
}

// bound finds where the lines end that can be searched with what is there.
func (p *piece) bound(context int, end, full bool) {
	p.upto = len(p.text)
	p.cut = false
	if end {
		return
	}
	p.upto = bytes.LastIndexByte(p.text, '\n') + 1
	// The lines after the last one searched must be there, too.
	for range context {
		p.upto = bytes.LastIndexByte(p.text[:max(p.upto-1, 0)], '\n') + 1
	}
	if p.upto <= p.from && full {
		p.upto, p.cut = len(p.text), true
	} else if p.upto < p.from {
		p.upto = p.from
	}
}

// slide moves what is still needed to the front of the buffer, makes room and
// tells how much there is.
func (s *scanner) slide(pc *piece) int {
	keep := pc.upto
	for range s.context {
		keep = bytes.LastIndexByte(pc.text[:max(keep-1, 0)], '\n') + 1
	}
	if pc.cut {
		keep = max(0, len(pc.text)-s.most/overlapFactor)
		pc.upto = keep
	} else if pc.upto-keep > s.most/4 {
		keep = pc.upto // context that long is not worth its memory
	}
	pc.line += bytes.Count(pc.text[pc.from:pc.upto], []byte{'\n'})
	n := copy(s.buf, pc.text[keep:])
	pc.from = pc.upto - keep
	if n > len(s.buf)/2 && len(s.buf) < s.most {
		s.grow(min(2*len(s.buf), s.most), n)
	}
	return n
}

// grow makes the buffer at least that large and keeps the first bytes.
func (s *scanner) grow(size, keep int) {
	if len(s.buf) < size {
		b := make([]byte, 1<<bits.Len(uint(size-1)))
		copy(b, s.buf[:keep])
		s.buf = b
	}
}

// search reports the matching lines of a piece. over: the file is done with,
// because it is binary.
func (s *scanner) search(pc *piece) (more, over bool) {
	hay := pc.text[:pc.upto]
	lits := len(s.p.lits) > 0
	if lits && s.p.fold {
		if len(s.low) < len(hay) {
			s.low = make([]byte, max(len(hay), len(s.buf)))
		}
		ascii := lower(s.low[:len(hay)], hay)
		lits = ascii || !s.p.narrow
		hay = s.low[:len(hay)]
	}
	s.next = s.next[:0]
	counted, text := pc.from, false
	line := pc.line
	for at := pc.from; at < pc.upto; {
		hit, start := -1, at
		if lits {
			if hit = s.nearest(hay, at); hit < 0 {
				break
			}
			start = bytes.LastIndexByte(pc.text[at:hit], '\n') + 1 + at
		}
		end := pc.upto
		if i := bytes.IndexByte(pc.text[start:end], '\n'); i >= 0 {
			end = start + i
		}
		next := end + 1
		lo, hi, ok := s.match(pc.text[start:end], hit-start, lits)
		if !ok {
			at = next
			continue
		}
		// Looked at only where it matters: a file without a match is none.
		text = text || !pc.binary && bytes.IndexByte(pc.text, 0) < 0
		if !text {
			return s.emit(Match{Binary: true}), true
		}
		line += bytes.Count(pc.text[counted:start], []byte{'\n'})
		counted = start
		if !s.report(pc, start, end, start+lo, start+hi, line) {
			return false, true
		}
		at = next
	}
	return true, false
}

// nearest finds the first literal from a position on.
func (s *scanner) nearest(hay []byte, at int) int {
	if len(s.next) == 0 {
		for i := range s.p.lits {
			s.next = append(s.next, s.p.find(hay, i, at))
		}
	}
	first := -1
	for i, n := range s.next {
		if n >= 0 && n < at {
			n = s.p.find(hay, i, at)
			s.next[i] = n
		}
		if n >= 0 && (first < 0 || n < first) {
			first = n
		}
	}
	return first
}

// match looks at one line. hit is where a literal stands in it.
func (s *scanner) match(line []byte, hit int, lits bool) (lo, hi int, ok bool) {
	if lits && s.p.exact {
		return hit, min(hit+len(s.p.lits[0]), len(line)), true
	}
	if len(line) > 0 && line[len(line)-1] == '\r' {
		line = line[:len(line)-1]
	}
	if !s.p.may(line) {
		return 0, 0, false
	}
	loc := s.p.re.FindIndex(line)
	if loc == nil {
		return 0, 0, false
	}
	return loc[0], loc[1], true
}

// report hands out the line text[start:end] with a match at lo.
func (s *scanner) report(pc *piece, start, end, lo, hi, line int) bool {
	m := Match{Line: line}
	m.Text, m.Clipped = s.show(pc.text[start:end], lo-start, hi-start)
	m.Clipped = m.Clipped || pc.cut
	for i, at := 0, start; i < s.context && at > 0; i++ {
		prev := bytes.LastIndexByte(pc.text[:at-1], '\n') + 1
		t, _ := s.show(pc.text[prev:at-1], 0, 0)
		m.Before = append([]string{t}, m.Before...)
		at = prev
	}
	for i, at := 0, end+1; i < s.context && at < len(pc.text); i++ {
		n := bytes.IndexByte(pc.text[at:], '\n')
		if n < 0 {
			n = len(pc.text) - at
		}
		t, _ := s.show(pc.text[at:at+n], 0, 0)
		m.After = append(m.After, t)
		at += n + 1
	}
	return s.emit(m)
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

func isUTF16(b []byte) bool {
	return len(b) > 1 && (b[0] == 0xff && b[1] == 0xfe || b[0] == 0xfe && b[1] == 0xff)
}

// utf16 searches a whole file in UTF-16, which its byte-order mark told.
func (s *scanner) utf16(b []byte) bool {
	order := binary.ByteOrder(binary.LittleEndian)
	if b[0] == 0xfe {
		order = binary.BigEndian
	}
	units := make([]uint16, 0, len(b)/2)
	for i := 2; i+1 < len(b); i += 2 {
		units = append(units, order.Uint16(b[i:]))
	}
	t := []byte(string(utf16.Decode(units)))
	more, _ := s.search(&piece{text: t, upto: len(t), line: 1})
	return more
}
