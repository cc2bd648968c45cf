package cli

import (
	"context"
	"fmt"
	"os"
	"time"

	"alisio/agent"
	"alisio/tui/plain"
	"alisio/tui/term"
)

// withSignals returns a context that SIGINT, SIGTERM and SIGHUP cancel. A
// second SIGINT quits at once.
func withSignals(ctx context.Context) (context.Context, func()) {
	return term.Signals(ctx, nil, quit)
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

// closePatience bounds what plugins may take to close.
const closePatience = 2 * time.Second

func closeApp(c *call, app *agent.App) {
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	if err := app.Close(ctx); err != nil {
		plain.Failure(c.Stderr, err)
	}
}
