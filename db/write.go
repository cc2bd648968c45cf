package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"
)

// Sync is how durable a commit is.
type Sync int

const (
	// Normal survives the death of this process, not always that of the machine.
	Normal Sync = iota
	// Full is on the disk when Write returns, for what must be known to have
	// begun before it has its effect (spec store.md).
	Full
)

// errOver tells that a Tx was used behind the end of its transaction.
var errOver = errors.New("the transaction is over")

// Fact says what one statement made durable.
type Fact struct {
	Kind Kind
	// Session is empty for facts of none.
	Session string
	// Key is the fact's own: a run's id, a call's id, a hash, a path.
	Key string
}

// Kind is what a fact is about.
type Kind string

// The kinds of facts.
const (
	FactSession   Kind = "session"
	FactMessage   Kind = "message"
	FactEvent     Kind = "event"
	FactCall      Kind = "call"
	FactRun       Kind = "run"
	FactState     Kind = "state"
	FactWorkspace Kind = "workspace"
	FactBlob      Kind = "blob"
	FactSetting   Kind = "setting"
	FactDeletion  Kind = "deletion"
)

// Tx is a write transaction. It is good inside the function that it was given
// to, in one goroutine.
type Tx struct {
	reads
	d *DB
	w *writer
	// over is why nothing can be stored any more: SQLite may have undone the
	// transaction, and a statement behind that would be kept on its own.
	over error
}

// Write is the one function through which every durable fact passes: one
// immediate transaction, waited for while other processes write. When it
// returns nil, all that do stored is kept; else nothing is.
//
// While other processes are in the way do may be called again from its start, so
// it has no effects but those on its Tx. It must not call Write, which would
// wait for it; reads of the DB do not see what it wrote.
func (d *DB) Write(ctx context.Context, s Sync, do func(*Tx) error) error {
	if d.readOnly {
		return ErrReadOnly
	}
	if err := d.writer.take(ctx); err != nil {
		return fmt.Errorf("write db: %w", err)
	}
	defer d.writer.give()
	return Retry(ctx, func() error { return d.attempt(ctx, s, do) })
}

// attempt runs one transaction. A panic in do undoes it.
func (d *DB) attempt(ctx context.Context, s Sync, do func(*Tx) error) (err error) {
	if ctx.Err() != nil {
		return fmt.Errorf("write db: %w", context.Cause(ctx))
	}
	if err := d.begin(s); err != nil {
		return fmt.Errorf("write db: %w", explain(d.path, err))
	}
	open := true
	defer func() {
		if open {
			// It fails when SQLite has undone the transaction by itself.
			_, _ = d.writer.exec(`ROLLBACK`)
		}
	}()
	t := &Tx{d: d, w: d.writer}
	t.reads = reads{t}
	err = do(t)
	if err == nil {
		err = t.over
	}
	t.over = errOver
	if err != nil {
		return err
	}
	// A reader can stand in the way of a commit where there is no write-ahead
	// log; the transaction is still whole then.
	err = Retry(ctx, func() error {
		_, err := d.writer.exec(`COMMIT`)
		return err
	})
	if err != nil {
		return fmt.Errorf("write db: %w", explain(d.path, err))
	}
	open = false
	return nil
}

// begin sets how durable the commit will be, which can not be done inside a
// transaction, and begins one.
func (d *DB) begin(s Sync) error {
	w := d.writer
	if w.sync != s {
		text := `PRAGMA synchronous = NORMAL`
		if s == Full {
			text = `PRAGMA synchronous = FULL`
		}
		if err := w.pragma(text); err != nil {
			return err
		}
		w.sync = s
	}
	_, err := w.exec(`BEGIN IMMEDIATE`)
	return err
}

// record carries out the one statement of a fact. Every statement of this
// package that changes a row passes here, but those of migrations, of the
// storage port and of repair. After a violated key the transaction goes on,
// after any other error it is over, whatever its function returns.
func (t *Tx) record(f Fact, query string, args ...any) (sql.Result, error) {
	if t.over != nil {
		return nil, t.over
	}
	res, err := t.w.exec(query, args...)
	if err == nil {
		return res, nil
	}
	violation := resultCode(err)&0xff == sqlite3.SQLITE_CONSTRAINT
	err = fmt.Errorf("store %s: %w", f.Kind, taken(explain(t.d.path, err)))
	if !violation {
		t.over = err
	}
	return nil, err
}

// recordOne is record for a statement that must change a row: if it changed
// none, there is no such row.
func (t *Tx) recordOne(f Fact, query string, args ...any) error {
	res, err := t.record(f, query, args...)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return fmt.Errorf("store %s: %w", f.Kind, err)
	}
	if n == 0 {
		return fmt.Errorf("store %s: %w", f.Kind, ErrNotFound)
	}
	return nil
}
