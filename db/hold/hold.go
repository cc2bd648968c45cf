// Package hold keeps all other processes out of a database file while it is
// repaired, without the help of SQLite, which may not be able to open it. It
// changes nothing of the file, and waits for nobody.
package hold

import "fmt"

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
