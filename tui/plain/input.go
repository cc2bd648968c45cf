package plain

import (
	"bufio"
	"errors"
	"io"
	"runtime"
	"time"
)

const (
	// maxInput bounds a line that is read, and maxMessage a prompt, in bytes.
	maxInput   = 1 << 20
	maxMessage = 4 << 20
	// canonical is how many bytes of a line a terminal of Linux keeps, which drops
	// the rest without a word (N_TTY_BUF_SIZE less the newline). Others refuse keys.
	canonical = 4095
)

// typed is a line of standard input as it came, without its end, or the end of the
// input.
type typed struct {
	text string
	// cut: the line was longer than what is taken of one, so text is not all of it.
	cut bool
	// began is when its first byte had been read.
	began time.Time
	// err is io.EOF at the end, or why nothing can be read any more.
	err error
}

// reader reads lines all the time, also while nobody waits for one: what was
// there before a question was shown must be known when the question is.
type reader struct {
	from io.Reader
	// terminal: an end of the input is a key that was pressed, and what comes after
	// it is read.
	terminal bool
	// limit is the length of a line from which on it may not be all of it.
	limit int
	// lines is never closed. It holds nothing: a line that nobody takes stays with
	// whoever writes.
	lines chan typed
	// over is closed when nobody takes lines any more.
	over chan struct{}
}

func newReader(from io.Reader, terminal bool) *reader {
	r := &reader{from: from, terminal: terminal, limit: maxInput, lines: make(chan typed), over: make(chan struct{})}
	if terminal && runtime.GOOS == "linux" {
		r.limit = canonical
	}
	return r
}

// run reads until the input ends. Nobody waits for it: a read of a terminal or a
// pipe can not be taken back. It holds one line and ends with the process, or when
// the input has something to say after over was closed.
func (r *reader) run() {
	from := stamped{Reader: r.from}
	in := bufio.NewReaderSize(&from, 64<<10)
	for {
		t, err := r.line(in, &from)
		if (err == nil || t.text != "") && !r.send(t) {
			return
		}
		if err != nil && !r.send(typed{err: err}) {
			return
		}
		if err != nil && (!r.terminal || !errors.Is(err, io.EOF)) {
			return
		}
	}
}

func (r *reader) send(t typed) bool {
	select {
	case r.lines <- t:
		return true
	case <-r.over:
		return false
	}
}

// stamped knows when something was read last.
type stamped struct {
	io.Reader
	at time.Time
}

func (s *stamped) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.at = time.Now()
	return n, err
}

// line reads one line and keeps so much of it as is taken. A terminal gives the
// start of one away too, at the key that ends the input.
func (r *reader) line(in *bufio.Reader, from *stamped) (typed, error) {
	if _, err := in.Peek(1); err != nil {
		return typed{}, err
	}
	began := from.at // whatever is buffered came with the last read
	var all []byte
	for {
		piece, err := in.ReadSlice('\n')
		all = append(all, piece[:min(len(piece), maxInput+1-len(all))]...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if n := len(all); n > 0 && all[n-1] == '\n' {
			all = all[:n-1]
		}
		return typed{text: string(all), cut: len(all) >= r.limit, began: began}, err
	}
}
