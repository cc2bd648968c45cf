package host

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"alisio/plug"
)

// paths are the directories of a plugin below those of the person.
func (h *Host) paths(e *entry) plug.Paths {
	below := func(kind, home string) func() (string, error) {
		return func() (string, error) {
			if err := h.present(e); err != nil {
				return "", fmt.Errorf("find %s directory: %w", kind, err)
			}
			if home == "" {
				return "", fmt.Errorf("find %s directory: there is none in this run", kind)
			}
			dir := filepath.Join(home, "plugins", e.id())
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return "", fmt.Errorf("make %s directory: %w", kind, err)
			}
			return dir, nil
		}
	}
	return plug.Paths{
		Config: below("config", h.o.Dirs.Config),
		State:  below("state", h.o.Dirs.State),
		Cache:  below("cache", h.o.Dirs.Cache),
	}
}

// state keeps the values of a plugin.
func (h *Host) state(e *entry) plug.State {
	check := func(key string) error {
		if h.o.State == nil {
			return errors.New("nothing keeps it in this run")
		}
		return cmp.Or(plug.CheckStateKey(key), h.present(e))
	}
	return plug.State{
		Get: func(ctx context.Context, key string) (json.RawMessage, error) {
			if err := check(key); err != nil {
				return nil, fmt.Errorf("get state: %w", err)
			}
			return h.o.State.Get(ctx, e.id(), key)
		},
		Set: func(ctx context.Context, key string, value json.RawMessage) error {
			if err := cmp.Or(check(key), plug.CheckStateValue(value)); err != nil {
				return fmt.Errorf("set state: %w", err)
			}
			return h.o.State.Set(ctx, e.id(), key, slices.Clone(value))
		},
		Delete: func(ctx context.Context, key string) error {
			if err := check(key); err != nil {
				return fmt.Errorf("delete state: %w", err)
			}
			return h.o.State.Delete(ctx, e.id(), key)
		},
		Keys: func(ctx context.Context, prefix string) ([]string, error) {
			if err := check("x" + prefix[:min(len(prefix), plug.MaxStateKey-1)]); err != nil {
				return nil, fmt.Errorf("list state: %w", err)
			}
			keys, err := h.o.State.Keys(ctx, e.id(), prefix)
			return slices.Sorted(slices.Values(keys)), err
		},
	}
}
