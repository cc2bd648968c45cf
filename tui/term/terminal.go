package term

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// ErrBusy is what Write returns while another program has the terminal, the process is
// stopped, or the terminal takes nothing: draw the whole frame after the next Resumed.
var ErrBusy = errors.New("write to the terminal: it is not ours now, or takes no output")

// ErrClosed is what Write returns after Close.
var ErrClosed = errors.New("write to the terminal: it was given back")

// What a read of the device returns beside input: it was told to end, or the size changed
// (Windows tells that there).
var (
	errWoken   = errors.New("the reader was told to end")
	errResized = errors.New("the size changed")
)

// Options are what Open is told. The zero value is the standard streams, without mouse.
type Options struct {
	// Input and Output are the terminal; nil: the standard streams, and where one of
	// these is none, the controlling terminal.
	Input, Output *os.File
	Getenv        func(string) string // nil: os.Getenv
	// Mouse asks for the buttons of the pointer; the terminal's own selection then needs
	// Shift.
	Mouse bool
	// Escape is how long after an ESC the rest of a key may come; 0: 50 ms, and 150 ms
	// over ssh.
	Escape time.Duration
}

// Terminal is a terminal in raw mode, on its alternate screen. It is ours from Open to
// Close, but while it is lent or the process is stopped, and is left as it was found on
// every way out (terminal.md, section 11).
//
//	Open ── raw, modes, questions ──→ active ──Suspend, Lend──→ away ──→ active + Resumed
//	                                    │ Close, SIGTERM, SIGHUP, hang-up, Guard
//	                                    ↓
//	                                  closed: modes and termios as before, Closed
//
// Its methods may be called from any goroutine.
type Terminal struct {
	dev    device
	out    *writer
	getenv func(string) string
	escape time.Duration
	stdin  *os.File // what a program that gets the terminal is given
	stdout *os.File

	outbox
	pumped chan struct{} // closed when the reader has ended
	watch  *watcher
	once   sync.Once
	begun  sync.Mutex // held while modes change: one of Suspend, Lend and Close at a time

	mu       sync.Mutex
	decoder  Decoder
	features Features
	asked    asked
	modes    modes
	columns  int
	rows     int
	away     bool      // lent, stopped, or another job's
	lent     bool      // to a program that runs
	back     time.Time // since when no longer
	closed   bool      // given back for good
	cause    error     // why, where nobody called Close
}

// How long a terminal may take nothing: a frame, and all of the giving back.
const (
	writePatience = 500 * time.Millisecond
	closePatience = 300 * time.Millisecond
)

// Open takes a terminal. Its questions are answered later, by Changed: the first frame
// can be drawn at once. The error says what is missing for a screen.
func Open(o Options) (*Terminal, error) {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Getenv("TERM") == "dumb" {
		return nil, errors.New("open the terminal: TERM=dumb has no screen to draw on; use --no-tui")
	}
	in, out, own, err := streams(o)
	if err != nil {
		return nil, fmt.Errorf("open the terminal: %w; use --no-tui", err)
	}
	dev, err := newDevice(in, out, own)
	if err != nil {
		return nil, fmt.Errorf("open the terminal: %w; use --no-tui", err)
	}
	t := &Terminal{
		dev: dev, getenv: o.Getenv, escape: o.Escape, stdin: in, stdout: out,
		outbox:   outbox{events: make(chan Event, eventQueue), done: make(chan struct{})},
		features: detect(o.Getenv), modes: modes{mouse: o.Mouse},
	}
	t.out = newWriter(out, func() { t.emit(Resumed{}) })
	if t.escape == 0 {
		t.escape = escapeTime(o.Getenv)
	}
	t.decoder.Erase, t.decoder.Bursts = dev.erase(), true
	t.columns, t.rows = t.measure()
	if err := t.dev.raw(); err != nil {
		t.out.end()
		t.dev.close()
		return nil, fmt.Errorf("open the terminal: set raw mode: %w; use --no-tui", err)
	}
	t.begun.Lock() // signals come from here on
	defer t.begun.Unlock()
	t.watch = t.watchSignals()
	t.enter()
	t.pump(nil)
	return t, nil
}

// escapeTime is how long the rest of a key may take: longer over a network (C096).
func escapeTime(getenv func(string) string) time.Duration {
	if getenv("SSH_TTY") != "" || getenv("SSH_CONNECTION") != "" {
		return 150 * time.Millisecond
	}
	return 50 * time.Millisecond
}

// streams are the two ends of the terminal: what was given, or the controlling terminal
// where a stream is redirected. own tells that they are closed with it.
func streams(o Options) (in, out *os.File, own []*os.File, err error) {
	in, out = o.Input, o.Output
	if in == nil {
		in = os.Stdin
	}
	if out == nil {
		out = os.Stdout
	}
	if !IsTerminal(in) {
		if in, err = controlling(false); err != nil {
			return nil, nil, nil, errors.New("standard input is no terminal, and there is no other")
		}
		own = append(own, in)
	}
	if !IsTerminal(out) {
		if out, err = controlling(true); err != nil {
			for _, f := range own {
				f.Close()
			}
			return nil, nil, nil, errors.New("standard output is no terminal, and there is no other")
		}
		own = append(own, out)
	}
	return in, out, own, nil
}

// Features are what the terminal can do, as far as is known.
func (t *Terminal) Features() Features {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.features
}

// Size is the columns and rows of the terminal.
func (t *Terminal) Size() (columns, rows int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.columns, t.rows
}

// measure asks for the size: the terminal, else COLUMNS and LINES, else 80 by 24.
func (t *Terminal) measure() (columns, rows int) {
	columns, rows = t.dev.size()
	if columns < 1 {
		columns = atLeast(t.getenv("COLUMNS"), 80)
	}
	if rows < 1 {
		rows = atLeast(t.getenv("LINES"), 24)
	}
	return columns, rows
}

// resized tells of another size, if it is one.
func (t *Terminal) resized(columns, rows int) {
	t.mu.Lock()
	same := columns == t.columns && rows == t.rows || t.away || t.closed
	if !same {
		t.columns, t.rows = columns, rows
	}
	t.mu.Unlock()
	if !same {
		t.emit(Resize{columns, rows})
	}
}

// Write writes a frame, whole. It waits for a slow terminal, but not for long: see
// ErrBusy. What was begun is still written then.
func (t *Terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	away, closed := t.away, t.closed
	t.mu.Unlock()
	switch {
	case closed:
		return 0, ErrClosed
	case away:
		return 0, ErrBusy
	}
	if err := t.out.write(p, writePatience); err != nil {
		return 0, err
	}
	return len(p), nil
}

// pump starts the reader, which tells first first. It ends by dev.wake or with the
// terminal.
func (t *Terminal) pump(first Event) {
	pumped := make(chan struct{})
	t.pumped = pumped
	go func() {
		defer close(pumped)
		defer t.Guard()
		if first != nil {
			t.emit(first)
		}
		buf := make([]byte, 64<<10)
		for {
			t.mu.Lock()
			wait := t.decoder.Wait(t.escape)
			t.mu.Unlock()
			n, err := t.dev.read(buf, wait)
			switch {
			case errors.Is(err, errWoken):
				return
			case errors.Is(err, os.ErrDeadlineExceeded):
				t.decode(nil)
			case errors.Is(err, errResized):
				t.resized(t.measure())
			case err != nil:
				go t.end(err) // which waits for this goroutine
				return
			default:
				t.decode(buf[:n])
			}
		}
	}()
}

// decode feeds the decoder, nil for a time-out, and hands on what comes of it.
func (t *Terminal) decode(p []byte) {
	var events []Event
	collect := func(e Event) { events = append(events, e) }
	t.mu.Lock()
	if p == nil {
		t.decoder.Timeout(collect)
	} else {
		t.decoder.Feed(p, collect)
	}
	t.mu.Unlock()
	for _, e := range events {
		switch e := e.(type) {
		case answer:
			t.answered(e)
		case Resize:
			t.resized(e.Columns, e.Rows)
		default:
			t.emit(e)
		}
	}
}

// Close gives the terminal back: its modes, its screen, its title, its input as it was.
// A terminal that takes no output holds it up for about a second. It may be called
// again, and by several at once: all wait until it is done. While it is lent it is as it
// was already; then only nobody takes it again.
func (t *Terminal) Close() {
	t.once.Do(func() {
		t.begun.Lock()
		defer t.begun.Unlock()
		close(t.done)
		t.mu.Lock()
		away, lent, cause := t.away, t.lent, t.cause
		t.away, t.closed = true, true
		t.mu.Unlock()
		if !away {
			t.leave()
			t.dev.wake()
		}
		<-t.pumped
		t.watch.end()
		t.out.end()
		if !lent { // its streams are in use
			t.dev.close()
		}
		t.seal(Closed{Err: cause})
	})
}

// Guard is deferred by every goroutine that runs while a terminal is open: a panic
// gives it back before the stack is printed (C093).
func (t *Terminal) Guard() {
	if v := recover(); v != nil {
		t.mu.Lock()
		away := t.away
		t.mu.Unlock()
		if !away {
			t.leave()
		}
		panic(v)
	}
}
