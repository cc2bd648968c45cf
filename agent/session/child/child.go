// Package child is the service of child sessions (spec plugins.md, "Child
// sessions"): stored conversations with a parent that go through the same runner
// as every other, with no more permissions than any of their ancestors.
//
// It holds no agent logic: it chooses no prompt, starts nothing by itself, reads no
// answer, and knows neither the runner nor the gate, which the engine hands over as
// functions. What a child may do is computed from the stored specs of the whole way
// up, at every run: what the caller says of it, or said earlier, counts for nothing.
//
//	Spawn ─ queued ─ Run, Begin ─ running ─ End ─ completed, failed, cancelled ─┐
//	           │       └─────────────── again, when somebody asks ──────────────┘
//	           └ Cancel ─ cancelled; the process died: interrupted
//
// A cancelled child is run again by Begin, for a person who goes on with it, and else
// when SetStatus has queued it again.
//
// All children that are queued or running keep the lock of their root, so that no
// other process works in the tree, or takes them for a dead one's.
package child

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"alisio/agent/perm"
	"alisio/agent/session"
	"alisio/llm"
	"alisio/plug"
)

// Store is what child sessions need of a store.
type Store interface {
	session.Children
	session.Queue
}

// Options is what the service is made from. All of it is needed, and all functions
// may be called at once from several goroutines.
type Options struct {
	Store Store
	// Run carries out a run of a child to its end. The error tells that none was
	// started. It calls Running at the run's beginning.
	Run func(ctx context.Context, r Request) (plug.ChildOutcome, error)
	// Ceiling is that of a root session, by the policy of its runs.
	Ceiling func(root string) perm.Ceiling
	// Hold takes the lock of a root, or shares it with who has it in this process:
	// see Locks.
	Hold func(ctx context.Context, root string) (release func(), err error)
	// Tools names all tools.
	Tools func() []string
	// Resolve finds a model by the name in a spec; an empty name is what the next
	// run of the root asks.
	Resolve func(ctx context.Context, root, name string) (llm.Model, error)
	// Workspace checks a directory for a child of a session, and returns it with
	// its links resolved.
	Workspace func(ctx context.Context, parent, dir string) (string, error)
	// NewID makes the id of a session.
	NewID func() string
}

// Request is a run of a child that is to be carried out.
type Request struct {
	Session string
	Root    string
	// Ancestors is the way up, the parent first, the root last.
	Ancestors []string
	// Spec is what is stored, with Parent and ID; of its fields Instructions,
	// MaxTurns, TimeoutMs, MaxTokens and MaxOutputTokens are for the runner. What it
	// permits counts in Ceiling alone.
	Spec    plug.ChildSpec
	Ceiling perm.Ceiling
	// Label is the agent path, for approvals: "general › explore".
	Label string
	// Model and Workspace are those of the nearest spec on the way up that names
	// one; empty: the root's.
	Model     string
	Workspace string
	Prompt    string
}

var (
	// ErrStopped is why a run ends that was cancelled by Cancel, by the stop of an
	// ancestor's run or by Close: the cause of its context.
	ErrStopped = errors.New("the session was stopped")
	// ErrClosed tells that the application is closing.
	ErrClosed = errors.New("child sessions are closed")
	// ErrCancelled tells that a child was cancelled: a plugin that has not seen it does
	// not run it all the same.
	ErrCancelled = errors.New("it was cancelled; it can be run again once its status is set to queued")
	// ErrNoChild tells that a session is a root.
	ErrNoChild = errors.New("it is no child session")
)

// Sessions is the service. It is safe for concurrent use.
type Sessions struct {
	o Options

	mu     sync.Mutex
	closed bool
	queued map[string]*waiting
	runs   map[string]*run
	// work counts runs of children and what goes on behind a stop.
	work sync.WaitGroup
}

// waiting is a child that this process has spawned and not run yet.
type waiting struct {
	ancestors []string
	release   func()
}

// New makes the service.
func New(o Options) *Sessions {
	return &Sessions{o: o, queued: make(map[string]*waiting), runs: make(map[string]*run)}
}

// API is the service as plugins see it.
func (s *Sessions) API() plug.Sessions {
	return plug.Sessions{
		Spawn: s.Spawn, Run: s.Run, Get: s.Get, Children: s.Children, Ancestors: s.Ancestors, Cancel: s.Cancel,
		Enqueue: s.Enqueue, IsRunning: s.IsRunning, Capabilities: s.Capabilities, Model: s.Model,
		Workspace: s.Workspace, SetStatus: s.SetStatus,
	}
}

// Close stops what runs and waits for its end as long as ctx lasts. What was queued
// is interrupted. Nothing begins after it.
func (s *Sessions) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	queued := s.queued
	s.queued = make(map[string]*waiting)
	for _, r := range s.runs {
		r.cancel(ErrStopped)
	}
	s.mu.Unlock()
	var err error
	for id, w := range queued {
		err = errors.Join(err, s.leave(ctx, id, w, plug.ChildInterrupted))
	}
	ended := make(chan struct{}) // closed when all is done; nothing is sent
	go func() { s.work.Wait(); close(ended) }()
	select {
	case <-ended:
		return err
	case <-ctx.Done():
		return errors.Join(err, fmt.Errorf("close child sessions: %w", context.Cause(ctx)))
	}
}
