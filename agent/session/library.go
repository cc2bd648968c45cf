package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"alisio/agent/session/archive"
	"alisio/agent/text"
	"alisio/db"
	"alisio/plug"
)

const (
	// maxTitle bounds a title, in characters.
	maxTitle = 200
	// maxCandidates bounds the ids that an ambiguous prefix is explained with.
	maxCandidates = 20
	// lastPage is how many sessions at a time Last looks at; nearly always the
	// first is the one.
	lastPage = 4
)

// Query selects sessions, the last changed first.
type Query struct {
	// Workspace, if set, is the only one.
	Workspace string
	// All: archived sessions and children too.
	All bool
	// Limit is at least 1 and at most 10,000.
	Limit int
	// Before is the last session of the page before this one, if any.
	Before *Session
}

// Summary is what a list shows of a session.
type Summary struct {
	Session
	// Messages counts all that are kept; lists do not count.
	Messages int
	// Uncertain: it is not known of some call whether it took effect.
	Uncertain bool
	// BusyPID is the living process that works in the session, zero if none is
	// known.
	BusyPID int
	// LastRun is empty if there was none, as in sessions of old programs.
	LastRun RunStatus
}

// AmbiguousError tells that several sessions have ids that begin alike.
type AmbiguousError struct {
	Prefix string
	// IDs are the candidates, sorted, at most twenty of them.
	IDs []string
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q is the beginning of several sessions: %s", e.Prefix, strings.Join(e.IDs, ", "))
}

// List returns a page of sessions.
func (s *SQLite) List(ctx context.Context, q Query) ([]Summary, error) {
	query := db.SessionQuery{Workspace: q.Workspace, Children: q.All, Archived: q.All, Limit: q.Limit}
	if q.Before != nil {
		query.BeforeMs, query.BeforeID = millis(q.Before.Updated), q.Before.ID
	}
	rows, err := s.db.Sessions(ctx, query)
	if err != nil {
		return nil, mapped("list sessions", err)
	}
	list, err := s.summaries(ctx, rows)
	return list, mapped("list sessions", err)
}

// Summary returns what a list shows of one session, with its messages counted.
func (s *SQLite) Summary(ctx context.Context, id string) (Summary, error) {
	act := "session " + id
	row, err := s.db.Session(ctx, id)
	if err != nil {
		return Summary{}, mapped(act, err)
	}
	list, err := s.summaries(ctx, []db.Session{row})
	if err != nil {
		return Summary{}, mapped(act, err)
	}
	sum := list[0]
	sum.Messages, err = s.db.CountMessages(ctx, id)
	return sum, mapped(act, err)
}

// summaries takes two queries for all rows, however long the sessions are. A call
// under way in a living process is not uncertain.
func (s *SQLite) summaries(ctx context.Context, rows []db.Session) ([]Summary, error) {
	pending, err := s.db.PendingEffects(ctx)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	last, err := s.db.LastRuns(ctx, ids)
	if err != nil {
		return nil, err
	}
	list := make([]Summary, len(rows))
	for i, r := range rows {
		sum := Summary{Session: fromRow(r), BusyPID: busyPID(r), LastRun: RunStatus(last[r.ID])}
		sum.Uncertain = sum.BusyPID == 0 && slices.ContainsFunc(pending[r.ID], func(e string) bool { return !plug.Effect(e).Quiet() })
		list[i] = sum
	}
	return list, nil
}

// busyPID is the owner that a row names, if that process still runs.
func busyPID(r db.Session) int {
	if r.LockedBoot == "" {
		if db.AliveSince(r.LockedPID, r.UpdatedMs) {
			return r.LockedPID
		}
		return 0
	}
	owner := db.Owner{PID: r.LockedPID, Boot: r.LockedBoot, Start: r.LockedStart}
	if alive, _ := owner.Alive(); alive {
		return r.LockedPID
	}
	return 0
}

// Find returns the session of an id or of the beginning of one: ErrNotFound, or
// an *AmbiguousError. A whole id is found even if others begin with it.
func (s *SQLite) Find(ctx context.Context, prefix string) (Session, error) {
	if prefix == "" {
		return Session{}, fmt.Errorf("find session: %w", ErrNotFound)
	}
	row, err := s.db.Session(ctx, prefix)
	if err == nil {
		return fromRow(row), nil
	}
	if !errors.Is(err, db.ErrNotFound) {
		return Session{}, mapped("find session", err)
	}
	rows, err := s.db.SessionsWithPrefix(ctx, prefix, maxCandidates)
	switch {
	case err != nil:
		return Session{}, mapped("find session", err)
	case len(rows) == 0:
		return Session{}, fmt.Errorf("session %.200q: %w", prefix, ErrNotFound)
	case len(rows) == 1:
		return fromRow(rows[0]), nil
	}
	ambiguous := &AmbiguousError{Prefix: prefix}
	for _, r := range rows {
		ambiguous.IDs = append(ambiguous.IDs, r.ID)
	}
	return Session{}, ambiguous
}

// Last returns the last changed root session of a workspace that is not
// archived, or ErrNotFound. One that was imported is passed over until it is
// adopted: whoever made the export chose its workspace and its times, and nobody
// here named it.
func (s *SQLite) Last(ctx context.Context, workspace string) (Session, error) {
	none := fmt.Errorf("last session of %q: %w", workspace, ErrNotFound)
	if workspace == "" {
		return Session{}, none
	}
	for q := (db.SessionQuery{Workspace: workspace, Limit: lastPage}); ; {
		rows, err := s.db.Sessions(ctx, q)
		if err != nil {
			return Session{}, mapped("find session", err)
		}
		for _, r := range rows {
			if !r.Imported() || archive.Adopted(r.Options) {
				return fromRow(r), nil
			}
			q.BeforeMs, q.BeforeID = r.UpdatedMs, r.ID
		}
		if len(rows) < lastPage {
			return Session{}, none
		}
	}
}

// Rename gives a session a title: one line, at most 200 characters.
func (s *SQLite) Rename(ctx context.Context, id, title string) error {
	return s.change(ctx, "rename session "+id, func(tx *db.Tx) error {
		return tx.RenameSession(id, text.OneLine(title, maxTitle))
	})
}

// Pin keeps a session at the top of lists, or no longer.
func (s *SQLite) Pin(ctx context.Context, id string, on bool) error {
	return s.change(ctx, "pin session "+id, func(tx *db.Tx) error { return tx.PinSession(id, on) })
}

// Archive takes a session out of lists, or puts it back. Nothing is deleted.
func (s *SQLite) Archive(ctx context.Context, id string, on bool) error {
	at := int64(0)
	if on {
		at = time.Now().UnixMilli()
	}
	return s.change(ctx, "archive session "+id, func(tx *db.Tx) error { return tx.ArchiveSession(id, at) })
}

// PinWorkspace sets a workspace's label, empty for none, and pin; nil leaves
// them.
func (s *SQLite) PinWorkspace(ctx context.Context, path string, label *string, on *bool) error {
	if label != nil {
		line := text.OneLine(*label, maxTitle)
		label = &line
	}
	return s.change(ctx, "pin workspace", func(tx *db.Tx) error { return tx.LabelWorkspace(path, label, on) })
}

// OpenWorkspace notes that a workspace is opened now.
func (s *SQLite) OpenWorkspace(ctx context.Context, path string) error {
	return s.change(ctx, "open workspace", func(tx *db.Tx) error { return tx.OpenWorkspace(path, time.Now().UnixMilli()) })
}

// change is one transaction whose errors say what was to be done.
func (s *SQLite) change(ctx context.Context, act string, do func(*db.Tx) error) error {
	return mapped(act, s.db.Write(ctx, db.Normal, do))
}

// MaxCount is the most sessions that Count counts, and that a list has.
const MaxCount = 10_000

// Count returns how many sessions a list without a limit would have, at most MaxCount.
func (s *SQLite) Count(ctx context.Context, q Query) (int, error) {
	n, err := s.db.CountSessions(ctx, db.SessionQuery{Workspace: q.Workspace, Children: q.All, Archived: q.All}, MaxCount)
	return n, mapped("count sessions", err)
}

// Workspace is what is kept of a directory that sessions work in. Label is one
// line, empty for none.
type Workspace struct {
	Path       string
	Label      string
	Pinned     bool
	LastOpened time.Time
}

// Workspaces returns all that are known, the last opened first.
func (s *SQLite) Workspaces(ctx context.Context) ([]Workspace, error) {
	rows, err := s.db.Workspaces(ctx)
	if err != nil {
		return nil, mapped("list workspaces", err)
	}
	list := make([]Workspace, len(rows))
	for i, r := range rows {
		list[i] = Workspace{Path: r.Path, Label: r.Label, Pinned: r.Pinned, LastOpened: moment(r.LastOpenedMs)}
	}
	return list, nil
}
