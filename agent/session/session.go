// Package session keeps conversations: sessions, their messages, their run
// events, the journal of tool calls, and runs. Store is the one interface
// through which the engine reads and writes them; SQLite keeps them for good,
// Memory as long as the process lives.
//
// A store decides nothing about what is kept: the runner hands over messages
// that already form a valid history. Reconcile makes one valid that a dead
// process, an older program or a damaged row left broken.
package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"alisio/llm"
	"alisio/plug"
)

var (
	// ErrNotFound tells that a store has no session, run, request or blob of the
	// id, which the text around it names.
	ErrNotFound = errors.New("not found")
	// ErrExists tells that a session, or a run, of the id is already there.
	ErrExists = errors.New("exists already")
	// ErrEnded tells that a run has ended: an ended run is never changed.
	ErrEnded = errors.New("the run has ended")
)

// Caused gives an error of a store its cause: what is not there was asked for wrongly.
func Caused(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrNoCompaction):
		return llm.Errorf(llm.CauseBadRequest, "%w", ErrNoCompaction)
	case errors.Is(err, ErrNotFound):
		return llm.Errorf(llm.CauseBadRequest, "%w", err)
	}
	return llm.Errorf(llm.CauseStore, "%w", err)
}

// BusyError tells that another process, or another run of this one, works in a
// session.
type BusyError struct {
	Session string
	// PID is the owner's process, zero when it is not known.
	PID int
	// Doubtful: an older program noted the pid, which another process may have by
	// now. ForgetOwner lets the session go on.
	Doubtful bool
}

func (e *BusyError) Error() string {
	switch {
	case e.PID == 0:
		return fmt.Sprintf("session %s is busy with another run", e.Session)
	case e.Doubtful:
		return fmt.Sprintf("session %s may be in use by process %d: an older program noted no more than this number", e.Session, e.PID)
	}
	return fmt.Sprintf("session %s is in use by process %d", e.Session, e.PID)
}

// Session is a conversation's head.
type Session struct {
	// ID is a UUIDv4.
	ID string
	// Workspace is the absolute directory that it works in.
	Workspace string
	Provider  string
	Model     string
	// Title is one line, the first of the first prompt.
	Title string
	// Parent is the session that started a child, with the child's Depth, Agent
	// and Status; all are zero in a root session.
	Parent string
	Depth  int
	Agent  string
	Status string
	// Created and Updated are zero in sessions of old programs.
	Created time.Time
	Updated time.Time
	Pinned  bool
	// Archived is zero while the session is not.
	Archived time.Time
}

// Call is the journal's row of a tool call.
type Call struct {
	Session string
	ID      string
	RunID   string
	// Name and Effect are empty in rows of old programs.
	Name   string
	Effect plug.Effect
	// Done: the call has ended with Result; else it was begun and nothing is
	// known of its end.
	Done    bool
	Result  plug.Result
	Started time.Time
	Ended   time.Time
}

// Store keeps sessions. Implementations are safe for concurrent use. What a
// method returned without an error is kept.
type Store interface {
	Conversations
	Journal
	// Lock takes a session for one run and returns what gives it back. A
	// *BusyError tells that somebody else has it. A dead owner's lock is free.
	// The session need not exist yet.
	Lock(ctx context.Context, id string) (unlock func(), err error)
	// Close gives back what the store holds. The store is not used after it.
	Close() error
}

// Conversations are sessions with their messages and events.
type Conversations interface {
	// Create adds a session; ErrExists if its id is taken.
	Create(ctx context.Context, s Session) error
	// Session returns a session's head, or ErrNotFound.
	Session(ctx context.Context, id string) (Session, error)
	// Append adds messages to the end of a session's history, all or none. The
	// run may be empty.
	Append(ctx context.Context, id, runID string, messages ...llm.Message) error
	// Messages returns the active history in order: what a compaction replaced
	// is not in it, nor is what can not be read. The caller owns the slice, not
	// what its elements point to.
	Messages(ctx context.Context, id string) ([]llm.Message, error)
	// AddEvent stores a run event, together with the messages that it tells of,
	// and returns its number, which is unique in the store and grows; the event's
	// own ID is ignored. The event's session must exist.
	AddEvent(ctx context.Context, e plug.Event, messages ...llm.Message) (int64, error)
	// Events returns a session's stored events in order, with their numbers. A
	// type or a form that this program does not know comes as plug.Unknown.
	Events(ctx context.Context, id string) ([]plug.Event, error)
}

// Journal says which effects were begun and which have ended (spec runner.md,
// "Crash safety").
type Journal interface {
	// BeginCall stores that a call is about to have its effect. When it returns
	// without an error, that is on the disk for calls whose effect reaches
	// beyond this program, whatever happens to the machine. An id that the
	// journal of the session holds already is an error. Events that led to it are
	// stored together with it; their numbers are returned in order.
	BeginCall(ctx context.Context, c Call, events ...plug.Event) ([]int64, error)
	// EndCall stores a call's result, the event that tells of it and the message
	// that answers it, if it is known already, together, and returns the event's
	// number. The call need not have been begun. An event without data is not stored.
	EndCall(ctx context.Context, c Call, e plug.Event, messages ...llm.Message) (int64, error)
	// Calls returns the journal's rows of the ids that it holds, in any order.
	Calls(ctx context.Context, id string, callIDs ...string) ([]Call, error)
	// Pending returns the session's calls of which no end is known, in the order
	// in which they began.
	Pending(ctx context.Context, id string) ([]Call, error)
}
