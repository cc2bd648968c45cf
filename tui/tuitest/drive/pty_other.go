//go:build !linux

package drive

import (
	"errors"
	"os"
	"os/exec"
	"testing"

	"alisio/tui/tuitest"
)

// Pty is a child process on a real pseudo-terminal. Here there is none.
type Pty struct{ *tuitest.Terminal }

// StartPty skips the test.
func StartPty(tb testing.TB, columns, rows int, o tuitest.Options, cmd *exec.Cmd) *Pty {
	tb.Skip("pseudo-terminals are made on Linux alone here")
	return nil
}

// Signal, and what follows, are never reached.
func (p *Pty) Signal(os.Signal) error { return errors.ErrUnsupported }

// Raw is never reached.
func (p *Pty) Raw() bool { return false }

// Wait is never reached.
func (p *Pty) Wait(testing.TB) error { return errors.ErrUnsupported }

// Restored is never reached.
func (p *Pty) Restored(testing.TB) []string { return nil }

// Close is never reached.
func (p *Pty) Close() {}
