package db

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"alisio/db/place"

	sqlite3 "modernc.org/sqlite/lib"
)

var (
	// ErrNotFound tells that there is no such row.
	ErrNotFound = errors.New("not found")
	// ErrExists tells that a row of that key is there already.
	ErrExists = errors.New("exists already")
	// ErrReadOnly tells that the database was opened for reading.
	ErrReadOnly = errors.New("the database is open for reading only")
	// ErrEnded tells that a run has ended: its row is never changed again.
	ErrEnded = errors.New("the run has ended")
	errShut  = errors.New("the database is closed")
)

// DamagedError tells that a file is a broken database, or none.
type DamagedError = place.DamagedError

// explain adds to an error what a person can do about it. It is applied once,
// where the error comes out of SQLite or the file system.
func explain(path string, err error) error {
	code := resultCode(err)
	switch code & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return place.Damaged(path, err)
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("the disk of %q is full: %w", path, err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return fmt.Errorf("other programs held the database %q for more than %v: %w", path, busyPatience, err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return &UnwritableError{Path: path, Err: err}
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), code == sqlite3.SQLITE_IOERR_SHMSIZE:
		// Only a full disk, or a quota, keeps a file from growing to that size.
		return fmt.Errorf("the disk of %q is full: %w", path, err)
	case code&0xff == sqlite3.SQLITE_IOERR:
		return fmt.Errorf("the disk of %q fails: %w", path, err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return &UnwritableError{Path: path, Err: err}
	}
	return err
}

// UnwritableError tells that the database, or the directory that it lies in, can
// not be written.
type UnwritableError struct {
	Path string
	Err  error
}

func (e *UnwritableError) Error() string {
	return fmt.Sprintf("%q, or its directory %q, can not be written: %v", e.Path, filepath.Dir(e.Path), e.Err)
}

func (e *UnwritableError) Unwrap() error { return e.Err }

// taken turns the violation of a key into ErrExists, and that of a reference
// into ErrNotFound.
func taken(err error) error {
	switch resultCode(err) {
	case sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_UNIQUE:
		return fmt.Errorf("%w (%w)", ErrExists, err)
	case sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
		return fmt.Errorf("%w: the session (%w)", ErrNotFound, err)
	}
	return err
}
