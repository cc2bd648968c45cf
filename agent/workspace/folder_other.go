//go:build !linux || portable

// The tag "portable" lets this file be tested on Linux: go test -tags portable.

package workspace

import (
	"errors"
	"io"
	"os"
	"sync/atomic"
)

// folder is an open directory of a walk. Everything in it is opened by one name
// relative to it, and is checked not to be a link.
type folder struct {
	root  *os.Root
	f     *os.File // the same directory, for reading its names
	users atomic.Int32
}

// openFolder opens the directory of a root.
func openFolder(d *os.Root) (*folder, error) {
	r, err := d.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	return newFolder(r)
}

func newFolder(r *os.Root) (*folder, error) {
	f, err := r.Open(".")
	if err != nil {
		r.Close()
		return nil, err
	}
	d := &folder{root: r, f: f}
	d.users.Store(1)
	return d, nil
}

// keep and drop count who still needs the folder; the last drop closes it.
func (d *folder) keep() { d.users.Add(1) }

func (d *folder) drop() {
	if d.users.Add(-1) == 0 {
		d.f.Close()
		d.root.Close()
	}
}

// sub opens a directory in d.
func (d *folder) sub(name, _ string) (*folder, error) {
	r, err := stepInto(d.root, name)
	if err != nil {
		return nil, err
	}
	return newFolder(r)
}

// readDir reads the next entries, at most n; io.EOF at the end.
func (d *folder) readDir(n int) ([]os.DirEntry, error) { return d.f.ReadDir(n) }

// open opens a regular file in d.
func (d *folder) open(name string) (source, error) {
	f, info, err := openRegular(d.root, name, os.O_RDONLY)
	if err != nil {
		return source{}, err
	}
	return source{f: f, size: info.Size()}, nil
}

// source is an open regular file.
type source struct {
	f    *os.File
	size int64
}

// read fills p from where the last read ended; n < len(p) only at the end of
// the file, together with io.EOF.
func (s source) read(p []byte) (int, error) {
	n, err := io.ReadFull(s.f, p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

func (s source) close() { s.f.Close() }
