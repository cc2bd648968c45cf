package workspace

import (
	"bytes"
	"io"
)

// maxWork bounds what is done between two looks at done, in bytes times
// instructions of the expression: about a tenth of a second.
const maxWork = 1 << 24

func (s *scanner) ended() bool {
	select {
	case <-s.done:
		s.over = true
	default:
	}
	return s.over
}

// find finds the expression in a line; nil too when done is closed meanwhile.
func (s *scanner) find(line []byte) []int {
	work := len(line) * s.p.cost
	if s.spent += work; s.spent > maxWork {
		if s.spent = 0; s.ended() {
			return nil
		}
	}
	if work <= maxWork {
		return s.p.findIn(line)
	}
	// Slower, but it can be ended.
	r := &lineReader{s: s}
	r.Reset(line)
	loc := s.p.re.FindReaderIndex(r)
	if s.over {
		return nil // what matches the first part need not match the line
	}
	return loc
}

// findIn finds the expression in a line. Where it is known what a match begins
// with, only these places are tried; with many of them one search from the front
// is less work.
func (p *pattern) findIn(line []byte) []int {
	const tries = 4
	from := 0
	for range tries {
		if len(p.starts) == 0 {
			break
		}
		at := len(line)
		for _, start := range p.starts {
			if i := bytes.Index(line[from:], []byte(start)); i >= 0 {
				at = min(at, from+i)
			}
		}
		if at == len(line) {
			return nil
		}
		if loc := p.here.FindIndex(line[at:]); loc != nil {
			return []int{at, at + loc[1]}
		}
		from = at + 1
	}
	return p.re.FindIndex(line)
}

// lineReader is a line that ends early when done is closed.
type lineReader struct {
	bytes.Reader
	s *scanner
}

func (r *lineReader) ReadRune() (rune, int, error) {
	if r.s.spent += r.s.p.cost; r.s.spent > maxWork {
		r.s.spent = 0
		r.s.ended()
	}
	if r.s.over {
		return 0, 0, io.EOF
	}
	return r.Reader.ReadRune()
}
