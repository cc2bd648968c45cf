package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"
)

// source is where rows come from: a DB, or a Tx that sees what it wrote.
type source interface {
	// query gives the rows of a statement to each, which may be called again
	// from the start.
	query(ctx context.Context, t heat, text string, each func(*sql.Rows) error, args ...any) error
}

// heat says whether a read belongs to every run.
type heat int

const (
	// cold reads go over connections of their own, beside the writer.
	cold heat = iota
	// hot reads are short, and not worth opening another connection.
	hot
)

func (t *Tx) query(ctx context.Context, _ heat, text string, each func(*sql.Rows) error, args ...any) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return explain(t.d.path, t.w.query(text, each, args...))
}

// query reads over the writer's connection what every run reads, if nobody is
// writing: a write that waits for another process must not hold up a look.
func (d *DB) query(ctx context.Context, t heat, text string, each func(*sql.Rows) error, args ...any) error {
	err := Retry(ctx, func() error {
		if t == hot && d.writer != nil {
			if free, err := d.writer.takeIfFree(); err != nil {
				return err
			} else if free {
				defer d.writer.give()
				return d.writer.query(text, each, args...)
			}
		}
		rows, err := d.readers.QueryContext(ctx, text, args...)
		if err != nil {
			return err
		}
		return drain(rows, each)
	})
	if err != nil && ctx.Err() != nil {
		return errors.Join(context.Cause(ctx), err)
	}
	if d.readOnly && resultCode(err) == sqlite3.SQLITE_ERROR {
		return fmt.Errorf("the database %q is of an older version, which is brought up to date when it is opened for writing: %w", d.path, err)
	}
	return explain(d.path, err)
}
