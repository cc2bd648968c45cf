package term

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// SurvivePipes makes writing to a closed pipe an error instead of a death, until
// the process ends: a run can end in order, and every command tells its exit code.
// Programs that are started die of it as usual, unlike with an ignored signal.
func SurvivePipes() {
	pipes := make(chan os.Signal, 1) // never read: the write's error tells
	signal.Notify(pipes, syscall.SIGPIPE)
}

// stopPatience bounds how long a cancelled run may take to end in order: a tool
// gets its seconds, a reader that does not read does not hold us for ever.
const stopPatience = 15 * time.Second

// Signals returns a context that SIGINT, SIGTERM and SIGHUP cancel, and what ends
// that. A second SIGINT quits at once; quit must end the process. SIGINT goes to
// interrupts instead, if there is such a channel: then it is a conversation, which
// SIGQUIT ends too, the second one at once.
func Signals(ctx context.Context, interrupts chan<- os.Signal, quit func()) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	stops := make(chan os.Signal, 2) // a third signal may be dropped
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		switch {
		case s == syscall.SIGQUIT && interrupts == nil:
		case s == syscall.SIGINT && interrupts != nil:
			signal.Notify(interrupts, s)
		case !signal.Ignored(s):
			// What whoever started us ignores (nohup, a shell's &) stays ignored.
			signal.Notify(stops, s)
		}
	}
	done := make(chan struct{}) // closed once, nothing is sent
	go func() {
		var patience <-chan time.Time
		for first := true; ; first = false {
			select {
			case s := <-stops:
				if !first && (s == syscall.SIGINT || s == syscall.SIGQUIT) {
					quit()
				}
				if first {
					patience = time.After(stopPatience)
				}
				cancel()
			case <-patience:
				quit()
			case <-done:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(stops)
		if interrupts != nil {
			signal.Stop(interrupts)
		}
		close(done)
		cancel()
	}
}
