package term

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyTTOU lets a shell take the terminal back from the background.
func notifyTTOU(c chan os.Signal) { signal.Ignore(syscall.SIGTTOU); signal.Notify(c, syscall.SIGTTIN) }
