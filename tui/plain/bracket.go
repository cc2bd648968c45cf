package plain

import (
	"time"

	"alisio/tui/term"
)

// The mode in which a terminal marks what is pasted.
const bracketOn, bracketOff = "\x1b[?2004h", "\x1b[?2004l"

// restorePatience bounds how long a terminal may take to be left as it was: one that
// was held up with Ctrl+S takes nothing.
const restorePatience = 200 * time.Millisecond

// bracket has the terminal mark what is pasted, and returns what ends that.
func (l *Lines) bracket() func() {
	if !l.in.terminal || !l.draws() {
		return func() {}
	}
	l.takeTerminal()
	stop := l.lendTerminal()
	return func() {
		stop()
		l.Restore()
	}
}

// draws reports whether the person looks at a terminal that knows control sequences.
func (l *Lines) draws() bool {
	kind := l.o.Getenv("TERM")
	return term.IsTerminal(l.out) && kind != "" && kind != "dumb"
}

// takeTerminal sets the mode, also where a shell may have ended it meanwhile.
func (l *Lines) takeTerminal() {
	l.bracketed.Store(true)
	l.print(bracketOn)
}

// Restore leaves the terminal as it was before Run, for whoever ends the process
// without waiting for that. It may be called at any time, from any goroutine.
func (l *Lines) Restore() {
	if !l.bracketed.Swap(false) {
		return
	}
	done := make(chan struct{}) // closed once, nothing is sent
	go func() {
		l.print(bracketOff)
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(restorePatience):
	}
}
