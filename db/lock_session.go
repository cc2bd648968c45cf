package db

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"alisio/db/lock"
)

// The words of package lock that this package's rows and methods speak.
type (
	Owner     = lock.Owner
	Lock      = lock.Lock
	HeldError = lock.HeldError
)

// Self is this process.
func Self() Owner { return lock.Self() }

// AliveSince reports whether the process of a pid can be the one that wrote a row
// at changedMs; see package lock.
func AliveSince(pid int, changedMs int64) bool { return lock.AliveSince(pid, changedMs) }

// maxDepth bounds the way from a child session to its root.
const maxDepth = 64

// Lock takes a session for the caller alone, among all processes and within this
// one: *HeldError if somebody else has it. The session need not exist yet. A
// program from before these locks, which wrote only its pid, is respected while
// it runs.
func (d *DB) Lock(ctx context.Context, session string) (*Lock, error) {
	return d.lock(ctx, session, true)
}

func (d *DB) lock(ctx context.Context, session string, patient bool) (*Lock, error) {
	if d.readOnly {
		return nil, fmt.Errorf("lock session: %w", ErrReadOnly)
	}
	l, err := lock.Acquire(ctx, filepath.Join(d.home, "locks"), session, patient)
	if err != nil {
		return nil, err
	}
	s, err := d.Session(ctx, session)
	if err != nil && !errors.Is(err, ErrNotFound) {
		l.Release()
		return nil, err
	}
	if s.LockedPID != os.Getpid() && s.LockedBoot == "" && lock.AliveSince(s.LockedPID, s.UpdatedMs) {
		l.Release()
		return nil, &HeldError{Session: session, PID: s.LockedPID}
	}
	if patient {
		l.Sign()
	}
	return l, nil
}

// InterruptRuns marks the open runs, and the running child sessions, of
// processes that are dead, and returns how many runs there were. A session that
// somebody works in is left alone.
func (d *DB) InterruptRuns(ctx context.Context) (runs int, err error) {
	open, err := d.OpenRuns(ctx)
	if err != nil {
		return 0, fmt.Errorf("look for open runs: %w", err)
	}
	children, err := d.RunningChildren(ctx)
	if err != nil {
		return 0, fmt.Errorf("look for running children: %w", err)
	}
	seen := map[string]bool{}
	for _, r := range open {
		if ownerAlive(r) {
			// Its children are at work with it.
			root, err := d.root(ctx, r.Session)
			if err != nil {
				return runs, err
			}
			seen[r.Session], seen[root] = true, true
		}
	}
	for _, r := range open {
		n, err := d.interrupt(ctx, r.Session, seen)
		if runs += n; err != nil {
			return runs, err
		}
	}
	for _, c := range children {
		n, err := d.interrupt(ctx, c.Parent, seen)
		if runs += n; err != nil {
			return runs, err
		}
	}
	return runs, nil
}

// ownerAlive reports whether the process that a run's row names runs. Rows of
// programs that stored a pid alone are judged by their time, for they took no
// lock; where a newer one is in doubt, its lock tells.
func ownerAlive(r Run) bool {
	if r.Owner.Boot == "" {
		return lock.AliveSince(r.OwnerPID, max(r.CreatedMs, r.StartedMs))
	}
	alive, known := r.Owner.Alive()
	return alive && known
}

// interrupt marks a session's open runs and running children if nobody has the
// lock of its root, under which all of them work.
func (d *DB) interrupt(ctx context.Context, session string, seen map[string]bool) (int, error) {
	root, err := d.root(ctx, session)
	if err != nil || seen[session] || seen[root] {
		return 0, err
	}
	seen[session] = true
	names := []string{session}
	if root != session {
		names = append(names, root)
	}
	for _, name := range names {
		l, err := d.lock(ctx, name, false)
		var held *HeldError
		if errors.As(err, &held) {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		defer l.Release()
	}
	runs := 0
	err = d.Write(ctx, Normal, func(t *Tx) (err error) {
		runs, err = t.InterruptSession(session, time.Now().UnixMilli())
		return err
	})
	return runs, err
}

// root returns the session from which a child comes. Rows may be foreign: a way
// without end is cut.
func (d *DB) root(ctx context.Context, session string) (string, error) {
	for range maxDepth {
		s, err := d.Session(ctx, session)
		if errors.Is(err, ErrNotFound) || err == nil && s.Parent == "" {
			return session, nil
		}
		if err != nil {
			return "", err
		}
		session = s.Parent
	}
	return session, nil
}
