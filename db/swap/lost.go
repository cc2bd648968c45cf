package swap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Sidecars are the endings of the files that SQLite keeps beside a database, the
// first that of the database itself.
func Sidecars() []string { return []string{"", "-wal", "-shm", "-journal"} }

// Abandoned reports whether a database is missing, or shorter than any page, while
// its log is not: SQLite would begin anew and drop the log. It looks at the log
// first: who makes a database has made its file before.
func Abandoned(path string) bool {
	const least = 32 + 24 + 512 // a log with one page
	log, err := os.Stat(path + "-wal")
	if err != nil || log.Size() < least {
		return false
	}
	file, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && file.Size() < headSize
}

// Lost tells that a database must not begin anew: there was one, which has left its
// log, or an earlier repair has left a part of it.
func Lost(path string) error {
	if Abandoned(path) {
		return fmt.Errorf("it is missing or has no page, and its log %q has", path+"-wal")
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	kept := Kept(path)
	if len(kept) == 0 {
		return nil
	}
	// Somebody may have put it back meanwhile.
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("it is missing, and %q lies beside it", kept[0])
}

// Remove removes a database that a repair made, with what SQLite keeps beside it.
func Remove(path string) {
	for _, end := range Sidecars() {
		_ = os.Remove(path + end)
	}
}

// DropBackups removes all but the newest of the backups that a repair makes, and
// returns their names.
func DropBackups(path string, keep int) (dropped []string) {
	all := files(path, savedPattern)
	for _, name := range all[:max(len(all)-keep, 0)] {
		if os.Remove(name) == nil {
			dropped = append(dropped, name)
		}
	}
	return dropped
}
