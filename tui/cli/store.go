package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"alisio/agent"
	"alisio/agent/text"
	"alisio/llm"
	"alisio/tui/plain"
)

// session finds the session that a person named: by its id, or by how it begins,
// in small or capital letters. A name that fits several is refused with all of
// them: the code is that of wrong use, since nothing was done.
func (c *call) session(ctx context.Context, store *agent.Store, name string) (agent.Session, int, error) {
	none := &llm.Error{
		Message: fmt.Sprintf("no session begins with %s", clipped(name)),
		Hint:    c.command("sessions list --all") + " lists all sessions",
	}
	if store == nil {
		none.Hint = "no session is stored yet"
	}
	if store == nil || name == "" || strings.ContainsAny(name, " \t\n") {
		return agent.Session{}, exitUsage, none
	}
	s, err := store.Find(ctx, name)
	if small := strings.ToLower(name); errors.Is(err, agent.ErrNotFound) && small != name {
		s, err = store.Find(ctx, small)
	}
	var several *agent.AmbiguousError
	switch {
	case err == nil:
		return s, exitDone, nil
	case errors.Is(err, agent.ErrNotFound):
		return s, exitUsage, none
	case errors.As(err, &several):
		return s, exitUsage, &llm.Error{
			Cause:   llm.CauseBadRequest,
			Message: fmt.Sprintf("more than one session begins with %s:\n%s", clipped(name), candidates(ctx, store, several.IDs)),
			Hint:    "give more of the id",
		}
	}
	return s, exitFailed, err
}

// maxCandidates bounds the sessions that are offered for an ambiguous name.
const maxCandidates = 10

// candidates lists sessions to choose from.
func candidates(ctx context.Context, store *agent.Store, ids []string) string {
	var t plain.Table
	now, rest := time.Now(), ""
	for i, id := range ids {
		if i == maxCandidates {
			rest = "\nand more"
			break
		}
		row := []string{text.Line(id)}
		if s, err := store.Session(ctx, id); err == nil {
			row = append(row, fmt.Sprintf("%6s", plain.Age(now, s.Updated)), text.Clip(title(s), maxTitle))
		}
		t = append(t, row)
	}
	return strings.TrimRight(t.String(), "\n") + rest
}

// storeCode is what an error of a command about sessions exits with. A session
// that is in use is a failure (1) like any other: its message has the process.
func storeCode(err error) int {
	var uncertain *agent.UncertainError
	var wrong misuse
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &wrong):
		return exitUsage
	case errors.As(err, &uncertain):
		return exitUncertain
	}
	return exitFailed
}

// withSession opens the session database, finds the session that the one word of
// the command line names, and does something with it.
func (c *call) withSession(ctx context.Context, do func(*agent.Store, agent.Session) error) (int, error) {
	name, err := c.oneSession()
	if err != nil {
		return exitUsage, err
	}
	store, code, err := c.database(ctx)
	if err != nil {
		return code, err
	}
	return c.with(store, c.byName(ctx, store, name), do)
}

// lookSession is withSession for a command that only reads. Those that take --last
// take the newest session of the workspace for it.
func (c *call) lookSession(ctx context.Context, do func(*agent.Store, agent.Session) error) (int, error) {
	var name, here string
	var err error
	switch {
	case c.task.last && len(c.args) > 0:
		return exitUsage, errNotBoth
	case c.task.last:
		here, err = c.workingDir()
	default:
		name, err = c.oneSession()
	}
	if err != nil {
		return exitUsage, err
	}
	store, code, err := c.look(ctx)
	if err != nil {
		return code, err
	}
	if c.task.last {
		return c.with(store, func() (agent.Session, int, error) { return c.newest(ctx, store, here) }, do)
	}
	return c.with(store, c.byName(ctx, store, name), do)
}

var errNotBoth = errors.New("SESSION or --last, not both")

// newest is the newest session of the workspace around a directory, imported ones
// that nobody has used yet apart: who wants one of these names it.
func (c *call) newest(ctx context.Context, store *agent.Store, here string) (agent.Session, int, error) {
	root := agent.Root(here, c.Getenv("HOME"))
	none := &llm.Error{
		Message: fmt.Sprintf("no session of %s is stored", root),
		Hint:    c.command("sessions list") + " lists those of all workspaces",
	}
	if store == nil {
		none.Hint = ""
		return agent.Session{}, exitUsage, none
	}
	s, err := store.Last(ctx, root)
	switch {
	case errors.Is(err, agent.ErrNotFound):
		if list, err := store.List(ctx, agent.Query{Workspace: root, Limit: 1}); err == nil && len(list) > 0 {
			none.Message = fmt.Sprintf("no session of %s is stored but imported ones that nobody has used yet", root)
			none.Hint = c.command("sessions list") + " lists their ids: name the one that you mean"
		}
		return s, exitUsage, none
	case err != nil:
		return s, exitFailed, err
	}
	return s, exitDone, nil
}

// byName puts off the search for a session until the database is sure to be closed
// behind it.
func (c *call) byName(ctx context.Context, store *agent.Store, name string) func() (agent.Session, int, error) {
	return func() (agent.Session, int, error) { return c.session(ctx, store, name) }
}

// with finds a session, does something with it, and closes the database, which may
// be nil. That the database could not be closed is told unless there is worse.
func (c *call) with(store *agent.Store, find func() (agent.Session, int, error), do func(*agent.Store, agent.Session) error) (int, error) {
	s, code, err := find()
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

// oneSession returns the only word after a command, which names a session.
func (c *call) oneSession() (string, error) {
	word, err := c.one("the id of a session")
	if err != nil && len(c.args) == 0 {
		return "", &llm.Error{
			Message: err.Error(),
			Hint:    "as in: " + c.command(c.verb+" 1a2b3c4d") + "; " + c.command("sessions list") + " lists the ids",
		}
	}
	return word, err
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

// atMostOne returns the only word after the command, empty when there is none.
func (c *call) atMostOne(what string) (string, error) {
	switch len(c.args) {
	case 0:
		return "", nil
	case 1:
		if c.args[0] != "" {
			return c.args[0], nil
		}
		return "", fmt.Errorf("alisio %s takes %s or none, and the name is empty", c.verb, what)
	}
	return "", fmt.Errorf("alisio %s takes %s or none, found %s too", c.verb, what, clipped(c.args[1]))
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
