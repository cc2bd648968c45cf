package pages

import (
	"errors"
	"io"
	"os"
)

// Disk is a damaged database on the disk, with its log, open.
type Disk struct {
	// Pages is nil if they can not be read by themselves; Refused says why.
	Pages   *File
	Refused error
	open    []*os.File
}

// OpenDisk opens the database at path. The file is opened by its name only where
// data, which stays open, is nil.
func OpenDisk(path string, data *os.File) (*Disk, error) {
	d := &Disk{}
	if data == nil {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		d.open, data = append(d.open, f), f
	}
	info, err := data.Stat()
	if err != nil {
		d.Close()
		return nil, err
	}
	var log io.ReaderAt
	if f, err := os.Open(path + "-wal"); err == nil {
		d.open, log = append(d.open, f), f
	}
	d.Pages, d.Refused = Open(data, info.Size(), log)
	return d, nil
}

// Close closes what was opened.
func (d *Disk) Close() {
	for _, f := range d.open {
		_ = f.Close()
	}
}

// Wipe clears the pages of the freelist in a copy of the database: a broken tree
// may lead SQLite to them, and to what was deleted.
func (f *File) Wipe(path string) (err error) {
	w, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	info, err := w.Stat()
	if err != nil {
		return err
	}
	blank := make([]byte, f.size)
	for n := range f.Free() {
		if at := int64(n-1) * int64(f.size); at+int64(f.size) <= info.Size() {
			if _, err := w.WriteAt(blank, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// LostCommits is how many commits of the log beside a database lie behind a damaged
// frame, or header, or in that frame: SQLite reads none of them any more, and writes
// over them. What a process left that was ended in the middle of a commit is none. It
// is not to be asked while others write.
func LostCommits(path string) (lost int, damaged bool) {
	log, err := os.Open(path + "-wal")
	if err != nil {
		return 0, false
	}
	defer log.Close()
	info, err := log.Stat()
	if err != nil {
		return 0, false
	}
	return lostCommits(log, info.Size())
}
