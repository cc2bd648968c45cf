//go:build unix

package config

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// tryLock makes and locks a file, which goes with the lock: whoever holds one
// that was removed meanwhile holds nothing. A file system without locks has one
// writer.
func tryLock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	mine, errMine := f.Stat()
	there, errThere := os.Lstat(path)
	lost := errMine != nil || errThere != nil || !os.SameFile(mine, there)
	if lost || errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		f.Close()
		return nil, errHeld
	}
	return func() {
		os.Remove(path)
		f.Close()
	}, nil
}

// keepOwner gives f the owner and the group of the file that it replaces: root
// writes a person's file, too.
func keepOwner(f *os.File, old fs.FileInfo) error {
	if old == nil {
		return nil
	}
	now, err := f.Stat()
	if err != nil {
		return err
	}
	a, aok := now.Sys().(*syscall.Stat_t)
	b, bok := old.Sys().(*syscall.Stat_t)
	if !aok || !bok || a.Uid == b.Uid && a.Gid == b.Gid {
		return nil
	}
	return f.Chown(int(b.Uid), int(b.Gid))
}
