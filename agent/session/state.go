package session

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"alisio/db"
)

// States is what a store implements that keeps small values for plugins (spec
// store.md, plugin_state).
type States interface {
	// State returns a value, or ErrNotFound.
	State(ctx context.Context, plugin, key string) (string, error)
	// SetState stores a value; an empty one takes it away.
	SetState(ctx context.Context, plugin, key, value string) error
	// StateKeys lists the keys with a prefix, sorted.
	StateKeys(ctx context.Context, plugin, prefix string) ([]string, error)
}

// State implements States.
func (s *SQLite) State(ctx context.Context, plugin, key string) (string, error) {
	v, err := s.db.State(ctx, plugin, key)
	return v, mapped("read state "+key, err)
}

// SetState implements States.
func (s *SQLite) SetState(ctx context.Context, plugin, key, value string) error {
	return s.change(ctx, "store state "+key, func(tx *db.Tx) error {
		if value == "" {
			return tx.DeleteState(plugin, key)
		}
		return tx.SetState(plugin, key, value)
	})
}

// StateKeys implements States.
func (s *SQLite) StateKeys(ctx context.Context, plugin, prefix string) ([]string, error) {
	all, err := s.db.States(ctx, plugin)
	return keysWith(all, prefix), mapped("list state", err)
}

func keysWith(all map[string]string, prefix string) []string {
	keys := slices.Sorted(maps.Keys(all))
	return slices.DeleteFunc(keys, func(k string) bool { return !strings.HasPrefix(k, prefix) })
}

// State implements States.
func (m *Memory) State(_ context.Context, plugin, key string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.states[plugin][key]
	if !ok {
		return "", fmt.Errorf("read state %s: %w", key, ErrNotFound)
	}
	return v, nil
}

// SetState implements States.
func (m *Memory) SetState(_ context.Context, plugin, key, value string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if value == "" {
		delete(m.states[plugin], key)
		return nil
	}
	if m.states[plugin] == nil {
		m.states[plugin] = make(map[string]string)
	}
	m.states[plugin][key] = value
	return nil
}

// StateKeys implements States.
func (m *Memory) StateKeys(_ context.Context, plugin, prefix string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return keysWith(m.states[plugin], prefix), nil
}
