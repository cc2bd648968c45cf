package db

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"alisio/db/lock"
)

func TestSessionLock(t *testing.T) {
	d := open(t, t.TempDir())
	l := must(d.Lock(t.Context(), "not there yet"))(t)
	var held *HeldError
	if _, err := d.Lock(t.Context(), "not there yet"); !errors.As(err, &held) || held.PID != os.Getpid() {
		t.Errorf("got %v", err)
	}
	l.Release()
	must(d.Lock(t.Context(), "not there yet"))(t).Release()
}

// A program of an older version took no lock, it wrote its pid.
func TestOlderProgramsPIDIsRespected(t *testing.T) {
	d := open(t, t.TempDir())
	c := exec.Command("sleep", "60")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	defer c.Process.Kill()
	create1(t, d, "s")
	write(t, d, func(tx *Tx) error {
		if err := tx.SetOwner("s", &Owner{PID: c.Process.Pid}); err != nil {
			return err
		}
		return tx.TouchSession("s", time.Now().UnixMilli())
	})
	var held *HeldError
	if _, err := d.Lock(t.Context(), "s"); !errors.As(err, &held) || held.PID != c.Process.Pid {
		t.Errorf("a living program: %v", err)
	}
	c.Process.Kill()
	c.Wait()
	must(d.Lock(t.Context(), "s"))(t).Release()
}

func TestInterruptRuns(t *testing.T) {
	d := open(t, t.TempDir())
	dead := Self()
	dead.Start++
	for _, id := range []string{"dead", "alive", "locked", "ended"} {
		create1(t, d, id)
	}
	write(t, d, func(tx *Tx) error {
		child := func(id, parent string) error {
			return tx.CreateSession(Session{ID: id, Parent: parent, Depth: 1, Status: "running", CreatedMs: 1, UpdatedMs: 1})
		}
		run := func(id string, o Owner) error {
			return tx.BeginRun(Run{ID: "r-" + id, Session: id, Status: "running", OwnerPID: o.PID, Owner: o, CreatedMs: 1})
		}
		return errors.Join(child("dead-child", "dead"), child("alive-child", "alive"), child("locked-child", "locked"),
			run("dead", dead), run("alive", Self()), run("locked", dead), run("ended", dead),
			tx.EndRun(Run{ID: "r-ended", Status: "completed", EndedMs: 2}))
	})
	l := must(d.Lock(t.Context(), "locked"))(t)
	if n := must(d.InterruptRuns(t.Context()))(t); n != 1 {
		t.Errorf("%d runs, want 1", n)
	}
	check := func(id, run, child string) {
		t.Helper()
		if got := must(d.Run(t.Context(), "r-"+id))(t).Status; got != run {
			t.Errorf("run of %s: %s, want %s", id, got, run)
		}
		if child == "" {
			return
		}
		if got := must(d.Session(t.Context(), id+"-child"))(t).Status; got != child {
			t.Errorf("child of %s: %s, want %s", id, got, child)
		}
	}
	check("dead", "interrupted", "interrupted")
	check("alive", "running", "running")
	check("locked", "running", "running")
	check("ended", "completed", "")
	l.Release()
	if n := must(d.InterruptRuns(t.Context()))(t); n != 1 {
		t.Errorf("%d runs, want the one whose lock was free", n)
	}
	check("locked", "interrupted", "interrupted")
}

// otherProcess starts a process and returns how rows name it.
func otherProcess(t *testing.T) (o Owner, kill func()) {
	t.Helper()
	c := exec.Command("sleep", "60")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	kill = sync.OnceFunc(func() {
		c.Process.Kill()
		c.Wait()
	})
	t.Cleanup(kill)
	if _, known := lock.Of(c.Process.Pid).Alive(); !known {
		t.Skip("this system does not tell when a process began: a pid proves nothing, and the lock alone decides")
	}
	return lock.Of(c.Process.Pid), kill
}

// The lock's file of the owner lies in another directory, or was removed: its
// row tells. What is wrong in the row is nobody who runs.
func TestOwnerIsRespectedWithoutItsLock(t *testing.T) {
	d := open(t, t.TempDir())
	create1(t, d, "s")
	o, kill := otherProcess(t)
	own := func(o Owner) { write(t, d, func(tx *Tx) error { return tx.SetOwner("s", &o) }) }
	for name, dead := range map[string]Owner{
		"another start": {PID: o.PID, Boot: o.Boot, Start: o.Start + 1}, "another boot": {PID: o.PID, Boot: "other", Start: o.Start},
		"this process": Self(), "nobody": {},
	} {
		own(dead)
		l, err := d.Lock(t.Context(), "s")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		l.Release()
	}
	own(o)
	var held *HeldError
	if _, err := d.Lock(t.Context(), "s"); !errors.As(err, &held) || held.PID != o.PID {
		t.Errorf("a living owner: got %v, want it held by %d", err, o.PID)
	}
	kill()
	must(d.Lock(t.Context(), "s"))(t).Release()
}

// A run is never marked while its owner lives, whoever has the lock.
func TestLivingOwnersRunIsNotInterrupted(t *testing.T) {
	d := open(t, t.TempDir())
	o, kill := otherProcess(t)
	write(t, d, func(tx *Tx) error {
		return errors.Join(tx.CreateSession(Session{ID: "s"}), tx.CreateSession(Session{ID: "child", Parent: "s", Status: "running"}),
			tx.BeginRun(Run{ID: "r", Session: "s", Status: "running", Owner: o, CreatedMs: 1}),
			tx.BeginRun(Run{ID: "dead", Session: "s", Status: "running", Owner: Owner{PID: o.PID, Boot: o.Boot, Start: 1}, CreatedMs: 1}))
	})
	interrupt := func() (n int) {
		write(t, d, func(tx *Tx) (err error) {
			n, err = tx.InterruptSession("s", 5)
			return err
		})
		return n
	}
	status := func() string {
		return must(d.Run(t.Context(), "r"))(t).Status + " " + must(d.Session(t.Context(), "child"))(t).Status
	}
	if n := must(d.InterruptRuns(t.Context()))(t); n != 0 {
		t.Errorf("%d runs were interrupted beside a living one", n)
	}
	if n := interrupt(); n != 1 || status() != "running running" {
		t.Errorf("marked %d, now %s; want the dead one alone", n, status())
	}
	kill()
	if n := interrupt(); n != 1 || status() != "interrupted interrupted" {
		t.Errorf("marked %d, now %s", n, status())
	}
}

// A chain of children was walked to its root, and down again, from each of them.
func TestInterruptRunsOverALongChain(t *testing.T) {
	d := open(t, t.TempDir())
	const length = 3000 / damageStride
	write(t, d, func(tx *Tx) error {
		parent := ""
		for i := range length {
			id := fmt.Sprintf("s%d", i)
			if err := tx.CreateSession(Session{ID: id, Parent: parent, Status: "running", CreatedMs: 1}); err != nil {
				return err
			}
			parent = id
		}
		// Rows may be foreign: two that are each other's parent.
		return errors.Join(tx.CreateSession(Session{ID: "a", Parent: "b", Status: "running"}),
			tx.CreateSession(Session{ID: "b", Parent: "a", Status: "running"}),
			tx.BeginRun(Run{ID: "r", Session: parent, Status: "running", OwnerPID: -1, CreatedMs: 1}))
	})
	begun := time.Now()
	if n := must(d.InterruptRuns(t.Context()))(t); n != 1 {
		t.Errorf("%d runs, want 1", n)
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("%v for %d children", took, length)
	}
	if left := must(d.RunningChildren(t.Context()))(t); len(left) != 0 {
		t.Errorf("%d children are still running, the first %s", len(left), left[0].ID)
	}
}

// Symptom: a session could not be used for as long as any process had a number.
// Trigger: a row of version 1 or 2, which has no time, with the pid of a process that
// runs and wrote no row.
func TestADoubtfulOwnerIsForgotten(t *testing.T) {
	d := open(t, t.TempDir())
	o, _ := otherProcess(t)
	own := func(o Owner, updatedMs int64) {
		write(t, d, func(tx *Tx) error { return errors.Join(tx.SetOwner("s", &o), tx.TouchSession("s", updatedMs)) })
	}
	create1(t, d, "s")
	var held *HeldError
	for name, refused := range map[string]func(){
		"an owner of which all is known": func() { own(o, 0) },
		"one that was there before":      func() { own(Owner{PID: o.PID}, time.Now().UnixMilli()) },
	} {
		refused()
		if err := d.ForgetOwner(t.Context(), "s"); !errors.As(err, &held) || held.PID != o.PID || held.Doubtful {
			t.Errorf("%s: got %v", name, err)
		}
	}
	own(Owner{PID: o.PID}, 0)
	if _, err := d.Lock(t.Context(), "s"); !errors.As(err, &held) || held.PID != o.PID || !held.Doubtful {
		t.Fatalf("got %v, want it held in doubt by %d", err, o.PID)
	}
	l, err := lock.Acquire(t.Context(), filepath.Join(d.home, "locks"), "s", false)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) { // it waits for the lock
		if err := d.ForgetOwner(t.Context(), "s"); !errors.As(err, &held) || held.Doubtful {
			t.Errorf("while somebody has the lock: got %v", err)
		}
	})
	l.Release()
	for range 2 { // the second has nothing to do
		if err := d.ForgetOwner(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
	}
	must(d.Lock(t.Context(), "s"))(t).Release()
	if err := d.ForgetOwner(t.Context(), "none"); !errors.Is(err, ErrNotFound) {
		t.Errorf("no session: got %v", err)
	}
}
