package hold

import (
	"errors"
	"fmt"
	"syscall"
)

// sharingViolation is ERROR_SHARING_VIOLATION.
const sharingViolation = syscall.Errno(32)

// File looks whether anybody has the file open. It can not hold it: a file
// that is open here could be neither copied nor renamed.
func File(path string) (release func(), err error) {
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
	return func() {}, syscall.CloseHandle(h)
}
