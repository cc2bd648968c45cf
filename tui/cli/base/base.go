// Package base is what the verbs of the command line have in common: what one was
// called with, what it prints, the exit codes, and how it opens the session
// database and finds a session there.
//
// It knows no verb and no flag's name but those that it repeats to people, and
// decides nothing about permissions.
package base

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"alisio/agent"
	"alisio/agent/text"
	"alisio/tui/plain"
)

// Call is one call of the program, as far as every verb looks at it. The fields of
// flags are zero when the flag was not given.
type Call struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Getenv reads the environment as it was at the program's start.
	Getenv func(string) string
	// Verb is the command's whole name, as "sessions list"; Args are the words
	// behind it.
	Verb string
	Args []string

	// JSON: programs read what is printed. Quiet: no notices. Last: the newest
	// session of the workspace is meant.
	JSON, Quiet, Last bool
	// Cwd and DB are the names that --cwd and --db give, as they were given.
	Cwd, DB string
}

// Notice tells the person something, unless --quiet.
func (c *Call) Notice(format string, args ...any) {
	if !c.Quiet {
		plain.Note(c.Stderr, format, args...)
	}
}

// Printed prints all that a verb has to say and ends it.
func (c *Call) Printed(text string) (int, error) {
	if err := c.Print(text); err != nil {
		return ExitFailed, err
	}
	return ExitDone, nil
}

// Print writes to standard output; a reader that went away is no failure of
// ours.
func (c *Call) Print(text string) error { return UnlessClosed(c.Write(text)) }

// Write writes to standard output.
func (c *Call) Write(text string) error {
	if _, err := io.WriteString(c.Stdout, text); err != nil {
		return fmt.Errorf("write standard output: %w", err)
	}
	return nil
}

// PrintJSON prints what json.Marshal returned as a line that is safe for a terminal.
// A field that an object lacks is absent, never null; readers ignore fields that
// they do not know.
func (c *Call) PrintJSON(data []byte, err error) error {
	if err != nil {
		return err
	}
	line, err := plain.EscapeJSON(nil, data)
	if err != nil {
		return err
	}
	return c.Print(string(line) + "\n")
}

// UnlessClosed is an error of writing to standard output; a reader that went
// away is no failure of ours.
func UnlessClosed(err error) error {
	if plain.Gone(err) {
		return nil
	}
	return err
}

// WorkingDir is that of --cwd, or the process's own.
func (c *Call) WorkingDir() (string, error) {
	dir := c.Cwd
	if !filepath.IsAbs(dir) {
		here, err := os.Getwd()
		if err != nil {
			return "", fmt.Errorf("find the working directory: %w; it may have been removed", err)
		}
		if dir = filepath.Join(here, dir); c.Cwd == "" {
			return here, nil
		}
	}
	switch info, err := os.Stat(dir); {
	case err != nil:
		return "", fmt.Errorf("--cwd: %w", FileError(dir, err))
	case !info.IsDir():
		return "", fmt.Errorf("--cwd: %s is not a directory", dir)
	}
	return filepath.Clean(dir), nil
}

// Absolute makes a name of the command line absolute.
func (c *Call) Absolute(name string) (string, error) {
	if filepath.IsAbs(name) {
		return filepath.Clean(name), nil
	}
	dir, err := c.WorkingDir()
	return In(dir, name), err
}

// In is where a name of the command line leads, which counts from dir if it is
// relative.
func In(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// Title is what a session is called, on one line that is safe to print.
func Title(s agent.Session) string {
	if t := text.Line(s.Title); t != "" {
		return t
	}
	return "(no title)"
}
