package db

import (
	"context"
	"database/sql"
	"fmt"
)

// SetState stores a value of a plugin.
func (t *Tx) SetState(plugin, key, value string) error {
	_, err := t.record(Fact{Kind: FactState, Key: plugin + "/" + key}, `INSERT INTO plugin_state (plugin, key, value) VALUES (?, ?, ?)
		ON CONFLICT (plugin, key) DO UPDATE SET value = excluded.value`, plugin, key, value)
	return err
}

// DeleteState removes a value of a plugin, if it is there.
func (t *Tx) DeleteState(plugin, key string) error {
	_, err := t.record(Fact{Kind: FactState, Key: plugin + "/" + key}, `DELETE FROM plugin_state WHERE plugin = ? AND key = ?`, plugin, key)
	return err
}

// State returns a value of a plugin, or ErrNotFound.
func (r reads) State(ctx context.Context, plugin, key string) (string, error) {
	return one(ctx, r.src, hot, `SELECT value FROM plugin_state WHERE plugin = ? AND key = ?`, scanText, plugin, key)
}

// States returns all values of a plugin.
func (r reads) States(ctx context.Context, plugin string) (map[string]string, error) {
	var out map[string]string
	err := r.src.query(ctx, hot, `SELECT key, value FROM plugin_state WHERE plugin = ?`, func(rows *sql.Rows) error {
		out = map[string]string{}
		for rows.Next() {
			var key, value text
			if err := rows.Scan(&key, &value); err != nil {
				return err
			}
			out[string(key)] = string(value)
		}
		return nil
	}, plugin)
	if err != nil {
		return nil, fmt.Errorf("read db: %w", err)
	}
	return out, nil
}
