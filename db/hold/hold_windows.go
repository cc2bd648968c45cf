package hold

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// sharingViolation is ERROR_SHARING_VIOLATION.
const sharingViolation = syscall.Errno(32)

// File opens a database for this process alone: *InUseError if another has it open.
// Closing the file gives it back.
func File(path string) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0,
		nil, syscall.OPEN_EXISTING, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, sharingViolation) {
		return nil, &InUseError{Path: path}
	}
	if err != nil {
		return nil, fmt.Errorf("open %q: %w", path, err)
	}
	return os.NewFile(uintptr(h), path), nil
}
