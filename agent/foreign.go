package agent

import (
	"bytes"
	"errors"
	"io"
	"os"

	"alisio/db"
)

// IsForeign reports whether a file never was a session database: it has neither the
// head of one nor, where a damage may have taken that, any table or message. Such
// a file is somebody's text or picture, and no repair may set it aside. It is asked
// before this process opens the database: closing the file would drop the locks that
// it has on it (fcntl(2), "record locks").
func IsForeign(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return false // told of where it is opened
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 64)
	n, _ := io.ReadFull(f, head)
	if db.Head(head[:n]) {
		return false
	}
	if _, err := os.Stat(path + "-wal"); err == nil {
		return false // what it lacks may stand there
	}
	isText := !holds(f, "\x00")
	return isText || !holds(f, "CREATE TABLE ", `{"role":"`)
}

// maxLook bounds how much of a file is searched, in bytes: less than a second.
const maxLook = 1 << 28

// holds reports whether a file holds any of some short texts. It reads a piece at a
// time; one that is too large to be searched, or can not be read, may hold them.
func holds(f io.ReaderAt, texts ...string) bool {
	const overlap = 32 // more than any of them has
	piece := make([]byte, 1<<20)
	for at := int64(0); at < maxLook; at += int64(len(piece) - overlap) {
		n, err := f.ReadAt(piece, at)
		for _, t := range texts {
			if bytes.Contains(piece[:n], []byte(t)) {
				return true
			}
		}
		if err != nil {
			return !errors.Is(err, io.EOF)
		}
	}
	return true
}
