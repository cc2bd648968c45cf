package cli

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
	if dir := filepath.Dir(o.Path); dir != o.Dirs.State {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return o, fmt.Errorf("--db: the directory %s is not there", dir)
		}
	}
	if foreign(o.Path) {
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

// foreign reports whether a file never was a session database: it has neither the
// head of one nor, where a damage may have taken that, any table or message. Such
// a file is somebody's text or picture, and no repair may set it aside.
func foreign(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return false // told of where it is opened
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 16)
	n, _ := io.ReadFull(f, head)
	if string(head[:n]) == "SQLite format 3\x00" {
		return false
	}
	if _, err := os.Stat(path + "-wal"); err == nil {
		return false // what it lacks may stand there
	}
	isText := !holds(f, "\x00")
	return isText || !holds(f, "CREATE TABLE ", `{"role":"`)
}

// maxSearch bounds how much of a file is searched, in bytes: less than a second.
const maxSearch = 1 << 28

// holds reports whether a file holds any of some short texts. It reads a piece at a
// time; one that is too large to be searched, or can not be read, may hold them.
func holds(f io.ReaderAt, texts ...string) bool {
	const overlap = 32 // more than any of them has
	piece := make([]byte, 1<<20)
	for at := int64(0); at < maxSearch; at += int64(len(piece) - overlap) {
		n, err := f.ReadAt(piece, at)
		for _, t := range texts {
			if bytes.Contains(piece[:n], []byte(t)) {
				return true
			}
		}
		if err != nil {
			return !errors.Is(err, io.EOF)
		}
	}
	return true
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
