package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"alisio/agent"
	"alisio/tui/plain"
)

// survivePipes makes writing to a closed pipe an error instead of a death, until
// the process ends: a run can end in order, and every command tells its exit code.
// Programs that are started die of it as usual, unlike with an ignored signal.
func survivePipes() {
	pipes := make(chan os.Signal, 1) // never read: the write's error tells
	signal.Notify(pipes, syscall.SIGPIPE)
}

// withSignals returns a context that SIGINT, SIGTERM and SIGHUP cancel. A
// second SIGINT quits at once.
func withSignals(ctx context.Context) (context.Context, func()) {
	return signals(ctx, nil, quit)
}

// signals is withSignals, where SIGINT goes to interrupts instead, if there is
// such a channel: then it is a conversation, which SIGQUIT ends too, the second one
// at once. quit must end the process.
func signals(ctx context.Context, interrupts chan<- os.Signal, quit func()) (context.Context, func()) {
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

// quit ends the process without waiting for anything.
func quit() { os.Exit(exitCancelled) }

// inOrder does something that a signal ends in order, so that nothing half done is
// left: a file that is written, a list that waits to be taken in.
func (c *call) inOrder(ctx context.Context, do func(context.Context) (int, error)) (int, error) {
	ctx, stop := withSignals(ctx)
	defer stop()
	code, err := do(ctx)
	if err != nil && ctx.Err() != nil {
		return exitCancelled, fmt.Errorf("alisio %s was cancelled", c.verb)
	}
	return code, err
}

// stopPatience bounds how long a cancelled run may take to end in order: a tool
// gets its seconds, a reader that does not read does not hold us for ever.
const stopPatience = 15 * time.Second

// closePatience bounds what plugins may take to close.
const closePatience = 2 * time.Second

func closeApp(c *call, app *agent.App) {
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	if err := app.Close(ctx); err != nil {
		plain.Failure(c.Stderr, err)
	}
}
