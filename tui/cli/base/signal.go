package base

import (
	"context"
	"fmt"
	"os"
	"time"

	"alisio/agent"
	"alisio/tui/plain"
	"alisio/tui/term"
)

// WithSignals returns a context that SIGINT, SIGTERM and SIGHUP cancel. A
// second SIGINT quits at once.
func WithSignals(ctx context.Context) (context.Context, func()) {
	return term.Signals(ctx, nil, Quit)
}

// Quit ends the process without waiting for anything.
func Quit() { os.Exit(ExitCancelled) }

// InOrder does something that a signal ends in order, so that nothing half done is
// left: a file that is written, a list that waits to be taken in.
func (c *Call) InOrder(ctx context.Context, do func(context.Context) (int, error)) (int, error) {
	ctx, stop := WithSignals(ctx)
	defer stop()
	code, err := do(ctx)
	if err != nil && ctx.Err() != nil {
		return ExitCancelled, fmt.Errorf("alisio %s was cancelled", c.Verb)
	}
	return code, err
}

// closePatience bounds what plugins may take to close.
const closePatience = 2 * time.Second

func CloseApp(c *Call, app *agent.App) {
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	if err := app.Close(ctx); err != nil {
		plain.Failure(c.Stderr, err)
	}
}
