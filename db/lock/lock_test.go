package lock

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func take(t *testing.T, dir, session string) *Lock {
	t.Helper()
	l, err := Acquire(t.Context(), dir, session, true)
	if err != nil {
		t.Fatal(err)
	}
	l.Sign()
	return l
}

func TestLockIsExclusiveWithinTheProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "locks")
	l := take(t, dir, "s1")
	_, err := Acquire(t.Context(), dir, "s1", true)
	var held *HeldError
	if !errors.As(err, &held) || held.PID != os.Getpid() || held.Session != "s1" {
		t.Errorf("second lock: got %v", err)
	}
	take(t, dir, "s2").Release()
	l.Release()
	take(t, dir, "s1").Release()
}

func TestLockNames(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "locks")
	hostile := []string{"../../x", "a/b", "", ".", "..", "a\x00b", "con:", strings.Repeat("a", 65), "naïve", "a b", "a\nb"}
	seen := map[string]bool{}
	for _, id := range hostile {
		name := lockName(id)
		if seen[name] || len(name) != 65 || name[0] != 'x' || !plainName(name[1:]) {
			t.Errorf("lockName(%q) = %q", id, name)
		}
		seen[name] = true
		take(t, dir, id).Release()
	}
	if got := lockName("0f8b-AZ_9"); got != "0f8b-AZ_9" {
		t.Errorf("a plain id became %q", got)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(hostile) {
		t.Errorf("%d files, want %d, error %v", len(entries), len(hostile), err)
	}
	above, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || len(above) != 1 {
		t.Errorf("outside: %v, error %v", above, err)
	}
}

func TestLockFileIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "locks")
	defer take(t, dir, "s").Release()
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "s"): 0o600} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got&^want != 0 {
			t.Errorf("%s has mode %o, want %o", path, got, want)
		}
	}
}

// A probe of the lock lasts a moment and leaves no name: who wants the session
// in that moment gets it.
func TestProbeDoesNotRefuseTheOwner(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "locks")
	probe, err := Acquire(t.Context(), dir, "s", false)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan error, 1)
	go func() {
		l, err := Acquire(context.WithoutCancel(t.Context()), dir, "s", true)
		if err == nil {
			l.Release()
		}
		got <- err
	}()
	timer := time.NewTimer(heldWait + 100*time.Millisecond)
	defer timer.Stop()
	select {
	case err := <-got:
		t.Errorf("the lock ended while it was probed: %v", err)
		probe.Release()
		return
	case <-timer.C:
	}
	probe.Release()
	if err := <-got; err != nil {
		t.Error(err)
	}
}

func TestLockWaitObeysTheContext(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "locks")
	defer take(t, dir, "s").Release()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Acquire(ctx, dir, "s", true); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A lock whose file is gone protects nothing; the next one must not be fooled,
// neither by the file that was removed nor by one that was discarded.
func TestDiscardRemovesTheFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "locks")
	path := filepath.Join(dir, "s")
	take(t, dir, "s").Discard()
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
	l := take(t, dir, "s")
	defer l.Release()
	if _, err := Acquire(t.Context(), dir, "s", false); err == nil {
		t.Error("the lock was given twice")
	}
}

// C116
// Symptom: a strict single-writer lock locks people out of their own session.
// Trigger: process A holds the session and is killed with -9; B wants it.
func TestC116DeadOwnersLockIsFree(t *testing.T) {
	if dir := os.Getenv("ALISIO_DB_LOCKS"); dir != "" {
		take(t, dir, "s")
		os.Stdout.WriteString("locked\n")
		io.Copy(io.Discard, os.Stdin)
		return
	}
	dir := filepath.Join(t.TempDir(), "locks")
	c := startChild(t, "ALISIO_DB_LOCKS="+dir)
	stdin, err := c.StdinPipe() // keeps the child waiting
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "locked\n" {
		t.Fatalf("child said %q, %v", line, err)
	}
	_, err = Acquire(t.Context(), dir, "s", true)
	var held *HeldError
	if !errors.As(err, &held) || held.PID != c.Process.Pid {
		t.Fatalf("a living owner: got %v, want pid %d", err, c.Process.Pid)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.Wait()
	take(t, dir, "s").Release()
}
