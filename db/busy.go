package db

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// How long a database in use is waited for (spec store.md), and how long faults
// are that pass by themselves: many processes that start the write-ahead log of
// one new file at once get errors which look like those of a broken disk.
const (
	busyPatience  = 60 * time.Second
	faultPatience = 3 * time.Second
	firstPause    = 2 * time.Millisecond
	longestPause  = 100 * time.Millisecond
)

// Retry calls do until it succeeds, fails for good, or has been kept from it
// for too long, with growing pauses of random length in between. It returns the
// last error of do, or the context's.
func Retry(ctx context.Context, do func() error) error {
	begun := time.Now()
	pause := firstPause
	for {
		err := do()
		limit := patience(err)
		if limit == 0 || time.Since(begun) >= limit {
			return err
		}
		if cause := wait(ctx, pause/2+rand.N(pause)); cause != nil {
			return cause
		}
		pause = min(2*pause, longestPause)
	}
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// patience is for how long an error is worth another try: zero for good news
// and for what does not pass.
func patience(err error) time.Duration {
	code := resultCode(err)
	switch code & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return busyPatience
	case sqlite3.SQLITE_CANTOPEN:
		return faultPatience
	}
	switch code {
	case sqlite3.SQLITE_IOERR_LOCK, sqlite3.SQLITE_IOERR_BLOCKED, sqlite3.SQLITE_IOERR_RDLOCK, sqlite3.SQLITE_IOERR_UNLOCK,
		sqlite3.SQLITE_IOERR_CHECKRESERVEDLOCK, sqlite3.SQLITE_IOERR_SHORT_READ, sqlite3.SQLITE_IOERR_FSTAT,
		sqlite3.SQLITE_IOERR_DELETE_NOENT, sqlite3.SQLITE_IOERR_SHMOPEN, sqlite3.SQLITE_IOERR_SHMSIZE,
		sqlite3.SQLITE_IOERR_SHMLOCK, sqlite3.SQLITE_IOERR_SHMMAP:
		return faultPatience
	}
	return 0
}

// resultCode is SQLite's extended result code, zero for other errors.
func resultCode(err error) int {
	var coded interface{ Code() int }
	if errors.As(err, &coded) {
		return coded.Code()
	}
	return 0
}
