package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"alisio/agent"
	"alisio/llm"
	"alisio/tui/plain"
)

// runImport takes an exported session in and prints its id.
func runImport(ctx context.Context, c *call) (int, error) {
	name, err := c.one("a file, or - for standard input")
	if err != nil && len(c.args) == 0 {
		err = &llm.Error{Message: err.Error(), Hint: "as in: " + c.command("sessions import talk.jsonl")}
	}
	if err != nil {
		return exitUsage, err
	}
	in := c.Stdin
	if name != "-" {
		f, err := c.exported(name)
		if err != nil {
			return exitUsage, err
		}
		defer f.Close()
		in = f
	}
	return c.inOrder(ctx, func(ctx context.Context) (int, error) {
		store, code, err := c.database(ctx)
		if err != nil {
			return code, err
		}
		defer store.Close()
		return c.takeIn(ctx, store, in)
	})
}

// exported opens the file to import.
func (c *call) exported(name string) (*os.File, error) {
	path, err := c.absolute(name)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fileError(name, err)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, fmt.Errorf("%s is a directory", name)
	}
	return f, nil
}

// takeIn stores all of an export or nothing. Its id is printed alone, so that a
// script can go on with it.
func (c *call) takeIn(ctx context.Context, store *agent.Store, in io.Reader) (int, error) {
	s, err := store.Import(ctx, in)
	var alike *agent.AlikeError
	switch {
	case errors.As(err, &alike):
		return exitFailed, llm.Errorf(llm.CauseStore, "%w", err).WithHint("nothing was changed; --db FILE takes it into another database")
	case errors.Is(err, agent.ErrExists):
		return exitFailed, llm.Errorf(llm.CauseStore, "%w", err).WithHint("nothing was changed; to take it in anew, delete the session first")
	case err != nil:
		return exitFailed, err
	}
	if err := c.print(s.ID + "\n"); err != nil {
		return exitFailed, err
	}
	c.notice("%s, %s taken in", plain.Count(s.Messages, "message", "messages"), plain.Count(s.Events, "event", "events"))
	return exitDone, nil
}
