package term

import (
	"os"
	"syscall"
)

// Of the signals about a terminal this system has two; the others never come.
const (
	resizeSignal = syscall.Signal(-1)
	stopSignal   = syscall.Signal(-2)
	contSignal   = syscall.Signal(-3)
	quitSignal   = syscall.Signal(-4)
)

func watched() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

func stopGroup() {}
