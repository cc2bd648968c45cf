package tuitest

import (
	"fmt"
	"io"
	"slices"
	"sync"
)

// stream is what a program reads from the terminal: keys and answers in the order in
// which they were sent.
type stream struct {
	mu      sync.Mutex
	data    []byte
	held    []byte // answers that wait for Release
	holding bool
	closed  bool
	chunk   int
	more    chan struct{} // closed and made anew when something came
}

func newStream(chunk int) *stream { return &stream{chunk: chunk, more: make(chan struct{})} }

const maxInput = 64 << 20 // what waits for a program that does not read

func (s *stream) send(b string, isAnswer bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case len(s.data)+len(s.held)+len(b) > maxInput:
		return
	case isAnswer && s.holding:
		s.held = append(s.held, b...)
		return
	}
	s.data = append(s.data, b...)
	s.wake()
}

func (s *stream) wake() {
	close(s.more)
	s.more = make(chan struct{})
}

func (s *stream) read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for {
		s.mu.Lock()
		more := s.more
		if len(s.data) > 0 || s.closed {
			break
		}
		s.mu.Unlock()
		<-more
	}
	defer s.mu.Unlock()
	if len(s.data) == 0 {
		return 0, io.EOF
	}
	if s.chunk > 0 && len(b) > s.chunk {
		b = b[:s.chunk]
	}
	n := copy(b, s.data)
	s.data = s.data[n:]
	return n, nil
}

// answer sends what a question is answered with.
func (t *Terminal) answer(format string, args ...any) {
	if t.opts.Mute {
		return
	}
	s := fmt.Sprintf(format, args...)
	if len(t.journal.answers) < maxJournal {
		t.journal.answers = append(t.journal.answers, s)
	}
	t.in.send(s, true)
}

// Read is what a program reads: it waits for keys and answers, and ends with io.EOF
// after Hangup.
func (t *Terminal) Read(b []byte) (int, error) { return t.in.read(b) }

// Hangup ends the input: what was sent before is still read.
func (t *Terminal) Hangup() {
	t.in.mu.Lock()
	defer t.in.mu.Unlock()
	t.in.closed = true
	t.in.wake()
}

// Hold keeps answers back until Release, as a slow connection does. Keys pass.
func (t *Terminal) Hold() {
	t.in.mu.Lock()
	defer t.in.mu.Unlock()
	t.in.holding = true
}

// Release sends the answers that were held back, at most n bytes of them and all for
// less than 0. With the last of them it ends Hold.
func (t *Terminal) Release(n int) {
	s := t.in
	s.mu.Lock()
	defer s.mu.Unlock()
	if n < 0 || n > len(s.held) {
		n = len(s.held)
	}
	s.data = append(s.data, s.held[:n]...)
	s.held = s.held[n:]
	s.holding = len(s.held) > 0
	s.wake()
}

// Answers lists what was answered, held back or not, the first 1,000.
func (t *Terminal) Answers() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.journal.answers)
}

// Pending gives and takes away what waits to be read, for tests without a reader.
func (t *Terminal) Pending() string {
	s := t.in
	s.mu.Lock()
	defer s.mu.Unlock()
	b := string(s.data)
	s.data = nil
	return b
}
