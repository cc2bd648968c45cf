// Package extend holds the verbs about what extends the program: alisio plugins list and
// doctor, alisio skills and alisio templates list and validate.
//
// It asks no model and makes no session database. Plugins are set up, as for a run, and
// taken down again.
package extend

import (
	"context"

	"alisio/agent"
	"alisio/plug"
	"alisio/tui/cli/base"
)

// Call is one call of such a verb.
type Call struct {
	base.Call
	// Options make the application that is looked at.
	Options agent.Options
	// Plugins are all that the program is built with, those that are off too.
	Plugins []plug.Plugin
}

// with makes the application, silently: what it would warn of is what the verbs tell.
func (c *Call) with(ctx context.Context, do func(context.Context, *agent.App) (int, error)) (int, error) {
	return c.InOrder(ctx, func(ctx context.Context) (int, error) {
		app, err := agent.NewSilent(ctx, c.Options)
		if err != nil {
			return base.ExitUsage, err
		}
		defer base.CloseApp(&c.Call, app)
		return do(ctx, app)
	})
}
