package profile

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"alisio/llm"
)

// Source is what an application gets its models from: the provider of the configured
// endpoint, or an embedder's own. The provider is made when a request first needs it,
// and stays. It is safe for concurrent use.
type Source struct {
	Registry  *Registry
	Selection Selection
	// Own, if set, is an embedder's provider, which is used with OwnModel instead of the
	// configured one.
	Own      llm.Provider
	OwnModel llm.Model
	Log      *slog.Logger

	mu      sync.Mutex
	stopped bool
	choice  *Choice
	renewal struct {
		once   sync.Once
		cancel context.CancelFunc
		done   chan struct{}
	}
}

// Choose is the provider with the model of a name, "id" or "provider/id", or, without
// one, with the configured model. Every error says what to set.
func (s *Source) Choose(ctx context.Context, name string) (Choice, error) {
	if name == "" && s.Own == nil && s.Selection.Config.Provider.Model == "" {
		return Choice{}, llm.Errorf(llm.CauseBadRequest, "no model is chosen").
			WithHint("name one with --model NAME, ALISIO_MODEL or provider.model in the configuration; alisio models lists those of the server, alisio setup writes a configuration")
	}
	c, err := s.connect(ctx)
	if name == "" || err != nil {
		return c, err
	}
	if name = strings.TrimPrefix(name, c.Provider.ID()+"/"); name == "" {
		return Choice{}, llm.Errorf(llm.CauseBadRequest, "%s/ is no name of a model", c.Provider.ID())
	}
	if s.Own != nil {
		if c.Model.ID != name {
			c.Model = llm.Model{ID: name}
		}
		return c, nil
	}
	named := s.Selection
	named.Config.Provider.Model = name
	c.Model, c.Kept = Known(named)
	return c, nil
}

// connect makes the provider. Its model is the configured one, if one is.
func (s *Source) connect(ctx context.Context) (Choice, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.choice != nil {
		return *s.choice, nil
	}
	c := Choice{Provider: s.Own, Model: s.OwnModel}
	if s.Own == nil {
		var err error
		if c, err = s.Registry.Connect(ctx, s.Selection); err != nil {
			return c, err
		}
		if s.Selection.Config.Provider.Model != "" {
			c.Model, c.Kept = Known(s.Selection)
		}
		c.Provider = advised{c.Provider, c.Secrets, func() { s.renew(c.Kept) }}
	}
	s.choice = &c
	return c, nil
}

// Secrets are those of the provider; none before it was made.
func (s *Source) Secrets() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.choice == nil {
		return nil
	}
	return s.choice.Secrets
}

// Models lists what the server offers, with refresh as it says now, else as it was
// kept within the last day. A list that could not be had is told in Catalog.Stale,
// beside what was kept. No model need be chosen.
func (s *Source) Models(ctx context.Context, refresh bool) (Catalog, error) {
	if s.Own != nil {
		return List(ctx, Choice{Provider: s.Own})
	}
	if kept, ok := Kept(s.Selection); ok && !refresh && !due(kept.Fetched, time.Now()) {
		return kept, nil
	}
	c, err := s.Registry.Models(ctx, s.Selection)
	if err == nil && c.Unkept != nil {
		s.Log.Warn(c.Unkept.Error())
	}
	return c, err
}

// renew fetches an old catalog again while a run goes on, once. It is called with each
// answer of the model: a run sends no request that it does not need before its first
// answer, and none at all where no catalog is kept: who never asked for one gets none.
func (s *Source) renew(kept time.Time) {
	s.renewal.once.Do(func() {
		if kept.IsZero() || !due(kept, time.Now()) {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.stopped {
			return
		}
		ctx, cancel := context.WithCancel(context.Background())
		s.renewal.cancel, s.renewal.done = cancel, make(chan struct{})
		go func() {
			defer close(s.renewal.done)
			// An old list is as good as no answer: the next run tries again.
			s.Registry.Models(ctx, s.Selection)
		}()
	})
}

// Stop gives up what is being fetched, and begins nothing of the kind any more. Answers
// can still be asked for.
func (s *Source) Stop() {
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	if s.renewal.cancel != nil {
		s.renewal.cancel()
		<-s.renewal.done
	}
}

// Close closes the provider if it is not the embedder's. Nothing is chosen after it.
func (s *Source) Close() error {
	s.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.choice == nil || s.Own != nil {
		return nil
	}
	return s.choice.Provider.Close()
}
