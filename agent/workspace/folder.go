package workspace

import (
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
)

// folder is an open directory of a walk. Everything in it is opened by one name
// relative to it and without following links, so that a walk can not leave what
// it started in; what is closed off is not opened.
type folder struct {
	names *os.File // for reading them
	at    handle   // for opening what is in it
	users atomic.Int32
	path  string                // absolute
	off   func(abs string) bool // nil: nothing below it is closed off
}

// folder opens the directory of a root.
func (w *Workspace) folder(r *root) (*folder, error) {
	d, err := openFolder(r.dir)
	if err != nil {
		return nil, err
	}
	d.path = r.abs
	if w.closesBelow(r.abs) {
		d.off = w.isClosedOff
	}
	return d, nil
}

// sub opens a directory in d.
func (d *folder) sub(name string) (*folder, error) {
	if d.closes(name) {
		return nil, ErrClosedOff
	}
	path := filepath.Join(d.path, name)
	f, err := d.openDir(name, path)
	if err != nil {
		return nil, err
	}
	f.path, f.off = path, d.off
	return f, nil
}

// open opens a regular file in d.
func (d *folder) open(name string) (source, error) {
	if d.closes(name) {
		return source{}, ErrClosedOff
	}
	return d.openFile(name)
}

// closes tells whether a name in d is closed off.
func (d *folder) closes(name string) bool {
	return d.off != nil && d.off(filepath.Join(d.path, name))
}

func newFolder(names *os.File, at handle) *folder {
	d := &folder{names: names, at: at}
	d.keep()
	return d
}

// keep and drop count who still needs the folder; the last drop closes it.
func (d *folder) keep() { d.users.Add(1) }

func (d *folder) drop() {
	if d.users.Add(-1) == 0 {
		d.names.Close()
		d.at.Close() // may be the same
	}
}

// source is an open regular file.
type source struct {
	stream
	size int64
}

// fill fills p from where the last one ended; n < len(p) only at the end of the
// file, together with io.EOF.
func (s source) fill(p []byte) (int, error) {
	n, err := io.ReadFull(s, p)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return n, err
}
