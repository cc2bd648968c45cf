package agent

import (
	"bufio"
	"context"
	"errors"
	"path/filepath"
	"time"

	"alisio/agent/config"
	"alisio/agent/session"
	"alisio/agent/session/archive"
	"alisio/db"
	"alisio/llm"
)

// The words of the session store, for those who may not import it.
type (
	// Store keeps sessions for good.
	Store          = session.SQLite
	Session        = session.Session
	Summary        = session.Summary
	Query          = session.Query
	Contents       = session.Contents
	Stored         = session.Stored
	Copies         = session.Copies
	StoredCall     = session.Call
	StoredRun      = session.Run
	BusyError      = session.BusyError
	AmbiguousError = session.AmbiguousError
	AlikeError     = archive.AlikeError
	UncertainError = session.UncertainError
	DamagedError   = db.DamagedError
	ForeignError   = db.ForeignError
	OlderError     = db.OlderError
	StoreReport    = db.Report
	Finding        = db.Finding
)

// Level says how much a Finding or a check of a setup matters: Good, Note or Problem.
type Level = db.Level

// The levels.
const (
	Good    = db.Good
	Note    = db.Note
	Problem = db.Problem
)

// Where a run stands that has no end: in Summary.LastRun.
const (
	RunQueued      = session.RunQueued
	RunRunning     = session.RunRunning
	RunInterrupted = session.RunInterrupted
)

// Errors of the session store.
var (
	ErrNotFound = session.ErrNotFound
	ErrExists   = session.ErrExists
	// ErrNoExport tells that a file is none that an export wrote.
	ErrNoExport = archive.ErrNoExport
	// ErrNoPlace tells that nothing says where the database is to be: sessions are
	// kept for good or not at all.
	ErrNoPlace = errors.New("no place for the session database: set ALISIO_STATE_HOME or HOME, or use --db FILE")
)

// CheckExport looks at how a file begins that Store.Import is to take in: it returns
// ErrNoExport for one of another kind, and takes nothing from the reader.
func CheckExport(r *bufio.Reader) error { return archive.Check(r) }

// BusyHint is what can be done about a BusyError.
const BusyHint = "one run of a session at a time: wait for it, or stop that process"

// StoreOptions say where sessions are kept.
type StoreOptions struct {
	// Dirs are the person's own directories.
	Dirs config.Dirs
	// Path is the database; empty is sessions.sqlite in Dirs.State.
	Path string
	// ReadOnly: look only.
	ReadOnly bool
	// Ends: the process ends soon after the store is closed.
	Ends bool
	// Notice is told what a person should know of the store, a line each; it may
	// be nil.
	Notice func(string)
}

// OpenStore opens the session store. Locks and blobs lie beside the database of a
// state directory, or, for one of another name, in <path>.files: they belong to
// the database, whoever uses it from wherever.
func OpenStore(ctx context.Context, o StoreOptions) (*Store, error) {
	opts, err := o.options()
	if err != nil {
		return nil, err
	}
	s, err := session.OpenSQLite(ctx, opts)
	var shut *db.UnwritableError
	switch {
	case errors.As(err, &shut):
		return nil, llm.Errorf(llm.CauseStore, "%w", err).WithHint("name another place with ALISIO_STATE_HOME or --db")
	case err != nil:
		return nil, llm.Errorf(llm.CauseStore, "%w", err)
	}
	return s, nil
}

// CheckStore looks the session store over and changes nothing.
func CheckStore(ctx context.Context, o StoreOptions) (StoreReport, error) {
	opts, err := o.options()
	if err != nil {
		return StoreReport{}, err
	}
	return db.Check(ctx, opts)
}

func (o StoreOptions) options() (opts db.Options, err error) {
	opts = db.Options{ReadOnly: o.ReadOnly, Ends: o.Ends, Notice: o.Notice}
	opts.Path, opts.Home, err = o.Place()
	return opts, err
}

// Place returns the database and the directory of its locks and blobs, neither of
// which need exist. Without a state directory the error is ErrNoPlace.
func (o StoreOptions) Place() (file, home string, err error) {
	if file = o.Path; file == "" {
		if o.Dirs.State == "" {
			return "", "", ErrNoPlace
		}
		file = filepath.Join(o.Dirs.State, stateFile)
	}
	if file, home, err = place(file); err != nil {
		return "", "", llm.Errorf(llm.CauseStore, "find the session database: %w", err)
	}
	return file, home, nil
}

// RepairStore backs the session store up, takes away what nothing needs, and
// compacts it; of a damaged one it saves what can be read. The damaged file is
// set aside, never deleted.
func RepairStore(ctx context.Context, o StoreOptions) (StoreReport, error) {
	opts, err := o.options()
	if err != nil {
		return StoreReport{}, err
	}
	return db.Repair(ctx, opts, time.Now())
}

// StoreLost reports whether there was a database of this name, which is missing and
// has left its log, or what an earlier repair set aside.
func StoreLost(path string) bool { return db.Lost(path) }
