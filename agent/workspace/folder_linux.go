//go:build !portable

package workspace

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"syscall"
)

// folder is an open directory of a walk. Everything in it is opened by one name
// relative to it and without following links, so that a walk can not leave what
// it started in.
type folder struct {
	f     *os.File
	users atomic.Int32
}

const walkFlags = syscall.O_RDONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_CLOEXEC

// openFolder opens the directory of a root.
func openFolder(d *os.Root) (*folder, error) {
	f, err := d.Open(".")
	return newFolder(f), err
}

func newFolder(f *os.File) *folder {
	d := &folder{f: f}
	d.users.Store(1)
	return d
}

// keep and drop count who still needs the folder; the last drop closes it.
func (d *folder) keep() { d.users.Add(1) }

func (d *folder) drop() {
	if d.users.Add(-1) == 0 {
		d.f.Close()
	}
}

// sub opens a directory in d. path is its absolute path: os needs it on file
// systems that do not say what an entry is.
func (d *folder) sub(name, path string) (*folder, error) {
	fd, err := openat(d.f, name, walkFlags|syscall.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	return newFolder(os.NewFile(uintptr(fd), path)), nil
}

// readDir reads the next entries, at most n; io.EOF at the end.
func (d *folder) readDir(n int) ([]os.DirEntry, error) { return d.f.ReadDir(n) }

// open opens a regular file in d.
func (d *folder) open(name string) (source, error) {
	fd, err := openat(d.f, name, walkFlags)
	if err != nil {
		return source{}, err
	}
	var st syscall.Stat_t
	err = syscall.Fstat(fd, &st)
	if err == nil && st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		err = ErrNotRegular
	}
	if err != nil {
		syscall.Close(fd)
		return source{}, err
	}
	return source{fd: fd, size: st.Size}, nil
}

func openat(dir *os.File, name string, flags int) (int, error) {
	for {
		fd, err := syscall.Openat(int(dir.Fd()), name, flags, 0)
		if err != syscall.EINTR {
			return fd, err
		}
	}
}

// source is an open regular file. It is a bare descriptor because an os.File
// for each of many thousand files costs more than reading them.
type source struct {
	fd   int
	size int64
}

// read fills p from where the last read ended; n < len(p) only at the end of
// the file, together with io.EOF.
func (s source) read(p []byte) (n int, err error) {
	for n < len(p) {
		m, err := syscall.Read(s.fd, p[n:])
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return n, fmt.Errorf("read: %w", err)
		case m <= 0:
			return n, io.EOF
		}
		if n += m; int64(n) == s.size && n < len(p) {
			return n, io.EOF // as its size said: one system call less
		}
	}
	return n, nil
}

func (s source) close() { syscall.Close(s.fd) }
