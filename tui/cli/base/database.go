package base

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"alisio/agent"
	"alisio/agent/config"
)

// Homes are the person's own directories; those of which nothing says where they are
// stay empty.
func (c *Call) Homes() (config.Dirs, error) {
	dirs, err := config.Home(c.Getenv)
	if errors.Is(err, config.ErrNoHome) {
		err = nil
	}
	return dirs, err
}

// StoreOptions says where the session database is. A relative --db counts from
// the working directory, as the names of all flags do. Its directory must be there,
// but for the state home: a name that was mistyped makes no directories.
func (c *Call) StoreOptions() (agent.StoreOptions, error) {
	o := agent.StoreOptions{Ends: true, Notice: func(text string) { c.Notice("%s", text) }}
	var err error
	if o.Dirs, err = c.Homes(); err != nil {
		return o, err
	}
	switch {
	case c.DB == "" && o.Dirs.State == "":
		return o, agent.ErrNoPlace
	case c.DB == "":
		return o, nil
	}
	if o.Path, err = c.Absolute(c.DB); err != nil {
		return o, err
	}
	if info, err := os.Stat(o.Path); err == nil && info.IsDir() {
		return o, fmt.Errorf("--db: %s is a directory", c.DB)
	}
	if dir := filepath.Dir(o.Path); dir != o.Dirs.State {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return o, fmt.Errorf("--db: the directory %s is not there", dir)
		}
	}
	if agent.IsForeign(o.Path) {
		return o, c.NotOurs()
	}
	return o, nil
}

func (c *Call) NotOurs() error { return fmt.Errorf("--db: %s is not an Alisio database", c.DB) }

// Unusable is what a command ends with whose database can not be opened or read. One
// of another program that --db names is wrong use, as is a file that is none.
func (c *Call) Unusable(err error) (int, error) {
	var other *agent.ForeignError
	if c.DB != "" && errors.As(err, &other) {
		return ExitUsage, c.NotOurs()
	}
	return ExitFailed, err
}

// Database opens the session database for a command that writes.
func (c *Call) Database(ctx context.Context) (*agent.Store, int, error) {
	o, err := c.StoreOptions()
	if err != nil {
		return nil, ExitUsage, err
	}
	store, err := agent.OpenStore(ctx, o)
	if err != nil {
		code, err := c.Unusable(err)
		return nil, code, err
	}
	return store, ExitDone, nil
}

// Look opens the session database for a command that only reads: nothing is
// made, changed or waited for, so that one that can not be written is read too.
// Only one of an older program is brought up to date first. While there is none,
// store is nil; one that --db names must be there.
func (c *Call) Look(ctx context.Context) (store *agent.Store, code int, err error) {
	o, err := c.StoreOptions()
	if err != nil {
		return nil, ExitUsage, err
	}
	o.ReadOnly = true
	store, err = agent.OpenStore(ctx, o)
	switch {
	case errors.Is(err, fs.ErrNotExist) && c.DB == "":
		return nil, ExitDone, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, ExitUsage, fmt.Errorf("--db: %s is not there", c.DB)
	case err != nil:
		return nil, ExitFailed, err
	}
	// Only a read shows which columns there are.
	if _, err = store.List(ctx, agent.Query{Limit: 1}); err == nil {
		return store, ExitDone, nil
	}
	store.Close()
	if old := (*agent.OlderError)(nil); !errors.As(err, &old) {
		code, err = c.Unusable(err)
		return nil, code, err
	}
	o.ReadOnly = false
	if store, err = agent.OpenStore(ctx, o); err != nil {
		return nil, ExitFailed, fmt.Errorf("bring the database up to date: %w", err)
	}
	return store, ExitDone, nil
}
