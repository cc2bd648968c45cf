//go:build !portable

package workspace

import (
	"io"
	"os"
	"syscall"
)

// handle is the open directory itself: os.Root would need five system calls for
// a directory where one is enough.
type handle = *os.File

const walkFlags = syscall.O_RDONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_CLOEXEC

func openFolder(d *os.Root) (*folder, error) {
	f, err := d.Open(".")
	return newFolder(f, f), err
}

// openDir gives the directory its absolute path: os needs it on file systems
// that do not say what an entry is.
func (d *folder) openDir(name, path string) (*folder, error) {
	fd, err := d.openat(name, walkFlags|syscall.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), path)
	return newFolder(f, f), nil
}

func (d *folder) openFile(name string) (source, error) {
	fd, err := d.openat(name, walkFlags)
	if err != nil {
		return source{}, err
	}
	var st syscall.Stat_t
	err = syscall.Fstat(int(fd), &st)
	if err == nil && st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		err = ErrNotRegular
	}
	if err != nil {
		fd.Close()
		return source{}, err
	}
	return source{stream: fd, size: st.Size}, nil
}

func (d *folder) openat(name string, flags int) (stream, error) {
	for {
		fd, err := syscall.Openat(int(d.at.Fd()), name, flags, 0)
		if err != syscall.EINTR {
			return stream(fd), err
		}
	}
}

// stream is a bare descriptor, because an os.File for each of many thousand
// files costs more than reading them.
type stream int

func (s stream) Read(p []byte) (int, error) {
	for {
		n, err := syscall.Read(int(s), p)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

func (s stream) Close() error { return syscall.Close(int(s)) }
