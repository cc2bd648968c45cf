package child

import (
	"context"
	"sync"

	"alisio/agent/session"
)

// Locks shares the locks of sessions within this process: a root's belongs to its
// own run and to all of its children that are queued or running, and others get it
// when the last of them is done. It is safe for concurrent use.
type Locks struct {
	lock func(ctx context.Context, id string) (unlock func(), err error)

	mu   sync.Mutex
	held map[string]*held
	runs map[string]bool
}

// held is a lock that somebody has or waits for.
type held struct {
	// turn holds one token: who has it takes the lock or gives it back.
	turn chan struct{}
	// owners and unlock belong to the turn.
	owners int
	unlock func()
	// users are the owners and those who wait; guarded by Locks.mu.
	users int
}

// NewLocks shares what lock takes, which is session.Store.Lock.
func NewLocks(lock func(ctx context.Context, id string) (unlock func(), err error)) *Locks {
	return &Locks{lock: lock, held: make(map[string]*held), runs: make(map[string]bool)}
}

// Hold takes the lock of a session, or shares it; it is Options.Hold.
func (l *Locks) Hold(ctx context.Context, id string) (release func(), err error) {
	h := l.enter(id)
	select {
	case <-h.turn:
	case <-ctx.Done():
		l.exit(id, h)
		return nil, context.Cause(ctx)
	}
	if h.owners == 0 {
		h.unlock, err = l.lock(ctx, id)
	}
	if err == nil {
		h.owners++
	}
	h.turn <- struct{}{}
	if err != nil {
		l.exit(id, h)
		return nil, err
	}
	return sync.OnceFunc(func() {
		<-h.turn
		if h.owners--; h.owners == 0 {
			h.unlock()
		}
		h.turn <- struct{}{}
		l.exit(id, h)
	}), nil
}

// Run takes a session for one run: shared with its children, and with no other run.
func (l *Locks) Run(ctx context.Context, id string) (unlock func(), err error) {
	l.mu.Lock()
	busy := l.runs[id]
	l.runs[id] = true
	l.mu.Unlock()
	if busy {
		return nil, &session.BusyError{Session: id}
	}
	free := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.runs, id)
	}
	release, err := l.Hold(ctx, id)
	if err != nil {
		free()
		return nil, err
	}
	return sync.OnceFunc(func() {
		release()
		free()
	}), nil
}

func (l *Locks) enter(id string) *held {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.held[id]
	if h == nil {
		h = &held{turn: make(chan struct{}, 1)} // one token, never dropped
		h.turn <- struct{}{}
		l.held[id] = h
	}
	h.users++
	return h
}

func (l *Locks) exit(id string, h *held) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h.users--; h.users == 0 {
		delete(l.held, id)
	}
}
