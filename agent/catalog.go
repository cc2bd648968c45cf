package agent

import (
	"context"

	"alisio/agent/profile"
	"alisio/agent/transport"
)

// Catalog is what a server offers.
type Catalog = profile.Catalog

// Models lists what the configured server offers, with refresh as it says now,
// else as it was kept within the last day. A list that could not be had is told
// in Catalog.Stale, beside what was kept. No model need be chosen.
func (a *App) Models(ctx context.Context, refresh bool) (Catalog, error) {
	return a.models.Models(ctx, refresh)
}

// Selection is what the model of an application is chosen by. o.Getenv is set.
func (o Options) Selection() profile.Selection {
	return profile.Selection{
		Config: o.Config, Getenv: o.Getenv, Loopback: transport.IsLoopback, UserAgent: "alisio/" + Version,
		Cache: o.Dirs.Cache,
	}
}

// Hiding returns what takes the key, and the values of extra headers, out of what is
// shown of a configuration: a gateway's address can hold them. o.Getenv is set.
func Hiding(o Options) func(text string) string {
	return profile.InspectKey(o.Selection()).Hide
}

// ProviderOf makes the provider of a selection, whichever the application runs with,
// and contacts nobody. The caller closes it.
func (a *App) ProviderOf(ctx context.Context, s profile.Selection) (profile.Choice, error) {
	return a.providers.Connect(ctx, s)
}
