package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"alisio/agent"
	"alisio/agent/config"
	"alisio/llm"
)

// errNoPlace: sessions are kept for good or not at all; a run never goes on without
// a word in a store that ends with it.
var errNoPlace = errors.New("no place for the session database: set ALISIO_STATE_HOME or HOME, or use --db FILE")

// storeOptions says where the session database is. A relative --db counts from
// the working directory, as the names of all flags do.
func (c *call) storeOptions() (agent.StoreOptions, error) {
	o := agent.StoreOptions{Ends: true, Notice: func(text string) { c.notice("%s", text) }}
	var err error
	if o.Dirs, err = config.Home(c.Getenv); err != nil && !errors.Is(err, config.ErrNoHome) {
		return o, err
	}
	if c.db == "" && o.Dirs.State == "" {
		return o, errNoPlace
	}
	if c.db != "" {
		if o.Path, err = c.absolute(c.db); err != nil {
			return o, err
		}
	}
	return o, nil
}

// database opens the session database for a command that writes.
func (c *call) database(ctx context.Context) (*agent.Store, int, error) {
	o, err := c.storeOptions()
	if err != nil {
		return nil, exitUsage, err
	}
	store, err := agent.OpenStore(ctx, o)
	if err != nil {
		return nil, exitFailed, err
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
		return nil, exitUsage, fmt.Errorf("--db: %w", err)
	case err != nil:
		return nil, exitFailed, err
	}
	// The columns of older programs can not be told from a damage but by a read.
	if _, err = store.List(ctx, agent.Query{Limit: 1}); err == nil {
		return store, exitDone, nil
	}
	store.Close()
	o.ReadOnly = false
	store, openErr := agent.OpenStore(ctx, o)
	if openErr != nil {
		return nil, exitFailed, fmt.Errorf("%w\none of an older program is read once it has been brought up to date, and that fails: %w", err, openErr)
	}
	return store, exitDone, nil
}

// session finds the session that a person named: by its id, or by how it begins.
// A name that fits several is refused with all of them: the code is that of wrong
// use, since nothing was done.
func (c *call) session(ctx context.Context, store *agent.Store, name string) (agent.Session, int, error) {
	none := &llm.Error{Message: fmt.Sprintf("no session begins with %s", clipped(name)), Hint: "alisio sessions list --all lists them"}
	if store == nil || name == "" || strings.ContainsAny(name, " \t\n") {
		return agent.Session{}, exitUsage, none
	}
	s, err := store.Find(ctx, name)
	var several *agent.AmbiguousError
	switch {
	case err == nil:
		return s, exitDone, nil
	case errors.Is(err, agent.ErrNotFound):
		return s, exitUsage, none
	case errors.As(err, &several):
		return s, exitUsage, llm.Errorf(llm.CauseBadRequest, "more than one session begins with %s:\n%s",
			clipped(name), c.candidates(ctx, store, several.IDs))
	}
	return s, exitFailed, err
}

// maxCandidates bounds the sessions that are offered for an ambiguous name.
const maxCandidates = 10

// candidates lists sessions to choose from.
func (c *call) candidates(ctx context.Context, store *agent.Store, ids []string) string {
	var lines []string
	for i, id := range ids {
		if i == maxCandidates {
			lines = append(lines, "and more")
			break
		}
		line := id
		if s, err := store.Session(ctx, id); err == nil {
			line += "  " + title(s)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// storeCode is what an error of a command about sessions exits with. A session
// that is in use is a failure (1) like any other: its message has the process.
func storeCode(err error) int {
	var uncertain *agent.UncertainError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &uncertain):
		return exitUncertain
	}
	return exitFailed
}

// withSession opens the session database, finds the session that the one word of
// the command line names, and does something with it.
func (c *call) withSession(ctx context.Context, do func(*agent.Store, agent.Session) error) (int, error) {
	name, err := c.one("the id of a session")
	if err != nil {
		return exitUsage, err
	}
	store, code, err := c.database(ctx)
	if err != nil {
		return code, err
	}
	return c.with(ctx, store, name, do)
}

// lookSession is withSession for a command that only reads.
func (c *call) lookSession(ctx context.Context, do func(*agent.Store, agent.Session) error) (int, error) {
	name, err := c.one("the id of a session")
	if err != nil {
		return exitUsage, err
	}
	store, code, err := c.look(ctx)
	if err != nil {
		return code, err
	}
	return c.with(ctx, store, name, do)
}

// with finds a session, does something with it, and closes the database, which may
// be nil. That the database could not be closed is told unless there is worse.
func (c *call) with(ctx context.Context, store *agent.Store, name string, do func(*agent.Store, agent.Session) error) (int, error) {
	s, code, err := c.session(ctx, store, name)
	if err == nil {
		err = do(store, s)
		code = storeCode(err)
	}
	if store != nil {
		if closed := store.Close(); err == nil && closed != nil {
			return exitFailed, closed
		}
	}
	return code, err
}

// one returns the only word after the command.
func (c *call) one(what string) (string, error) {
	switch len(c.args) {
	case 1:
		return c.args[0], nil
	case 0:
		return "", fmt.Errorf("alisio %s needs %s", c.verb, what)
	}
	return "", fmt.Errorf("alisio %s takes %s and nothing else, found %s too", c.verb, what, clipped(c.args[1]))
}

// none complains about words after a command that takes none.
func (c *call) none() error {
	if len(c.args) > 0 {
		return fmt.Errorf("alisio %s takes no argument, found %s", c.verb, clipped(c.args[0]))
	}
	return nil
}

// absolute makes a name of the command line absolute.
func (c *call) absolute(name string) (string, error) {
	if filepath.IsAbs(name) {
		return filepath.Clean(name), nil
	}
	dir, err := c.workingDir()
	return filepath.Join(dir, name), err
}

// unlessClosed is an error of writing to standard output; a reader that went
// away is no failure of ours.
func unlessClosed(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}
