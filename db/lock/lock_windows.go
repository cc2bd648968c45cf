package lock

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// sharingViolation is ERROR_SHARING_VIOLATION.
const sharingViolation = syscall.Errno(32)

// openLocked opens the file, makes it if need be, and keeps it from being opened
// for writing or removed by anybody else: that is the lock. Others may read it,
// for the pid.
func openLocked(path string) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, syscall.FILE_SHARE_READ,
		nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL|syscall.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if errors.Is(err, sharingViolation) {
		return nil, errHeld
	}
	if err != nil {
		return nil, fmt.Errorf("open lock %q: %w", path, err)
	}
	return os.NewFile(uintptr(h), path), nil
}

// linked reports whether the file has a second name.
func linked(f *os.File, _ os.FileInfo) bool {
	var info syscall.ByHandleFileInformation
	err := syscall.GetFileInformationByHandle(syscall.Handle(f.Fd()), &info)
	return err == nil && info.NumberOfLinks > 1
}

// unlock has nothing to do: closing the file gives the lock back.
func unlock(*os.File) {}

// removeLocked closes first: an open file can not be removed here, nor can one
// that somebody else has opened as his lock.
func removeLocked(path string, f *os.File) {
	f.Close()
	_ = os.Remove(path)
}
