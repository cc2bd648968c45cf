package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	"alisio/db/place"

	"modernc.org/sqlite"
)

// keepOld saves a database of an older version before its first step, once. The
// caller holds the write lock, so the copy is of that version; it is made over a
// connection of its own, because the writer's is in a transaction.
func (d *DB) keepOld(ctx context.Context, version int64) error {
	path := oldBackup(d.path, version)
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	if err := d.copyTo(ctx, path); err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	d.tell("the database %s was of version %d; a copy of it is kept as %s", d.path, version, path)
	return nil
}

func oldBackup(path string, version int64) string {
	return fmt.Sprintf("%s.v%d.backup", path, version)
}

// copyTo writes what the database holds now to a new file, which is there whole
// or not at all.
func (d *DB) copyTo(ctx context.Context, path string) error {
	part := fmt.Sprintf("%s.%d.part", path, os.Getpid())
	if err := os.Remove(part); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := place.Create(part); err != nil {
		return err
	}
	err := vacuumInto(ctx, d.path, part)
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		_ = os.Remove(part)
		return err
	}
	return nil
}

func vacuumInto(ctx context.Context, from, to string) error {
	c, err := sqlite.NewConnector(writable(from, commonPragmas))
	if err != nil {
		return err
	}
	pool := sql.OpenDB(c)
	_, err = pool.ExecContext(ctx, `VACUUM INTO ?`, to)
	return cmp.Or(err, pool.Close())
}
