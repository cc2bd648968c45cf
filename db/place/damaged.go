package place

import (
	"fmt"
	"io"
	"os"

	"alisio/db/swap"
)

// DamagedError tells that a file is a broken database, or none. The file is as
// it was.
type DamagedError struct {
	Path string
	// Text: the file begins like a text, and never was a database.
	Text bool
	Err  error
}

func (e *DamagedError) Error() string {
	if e.Text {
		return fmt.Sprintf("%q is a text and no database", e.Path)
	}
	return fmt.Sprintf("the database %q is damaged (%v)", e.Path, e.Err)
}

func (e *DamagedError) Unwrap() error { return e.Err }

// Damaged looks at how the file begins. The descriptor that it closes is not of
// a database that this process has open: that one could be read.
func Damaged(path string, err error) error {
	e := &DamagedError{Path: path, Err: err}
	f, open := os.Open(path)
	if open != nil {
		return e
	}
	defer f.Close()
	if m, ok := swap.ReadMark(f, path); ok {
		e.Err = fmt.Errorf("its repair was cut short; what there was before is %q", m.Aside)
		return e
	}
	head := make([]byte, 256)
	n, _ := io.ReadFull(f, head)
	head = head[:n]
	e.Text = swap.Text(head)
	return e
}
