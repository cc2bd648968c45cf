// Package lock gives a session to one process at a time, by a lock of the
// operating system on a file of the session's name, and tells processes apart by
// more than their pid.
//
// It knows no database: whoever locks says in which directory.
package lock

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	// heldWait is how long a lock is tried for that a living process holds.
	heldWait = 300 * time.Millisecond
	// probeWait is the same for a lock whose holder left no name: it looks
	// whether the owner of an open run is dead and gives the lock back.
	probeWait = 5 * time.Second
	// lockStep is the mean pause between two tries.
	lockStep = 20 * time.Millisecond
	// pidDigits bounds what is read of a lock file.
	pidDigits = 20
)

var (
	// errHeld tells that another open file holds the lock.
	errHeld = errors.New("the lock is held")
	// errLinked tells of a file with a second name. It is somebody's, and would be
	// emptied here.
	errLinked = errors.New("the file has another name too, as hard links do; remove this one")
)

// HeldError tells that a session is in use.
type HeldError struct {
	Session string
	// PID is the process that has it, zero when it is not known.
	PID int
	// Doubtful: a row says so that names a pid alone, and the process of this pid
	// may be another one. The lock itself is free.
	Doubtful bool
}

func (e *HeldError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("session %s is in use", e.Session)
	}
	return fmt.Sprintf("session %s is in use by process %d", e.Session, e.PID)
}

// Lock is a session that this process, and in it one caller, has for itself.
// The system gives it back when the process ends, however it ends.
type Lock struct {
	file *os.File
	path string
}

// lockName is the name of a session's lock file. Ids come from imported files
// too: what could be a path, or two names for one file, becomes a hash.
func lockName(session string) string {
	if plainName(session) {
		return session
	}
	sum := sha256.Sum256([]byte(session))
	return "x" + hex.EncodeToString(sum[:])
}

func plainName(s string) bool {
	if len(s) == 0 || len(s) > 64 {
		return false
	}
	for _, c := range []byte(s) {
		if !('0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || c == '_' || c == '-') {
			return false
		}
	}
	return true
}

// Acquire takes the lock of a session in the directory dir. When patient, a holder
// that may be about to leave is waited for; else there is one try.
func Acquire(ctx context.Context, dir, session string, patient bool) (*Lock, error) {
	if err := lockDir(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, lockName(session))
	begun := time.Now()
	for {
		l, err := tryLock(path)
		if !errors.Is(err, errHeld) {
			return l, err
		}
		pid := lockPID(path)
		limit := probeWait
		if pid != 0 {
			limit = heldWait
		}
		if !patient || time.Since(begun) > limit {
			return nil, &HeldError{Session: session, PID: pid}
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(lockStep/2 + rand.N(lockStep)):
		}
	}
}

// lockDir makes the directory, for its owner alone. A link in its place is not
// followed: the locks of two homes would be one.
func lockDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make lock directory: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("look at lock directory: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("use lock directory %q: not a directory", dir)
	}
	return nil
}

// tryLock opens and locks the file once. A file that was removed or replaced
// meanwhile protects nothing: its lock is given back and taken anew.
func tryLock(path string) (*Lock, error) {
	for range 10 {
		f, err := openLocked(path)
		if err != nil {
			return nil, err
		}
		mine, err := f.Stat()
		switch {
		case err != nil:
		case !mine.Mode().IsRegular():
			err = errors.New("not a regular file")
		case linked(f, mine):
			err = errLinked
		}
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("lock %q: %w", path, err)
		}
		if there, err := os.Lstat(path); err == nil && os.SameFile(mine, there) {
			return &Lock{file: f, path: path}, nil
		}
		f.Close()
	}
	return nil, fmt.Errorf("lock %q: the file keeps changing", path)
}

// Sign writes this process's pid into the file. It is for the messages of others
// alone: a full disk does not keep a session locked out.
func (l *Lock) Sign() {
	if l.file.Truncate(0) == nil {
		_, _ = l.file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
}

// Release gives the lock back. The file stays, empty.
func (l *Lock) Release() {
	// What can not be emptied names a process that no longer holds it; readers
	// look whether it does.
	_ = l.file.Truncate(0)
	unlock(l.file)
	l.file.Close()
}

// Discard gives the lock back and removes its file, for a session that is gone.
// Who waits for the removed file finds that and makes a new one.
func (l *Lock) Discard() {
	mine, err := l.file.Stat()
	there, errThere := os.Lstat(l.path)
	if err != nil || errThere != nil || !os.SameFile(mine, there) {
		l.Release()
		return
	}
	removeLocked(l.path, l.file)
}

// lockPID is the living process named in a lock file, or zero.
func lockPID(path string) int {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, pidDigits))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 0 || !processExists(pid) {
		return 0
	}
	return pid
}
