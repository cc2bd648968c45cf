package db

import (
	"runtime"

	"alisio/db/uri"
)

// Pragmas of every connection. busyMs is how long SQLite itself waits for a
// lock, in ms: short, because its wait does not hear a cancelled context; retry
// goes on from there. The schema of a foreign file may not call functions with
// effects (trusted_schema, _defensive), and a misspelt column is an error, not a
// string (_dqs).
const (
	commonPragmas = "_txlock=immediate&_defensive=1&_dqs=0" +
		"&_pragma=busy_timeout(200)&_pragma=trusted_schema(0)"
	writerPragmas = commonPragmas + "&_pragma=foreign_keys(1)&_pragma=synchronous(NORMAL)&_pragma=journal_size_limit(67108864)"
	readerPragmas = commonPragmas + "&_pragma=query_only(1)"
)

// writable returns the name of a database that is written to.
func writable(path, pragmas string) string {
	return uri.File(path, runtime.GOOS == "windows") + "?" + pragmas
}

// How the database is opened to be looked at.
const (
	// lookShared takes part in the locks and the log like any other program, and
	// changes no row: a log that a dead process left is read as far as it was
	// committed.
	lookShared = "mode=rw"
	// lookIndexed creates nothing: the log is read by its index (-shm) that lies
	// there, if that belongs to it.
	lookIndexed = "mode=ro&readonly_shm=1"
	// lookAlone reads the file and no log. Nobody may write meanwhile.
	lookAlone = "mode=ro&immutable=1"
)

func (d *DB) readable(how string) string {
	return uri.File(d.path, runtime.GOOS == "windows") + "?" + how + "&" + readerPragmas
}
