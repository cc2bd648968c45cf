package child

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"alisio/agent/perm"
	"alisio/agent/session"
	"alisio/db"
	"alisio/llm"
	"alisio/plug"
)

// onDisk is a service over the database of a directory, as a process has it.
type onDisk struct {
	*Sessions
	store *session.SQLite
	locks *Locks
	run   func(ctx context.Context, r Request) (plug.ChildOutcome, error)
}

func openDisk(t *testing.T, dir string) *onDisk {
	t.Helper()
	s, err := session.OpenSQLite(context.Background(), db.Options{Path: filepath.Join(dir, "sessions.sqlite"), Home: dir})
	must(t, err)
	t.Cleanup(func() { s.Close() })
	d := &onDisk{store: s, locks: NewLocks(s.Lock)}
	b := &bench{}
	d.run = func(context.Context, Request) (plug.ChildOutcome, error) {
		return plug.ChildOutcome{Status: plug.ChildCompleted}, nil
	}
	prefix := os.Getpid() // two processes make different ids
	d.Sessions = New(Options{
		Store: s, Run: func(ctx context.Context, r Request) (plug.ChildOutcome, error) { return d.run(ctx, r) },
		Ceiling: func(string) perm.Ceiling { return perm.Ceiling{} }, Hold: d.locks.Hold, Tools: func() []string { return nil },
		Resolve:   func(context.Context, string, string) (llm.Model, error) { return llm.Model{ID: "m"}, nil },
		Workspace: func(_ context.Context, _, dir string) (string, error) { return dir, nil },
		NewID:     func() string { return fmt.Sprintf("%08x%s", prefix, b.id()[8:24]) + b.id()[:8] + "0000" },
	})
	return d
}

func (d *onDisk) statuses(t *testing.T, parent string) string {
	t.Helper()
	all, err := d.Children(context.Background(), parent)
	must(t, err)
	var out []string
	for _, c := range all {
		out = append(out, string(c.Status))
	}
	return strings.Join(out, " ")
}

func TestTwoHundredSpawnsAtOnce(t *testing.T) {
	dir := t.TempDir()
	d, other, ctx := openDisk(t, dir), openDisk(t, dir), t.Context()
	must(t, d.store.Create(ctx, session.Session{ID: root}))
	const children = 200
	var wg sync.WaitGroup
	for range children {
		wg.Go(func() {
			c, err := d.Spawn(ctx, plug.ChildSpec{Parent: root, Agent: "explore"})
			if err != nil {
				t.Error(err)
				return
			}
			if c.ID[len(c.ID)-5]%2 == 0 { // some run, with the others still on their way
				if _, err := d.Run(ctx, c.ID, "go"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	got := strings.Fields(d.statuses(t, root))
	done := strings.Count(strings.Join(got, " "), "completed")
	if len(got) != children || done == 0 || done+strings.Count(strings.Join(got, " "), "queued") != children {
		t.Fatalf("%d children, %d completed: %s", len(got), done, got)
	}
	// The root is idle and locked for others all the same.
	var busy *session.BusyError
	if _, err := other.store.Lock(ctx, root); !errors.As(err, &busy) || busy.PID != os.Getpid() {
		t.Errorf("another has the root: %v", err)
	}
	if _, err := other.Spawn(ctx, plug.ChildSpec{Parent: root}); !errors.As(err, &busy) {
		t.Errorf("another spawns below it: %v", err)
	}
	if n, err := d.Cancel(ctx, root); n != 0 || err != nil {
		t.Errorf("%d were running, %v", n, err)
	}
	if got := d.statuses(t, root); strings.Count(got, "cancelled") != children-done {
		t.Errorf("after cancel: %s", got)
	}
	unlock, err := other.store.Lock(ctx, root)
	must(t, err)
	unlock()
}

// The root's own run and its children share the lock, in any order.
func TestRootAndChildrenShareTheLock(t *testing.T) {
	dir := t.TempDir()
	d, other, ctx := openDisk(t, dir), openDisk(t, dir), t.Context()
	must(t, d.store.Create(ctx, session.Session{ID: root}))
	free := func(want bool) {
		t.Helper()
		unlock, err := other.store.Lock(ctx, root)
		if (err == nil) != want {
			t.Errorf("free for others: %v, want %v", err, want)
		}
		if err == nil {
			unlock()
		}
	}
	unlock, err := d.locks.Run(ctx, root)
	must(t, err)
	if _, err := d.locks.Run(ctx, root); !errors.As(err, new(*session.BusyError)) {
		t.Errorf("two runs of the root: %v", err)
	}
	c, err := d.Spawn(ctx, plug.ChildSpec{Parent: root})
	must(t, err)
	unlock()
	unlock()
	free(false)
	if got := d.statuses(t, root); got != "queued" {
		t.Errorf("the child is %s", got)
	}
	unlock, err = d.locks.Run(ctx, root) // again, while the child waits
	must(t, err)
	if _, err := d.Run(ctx, c.ID, "go"); err != nil {
		t.Error(err)
	}
	free(false)
	if got := d.statuses(t, root); got != "completed" {
		t.Errorf("the child is %s", got)
	}
	unlock()
	free(true)
}

// The lock of a child, which its run takes too, marks nothing in its tree.
func TestChildRunsAgainWhileOneBelowWaits(t *testing.T) {
	d, ctx := openDisk(t, t.TempDir()), t.Context()
	must(t, d.store.Create(ctx, session.Session{ID: root}))
	c, err := d.Spawn(ctx, plug.ChildSpec{Parent: root})
	must(t, err)
	below, err := d.Spawn(ctx, plug.ChildSpec{Parent: c.ID})
	must(t, err)
	d.run = func(ctx context.Context, r Request) (plug.ChildOutcome, error) {
		unlock, err := d.store.Lock(ctx, r.Session)
		if err != nil {
			return plug.ChildOutcome{}, err
		}
		defer unlock()
		if got := d.statuses(t, root) + " " + d.statuses(t, c.ID); got != "running queued" {
			t.Errorf("while it runs: %s", got)
		}
		return plug.ChildOutcome{Status: plug.ChildCompleted}, nil
	}
	if _, err := d.Run(ctx, c.ID, "go"); err != nil {
		t.Error(err)
	}
	if got, err := d.Get(ctx, below.ID); err != nil || got.Status != plug.ChildQueued {
		t.Errorf("below: %s, %v", got.Status, err)
	}
}

func TestLocksOfManyAtOnce(t *testing.T) {
	var mu sync.Mutex
	held, taken := false, 0
	fails := errors.New("no lock")
	l := NewLocks(func(ctx context.Context, id string) (func(), error) {
		mu.Lock()
		defer mu.Unlock()
		if held {
			t.Error("the lock was taken twice")
		}
		if taken++; taken%5 == 0 {
			return nil, fails
		}
		held = true
		return func() {
			mu.Lock()
			defer mu.Unlock()
			held = false
		}, nil
	})
	// How often the lock is taken, and not shared, is the scheduler's: again, until it
	// has failed too.
	for taken < 5 {
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				for range 200 {
					release, err := l.Hold(t.Context(), root)
					if err != nil {
						if !errors.Is(err, fails) {
							t.Error(err)
						}
						continue
					}
					mu.Lock()
					if !held {
						t.Error("nobody has the lock")
					}
					mu.Unlock()
					release()
				}
			})
		}
		wg.Wait()
	}
	if held || len(l.held) != 0 {
		t.Errorf("held %v, %d entries, taken %d times", held, len(l.held), taken)
	}
	gone, cancel := context.WithCancel(t.Context())
	release, err := l.Hold(gone, root)
	for errors.Is(err, fails) {
		release, err = l.Hold(gone, root)
	}
	must(t, err)
	h := l.enter(root)
	<-h.turn // somebody takes his time with the lock
	cancel()
	if _, err := l.Hold(gone, root); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting without end: %v", err)
	}
	h.turn <- struct{}{}
	l.exit(root, h)
	release()
}

// A process that is killed leaves children queued and running. While it lives nobody
// touches them, though their root has no run; behind it they are interrupted, run by
// nobody, and can be run again.
func TestKilledProcessLeavesInterruptedChildren(t *testing.T) {
	if dir := os.Getenv("ALISIO_CHILD_TEST"); dir != "" {
		workUntilKilled(t, dir)
		return
	}
	dir, ctx := t.TempDir(), t.Context()
	d := openDisk(t, dir)
	must(t, d.store.Create(ctx, session.Session{ID: root}))
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.Command(exe, "-test.run=^TestKilledProcessLeavesInterruptedChildren$")
	cmd.Env = append(os.Environ(), "ALISIO_CHILD_TEST="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	defer cmd.Process.Kill()
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "ready" {
	}
	const alive = "running queued queued completed"
	if _, err := d.store.InterruptRuns(ctx); err != nil || d.statuses(t, root) != alive {
		t.Errorf("while it lives: %s, %v", d.statuses(t, root), err)
	}
	all, err := d.Children(ctx, root)
	must(t, err)
	if _, err := d.Run(ctx, all[1].ID, "go"); !errors.As(err, new(*session.BusyError)) || d.statuses(t, root) != alive {
		t.Errorf("run of another's child: %v; %s", err, d.statuses(t, root))
	}
	if err := d.SetStatus(ctx, all[1].ID, plug.ChildCancelled); !errors.As(err, new(*session.BusyError)) {
		t.Errorf("status of another's child: %v", err)
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	d.run = func(context.Context, Request) (plug.ChildOutcome, error) {
		t.Error("a child began by itself")
		return plug.ChildOutcome{}, nil
	}
	if _, err := d.store.InterruptRuns(ctx); err != nil {
		t.Fatal(err)
	}
	below, err := d.Children(ctx, all[3].ID)
	must(t, err)
	if got := d.statuses(t, root); got != "interrupted interrupted interrupted completed" || len(below) != 1 || below[0].Status != plug.ChildInterrupted {
		t.Errorf("behind it: %s, below the one that had ended %+v", got, below)
	}
	if queued, err := d.store.Queued(ctx, all[0].ID); err != nil || len(queued) != 1 || queued[0] != "wait for me" {
		t.Errorf("what was said to it: %q, %v", queued, err)
	}
	d.run = func(_ context.Context, r Request) (plug.ChildOutcome, error) {
		return plug.ChildOutcome{Status: plug.ChildCompleted, Text: r.Spec.Instructions}, nil
	}
	if out, err := d.Run(ctx, all[0].ID, "go on"); err != nil || out.Text != "look" || !strings.HasPrefix(d.statuses(t, root), "completed") {
		t.Errorf("taken up again: %+v, %v", out, err)
	}
}

// workUntilKilled is the process that dies.
func workUntilKilled(t *testing.T, dir string) {
	d, ctx := openDisk(t, dir), context.Background()
	var ids []string
	for range 4 {
		c, err := d.Spawn(ctx, plug.ChildSpec{Parent: root, Instructions: "look"})
		must(t, err)
		ids = append(ids, c.ID)
	}
	if _, err := d.Run(ctx, ids[3], "go"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Spawn(ctx, plug.ChildSpec{Parent: ids[3]}); err != nil {
		t.Fatal(err)
	}
	must(t, d.Enqueue(ctx, ids[0], "wait for me"))
	d.run = func(ctx context.Context, r Request) (plug.ChildOutcome, error) {
		fmt.Println("ready")
		<-ctx.Done()
		return plug.ChildOutcome{}, ctx.Err()
	}
	_, _ = d.Run(ctx, ids[0], "go")
}
