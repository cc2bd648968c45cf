package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"time"
)

// FileInfo describes an open file.
type FileInfo struct {
	// Name as Target.Name, Abs as Target.Abs.
	Name, Abs string
	Size      int64
	Mode      fs.FileMode
	ModTime   time.Time
}

// File is an open regular file.
type File struct {
	f    *os.File
	info FileInfo
}

// ReadAt reads from an offset, as io.ReaderAt.
func (f *File) ReadAt(p []byte, off int64) (int, error) { return f.f.ReadAt(p, off) }

// Close closes the file.
func (f *File) Close() error { return f.f.Close() }

// Info describes the file as it was when it was opened. Its size is a hint: a
// file can grow, and files of the kernel say 0.
func (f *File) Info() FileInfo { return f.info }

// OpenFile opens a regular file for reading. Anything else (a directory, a
// FIFO, a device) is refused at once, without blocking.
func (w *Workspace) OpenFile(name string) (*File, error) {
	t, err := w.inside(name)
	if err != nil {
		return nil, err
	}
	f, info, err := t.open()
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", t.Name, plainError(err))
	}
	return &File{f: f, info: FileInfo{
		Name: t.Name, Abs: t.Abs, Size: info.Size(), Mode: info.Mode(), ModTime: info.ModTime(),
	}}, nil
}

// open opens the regular file that t means.
func (t Target) open() (*os.File, fs.FileInfo, error) {
	d, base, err := t.parent(false)
	if err != nil {
		return nil, nil, err
	}
	defer d.Close()
	if t.slashed {
		return nil, nil, syscall.ENOTDIR
	}
	return openRegular(d, base, os.O_RDONLY)
}

// openRegular opens base in d if it is a regular file, and is the one that
// stood there a moment before: a link put in its place is not followed.
func openRegular(d *os.Root, base string, flag int) (*os.File, fs.FileInfo, error) {
	was, err := d.Lstat(base)
	if err == nil {
		err = regular(was)
	}
	if err != nil {
		return nil, nil, err
	}
	f, err := d.OpenFile(base, flag|openFlags, 0)
	if err != nil {
		return nil, nil, err
	}
	now, err := f.Stat()
	if err == nil {
		err = regular(now)
	}
	if err == nil && !os.SameFile(was, now) {
		err = ErrMoved
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, now, nil
}

// parent opens the directory that holds t, one name at a time and following no
// link; with create it makes those that are missing. The caller closes it. The
// root itself has no parent.
func (t Target) parent(create bool) (d *os.Root, base string, err error) {
	dir, base := path.Split(t.rel)
	if base == "" {
		return nil, "", fmt.Errorf("it is a directory: %w", ErrNotRegular)
	}
	d, err = t.root.dir.OpenRoot(".")
	for name := range strings.FieldsFuncSeq(dir, isSlash) {
		if err != nil {
			break
		}
		d, err = replace(d, name, create)
	}
	return d, base, err
}

// replace opens a directory in d, with create after making it, and closes d.
func replace(d *os.Root, name string, create bool) (*os.Root, error) {
	defer d.Close()
	if create {
		err := d.Mkdir(name, 0o755)
		if err == nil {
			err = syncDir(d)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("make directory %s: %w", show(name), plainError(err))
		}
	}
	return stepInto(d, name)
}

// stepInto opens a directory in d that is no link. os.Root alone would follow
// a link that stays below d, which may be a protected directory.
func stepInto(d *os.Root, name string) (*os.Root, error) {
	was, err := d.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !was.IsDir() {
		return nil, ErrMoved
	}
	// The trailing dot makes the kernel refuse, and not wait on, a FIFO.
	sub, err := d.OpenRoot(name + "/.")
	if err != nil {
		return nil, err
	}
	now, err := sub.Stat(".")
	if err == nil && !os.SameFile(was, now) {
		err = ErrMoved
	}
	if err != nil {
		sub.Close()
		return nil, err
	}
	return sub, nil
}

func isSlash(r rune) bool { return r == '/' }

// regular refuses everything but regular files, and says what it is.
func regular(info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return fmt.Errorf("it is %s: %w", kindOf(info.Mode()), ErrNotRegular)
}
