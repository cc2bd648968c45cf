package sessions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"alisio/agent"
	"alisio/agent/text"
	"alisio/tui/cli/base"
	"alisio/tui/plain"
	"alisio/tui/term"
)

// Export writes a session: all of it as JSON lines, or for reading. Sessions that
// agents started in it are exported by themselves.
func Export(ctx context.Context, c *Call) (int, error) {
	return c.InOrder(ctx, c.export)
}

func (c *Call) export(ctx context.Context) (int, error) {
	return c.LookSession(ctx, func(store *agent.Store, s agent.Session) error {
		write := store.Export
		if c.Markdown {
			write = store.Markdown
		}
		if c.Output == "" {
			return c.exportHere(func(w io.Writer) error { return write(ctx, s.ID, w) })
		}
		path, err := c.Absolute(c.Output)
		if err != nil {
			return err
		}
		if err := exportTo(path, func(w io.Writer) error { return write(ctx, s.ID, w) }); err != nil {
			return err
		}
		c.Notice("session %s is written to %s", s.ID, c.Output)
		return nil
	})
}

// exportHere writes to standard output. A terminal is shown nothing that acts on
// it; elsewhere the bytes are those that import takes.
func (c *Call) exportHere(write func(io.Writer) error) error {
	if !term.IsTerminal(c.Stdout) {
		return base.UnlessClosed(write(c.Stdout))
	}
	w := &lineWriter{w: c.Stdout}
	if err := write(w); err != nil {
		return base.UnlessClosed(err)
	}
	return base.UnlessClosed(w.flush())
}

// exportTo writes a new file, which only its owner can read. What could not be
// written whole is taken away again.
func exportTo(path string, write func(io.Writer) error) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("--output: %s exists already, and nothing is overwritten", path)
	}
	if err != nil {
		return base.Misuse{Err: fmt.Errorf("--output: %w", outputError(path, err))}
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err != nil {
		os.Remove(path)
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// outputError says why a new file can not be made.
func outputError(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the directory %s is not there", filepath.Dir(path))
	}
	return base.FileError(path, err)
}

// lineWriter makes text safe for a terminal line by line: JSON stays JSON, other
// text loses what acts on the screen. Its memory is one line.
type lineWriter struct {
	w    io.Writer
	line []byte
}

// Write implements io.Writer.
func (l *lineWriter) Write(p []byte) (int, error) {
	n := len(p)
	for {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			l.line = append(l.line, p...)
			return n, nil
		}
		l.line = append(l.line, p[:end+1]...)
		if err := l.flush(); err != nil {
			return 0, err
		}
		p = p[end+1:]
	}
}

// flush writes what has no end of line yet.
func (l *lineWriter) flush() error {
	if len(l.line) == 0 {
		return nil
	}
	safe, err := plain.EscapeJSON(nil, l.line)
	if err != nil {
		safe = []byte(text.Plain(string(l.line)))
	} else {
		safe = append(safe, '\n')
	}
	l.line = l.line[:0]
	_, err = l.w.Write(safe)
	return err
}
