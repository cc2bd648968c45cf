package config

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const (
	// lockWait is how long another process may take for its change of a file.
	lockWait = 3 * time.Second
	lockStep = 5 * time.Millisecond
)

// ErrChanged tells that somebody else wrote the file meanwhile; it is as they
// left it.
var ErrChanged = errors.New("somebody changed it meanwhile, try again")

var errHeld = errors.New("another process is changing it")

// WriteFile puts data in place of a file in one step, or leaves the old one as
// it was. A link is followed and stays. An old file's mode and owner are kept, a
// new one gets mode; directories that it lacks are made, 0700. A file that its
// owner may not write is refused, and so is what is no regular file.
func WriteFile(path string, data []byte, mode fs.FileMode) error {
	target, err := follow(path)
	if err == nil {
		err = replace(target, data, mode, func() error { return nil })
	}
	if err != nil {
		return fmt.Errorf("write %q: %w", path, Bare(err))
	}
	return nil
}

// Update changes a file of at most 1 MiB as WriteFile does. edit is given what
// it holds, nil when there is none, and returns what it shall hold, nil for no
// change. Processes that do this take turns. Who does not take turns, an editor,
// is noticed up to the last moment: then that is ErrChanged.
func Update(path string, mode fs.FileMode, edit func(old []byte) ([]byte, error)) (err error) {
	var refused error
	defer func() {
		if err != nil && refused == nil {
			err = fmt.Errorf("change %q: %w", path, Bare(err))
		}
	}()
	target, err := follow(path)
	if err != nil {
		return err
	}
	unlock, err := lock(filepath.Join(filepath.Dir(target), "."+filepath.Base(target)+".lock"))
	if err != nil {
		return err
	}
	defer unlock()
	read := func() ([]byte, error) {
		data, err := ReadFile(target)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return data, err
	}
	old, err := read()
	if err != nil {
		return err
	}
	data, refused := edit(old)
	if err = refused; err != nil || data == nil || old != nil && bytes.Equal(data, old) {
		return err
	}
	return replace(target, data, mode, func() error {
		if now, err := read(); err != nil || (now == nil) != (old == nil) || !bytes.Equal(now, old) {
			return ErrChanged
		}
		return nil
	})
}

// follow returns what a path leads to, and makes its directory.
func follow(path string) (string, error) {
	info, err := os.Lstat(path)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		path, err = filepath.EvalSymlinks(path)
	}
	if errors.Is(err, fs.ErrNotExist) && info == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	return path, err
}

// replace writes a temporary file beside path and renames it, if unchanged says
// so at the last moment.
func replace(path string, data []byte, mode fs.FileMode, unchanged func() error) (err error) {
	old, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old = nil
	case err != nil:
		return err
	case !old.Mode().IsRegular():
		return errNotRegular
	case old.Mode().Perm()&0o200 == 0:
		return fmt.Errorf("the file is read-only (mode %#o): %w", old.Mode().Perm(), fs.ErrPermission)
	default:
		mode = old.Mode().Perm()
	}
	temp := filepath.Join(filepath.Dir(path), ".alisio-"+rand.Text()[:16]+".tmp")
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(temp)
		}
	}()
	err = fill(f, data, mode, old)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = unchanged()
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func fill(f *os.File, data []byte, mode fs.FileMode, old fs.FileInfo) error {
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := keepOwner(f, old); err != nil {
		return fmt.Errorf("keep the owner: %w", Bare(err))
	}
	if err := f.Chmod(mode); err != nil {
		return err
	}
	return f.Sync()
}

// syncDir makes a new name durable. File systems that can not sync a directory
// say so in these ways; then there is nothing to be done.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}

// lock waits for its turn. The lock is the operating system's, so that none
// outlives its process.
func lock(path string) (unlock func(), err error) {
	for end := time.Now().Add(lockWait); ; time.Sleep(lockStep) {
		if unlock, err = tryLock(path); !errors.Is(err, errHeld) || time.Now().After(end) {
			return unlock, err
		}
	}
}
