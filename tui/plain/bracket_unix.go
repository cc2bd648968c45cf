//go:build linux || darwin || freebsd || netbsd

package plain

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"alisio/tui/term"
)

// stopPatience bounds the wait for a stop, which another thread may be told of first.
const stopPatience = 100 * time.Millisecond

// lendTerminal leaves the terminal as it was to the shell that gets it at Ctrl+Z, and
// takes it back with SIGCONT, until the function that is returned is called.
func (l *Lines) lendTerminal() (end func()) {
	signals := make(chan os.Signal, 4) // one that is dropped repeats one that waits
	stops := !signal.Ignored(syscall.SIGTSTP)
	signal.Notify(signals, syscall.SIGCONT)
	if stops {
		signal.Notify(signals, syscall.SIGTSTP)
	}
	done, ended := make(chan struct{}), make(chan struct{}) // closed once each, nothing is sent
	go func() {
		defer close(ended)
		for {
			select {
			case s := <-signals:
				if s == syscall.SIGTSTP {
					l.suspend(signals)
				}
				if term.Foreground(l.o.Stdin) {
					l.takeTerminal()
				}
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
		<-ended
	}
}

// suspend stops the process as the signal would have that was caught, and returns
// when it goes on. Only this process: the terminal has told the others itself. It is
// SIGSTOP since package signal does not give a caught SIGTSTP back, and that stops
// also what nobody continues: so one that nobody would continue is left running.
func (l *Lines) suspend(signals <-chan os.Signal) {
	l.Restore()
	if !term.Continuable() {
		return
	}
	syscall.Kill(syscall.Getpid(), syscall.SIGSTOP)
	select {
	case <-signals:
	case <-time.After(stopPatience):
	}
}
