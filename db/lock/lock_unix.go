//go:build unix

package lock

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// openLocked opens the file, makes it if need be, and locks it. It follows no
// link. A FIFO opens for reading and writing without waiting, so that O_NONBLOCK
// is not needed: a run with it took a millisecond longer. The lock is flock's: it
// belongs to the open file, so that a second one in the same process is refused,
// and neither a child process nor the closing of another descriptor touches it.
func openLocked(path string) (*os.File, error) {
	flags := os.O_RDWR | os.O_CREATE | syscall.O_NOFOLLOW
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	if err = flock(f, syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errHeld
	}
	return nil, fmt.Errorf("lock %q: %w", path, err)
}

// linked reports whether the file has a second name.
func linked(_ *os.File, info os.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Nlink > 1
}

// unlock is more than Close: a child process that has not yet come to its exec
// holds a copy of the descriptor.
func unlock(f *os.File) { _ = flock(f, syscall.LOCK_UN) }

func removeLocked(path string, f *os.File) {
	_ = os.Remove(path)
	unlock(f)
	f.Close()
}

func flock(f *os.File, how int) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var result error
	err = raw.Control(func(fd uintptr) {
		for {
			if result = syscall.Flock(int(fd), how); result != syscall.EINTR {
				return
			}
		}
	})
	return cmp.Or(err, result)
}
