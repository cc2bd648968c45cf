package profile

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"alisio/llm"
)

// Catalog is what a server offers.
type Catalog struct {
	// Models are in the server's order, their ids safe to print.
	Models []llm.Model
	// Fetched is when the server said so.
	Fetched time.Time
	// Stale is why the server did not say so now: then this is what was kept. It
	// is nil when it was asked, or needed not be.
	Stale error
	// Unkept is why the list could not be kept on disk; nil when it was, or was
	// not to be.
	Unkept error
}

// dueAfter is the age at which a kept catalog is fetched again.
const dueAfter = 24 * time.Hour

// due reports whether a catalog that was fetched at a time is so old that it is to
// be fetched again. One from the future is: the clock was wrong, and may have been
// for long.
func due(fetched, now time.Time) bool {
	age := now.Sub(fetched)
	return age < 0 || age > dueAfter
}

// The bounds of a catalog. A plugin made it from what a server sent.
const (
	maxModels   = 10_000
	maxID       = 256
	maxEfforts  = 16
	maxEffort   = 64
	maxTokens   = 100_000_000
	maxPrice    = 1_000_000
	modelsLimit = 20 * time.Second
)

// Models asks the configured server for its catalog and keeps it. A server that
// can not be asked, or gives no list, leaves what was kept, with the reason in
// Stale; without that the reason is the error. It takes at most 20 seconds.
func (r *Registry) Models(ctx context.Context, s Selection) (Catalog, error) {
	c, err := r.fetch(ctx, s)
	if err == nil {
		c.Unkept = s.keep(c)
		return c, nil
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return Catalog{}, ctx.Err()
	}
	kept, ok := Kept(s)
	if !ok {
		return Catalog{}, err
	}
	kept.Stale = err
	return kept, nil
}

func (r *Registry) fetch(ctx context.Context, s Selection) (_ Catalog, err error) {
	choice, err := r.Connect(ctx, s)
	if err != nil {
		return Catalog{}, err
	}
	defer func() {
		if closed := choice.Provider.Close(); err == nil {
			err = closed
		}
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, modelsLimit, errNoList)
	defer cancel()
	c, err := List(ctx, choice)
	if errors.Is(err, context.DeadlineExceeded) && context.Cause(ctx) == errNoList {
		err = llm.Errorf(llm.CauseTimeout, "%s sent no list of models within %v", choice.Host, modelsLimit)
	}
	return c, err
}

var errNoList = errors.New("no list of models in time")

// List asks the provider of a choice for its catalog and keeps nothing.
func List(ctx context.Context, c Choice) (Catalog, error) {
	lister, ok := c.Provider.(llm.ModelLister)
	if !ok {
		return Catalog{}, llm.Errorf(llm.CauseBadRequest, "provider %s has no catalog", c.Provider.ID())
	}
	models, err := lister.Models(ctx)
	if err != nil {
		return Catalog{}, err
	}
	return Catalog{Models: usable(models, c.Secrets...), Fetched: time.Now()}, nil
}

// usable leaves out models that could not be named or shown, and facts that can
// not be true. A server that was sent a secret can also call a model by it.
func usable(models []llm.Model, secrets ...string) []llm.Model {
	known := make(map[string]bool)
	good := make([]llm.Model, 0, min(len(models), maxModels))
	for _, m := range models {
		switch {
		case len(good) == maxModels:
			return good
		case !nameable(m.ID, maxID), known[m.ID], llm.Redact(m.ID, secrets...) != m.ID:
			continue
		}
		known[m.ID] = true
		if len(m.Efforts) > maxEfforts || slices.ContainsFunc(m.Efforts, func(e string) bool { return !nameable(e, maxEffort) }) {
			m.Efforts = nil
		}
		m.ContextWindow, m.MaxOutputTokens = tokens(m.ContextWindow), tokens(m.MaxOutputTokens)
		if p := m.Price; p != nil && !(money(p.Input) && money(p.Output) && money(p.CachedInput)) {
			m.Price = nil
		}
		good = append(good, m)
	}
	return good
}

func nameable(s string, most int) bool {
	odd := func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }
	return s != "" && len(s) <= most && !strings.ContainsFunc(s, odd)
}

// tokens is a number of tokens, zero (unknown) for one that can not be.
func tokens(n int) int {
	if n < 0 || n > maxTokens {
		return 0
	}
	return n
}

func money(f float64) bool { return !math.IsNaN(f) && f >= 0 && f <= maxPrice }

// fill adds what the catalog knows of a model where nobody has said anything.
func (c Catalog) fill(m *llm.Model) {
	i := slices.IndexFunc(c.Models, func(o llm.Model) bool { return o.ID == m.ID })
	if i < 0 {
		return
	}
	known := c.Models[i]
	if m.ContextWindow == 0 {
		m.ContextWindow = known.ContextWindow
	}
	if m.MaxOutputTokens == 0 {
		m.MaxOutputTokens = known.MaxOutputTokens
	}
	if m.Efforts == nil {
		m.Efforts = known.Efforts
	}
	if m.Price == nil {
		m.Price = known.Price
	}
}
