package sessions

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"alisio/agent"
	"alisio/llm"
	"alisio/tui/cli/base"
	"alisio/tui/plain"
)

// Import takes an exported session in and prints its id.
func Import(ctx context.Context, c *Call) (int, error) {
	name, err := c.One("a file, or - for standard input")
	if err != nil && len(c.Args) == 0 {
		err = &llm.Error{Message: err.Error(), Hint: "as in: " + c.Command("sessions import talk.jsonl")}
	}
	if err != nil {
		return base.ExitUsage, err
	}
	in := c.Stdin
	if name != "-" {
		f, err := c.exported(name)
		if err != nil {
			return base.ExitUsage, err
		}
		defer f.Close()
		in = f
	}
	return c.InOrder(ctx, func(ctx context.Context) (int, error) {
		in := bufio.NewReaderSize(in, 64<<10)
		// Before there is a database: what is no export makes none.
		if code, err := unfit(agent.CheckExport(in), name); err != nil {
			return code, err
		}
		store, code, err := c.Database(ctx)
		if err != nil {
			return code, err
		}
		defer store.Close()
		return c.takeIn(ctx, store, in, name)
	})
}

// exported opens the file to import.
func (c *Call) exported(name string) (*os.File, error) {
	path, err := c.Absolute(name)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, base.FileError(name, err)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, fmt.Errorf("%s is a directory", name)
	}
	return f, nil
}

// unfit is what the command ends with where a file can not be taken in. One that is
// no export at all is wrong use.
func unfit(err error, name string) (int, error) {
	none := errors.Is(err, agent.ErrNoExport)
	if err != nil && name != "-" {
		err = fmt.Errorf("%s: %w", name, err)
	}
	switch {
	case none:
		return base.ExitUsage, llm.Errorf(llm.CauseBadRequest, "%w", err).WithHint("alisio sessions export writes one")
	case err != nil:
		return base.ExitFailed, err
	}
	return base.ExitDone, nil
}

// takeIn stores all of an export or nothing. Its id is printed alone, so that a
// script can go on with it.
func (c *Call) takeIn(ctx context.Context, store *agent.Store, in io.Reader, name string) (int, error) {
	s, err := store.Import(ctx, in)
	var alike *agent.AlikeError
	switch {
	case errors.As(err, &alike):
		return base.ExitFailed, llm.Errorf(llm.CauseStore, "%w", err).WithHint("nothing was changed; --db FILE takes it into another database")
	case errors.Is(err, agent.ErrExists):
		return base.ExitFailed, llm.Errorf(llm.CauseStore, "%w", err).WithHint("nothing was changed; to take it in anew, delete the session first")
	case err != nil:
		return unfit(err, name)
	}
	if err := c.Print(s.ID + "\n"); err != nil {
		return base.ExitFailed, err
	}
	c.Notice("%s, %s taken in", plain.Count(s.Messages, "message", "messages"), plain.Count(s.Events, "event", "events"))
	return base.ExitDone, nil
}
