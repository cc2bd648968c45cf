package term

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"
)

// Signalled is why a terminal was given back: a signal that ends the process. What is
// going on is to be ended in order now; the exit code is 128 and the signal's number.
type Signalled struct{ Signal os.Signal }

func (s Signalled) Error() string { return fmt.Sprintf("the terminal was given back: %v", s.Signal) }

// Lend gives the terminal to something else, an editor or a pager, while f runs: it is
// as it was before Open, nothing of what is typed is read, and Ctrl+C is not for us.
// Resumed comes after it. The error is that of f.
func (t *Terminal) Lend(f func(in, out *os.File) error) error {
	if err := t.giveWay(true); err != nil {
		return err
	}
	defer t.comeBack() // after a panic, too
	return f(t.stdin, t.stdout)
}

// Suspend stops the process, and what it started in its group, as Ctrl+Z does: a shell
// has the terminal until it continues us. Resumed comes when it is ours again; where
// the shell continues us in the background that is later, and Write says ErrBusy.
func (t *Terminal) Suspend() error {
	if !continuable() {
		return errors.New("suspend: no shell with job control started this program, nobody would continue it")
	}
	if err := t.giveWay(false); err != nil {
		return err
	}
	t.watch.stop()
	t.comeBack()
	return nil
}

// giveWay makes the terminal as it was before Open, and ends the reader.
func (t *Terminal) giveWay(lent bool) error {
	t.begun.Lock()
	defer t.begun.Unlock()
	t.mu.Lock()
	away := t.away
	t.away = true
	t.lent = lent && !away
	t.mu.Unlock()
	if away {
		return ErrBusy
	}
	t.leave()
	t.dev.wake()
	<-t.pumped
	return nil
}

// comeBack takes the terminal again, unless it was closed meanwhile or another job has
// it: then the next SIGCONT brings us here.
func (t *Terminal) comeBack() {
	t.begun.Lock()
	defer t.begun.Unlock()
	t.mu.Lock()
	if t.lent {
		t.lent, t.back = false, time.Now()
	}
	skip := t.closed || !t.away
	t.mu.Unlock()
	if skip || !t.dev.foreground() {
		return
	}
	if err := t.dev.raw(); err != nil {
		go t.end(err)
		return
	}
	t.resume()
}

// resume enters our modes and starts the reader, which tells that we are back.
func (t *Terminal) resume() {
	columns, rows := t.measure()
	t.mu.Lock()
	t.away = false
	t.columns, t.rows = columns, rows
	t.mu.Unlock()
	t.enter()
	t.pump(Resumed{})
}

// continued is what SIGCONT tells: the process was stopped, perhaps without a word
// before, and whoever had the terminal since has changed it.
func (t *Terminal) continued() {
	t.mu.Lock()
	away, lent := t.away, t.lent
	t.mu.Unlock()
	switch {
	case lent:
	case away, t.giveWay(false) == nil:
		t.comeBack()
	}
}

// end closes the terminal for a reason, which Closed tells.
func (t *Terminal) end(err error) {
	t.mu.Lock()
	if t.cause == nil {
		t.cause = err
	}
	t.mu.Unlock()
	t.Close()
}

// resizePause is how long the size must have settled to be told of: a window that is
// dragged sends many.
const resizePause = 20 * time.Millisecond

// watcher follows the signals that are about the terminal.
type watcher struct {
	signals chan os.Signal // one that does not fit is a resize among many
	quit    chan struct{}  // closed by end
	ended   chan struct{}  // closed when the goroutine has ended
	stopped chan struct{}  // 1: held while the process is being stopped
}

func (t *Terminal) watchSignals() *watcher {
	w := &watcher{
		signals: make(chan os.Signal, 16), quit: make(chan struct{}), ended: make(chan struct{}), stopped: make(chan struct{}, 1),
	}
	signal.Notify(w.signals, watched()...)
	go func() {
		defer close(w.ended)
		defer t.Guard()
		var settled <-chan time.Time
		for {
			select {
			case s := <-w.signals:
				if s == resizeSignal {
					settled = time.After(resizePause)
				} else {
					t.signalled(s)
				}
			case <-settled:
				settled = nil
				t.resized(t.measure())
			case <-w.quit:
				return
			}
		}
	}()
	return w
}

// signalled handles one signal. What waits for this goroutine is done in another one.
func (t *Terminal) signalled(s os.Signal) {
	// Ctrl+C that ended the program which had the terminal may come to us after it.
	const late = 200 * time.Millisecond
	t.mu.Lock()
	lent := t.lent
	theirs := lent || time.Since(t.back) < late
	t.mu.Unlock()
	switch {
	case s == contSignal:
		t.continued()
	case s == stopSignal && lent && continuable():
		t.watch.stop() // with the program that has the terminal
	case s == stopSignal:
		t.Suspend() // or not: without a shell the system ignores it, too
	case theirs && (s == os.Interrupt || s == quitSignal):
		// Meant for the program that has the terminal.
	default:
		go t.end(Signalled{s})
	}
}

// end ends the watching.
func (w *watcher) end() {
	signal.Stop(w.signals)
	close(w.quit)
}

// stop stops the process group and returns when it is continued.
func (w *watcher) stop() {
	select {
	case w.stopped <- struct{}{}:
	default:
		return // by somebody else, at the same time
	}
	defer func() { <-w.stopped }()
	continued := make(chan os.Signal, 1)
	// The watching is for signals that come unawaited. Who looks for the foreground after
	// this has missed none.
	signal.Reset(contSignal)
	signal.Notify(continued, contSignal)
	defer signal.Notify(w.signals, contSignal)
	defer signal.Stop(continued)
	stopGroup()
	// Where nothing was stopped it goes on.
	const patience = time.Second
	select {
	case <-continued:
	case <-time.After(patience):
	}
}
