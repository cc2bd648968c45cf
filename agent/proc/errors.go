package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
)

// name is what an error calls the command.
func (c *Command) name() string {
	if c.Shell != "" {
		return "the shell"
	}
	return fmt.Sprintf("%q", c.Argv[0])
}

// startError puts into words why a program can not start.
func startError(c *Command, err error) error {
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("run %s: command not found", c.name())
	case errors.Is(err, exec.ErrDot):
		return fmt.Errorf("run %s: found in the working directory only; write ./ before its name", c.name())
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("run %s: no such file, or the interpreter that it names is missing", c.name())
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("run %s: not executable", c.name())
	}
	return fmt.Errorf("run %s: %w", c.name(), cause(err))
}

// cause takes the path and the operation off an error that names both again.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
