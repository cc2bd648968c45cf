package db

import (
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"
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
		return tx.TouchSession("s", time.Now().UnixMilli(), "")
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
