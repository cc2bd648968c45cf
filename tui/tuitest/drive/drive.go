// Package drive runs programs in terminals for tests: in memory on a virtual terminal,
// behind a real pseudo-terminal, in a real tmux; and the key scripts that all of them
// understand.
package drive

import (
	"testing"
	"time"

	"alisio/tui/tuitest"
)

// Driver is where a program under test runs and a person sits: the virtual terminal in
// memory, one behind a pseudo-terminal (Pty), or tmux (Tmux).
type Driver interface {
	Press(names ...string) error
	Type(text string)
	Paste(text string)
	Send(raw string)
	Resize(columns, rows int)
	Screen() *tuitest.Screen
	// Await waits until a condition holds for the screen, and fails the test with what
	// is shown if it does not come to that.
	Await(tb testing.TB, what string, holds func(*tuitest.Screen) bool)
}

// Memory is a program that runs in the test's own process, on a virtual terminal.
type Memory struct {
	*tuitest.Terminal
	// Settle, if set, is called before the screen is looked at; in a bubble of
	// testing/synctest it is synctest.Wait.
	Settle func()
	ended  chan struct{}
	err    error
}

// Start runs a program on a virtual terminal, from which it reads and to which it
// writes. When the test ends the terminal hangs up, and the program must end of that.
func Start(tb testing.TB, columns, rows int, o tuitest.Options, program func(t *tuitest.Terminal) error) *Memory {
	m := &Memory{Terminal: tuitest.New(columns, rows, o), ended: make(chan struct{})}
	go func() {
		defer close(m.ended)
		m.err = program(m.Terminal)
	}()
	tb.Cleanup(func() {
		m.Hangup()
		m.Wait(tb)
	})
	return m
}

// Wait waits for the program to end and gives its error.
func (m *Memory) Wait(tb testing.TB) error {
	tb.Helper()
	timer := time.NewTimer(tuitest.Patience)
	defer timer.Stop()
	select {
	case <-m.ended:
		return m.err
	case <-timer.C:
		tb.Fatalf("the program has not ended after %v; shown is\n%s", tuitest.Patience, m.Dump())
		return nil
	}
}

// Screen is what is shown when all has settled.
func (m *Memory) Screen() *tuitest.Screen {
	if m.Settle != nil {
		m.Settle()
	}
	return m.Terminal.Screen()
}

// Await is that of the Terminal; it gives up when the program ends.
func (m *Memory) Await(tb testing.TB, what string, holds func(*tuitest.Screen) bool) {
	tb.Helper()
	m.AwaitUnless(tb, what, holds, m.ended)
}
