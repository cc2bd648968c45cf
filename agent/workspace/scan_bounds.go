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
		return s.p.re.FindIndex(line)
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
