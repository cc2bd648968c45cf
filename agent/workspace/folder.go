package workspace

import (
	"io"
	"os"
	"sync/atomic"
)

// folder is an open directory of a walk. Everything in it is opened by one name
// relative to it and without following links, so that a walk can not leave what
// it started in.
type folder struct {
	names *os.File // for reading them
	at    handle   // for opening what is in it
	users atomic.Int32
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
