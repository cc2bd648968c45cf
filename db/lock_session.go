package db

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// Lock takes a session for the caller alone, among all processes and within this
// one: *HeldError if somebody else has it. The session need not exist yet. The
// process that its row names is respected while it runs, whatever became of the
// lock's file: it may lie elsewhere for that process, be removed, or never have
// been made by a program from before these locks.
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
	if err := s.HeldElsewhere(); err != nil {
		l.Release()
		return nil, err
	}
	if patient {
		l.Sign()
	}
	return l, nil
}

// HeldElsewhere returns a *HeldError if the row names another process that runs.
func (s Session) HeldElsewhere() error {
	o := Owner{PID: s.LockedPID, Boot: s.LockedBoot, Start: s.LockedStart}
	if o.Works(s.UpdatedMs) && o.PID != os.Getpid() {
		return &HeldError{Session: s.ID, PID: o.PID, Doubtful: o.Doubtful(s.UpdatedMs)}
	}
	return nil
}

// ForgetOwner takes a doubtful owner's name from a session's row, which would else lock
// it for as long as any process has that pid. It is for a person who knows better:
// *HeldError if somebody has the lock, or if the owner is in no doubt. It does
// nothing where the row names nobody who runs.
func (d *DB) ForgetOwner(ctx context.Context, session string) error {
	if d.readOnly {
		return fmt.Errorf("lock session: %w", ErrReadOnly)
	}
	l, err := lock.Acquire(ctx, filepath.Join(d.home, "locks"), session, true)
	if err != nil {
		return err
	}
	defer l.Release()
	return d.Write(ctx, Normal, func(t *Tx) error {
		s, err := t.Session(ctx, session)
		if err != nil {
			return err
		}
		var held *HeldError
		switch err := s.HeldElsewhere(); {
		case !errors.As(err, &held):
			return err
		case !held.Doubtful:
			return held
		}
		return t.SetOwner(session, nil)
	})
}

func (r Run) alive() bool { return r.Owner.Works(max(r.CreatedMs, r.StartedMs)) }

// InterruptRuns marks the open runs, and the running child sessions, of
// processes that are dead, and returns how many runs there were. A session that
// somebody works in is left alone, with all that belongs to its root.
func (d *DB) InterruptRuns(ctx context.Context) (runs int, err error) {
	open, err := d.OpenRuns(ctx)
	if err != nil {
		return 0, fmt.Errorf("look for open runs: %w", err)
	}
	children, err := d.RunningChildren(ctx)
	if err != nil {
		return 0, fmt.Errorf("look for running children: %w", err)
	}
	known := map[string]string{}
	left := map[string][]string{} // by root: the sessions with open runs
	for _, r := range open {
		root, err := d.root(ctx, r.Session, known)
		if err != nil {
			return 0, err
		}
		left[root] = append(left[root], r.Session)
	}
	for _, c := range children {
		root, err := d.root(ctx, c.ID, known)
		if err != nil {
			return 0, err
		}
		left[root] = append(left[root], root)
	}
	for _, r := range open {
		if r.alive() {
			delete(left, known[r.Session])
		}
	}
	for root, sessions := range left {
		n, err := d.interrupt(ctx, root, sessions)
		if runs += n; err != nil {
			return runs, err
		}
	}
	return runs, nil
}

// interrupt marks what is open below a root if nobody has its lock, under which
// its children work, nor that of one of the sessions with open runs.
func (d *DB) interrupt(ctx context.Context, root string, sessions []string) (runs int, err error) {
	var held *HeldError
	l, err := d.lock(ctx, root, false)
	if errors.As(err, &held) {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	defer l.Release()
	slices.Sort(sessions)
	for _, s := range slices.Compact(sessions) {
		if s == root {
			continue
		}
		own, err := d.lock(ctx, s, false)
		if errors.As(err, &held) {
			return 0, nil
		} else if err != nil {
			return 0, err
		}
		// One after another: there may be more than there are descriptors.
		own.Release()
	}
	err = d.Write(ctx, Normal, func(t *Tx) (err error) {
		runs, err = t.InterruptSession(root, time.Now().UnixMilli())
		return err
	})
	return runs, err
}

// root returns the session from which a child comes, and notes in known those
// of all on the way. Rows may be foreign: a circle ends where it was entered.
func (d *DB) root(ctx context.Context, session string, known map[string]string) (string, error) {
	var way []string
	at := session
	for known[at] == "" {
		known[at] = at
		way = append(way, at)
		s, err := d.Session(ctx, at)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return "", err
		}
		if s.Parent == "" {
			break
		}
		at = s.Parent
	}
	root := known[at]
	for _, id := range way {
		known[id] = root
	}
	return root, nil
}
