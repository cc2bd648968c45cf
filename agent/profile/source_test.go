package profile

import (
	"context"
	"iter"
	"log/slog"
	"strings"
	"testing"
	"time"

	"alisio/llm"
	"alisio/plug"
)

// idle is a provider that answers, and counts how often it was closed.
type idle struct{ closed *int }

func (idle) ID() string     { return "toy" }
func (i idle) Close() error { *i.closed++; return nil }
func (idle) Stream(context.Context, llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		yield(llm.Event{Kind: llm.Completed, Message: &llm.Message{Role: llm.RoleAssistant, Text: "hi"}}, nil)
	}
}

// source is one of a configuration, with how often its provider was made and closed.
func source(t *testing.T, config string) (s *Source, made, closed *int) {
	t.Helper()
	made, closed = new(int), new(int)
	s = &Source{Registry: &Registry{}, Log: slog.New(slog.DiscardHandler), Selection: Selection{
		Config: load(t, config, nil), Getenv: func(string) string { return key }, Loopback: func(string) bool { return true },
	}}
	_, err := s.Registry.Register(plug.ProviderRegistration{ID: "toy", Endpoint: true,
		Create: func(context.Context, plug.ProviderSettings) (llm.Provider, error) {
			*made++
			return idle{closed}, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	return s, made, closed
}

func TestASourceMakesItsProviderOnce(t *testing.T) {
	s, made, closed := source(t, `{"provider":{"model":"m"},"models":{"big":{"contextWindow":7}}}`)
	if got := s.Secrets(); got != nil {
		t.Errorf("before it was made: %q", got)
	}
	for name, want := range map[string]llm.Model{
		"": {ID: "m"}, "m": {ID: "m"}, "toy/big": {ID: "big", ContextWindow: 7}, "other/big": {ID: "other/big"},
	} {
		if c, err := s.Choose(t.Context(), name); err != nil || c.Model.ID != want.ID || c.Model.ContextWindow != want.ContextWindow {
			t.Errorf("%q: got %+v, %v, want %+v", name, c.Model, err, want)
		}
	}
	if c, err := s.Choose(t.Context(), "toy/"); err == nil {
		t.Errorf("a name that is none: got %+v", c.Model)
	}
	if got := s.Secrets(); len(got) != 1 || got[0] != key {
		t.Errorf("got %q", got)
	}
	if err := s.Close(); err != nil || *made != 1 || *closed != 1 {
		t.Errorf("made %d times, closed %d times, %v", *made, *closed, err)
	}
}

func TestASourceWithoutAModel(t *testing.T) {
	s, made, _ := source(t, `{}`)
	if _, err := s.Choose(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "no model is chosen") || *made != 0 {
		t.Errorf("got %v, made %d times", err, *made)
	}
	if c, err := s.Choose(t.Context(), "named"); err != nil || c.Model.ID != "named" {
		t.Errorf("got %+v, %v", c.Model, err)
	}
}

// An embedder's provider is its own to close, and only its model is known.
func TestASourceWithAProviderOfTheEmbedders(t *testing.T) {
	s, made, closed := source(t, `{}`)
	s.Own, s.OwnModel = idle{closed}, llm.Model{ID: "own", ContextWindow: 5}
	for name, window := range map[string]int{"": 5, "own": 5, "toy/own": 5, "other": 0} {
		if c, err := s.Choose(t.Context(), name); err != nil || c.Model.ContextWindow != window {
			t.Errorf("%q: got %+v, %v", name, c.Model, err)
		}
	}
	if err := s.Close(); err != nil || *made != 0 || *closed != 0 {
		t.Errorf("made %d times, closed %d times, %v", *made, *closed, err)
	}
}

// An answer has an old catalog fetched again, once, and not behind the end.
func TestAnAnswerRenewsAnOldCatalog(t *testing.T) {
	for _, c := range []struct {
		name    string
		age     time.Duration
		stopped bool
		want    int32
	}{
		{"old", 48 * time.Hour, false, 1},
		{"new", time.Hour, false, 0},
		{"stopped", 48 * time.Hour, true, 0},
	} {
		p := open(t, wares)
		if err := p.s.keep(Catalog{Fetched: time.Now().Add(-c.age), Models: []llm.Model{{ID: "a"}}}); err != nil {
			t.Fatal(err)
		}
		s := &Source{Registry: &p.registry, Selection: p.s, Log: slog.New(slog.DiscardHandler)}
		kept, _ := Kept(p.s)
		if c.stopped {
			s.Stop()
		}
		for range 2 {
			s.renew(kept.Fetched)
		}
		if s.renewal.done != nil {
			<-s.renewal.done
		}
		if got := p.asked.Load(); got != c.want {
			t.Errorf("%s: asked %d times, want %d", c.name, got, c.want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
