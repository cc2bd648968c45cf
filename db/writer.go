package db

import (
	"cmp"
	"context"
	"database/sql"

	"modernc.org/sqlite"
)

// writer is the one connection that writes, with its prepared statements. It is
// used by whoever holds its turn.
//
// Its statements run without the caller's context: they are short, and a
// statement cut short in the middle would leave open what became of it. Contexts
// are looked at between statements.
type writer struct {
	// turn holds one token while nobody works; it is closed never.
	turn  chan struct{}
	pool  *sql.DB
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
	// changes are the last changes of sessions, in ms, as this process stored them.
	changes map[string]int64
	sync    Sync
	closed  bool
}

func connect(ctx context.Context, path string) (*writer, error) {
	c, err := sqlite.NewConnector(writable(path, writerPragmas))
	if err != nil {
		return nil, err
	}
	w := &writer{turn: make(chan struct{}, 1), pool: sql.OpenDB(c), stmts: map[string]*sql.Stmt{}, changes: map[string]int64{}}
	w.turn <- struct{}{}
	err = Retry(ctx, func() (err error) {
		w.conn, err = w.pool.Conn(ctx)
		return err
	})
	if err != nil {
		return nil, cmp.Or(err, w.pool.Close())
	}
	return w, nil
}

// take waits for the turn.
func (w *writer) take(ctx context.Context) error {
	select {
	case <-w.turn:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if w.closed {
		w.give()
		return errShut
	}
	return nil
}

// takeIfFree takes the turn if nobody has it.
func (w *writer) takeIfFree() (free bool, err error) {
	select {
	case <-w.turn:
	default:
		return false, nil
	}
	if w.closed {
		w.give()
		return false, errShut
	}
	return true, nil
}

func (w *writer) give() { w.turn <- struct{}{} }

// close gives the connection back, or, when it is left, lets the end of the
// process do so.
func (w *writer) close(leave bool) error {
	<-w.turn
	defer w.give()
	if w.closed || leave {
		w.closed = true
		return nil
	}
	w.closed = true
	var err error
	for _, s := range w.stmts {
		err = cmp.Or(err, s.Close())
	}
	return cmp.Or(err, w.conn.Close(), w.pool.Close())
}

// prepared returns the statement of a text. Texts are constants, so there are
// few.
func (w *writer) prepared(query string) (*sql.Stmt, error) {
	if s, ok := w.stmts[query]; ok {
		return s, nil
	}
	s, err := w.conn.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	w.stmts[query] = s
	return s, nil
}

func (w *writer) exec(query string, args ...any) (sql.Result, error) {
	s, err := w.prepared(query)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(context.Background(), args...)
}

func (w *writer) query(query string, each func(*sql.Rows) error, args ...any) error {
	s, err := w.prepared(query)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(context.Background(), args...)
	if err != nil {
		return err
	}
	return drain(rows, each)
}

func drain(rows *sql.Rows, each func(*sql.Rows) error) error {
	err := each(rows)
	return cmp.Or(err, rows.Err(), rows.Close())
}

// pragma runs a statement that must not be prepared and kept: SQLite carries
// out most pragmas when they are compiled, so that a kept one does nothing.
func (w *writer) pragma(text string) error {
	_, err := w.conn.ExecContext(context.Background(), text)
	return err
}
