package db

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"

	"alisio/db/schema"

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
		return fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	if d.readOnly && resultCode(err) == sqlite3.SQLITE_ERROR {
		return d.older(err)
	}
	return explain(d.path, err)
}

// OlderError tells that a database which is only looked at lacks what a read
// names: it is brought up to date when it is opened for writing.
type OlderError struct {
	Path string
	// Version is the newest that its schema has reached, zero if it names none.
	Version int
	Err     error
}

func (e *OlderError) Error() string {
	return fmt.Sprintf("the database %q is of an older version (%d), which is brought up to date when it is opened for writing", e.Path, e.Version)
}

func (e *OlderError) Unwrap() error { return e.Err }

// older tells whether a statement that SQLite does not understand is for a
// database of an older version, or for what is none of ours.
func (d *DB) older(err error) error {
	have, failed := schema.Versions(d.readers)
	if failed == nil && !schema.Complete(have) {
		var there []string // nothing, where a program died before it had made the schema
		if there, failed = schema.Columns(d.readers); failed == nil {
			return cmp.Or(schema.Foreign(d.path, there), error(&OlderError{Path: d.path, Version: int(schema.Newest(have)), Err: err}))
		}
	}
	return explain(d.path, err)
}
