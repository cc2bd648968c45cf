package db

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"

	"alisio/db/place"
	"alisio/db/schema"
)

// ForeignError tells that a database is another program's.
type ForeignError = schema.ForeignError

// bringUp makes the database one that this program can work with. Nothing but
// one SELECT, and a look at the journal mode, happens to one that is.
func (d *DB) bringUp(ctx context.Context) error {
	have, err := d.look(ctx)
	if err != nil {
		return err
	}
	newer := schema.Newest(have) > schema.Latest()
	if newer {
		if err := d.checkColumns(schema.Newest(have)); err != nil {
			return err
		}
	}
	if err := place.Restrict(d.path); err != nil {
		return err
	}
	if err := d.setJournal(ctx, d.journal()); err != nil {
		return err
	}
	if newer || schema.Complete(have) {
		return nil
	}
	d.raised = true
	return Retry(ctx, func() error { return schema.Raise(ctx, d.writer.conn, d.keepOld) })
}

// look returns the recorded versions, none for a new file. It refuses the
// database of another program before anything is done to it.
func (d *DB) look(ctx context.Context) (have []int64, err error) {
	err = Retry(ctx, func() (err error) {
		if have, err = schema.Versions(d.writer.conn); err != nil || schema.Complete(have) {
			return err
		}
		there, err := schema.Columns(d.writer.conn)
		return cmp.Or(err, schema.Foreign(d.path, there))
	})
	return have, err
}

// checkColumns tells whether a database of a newer program still has all that
// this one reads and writes. It is opened as it is, or refused.
func (d *DB) checkColumns(version int64) error {
	there, err := schema.Columns(d.writer.conn)
	if err != nil {
		return err
	}
	if name := schema.Missing(there); name != "" {
		return fmt.Errorf("%q was changed by a newer alisio (version %d) and has no %s: update alisio", d.path, version, name)
	}
	return nil
}

// Versions returns the versions that the database's schema has reached.
func (r reads) Versions(ctx context.Context) ([]int, error) {
	return list(ctx, r.src, cold, `SELECT version FROM schema_migrations ORDER BY version`, func(rows *sql.Rows) (int, error) {
		n, err := scanNumber(rows)
		return int(n), err
	})
}
