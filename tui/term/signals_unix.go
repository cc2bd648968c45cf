//go:build linux || darwin

package term

import (
	"os"
	"syscall"
)

// The signals that are about the terminal.
const (
	resizeSignal = syscall.SIGWINCH
	stopSignal   = syscall.SIGTSTP
	contSignal   = syscall.SIGCONT
	quitSignal   = syscall.SIGQUIT
)

func watched() []os.Signal {
	return []os.Signal{resizeSignal, stopSignal, contSignal, quitSignal, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
}

// stopGroup stops the processes of our group, as the terminal's Ctrl+Z does. Not by
// SIGTSTP: once it was asked for, the runtime keeps its handler, and nothing stops.
func stopGroup() { syscall.Kill(0, syscall.SIGSTOP) }
