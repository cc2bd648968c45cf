// Package session keeps conversations: sessions, their messages and their run
// events. Store is the one interface through which the engine reads and writes
// them; Memory is the one that keeps them as long as the process lives.
//
// A store decides nothing about what is kept: the runner hands over messages
// that already form a valid history.
package session

import (
	"context"
	"errors"
	"time"

	"alisio/llm"
	"alisio/plug"
)

// ErrNotFound tells that a store has no session of the id.
var ErrNotFound = errors.New("no such session")

// ErrExists tells that a session of the id is already there.
var ErrExists = errors.New("session exists already")

// Session is a conversation's head.
type Session struct {
	// ID is a UUIDv4.
	ID string
	// Workspace is the absolute directory that it works in.
	Workspace string
	Provider  string
	Model     string
	// Title is one line, the first of the first prompt.
	Title   string
	Created time.Time
}

// Store keeps sessions. Implementations are safe for concurrent use. What a
// method returned without an error is kept.
type Store interface {
	// Create adds a session; ErrExists if its id is taken.
	Create(ctx context.Context, s Session) error
	// Session returns a session's head, or ErrNotFound.
	Session(ctx context.Context, id string) (Session, error)
	// Append adds messages to the end of a session's history, all or none.
	Append(ctx context.Context, id string, messages ...llm.Message) error
	// Messages returns the history in order. The caller owns the slice, not
	// what its elements point to.
	Messages(ctx context.Context, id string) ([]llm.Message, error)
	// AddEvent stores a run event and returns its number, which is unique in
	// the store and grows; the event's own ID is ignored. The event's session
	// must exist.
	AddEvent(ctx context.Context, e plug.Event) (int64, error)
	// Events returns a session's stored events in order, with their numbers.
	Events(ctx context.Context, id string) ([]plug.Event, error)
	// Close gives back what the store holds. The store is not used after it.
	Close() error
}
