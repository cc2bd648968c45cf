// Package place is what a database's files are before SQLite touches them: whether
// there is one, whether it may be opened, and for whom. It makes an empty file and
// takes permissions away, and writes in no file.
package place

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"alisio/db/hold"
	"alisio/db/swap"
)

// Prepare makes sure that the database's file is there. SQLite gives the files
// Beside it (-wal, -shm, -journal) the same mode, so the file is made here, with
// one that no umask widens or narrows. One that is there stays as it is: it may
// be somebody's letter.
func Prepare(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := Beside(path); err != nil {
		return err
	}
	if err := Lost(path); err != nil {
		return err
	}
	err := Create(path)
	if err == nil || !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := cmp.Or(Regular(path), Unmarked(path)); err != nil {
		return err
	}
	// SQLite would open what it may not write for reading, without a word, and
	// try for seconds to make the files beside it.
	return MayWrite(path)
}

// Resolved is where a database lies whose name may be a link: SQLite goes by that,
// and puts the files beside it there.
func Resolved(path string) string {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return path
	}
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	return path
}

// Beside refuses anything but files in the places of those beside the database:
// SQLite would wait for a pipe, and tries for seconds to open a directory.
func Beside(path string) error {
	path = Resolved(path)
	for _, end := range swap.Sidecars()[1:] {
		info, err := os.Lstat(path + end)
		if err == nil && !info.Mode().IsRegular() {
			return fmt.Errorf("%q is no regular file, and in the way of the database", path+end)
		}
	}
	return nil
}

// Restrict takes the permissions of a database, and of what lies beside it, from
// everyone but their owner.
func Restrict(path string) error {
	for _, end := range swap.Sidecars() {
		if err := tighten(path + end); err != nil {
			return err
		}
	}
	return nil
}

// MayWrite tells why the database, or a file beside it, can not be written.
func MayWrite(path string) error {
	return cmp.Or(canWrite(filepath.Dir(path)), canWrite(path))
}

// Create makes an empty file, or tells with fs.ErrExist that there is one. It
// never opens a file that is there: where locks belong to the process, closing
// it again would drop those of the same database opened elsewhere.
func Create(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return cmp.Or(f.Chmod(0o600), f.Close())
}

// shortest is the smallest page that a database can have, in bytes.
const shortest = 512

// Regular refuses what is no file, such as a pipe that would never answer, what
// is too short to hold anything, and what has no files beside it.
func Regular(path string) error {
	if err := Lost(path); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%q is no regular file", path)
	}
	if err := Beside(path); err != nil {
		return err
	}
	// SQLite takes what is shorter than a page for an empty file and writes
	// over it, unless a journal says how the file was.
	if n := info.Size(); n > 0 && n < shortest && Size(path+"-journal") <= 0 {
		return Damaged(path, fmt.Errorf("%d bytes are no database", n))
	}
	return nil
}

// Unmarked refuses a database whose repair was cut short. For one at work SQLite waits.
func Unmarked(path string) error {
	if !swap.Cut(path) || hold.Taken(path) {
		return nil
	}
	return Damaged(path, nil)
}

// Lost refuses to begin anew where there was a database.
func Lost(path string) error {
	if err := swap.Lost(Resolved(path)); err != nil {
		return &DamagedError{Path: path, Err: err}
	}
	return nil
}

// Head reports whether a file that begins so is a database, or one whose repair was
// cut short.
func Head(head []byte) bool {
	return bytes.HasPrefix(head, []byte("SQLite format 3\x00")) || swap.Marked(head)
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

// Size is a file's length in bytes, -1 if it is not there.
func Size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return -1
	}
	return info.Size()
}
