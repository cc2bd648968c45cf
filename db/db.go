// Package db is the database: sessions, messages, run events, the tool journal,
// runs, plugin state, workspaces and blobs in one SQLite file, with the locks
// and the blob files beside it (spec store.md).
//
// It stores what it is given and knows no model, no tool and no screen. Bodies,
// results and usage are text to it. It deletes nothing that it was not told to,
// and never alters or overwrites a file that it can not read.
//
//	Write ─ one writer connection ─ BEGIN IMMEDIATE ─ do(Tx) ─ record… ─ COMMIT
//	reads ─ of a run's start: the writer connection; all others: a small pool
package db

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"path/filepath"

	"alisio/db/pages"
	"alisio/db/place"

	"modernc.org/sqlite" // the driver; this package is its only door
)

// Options say which database to open, and how.
type Options struct {
	// Path is the absolute path of the database file.
	Path string
	// Home is the absolute directory that holds locks/ and blobs/.
	Home string
	// ReadOnly: look only; nothing is created, migrated, locked or written.
	ReadOnly bool
	// Ends: the process ends soon after Close, which leaves a short log to the next
	// program that opens the database. That is as safe, and saves the four waits
	// for the disk that folding it in takes. A log of 512 KiB or more, or one with
	// the schema, is folded in: who copies the file alone lacks at most the last runs.
	Ends bool
	// Notice takes one-line facts that a person should know. It may be nil.
	Notice func(text string)
}

// DB is an open database. Its methods may be called from several goroutines.
type DB struct {
	reads
	path     string
	home     string
	readOnly bool
	ends     bool
	// raised: this opening made the schema, or part of it.
	raised bool
	notice func(text string)
	// writer is nil in a database opened read-only.
	writer *writer
	// readers connect on first use: a short run never pays for them.
	readers *sql.DB
}

// maxReaders bounds the connections that read beside the writer.
const maxReaders = 4

// Open opens a database, creates it if it is not there, and brings its schema
// up to date. Text that is no database gives a *DamagedError and stays as it is.
func Open(ctx context.Context, o Options) (*DB, error) {
	if !filepath.IsAbs(o.Path) || !filepath.IsAbs(o.Home) {
		return nil, fmt.Errorf("open db: path %q and home %q must be absolute", o.Path, o.Home)
	}
	// Where there are no such locks the usual ones serve: they are lost only
	// if something else in this process opens and closes the file.
	_, _ = sqlite.OFDLocking(true)
	d := &DB{path: place.Resolved(o.Path), home: o.Home, readOnly: o.ReadOnly, ends: o.Ends, notice: o.Notice}
	d.reads = reads{d}
	open := d.openWriter
	if o.ReadOnly {
		open = d.openReader
	}
	if err := open(ctx); err != nil {
		return nil, fmt.Errorf("open db: %w", explain(o.Path, cmp.Or(err, d.Close())))
	}
	return d, nil
}

func (d *DB) openWriter(ctx context.Context) error {
	if err := place.Prepare(d.path); err != nil {
		return err
	}
	w, err := connect(ctx, d.path)
	if err != nil {
		return err
	}
	d.writer = w
	if err := d.readersAt(writable(d.path, readerPragmas)); err != nil {
		return err
	}
	return d.bringUp(ctx)
}

func (d *DB) openReader(ctx context.Context) error {
	if err := cmp.Or(place.Regular(d.path), place.Unmarked(d.path)); err != nil {
		return err
	}
	return d.openLook(ctx, place.MayWrite(d.path) == nil)
}

// openLook opens the database for reading and looks at it once, so that a file
// which is none is refused here and not by the first read. Only where the file
// could not be written either does it do without the locks of the others.
func (d *DB) openLook(ctx context.Context, writable bool) error {
	if writable {
		if err := d.readersAt(d.readable(lookShared)); err != nil {
			return err
		}
		return Retry(ctx, func() error { return d.peek(ctx) })
	}
	if place.Size(d.path+"-wal") > 0 {
		if pages.Indexed(d.path) {
			if err := d.readersAt(d.readable(lookIndexed)); err != nil {
				return err
			}
			if d.peek(ctx) == nil {
				return nil
			}
			_ = d.readers.Close()
		}
		d.tell("%s has a log beside it that can not be read without writing: what was stored last is not shown", d.path)
	}
	if err := d.readersAt(d.readable(lookAlone)); err != nil {
		return err
	}
	return Retry(ctx, func() error { return d.peek(ctx) })
}

func (d *DB) peek(ctx context.Context) error {
	var n int64
	return d.readers.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master`).Scan(&n)
}

func (d *DB) readersAt(name string) error {
	c, err := sqlite.NewConnector(name)
	if err != nil {
		return err
	}
	d.readers = sql.OpenDB(c)
	d.readers.SetMaxOpenConns(maxReaders)
	d.readers.SetMaxIdleConns(maxReaders)
	return nil
}

// shortLog is the longest log that is left behind, in bytes. Whoever opens the
// database next has to read it.
const shortLog = 512 << 10

// Close waits for the transaction at work and gives back what the database
// holds. The log of a database that nobody else has open is folded into it; see
// Options.Ends for when it is not.
func (d *DB) Close() error {
	var err error
	log := place.Size(d.path + "-wal")
	leave := d.ends && !d.raised && log < shortLog
	if d.readers != nil && !leave {
		err = d.readers.Close()
	}
	if d.writer != nil {
		err = cmp.Or(d.writer.close(leave), err)
	}
	if err != nil {
		return fmt.Errorf("close db: %w", explain(d.path, err))
	}
	return nil
}

func (d *DB) tell(format string, args ...any) {
	if d.notice != nil {
		d.notice(fmt.Sprintf(format, args...))
	}
}
