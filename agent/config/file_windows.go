package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// tryLock makes a file that says by being there that somebody has his turn. A
// process that dies in its turn leaves it behind.
func tryLock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%w; if none does, remove %s", errHeld, path)
	}
	if err != nil {
		return nil, err
	}
	return func() {
		f.Close()
		os.Remove(path)
	}, nil
}

// keepOwner has nothing to do: a new file belongs to the directory's owner.
func keepOwner(*os.File, fs.FileInfo) error { return nil }
