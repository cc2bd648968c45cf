package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Errors that callers tell apart with errors.Is; fs.ErrNotExist, fs.ErrExist
// and fs.ErrPermission are used for what they say.
var (
	// ErrGone is wrapped when a root was removed or replaced since it was opened.
	ErrGone = errors.New("is gone")
	// ErrStale is wrapped when a file does not have the expected content.
	ErrStale = errors.New("the file changed since it was read")
	// ErrNotRegular is wrapped when a directory, FIFO, socket or device stands
	// where a file was asked for.
	ErrNotRegular = errors.New("not a regular file")
	// ErrMoved is wrapped when a path stopped to mean what it meant a moment ago.
	ErrMoved = errors.New("the path changed while it was used")
)

// OutsideError says that a path leads outside the roots.
type OutsideError struct {
	// Path is the path with its links resolved, Dir the directory whose
	// approval would open it. Both are raw, not quoted.
	Path, Dir string
}

func (e *OutsideError) Error() string {
	return fmt.Sprintf("%s is outside the workspace; directory %s is not approved", show(e.Path), show(e.Dir))
}

func kindOf(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&fs.ModeSymlink != 0:
		return "a link"
	case m&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}

// plainError drops the system call and the path of an error of os: both are of
// no use to a reader, and the path is not quoted.
func plainError(err error) error {
	switch e := err.(type) {
	case *fs.PathError:
		return e.Err
	case *os.LinkError:
		return e.Err
	}
	return err
}
