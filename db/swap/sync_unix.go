//go:build unix

package swap

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// syncDir makes names on the disk what they are now, in the directory of a file.
// Some file systems can not, and need not.
func syncDir(path string) error {
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return cmp.Or(err, d.Close())
}
