package agent

import (
	"context"
	"sync"
	"time"

	"alisio/agent/profile"
	"alisio/agent/transport"
)

// Catalog is what a server offers.
type Catalog = profile.Catalog

// Models lists what the configured server offers, with refresh as it says now,
// else as it was kept within the last day. A list that could not be had is told
// in Catalog.Stale, beside what was kept. No model need be chosen.
func (a *App) Models(ctx context.Context, refresh bool) (Catalog, error) {
	if a.o.Provider != nil {
		return profile.List(ctx, profile.Choice{Provider: a.o.Provider})
	}
	s := a.o.Selection()
	if kept, ok := profile.Kept(s); ok && !refresh && !profile.Due(kept.Fetched, time.Now()) {
		return kept, nil
	}
	c, err := a.providers.Models(ctx, s)
	if err == nil && c.Unkept != nil {
		a.o.Log.Warn(c.Unkept.Error())
	}
	return c, err
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

// renewal fetches an old catalog again while a run goes on. The zero value has
// not begun.
type renewal struct {
	once   sync.Once
	cancel context.CancelFunc
	done   chan struct{}
}

// begin is called with each answer of the model. A run sends no request that it
// does not need before its first answer, and none at all where no catalog is kept:
// who never asked for one gets none.
func (r *renewal) begin(a *App, kept time.Time) {
	r.once.Do(func() {
		if kept.IsZero() || !profile.Due(kept, time.Now()) {
			return
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.closed {
			return
		}
		ctx, cancel := context.WithCancel(context.Background())
		r.cancel, r.done = cancel, make(chan struct{})
		go func() {
			defer close(r.done)
			// An old list is as good as no answer: the next run tries again.
			a.providers.Models(ctx, a.o.Selection())
		}()
	})
}

// end stops it and waits for it; the caller has set App.closed.
func (r *renewal) end() {
	if r.cancel != nil {
		r.cancel()
		<-r.done
	}
}
