package base

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"alisio/agent"
	"alisio/agent/text"
	"alisio/llm"
	"alisio/tui/plain"
)

// Session finds the session that a person named: by its id, or by how it begins,
// in small or capital letters. A name that fits several is refused with all of
// them: the code is that of wrong use, since nothing was done.
func (c *Call) Session(ctx context.Context, store *agent.Store, name string) (agent.Session, int, error) {
	none := &llm.Error{
		Message: fmt.Sprintf("no session begins with %s", Clipped(name)),
		Hint:    c.Command("sessions list --all") + " lists all sessions",
	}
	if store == nil {
		none.Hint = "no session is stored yet"
	}
	if store == nil || name == "" || strings.ContainsAny(name, " \t\n") {
		return agent.Session{}, ExitUsage, none
	}
	s, err := store.Find(ctx, name)
	if small := strings.ToLower(name); errors.Is(err, agent.ErrNotFound) && small != name {
		s, err = store.Find(ctx, small)
	}
	var several *agent.AmbiguousError
	switch {
	case err == nil:
		return s, ExitDone, nil
	case errors.Is(err, agent.ErrNotFound):
		return s, ExitUsage, none
	case errors.As(err, &several):
		return s, ExitUsage, &llm.Error{
			Cause:   llm.CauseBadRequest,
			Message: fmt.Sprintf("more than one session begins with %s:\n%s", Clipped(name), candidates(ctx, store, several.IDs)),
			Hint:    "give more of the id",
		}
	}
	return s, ExitFailed, err
}

const (
	// ShortID is how much of an id is shown, in characters, unless that is the
	// beginning of another one too.
	ShortID = 8
	// MaxTitle bounds a title in a list, in cells.
	MaxTitle = 60
)

// maxCandidates bounds the sessions that are offered for an ambiguous name.
const maxCandidates = 10

// candidates lists sessions to choose from.
func candidates(ctx context.Context, store *agent.Store, ids []string) string {
	var t text.Table
	now, rest := time.Now(), ""
	for i, id := range ids {
		if i == maxCandidates {
			rest = "\nand more"
			break
		}
		row := []string{text.Line(id)}
		if s, err := store.Session(ctx, id); err == nil {
			row = append(row, fmt.Sprintf("%6s", plain.Age(now, s.Updated)), text.Clip(Title(s), MaxTitle))
		}
		t = append(t, row)
	}
	return strings.TrimRight(t.String(), "\n") + rest
}

// storeCode is what an error of a command about sessions exits with. A session
// that is in use is a failure (1) like any other: its message has the process.
func storeCode(err error) int {
	var uncertain *agent.UncertainError
	var wrong Misuse
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &wrong):
		return ExitUsage
	case errors.As(err, &uncertain):
		return ExitUncertain
	}
	return ExitFailed
}

// WithSession opens the session database, finds the session that the command line
// names, and does something with it. Commands that take --last take the newest
// session of the workspace for it.
func (c *Call) WithSession(ctx context.Context, do func(*agent.Store, agent.Session) error) (int, error) {
	return c.withSessions(ctx, c.Database, false, do)
}

// LookSession is WithSession for a command that only reads.
func (c *Call) LookSession(ctx context.Context, do func(*agent.Store, agent.Session) error) (int, error) {
	return c.withSessions(ctx, c.Look, false, do)
}

// Opener opens the session database: Database or Look.
type Opener = func(context.Context) (*agent.Store, int, error)

// WithSessions does something with each of the sessions that the command line names,
// in order, once all of them are found.
func (c *Call) WithSessions(ctx context.Context, open Opener, do func(*agent.Store, agent.Session) error) (int, error) {
	return c.withSessions(ctx, open, true, do)
}

func (c *Call) withSessions(ctx context.Context, open Opener, several bool, do func(*agent.Store, agent.Session) error) (int, error) {
	find, err := c.Named(several)
	if err != nil {
		return ExitUsage, err
	}
	store, code, err := open(ctx)
	if err != nil {
		return code, err
	}
	list, code, err := find(ctx, store)
	for _, s := range list {
		if err == nil {
			err = do(store, s)
			code = storeCode(err)
		}
	}
	if store != nil { // that it could not be closed is told unless there is worse
		if closed := store.Close(); err == nil && closed != nil {
			return ExitFailed, closed
		}
	}
	return code, err
}

// Finder finds sessions in a store, which is nil when there is none yet.
type Finder = func(ctx context.Context, store *agent.Store) ([]agent.Session, int, error)

// Named returns what finds the sessions that the words name, or with --last the newest
// one of the workspace. It finds all of them or none, and each once.
func (c *Call) Named(several bool) (Finder, error) {
	if c.Last {
		if len(c.Args) > 0 {
			return nil, ErrNotBoth
		}
		here, err := c.WorkingDir()
		return func(ctx context.Context, store *agent.Store) ([]agent.Session, int, error) {
			s, code, err := c.Newest(ctx, store, here)
			return []agent.Session{s}, code, err
		}, err
	}
	if len(c.Args) == 0 || !several {
		if err := c.oneSession(); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context, store *agent.Store) (list []agent.Session, code int, err error) {
		for _, name := range c.Args {
			s, code, err := c.Session(ctx, store, name)
			if err != nil {
				return nil, code, err
			}
			if !slices.ContainsFunc(list, func(t agent.Session) bool { return t.ID == s.ID }) {
				list = append(list, s)
			}
		}
		return list, ExitDone, nil
	}, nil
}

// ErrNotBoth refuses a session that is named in two ways.
var ErrNotBoth = errors.New("SESSION or --last, not both")

// Newest is the newest session of the workspace around a directory, imported ones
// that nobody has used yet apart: who wants one of these names it.
func (c *Call) Newest(ctx context.Context, store *agent.Store, here string) (agent.Session, int, error) {
	root := agent.Root(here, c.Getenv("HOME"))
	none := &llm.Error{
		Message: fmt.Sprintf("no session of %s is stored", root),
		Hint:    c.Command("sessions list") + " lists those of all workspaces",
	}
	if store == nil {
		none.Hint = ""
		return agent.Session{}, ExitUsage, none
	}
	s, err := store.Last(ctx, root)
	switch {
	case errors.Is(err, agent.ErrNotFound):
		if list, err := store.List(ctx, agent.Query{Workspace: root, Limit: 1}); err == nil && len(list) > 0 {
			none.Message = fmt.Sprintf("no session of %s is stored but imported ones that nobody has used yet", root)
			none.Hint = c.Command("sessions list") + " lists their ids: name the one that you mean"
		}
		return s, ExitUsage, none
	case err != nil:
		return s, ExitFailed, err
	}
	return s, ExitDone, nil
}
