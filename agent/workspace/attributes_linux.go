package workspace

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"syscall"
)

// hasAttributes tells whether f has extended attributes, of which access control
// lists are one kind, that a new file in its place would not have. A SELinux label
// is given to the new file by the system. Where it can not be told they are there.
func hasAttributes(f *os.File) bool {
	names := make([]byte, 4096)
	n, err := syscall.Listxattr("/proc/self/fd/"+strconv.Itoa(int(f.Fd())), names)
	if err != nil {
		return !errors.Is(err, errors.ErrUnsupported)
	}
	for name := range bytes.SplitSeq(names[:n], []byte{0}) {
		if len(name) > 0 && string(name) != "security.selinux" {
			return true
		}
	}
	return false
}
