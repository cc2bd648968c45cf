package db

import (
	"context"
	"path/filepath"

	"alisio/db/netfs"
)

// journal is the kind that suits the place: the write-ahead log needs memory
// that all who use the file share, which machines do not.
func (d *DB) journal() string {
	name, yes := netfs.Of(filepath.Dir(d.path))
	if !yes {
		return "wal"
	}
	d.tell("%s", netfs.Line(filepath.Dir(d.path), name))
	return "delete"
}

// setJournal sets the kind, which stays with the file, unless it is that one.
func (d *DB) setJournal(ctx context.Context, kind string) error {
	return Retry(ctx, func() error {
		var now string
		err := d.writer.conn.QueryRowContext(context.Background(), `PRAGMA journal_mode`).Scan(&now)
		if err != nil || now == kind {
			return err
		}
		if kind == "delete" {
			return d.writer.pragma(`PRAGMA journal_mode = DELETE`)
		}
		return d.writer.pragma(`PRAGMA journal_mode = WAL`)
	})
}
