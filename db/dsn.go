package db

import (
	"fmt"
	"path/filepath"
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

// lookOnly returns the name of the database for a look at it that creates
// nothing. Beside an empty log the file alone is the database; with one, the
// log's index (-shm) is needed, and SQLite would create it.
func (d *DB) lookOnly() (string, error) {
	if err := regular(d.path); err != nil {
		return "", err
	}
	uri := fileURI(d.path, runtime.GOOS == "windows") + "?mode=ro&" + readerPragmas
	if size(d.path+"-wal") <= 0 {
		return uri + "&immutable=1", nil
	}
	if size(d.path+"-shm") < 0 {
		d.tell("%s has a log beside it that can not be read without writing: what was stored last is not shown", d.path)
		return uri + "&immutable=1", nil
	}
	return uri + "&readonly_shm=1", nil
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

// directory is where the database's files lie.
func directory(path string) string { return filepath.Dir(path) }
