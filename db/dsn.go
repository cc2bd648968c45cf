package db

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
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
	return fileURI(path, runtime.GOOS == "windows") + "?" + pragmas
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
	return fileURI(d.path, runtime.GOOS == "windows") + "?" + how + "&" + readerPragmas
}

// indexed reports whether the log's index that lies beside it is its own: both
// hold the salt of the log (walformat.html). SQLite would try for ten seconds.
// It must not be asked in a process that has the database open.
func indexed(path string) bool {
	log, index := salt(path+"-wal", 16), salt(path+"-shm", 32)
	return log != nil && bytes.Equal(log, index)
}

func salt(path string, at int64) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	b := make([]byte, 8)
	if _, err := f.ReadAt(b, at); err != nil {
		return nil
	}
	return b
}

// fileURI returns the file: URI of an absolute path, in which the path's own
// "?", "#" and "%" mean nothing. The authority is always there and empty, so
// that the name of a Windows share is not taken for it.
func fileURI(path string, windows bool) string {
	if windows {
		path = strings.ReplaceAll(path, `\`, "/")
		if !strings.HasPrefix(path, "/") {
			path = "/" + path
		}
	}
	var b strings.Builder
	b.WriteString("file://")
	for i := range len(path) {
		if c := path[i]; plain(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func plain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("/-_.~:", c) >= 0
}
