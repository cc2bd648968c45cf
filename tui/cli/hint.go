package cli

import (
	"errors"
	"fmt"
	"io/fs"

	"alisio/agent"
	"alisio/llm"
)

// command is a command for a person to copy: it asks the same database as this
// one, wherever it is called from.
func (c *call) command(words string) string { return "alisio " + words + c.dbFlag() }

// dbFlag repeats --db in a command that is told to a person.
func (c *call) dbFlag() string { return c.fileFlag("db", c.db) }

// fileFlag repeats a flag that names a file. A relative name counts from --cwd,
// which the next command need not have.
func (c *call) fileFlag(flag, name string) string {
	if name == "" {
		return ""
	}
	if c.cwd != "" {
		if path, err := c.absolute(name); err == nil {
			name = path
		}
	}
	return " --" + flag + " " + shellWord(name)
}

// advised adds to an error of the database what can be done about it: only here it
// is known which one this command was called with.
func (c *call) advised(err error) error {
	var told *llm.Error
	if errors.As(err, &told) && told.Hint != "" {
		return err
	}
	var damaged *agent.DamagedError
	var foreign *agent.ForeignError
	var busy *agent.BusyError
	hint := ""
	switch {
	case errors.As(err, &foreign):
		hint = "name another with ALISIO_STATE_HOME or --db"
	case errors.As(err, &damaged) && damaged.Text:
		hint = "it never was a database: move it away"
	case errors.As(err, &damaged) && c.fix:
		hint = "nothing of it can be recovered: move it away"
	case errors.As(err, &damaged):
		hint = "to set it aside and recover what can be read: " + c.command("doctor --store --fix")
	case errors.As(err, &busy) && busy.Doubtful:
		hint = "if that process is no Alisio: " + c.command("sessions recover "+shellWord(busy.Session)) + " --acknowledge"
	case errors.As(err, &busy):
		hint = agent.BusyHint
	default:
		return err
	}
	return llm.Errorf(llm.CauseOf(err), "%w", err).WithHint(hint)
}

// misuse is wrong use of the command line that shows only where it is used.
type misuse struct{ error }

func (m misuse) Unwrap() error { return m.error }

// fileError says in plain words why a file that a person named can not be used.
func fileError(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s is not there", name)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s can not be opened: permission denied", name)
	}
	return err
}
