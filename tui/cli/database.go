package cli

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

// storeOptions says where the session database is. A relative --db counts from
// the working directory, as the names of all flags do. Its directory must be there,
// but for the state home: a name that was mistyped makes no directories.
func (c *call) storeOptions() (agent.StoreOptions, error) {
	o := agent.StoreOptions{Ends: true, Notice: func(text string) { c.notice("%s", text) }}
	var err error
	if o.Dirs, err = config.Home(c.Getenv); err != nil && !errors.Is(err, config.ErrNoHome) {
		return o, err
	}
	switch {
	case c.db == "" && o.Dirs.State == "":
		return o, agent.ErrNoPlace
	case c.db == "":
		return o, nil
	}
	if o.Path, err = c.absolute(c.db); err != nil {
		return o, err
	}
	if info, err := os.Stat(o.Path); err == nil && info.IsDir() {
		return o, fmt.Errorf("--db: %s is a directory", c.db)
	}
	if dir := filepath.Dir(o.Path); dir != o.Dirs.State {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return o, fmt.Errorf("--db: the directory %s is not there", dir)
		}
	}
	if agent.IsForeign(o.Path) {
		return o, c.notOurs()
	}
	return o, nil
}

func (c *call) notOurs() error { return fmt.Errorf("--db: %s is not an Alisio database", c.db) }

// unusable is what a command ends with whose database can not be opened or read. One
// of another program that --db names is wrong use, as is a file that is none.
func (c *call) unusable(err error) (int, error) {
	var other *agent.ForeignError
	if c.db != "" && errors.As(err, &other) {
		return exitUsage, c.notOurs()
	}
	return exitFailed, err
}

// database opens the session database for a command that writes.
func (c *call) database(ctx context.Context) (*agent.Store, int, error) {
	o, err := c.storeOptions()
	if err != nil {
		return nil, exitUsage, err
	}
	store, err := agent.OpenStore(ctx, o)
	if err != nil {
		code, err := c.unusable(err)
		return nil, code, err
	}
	return store, exitDone, nil
}

// look opens the session database for a command that only reads: nothing is
// made, changed or waited for, so that one that can not be written is read too.
// Only one of an older program is brought up to date first. While there is none,
// store is nil; one that --db names must be there.
func (c *call) look(ctx context.Context) (store *agent.Store, code int, err error) {
	o, err := c.storeOptions()
	if err != nil {
		return nil, exitUsage, err
	}
	o.ReadOnly = true
	store, err = agent.OpenStore(ctx, o)
	switch {
	case errors.Is(err, fs.ErrNotExist) && c.db == "":
		return nil, exitDone, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, exitUsage, fmt.Errorf("--db: %s is not there", c.db)
	case err != nil:
		return nil, exitFailed, err
	}
	// Only a read shows which columns there are.
	if _, err = store.List(ctx, agent.Query{Limit: 1}); err == nil {
		return store, exitDone, nil
	}
	store.Close()
	if old := (*agent.OlderError)(nil); !errors.As(err, &old) {
		code, err = c.unusable(err)
		return nil, code, err
	}
	o.ReadOnly = false
	if store, err = agent.OpenStore(ctx, o); err != nil {
		return nil, exitFailed, fmt.Errorf("bring the database up to date: %w", err)
	}
	return store, exitDone, nil
}
