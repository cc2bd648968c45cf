// Package storage gives a plugin, or the index of the words of all sessions, a database
// file of its own (spec store.md, "Storage port").
//
// It reaches no file but that one, and knows nothing of sessions.
package storage

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"alisio/db"
)

// maxStatements bounds the statements that a storage keeps compiled.
const maxStatements = 128

// ErrClosed tells that a storage was closed.
var ErrClosed = errors.New("the storage is closed")

// Storage is a plugin's own database file (spec store.md, "Storage port"). It
// has one connection: calls are served one after the other. It reaches no file
// but its own: ATTACH, VACUUM INTO and load_extension are refused, and so is a
// PRAGMA that is not known to be harmless.
type Storage struct {
	pool *sql.DB
	conn *sql.Conn
	// turn holds one token: who has it uses the connection.
	turn chan struct{}
	// statements, by their text, belong to the holder of the token.
	statements map[string]*sql.Stmt
	// work guards the connection against callers that share a transaction.
	work   sync.Mutex
	close  sync.Once
	closed chan struct{}
}

// transactionKey is the key of a context under which a transaction's functions
// find the storage whose connection they have already.
type transactionKey struct{ s *Storage }

// transaction is what nested calls share. Its first error fails the outermost.
type transaction struct {
	mu    sync.Mutex
	err   error
	ended bool
}

func (t *transaction) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = err
	}
}

// end returns what the nested calls failed with; none is let in after it.
func (t *transaction) end() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	return t.err
}

func (t *transaction) over() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended
}

// OpenStorage opens the database at an absolute path, and makes it, with its
// directory, if need be.
func OpenStorage(ctx context.Context, path string) (*Storage, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("open storage %q: the path must be absolute", path)
	}
	if err := ownFile(path); err != nil {
		return nil, fmt.Errorf("open storage: %w", err)
	}
	pool, conn, err := db.OpenOwn(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("open storage %q: %w", path, err)
	}
	s := &Storage{
		pool: pool, conn: conn, turn: make(chan struct{}, 1),
		statements: map[string]*sql.Stmt{}, closed: make(chan struct{}),
	}
	s.turn <- struct{}{}
	return s, nil
}

// ownFile makes the file for its owner alone, before SQLite makes it for all.
func ownFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(path)
	if err == nil {
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%q is not a regular file", path)
		}
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// Close ends the storage after the call that runs.
func (s *Storage) Close() error {
	err := ErrClosed
	s.close.Do(func() {
		close(s.closed)
		<-s.turn
		err = nil
		for _, st := range s.statements {
			err = cmp.Or(err, st.Close())
		}
		err = cmp.Or(err, s.conn.Close(), s.pool.Close())
	})
	return err
}

// acquire waits for the connection, unless ctx belongs to a transaction that has
// it. What it returns gives the connection back.
func (s *Storage) acquire(ctx context.Context) (release func(), err error) {
	if t := s.within(ctx); t != nil {
		if t.over() {
			return nil, errors.New("the transaction is over")
		}
		return func() {}, nil
	}
	select {
	case <-s.closed:
		return nil, ErrClosed
	default:
	}
	select {
	case <-s.closed:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-s.turn:
		return func() { s.turn <- struct{}{} }, nil
	}
}

func (s *Storage) within(ctx context.Context) *transaction {
	t, _ := ctx.Value(transactionKey{s}).(*transaction)
	return t
}

// Transaction runs do in an immediate transaction and keeps what it did if it
// returns nil. A call with the context that do gets joins: it neither begins nor
// commits, and its error fails the outermost transaction whatever do returns. A
// panic rolls back and goes on. The context that do gets is of no use after it.
func (s *Storage) Transaction(ctx context.Context, do func(ctx context.Context) error) error {
	if outer := s.within(ctx); outer != nil {
		if outer.over() {
			return errors.New("join transaction: it is over")
		}
		err := do(ctx)
		outer.fail(err)
		return err
	}
	release, err := s.acquire(ctx)
	if err != nil {
		return fmt.Errorf("begin transaction: %w", err)
	}
	defer release()
	if err := s.plain(ctx, "BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("begin transaction: %w", err)
	}
	t, committed := &transaction{}, false
	defer func() {
		_ = t.end()
		if !committed {
			// What ended the caller must not keep the file locked.
			_ = s.plain(context.WithoutCancel(ctx), "ROLLBACK")
		}
	}()
	err = do(context.WithValue(ctx, transactionKey{s}, t))
	if nested := t.end(); err == nil {
		err = nested
	}
	if err != nil {
		return err
	}
	if err := s.plain(ctx, "COMMIT"); err != nil {
		return fmt.Errorf("commit transaction: %w", err)
	}
	committed = true
	return nil
}

// plain runs one of the storage's own statements.
func (s *Storage) plain(ctx context.Context, text string) error {
	s.work.Lock()
	defer s.work.Unlock()
	return db.Retry(ctx, func() error {
		_, err := s.conn.ExecContext(ctx, text)
		return err
	})
}
