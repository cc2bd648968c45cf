package db

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"

	"alisio/db/netfs"
	"alisio/db/place"

	"modernc.org/sqlite"
)

// limitAttached is SQLITE_LIMIT_ATTACHED (sqlite3.h).
const limitAttached = 7

// OpenOwn opens a database file that is not of sessions, with the one connection
// that the pool may have. It can attach no other file. The schema in it is
// foreign: it calls no functions with effects, and its shadow tables are not to
// be written by hand. Close the connection and then the pool.
func OpenOwn(ctx context.Context, path string) (*sql.DB, *sql.Conn, error) {
	if err := place.Beside(path); err != nil {
		return nil, nil, err
	}
	// See Open: it counts before the first file.
	_, _ = sqlite.OFDLocking(true)
	journal := "journal_mode(wal)"
	if _, network := netfs.Of(filepath.Dir(path)); network {
		journal = "journal_mode(delete)"
	}
	connector, err := sqlite.NewConnector(writable(path, commonPragmas+"&_pragma=foreign_keys(1)&_pragma=cell_size_check(1)"+
		"&_pragma="+journal+"&_pragma=synchronous(NORMAL)"))
	if err != nil {
		return nil, nil, err
	}
	pool := sql.OpenDB(connector)
	pool.SetMaxOpenConns(1)
	var conn *sql.Conn
	err = Retry(ctx, func() (err error) {
		conn, err = pool.Conn(ctx)
		return err
	})
	if err != nil {
		pool.Close()
		return nil, nil, err
	}
	if _, err := sqlite.Limit(conn, limitAttached, 0); err != nil {
		conn.Close()
		pool.Close()
		return nil, nil, fmt.Errorf("limit attached files: %w", err)
	}
	return pool, conn, nil
}
