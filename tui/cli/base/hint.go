package base

import (
	"errors"
	"fmt"
	"io/fs"

	"alisio/agent/text"
)

// Command is a command for a person to copy: it asks the same database as this
// one, wherever it is called from.
func (c *Call) Command(words string) string { return "alisio " + words + c.DBFlag() }

// DBFlag repeats --db in a command that is told to a person.
func (c *Call) DBFlag() string { return c.FileFlag("db", c.DB) }

// FileFlag repeats a flag that names a file. A relative name counts from --cwd,
// which the next command need not have.
func (c *Call) FileFlag(flag, name string) string {
	if name == "" {
		return ""
	}
	if c.Cwd != "" {
		if path, err := c.Absolute(name); err == nil {
			name = path
		}
	}
	return " --" + flag + " " + text.ShellWord(name)
}

// Misuse is wrong use of the command line that shows only where it is used.
type Misuse struct{ Err error }

func (m Misuse) Error() string { return m.Err.Error() }
func (m Misuse) Unwrap() error { return m.Err }

// FileError says in plain words why a file that a person named can not be used.
func FileError(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s is not there", name)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s can not be opened: permission denied", name)
	}
	return err
}
