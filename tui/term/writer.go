package term

import (
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// writer writes to a file that may block for ever, as a terminal does whose output was
// stopped or is read by nobody. A goroutine writes; who waits for it gives up in time.
type writer struct {
	jobs  chan []byte // one at a time
	ended chan error  // 1: the writing does not wait for who gave up
	late  atomic.Bool // somebody gave up
	freed func()      // called when what was given up is written

	mu      sync.Mutex
	buf     []byte // what is being written
	pending bool
	closed  bool
}

func newWriter(f *os.File, freed func()) *writer {
	w := &writer{jobs: make(chan []byte), ended: make(chan error, 1), freed: freed}
	go func() {
		for p := range w.jobs {
			_, err := f.Write(p)
			w.ended <- err
			if w.late.Swap(false) {
				w.freed()
			}
		}
	}()
	return w
}

// write writes p, or gives up after patience with ErrBusy. While what was given up is
// not written, it gives up at once.
func (w *writer) write(p []byte, patience time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	if w.pending {
		select {
		case <-w.ended:
			w.pending = false
		default:
			return ErrBusy
		}
	}
	w.buf = append(w.buf[:0], p...)
	w.jobs <- w.buf
	w.pending = true
	return w.wait(patience)
}

// wait waits for what is being written. w.mu is held.
func (w *writer) wait(patience time.Duration) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case err := <-w.ended:
		w.pending = false
		return err
	case <-timer.C:
		w.late.Store(true)
		return ErrBusy
	}
}

// settle waits for what was given up, and reports whether nothing is left.
func (w *writer) settle(patience time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.pending || w.wait(patience) != ErrBusy
}

// end ends the goroutine, when what it writes is written.
func (w *writer) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.closed = true
		close(w.jobs)
	}
}
