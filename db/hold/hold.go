// Package hold keeps all other processes out of a database file while it is
// repaired, without the help of SQLite, which may not be able to open it. It
// changes nothing of the file, and waits for nobody.
package hold

import (
	"errors"
	"fmt"
)

// InUseError tells that other processes have the database open.
type InUseError struct {
	Path string
	// PID is one of them, zero where that is not known.
	PID int
}

func (e *InUseError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("the database %q is in use by another process: end it first", e.Path)
	}
	return fmt.Sprintf("the database %q is in use by process %d: end it first", e.Path, e.PID)
}

// Taken reports whether other processes have a database open. It must not be asked in
// a process that has it open itself.
func Taken(path string) bool {
	f, err := File(path)
	if err != nil {
		var used *InUseError
		return errors.As(err, &used)
	}
	_ = f.Close()
	return false
}
