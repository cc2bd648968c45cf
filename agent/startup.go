package agent

import (
	"context"

	"alisio/agent/text"
	"alisio/plug"
)

// Startup is the screen that is shown before the first prompt. The surface says what it
// is shown on, and the words of its own in it.
func (a *App) Startup(ctx context.Context, c plug.ScreenContext) string {
	c.Version, c.Directory, c.User = Version, text.AtHome(a.o.Dir, a.o.Getenv("HOME")), a.o.Getenv("USER")
	if choice, err := a.choose(ctx, ""); err == nil {
		c.Model, c.Server = choice.Model.ID, choice.Host
	}
	return a.host.Startup(ctx, c)
}
