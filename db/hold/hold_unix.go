//go:build unix

package hold

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// SQLite's lock bytes (os.h: PENDING_BYTE and the 510 shared ones behind it): who
// has a database open with a write-ahead log, or works in one without, holds some.
const (
	lockStart  = 0x40000000
	lockLength = 512
)

// File opens a database and keeps all other processes out of it, without the help
// of SQLite, which may not be able to open it: *InUseError if one is in. Closing the
// file gives it back. While it is held nothing else in this process may open and
// close it: where locks belong to the process, that would give it back too.
func File(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if err := lockBytes(f); err != nil {
		f.Close()
		if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) {
			return nil, &InUseError{Path: path, PID: userOf(path)}
		}
		return nil, fmt.Errorf("lock %q: %w", path, err)
	}
	return f, nil
}

func lockBytes(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var result error
	err = raw.Control(func(fd uintptr) {
		lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: lockStart, Len: lockLength}
		result = syscall.FcntlFlock(fd, setLock, &lock)
	})
	return errors.Join(err, result)
}
