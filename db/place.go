package db

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
)

// prepare makes sure that the database's file is there and for its owner alone.
// SQLite gives the files beside it (-wal, -shm, -journal) the same mode, so the
// file is made here, with one that no umask widens or narrows.
func prepare(path string) error {
	if err := os.MkdirAll(directory(path), 0o700); err != nil {
		return err
	}
	err := create(path)
	if err == nil || !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := regular(path); err != nil {
		return err
	}
	// SQLite would open what it may not write for reading, without a word, and
	// try for seconds to make the files beside it.
	if err := mayWrite(path); err != nil {
		return err
	}
	for _, name := range []string{path, path + "-wal", path + "-shm", path + "-journal"} {
		if err := tighten(name); err != nil {
			return err
		}
	}
	return nil
}

// mayWrite tells why the database, or a file beside it, can not be written.
func mayWrite(path string) error {
	if err := canWrite(directory(path)); err != nil {
		return err
	}
	return canWrite(path)
}

// create makes an empty file, or tells with fs.ErrExist that there is one. It
// never opens a file that is there: where locks belong to the process, closing
// it again would drop those of the same database opened elsewhere.
func create(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Close())
}

// shortest is the smallest page that a database can have, in bytes.
const shortest = 512

// regular refuses what is no file, such as a pipe that would never answer, and
// what is too short to hold anything.
func regular(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%q is no regular file", path)
	}
	// SQLite takes what is shorter than a page for an empty file and writes
	// over it, unless a journal says how the file was.
	if n := info.Size(); n > 0 && n < shortest && size(path+"-journal") <= 0 {
		return damaged(path, fmt.Errorf("%d bytes are no database", n))
	}
	return nil
}

// tighten takes a file's permissions from everyone but its owner. A file that
// is not there, or is another user's, is left as it is.
func tighten(path string) error {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	err = os.Chmod(path, info.Mode().Perm()&0o700)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// size is a file's length in bytes, -1 if it is not there.
func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return -1
	}
	return info.Size()
}
