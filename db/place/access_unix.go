//go:build unix

package place

import "syscall"

// canWrite asks the system whether this process may write to a file or create
// files in a directory.
func canWrite(path string) error {
	const mayWrite = 2 // W_OK
	return syscall.Access(path, mayWrite)
}
