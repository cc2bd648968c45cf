package ports

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"alisio/agent/session"
	"alisio/plug"
)

// States gives a store the form in which the host keeps values of plugins: what is not
// there is nil.
type States struct{ Store session.States }

// Get returns a value.
func (s States) Get(ctx context.Context, plugin, key string) (json.RawMessage, error) {
	v, err := s.Store.State(ctx, plugin, key)
	if errors.Is(err, session.ErrNotFound) {
		return nil, nil
	}
	return json.RawMessage(v), err
}

// Set stores a value.
func (s States) Set(ctx context.Context, plugin, key string, value json.RawMessage) error {
	return s.Store.SetState(ctx, plugin, key, string(value))
}

// Delete takes a value away.
func (s States) Delete(ctx context.Context, plugin, key string) error {
	return s.Store.SetState(ctx, plugin, key, "")
}

// Keys lists the keys with a prefix, sorted.
func (s States) Keys(ctx context.Context, plugin, prefix string) ([]string, error) {
	return s.Store.StateKeys(ctx, plugin, prefix)
}

// Below is the part of an owner's values with keys that begin with a prefix, which who
// is given it does not see.
func (s States) Below(owner, prefix string) plug.State {
	return plug.State{
		Get: func(ctx context.Context, key string) (json.RawMessage, error) { return s.Get(ctx, owner, prefix+key) },
		Set: func(ctx context.Context, key string, value json.RawMessage) error {
			return s.Set(ctx, owner, prefix+key, value)
		},
		Delete: func(ctx context.Context, key string) error { return s.Delete(ctx, owner, prefix+key) },
		Keys: func(ctx context.Context, begin string) ([]string, error) {
			keys, err := s.Keys(ctx, owner, prefix+begin)
			for i, k := range keys {
				keys[i] = strings.TrimPrefix(k, prefix)
			}
			return keys, err
		},
	}
}
