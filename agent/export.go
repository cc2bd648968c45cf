package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"alisio/agent/session"
	"alisio/agent/text"
	"alisio/llm"
)

// ExportTo writes a session, as "markdown" or "jsonl", into a new file that only its
// owner can read, and returns the file's absolute name. A relative one stands in the
// working directory. Nothing is written over.
func (a *App) ExportTo(ctx context.Context, sessionID, format, file string) (string, error) {
	k, err := a.kept()
	if err == nil && a.o.Policy.ReadOnly {
		err = llm.Errorf(llm.CausePermission, "nothing is written: the run is --read-only")
	}
	if err == nil {
		_, err = a.store.Session(ctx, sessionID)
		err = session.Caused(err)
	}
	if err != nil {
		return "", err
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(a.o.Dir, file)
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		if errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("%s is there already, and only a new file is written", text.Line(file))
		}
		return "", fmt.Errorf("write the session: %w", err)
	}
	write := k.Markdown
	if format == "jsonl" {
		write = k.Export
	}
	err = write(ctx, sessionID, f)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(file) // a part of a session is none
		return "", session.Caused(err)
	}
	return file, nil
}
