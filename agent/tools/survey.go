package tools

import (
	"bytes"
	"context"
	"fmt"
	"hash"
	"io"
	"unicode/utf8"
)

const (
	// maxSurvey is how far into a file read_file looks for the asked position.
	maxSurvey = 128 << 20
	pieceSize = 64 << 10
)

// survey is what one pass over a text found. Offsets and counts are of bytes; a
// byte order mark counts as part of the first line.
type survey struct {
	// at is the byte offset of the asked position and line the 1-based line it
	// is in; found tells that the text is long enough.
	at, line int64
	found    bool
	// The rest is known only when whole is true: the text was read to its end.
	// CRLF and validity are those of a text that is hashed.
	whole bool
	size  int64
	// lines counts the last one too when no newline ends it.
	lines, newlines, crlf int64
	invalid               bool
}

// surveyor walks over a text in pieces.
//
//	piece → hash → newlines, CRLF, UTF-8 → is the asked position in it? → next
type surveyor struct {
	survey
	// The asked position: the start of a line, or a byte where startByte ≥ 0.
	startLine, startByte int64
	// full: the text is read to its end, and all of it is looked at.
	full bool
	last byte
	// tail is a character that the end of a piece cut, at most three bytes.
	tail []byte
}

// run reads r to its end, or, without a hash to compute, to the asked position.
func (s *surveyor) run(ctx context.Context, r io.Reader, h hash.Hash) error {
	s.full = h != nil
	buf := make([]byte, pieceSize)
	for s.size < maxSurvey {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := io.ReadFull(r, buf)
		piece := buf[:n]
		if h != nil {
			h.Write(piece)
		}
		s.piece(piece)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			s.end()
			return nil
		}
		if err != nil {
			return fmt.Errorf("read: %w", err)
		}
		if !s.full && s.found {
			return nil
		}
	}
	return nil
}

// piece takes the next bytes of the text, which are not kept.
func (s *surveyor) piece(b []byte) {
	if len(b) == 0 {
		return
	}
	newlines := int64(bytes.Count(b, []byte{'\n'}))
	if !s.found {
		s.locate(b, newlines)
	}
	if s.full {
		s.crlf += int64(bytes.Count(b, []byte("\r\n")))
		if s.last == '\r' && b[0] == '\n' {
			s.crlf++
		}
		s.checkUTF8(b)
	}
	s.newlines += newlines
	s.size += int64(len(b))
	s.last = b[len(b)-1]
}

// locate looks for the asked position in a piece that holds so many newlines. It
// is called with size and newlines as they were before the piece.
func (s *surveyor) locate(b []byte, newlines int64) {
	if s.startByte >= 0 {
		if off := s.startByte - s.size; off < int64(len(b)) {
			s.at, s.found = s.startByte, true
			s.line = 1 + s.newlines + int64(bytes.Count(b[:off], []byte{'\n'}))
		}
		return
	}
	missing := s.startLine - 1 - s.newlines
	if missing > newlines {
		return
	}
	off := 0
	for ; missing > 0; missing-- {
		off += bytes.IndexByte(b[off:], '\n') + 1
	}
	if off == len(b) {
		return // the line starts with the next piece, if there is one
	}
	s.at, s.line, s.found = s.size+int64(off), s.startLine, true
}

// checkUTF8 looks for bytes that are not UTF-8, joining what a border of
// pieces cut.
func (s *surveyor) checkUTF8(b []byte) {
	if s.invalid {
		return
	}
	for len(s.tail) > 0 && len(b) > 0 && !utf8.FullRune(s.tail) {
		s.tail, b = append(s.tail, b[0]), b[1:]
	}
	if utf8.FullRune(s.tail) && !utf8.Valid(s.tail) {
		s.invalid = true
		return
	}
	if len(b) == 0 {
		return
	}
	cut := len(b)
	for cut > 0 && cut > len(b)-utf8.UTFMax && !utf8.RuneStart(b[cut-1]) {
		cut--
	}
	if cut > 0 && !utf8.FullRune(b[cut-1:]) {
		cut--
	} else {
		cut = len(b)
	}
	s.invalid = !utf8.Valid(b[:cut])
	s.tail = append(s.tail[:0], b[cut:]...)
}

// end settles what depends on the text's last byte.
func (s *surveyor) end() {
	s.whole = true
	s.invalid = s.invalid || len(s.tail) > 0
	s.lines = s.newlines
	if s.size > 0 && s.last != '\n' {
		s.lines++
	}
}
