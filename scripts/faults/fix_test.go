package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fixSessions is how many sessions the database has that is repaired.
const fixSessions = 8

// damagedHome is a home whose database is damaged, its bytes, and how long its repair
// takes that nobody disturbs. The home is as it was before.
func damagedHome(t *testing.T) (w *world, data []byte, took time.Duration) {
	t.Helper()
	w = home(t)
	ctx := context.Background()
	spoken(t, w, fixSessions)
	if _, err := w.must(ctx, "doctor", "--store", "--fix"); err != nil {
		t.Fatal(err)
	}
	sound, err := os.ReadFile(w.database())
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(50) {
		data = flip(sound, seed)
		w.again(t, data)
		e, err := w.run(ctx, "doctor", "--store")
		if err != nil {
			t.Fatal(err)
		}
		if e.code != 1 || !strings.Contains(e.stdout, "is damaged") {
			continue
		}
		begun := time.Now()
		if e, err = w.run(ctx, "doctor", "--store", "--fix"); err != nil || e.code > 1 {
			t.Fatalf("%v, %v", e, err)
		}
		took = time.Since(begun)
		if len(listed(t, w)) < fixSessions/2 {
			continue // too much of it was hit
		}
		w.again(t, data)
		return w, data, took
	}
	t.Fatal("no flip damages the database")
	return nil, nil, 0
}

// again puts the database's bytes in the place of all that lies there.
func (w *world) again(t *testing.T, data []byte) {
	t.Helper()
	files, err := filepath.Glob(w.database() + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(w.database(), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// keeps checks that a file beside the database holds the bytes.
func (w *world) keeps(t *testing.T, data []byte, when string) {
	t.Helper()
	files, err := filepath.Glob(w.database() + ".damaged-*")
	for _, f := range files {
		got, err := os.ReadFile(f)
		if err == nil && bytes.Equal(got, data) {
			return
		}
	}
	t.Errorf("%s: the damaged database is not kept in %q, %v", when, files, err)
}

// pause waits for a moment that is the trigger of a test, or until a process ended.
func pause(d time.Duration, done <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-done:
	}
}

// Symptom: a repair, during which another command begins, leaves a database that is
// damaged again, and without the session of that command. Trigger: a run that begins
// at any moment of a repair, and has the file open before the repair puts another in
// its place.
func TestARunDuringARepair(t *testing.T) {
	t.Parallel()
	w, data, took := damagedHome(t)
	ctx := context.Background()
	waited := 0
	for i := range 10 {
		w.again(t, data)
		before := data
		token := fmt.Sprintf("during%d", i)
		fix, err := w.start(ctx, "doctor", "--store", "--fix")
		if err != nil {
			t.Fatal(err)
		}
		pause(took*time.Duration(i)/10, fix.done)
		ran, err := w.run(ctx, w.task(prompt(token, "one"))...)
		if err != nil {
			t.Fatal(err)
		}
		fixed, err := fix.wait()
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case strings.Contains(fixed.stderr, "in use"):
			// The run came first.
			if before, err = os.ReadFile(w.database()); err != nil {
				t.Fatal(err)
			}
			if fixed, err = w.run(ctx, "doctor", "--store", "--fix"); err != nil {
				t.Fatal(err)
			}
		case ran.code == 0:
			waited++
		}
		if fixed.code > 1 || !strings.Contains(fixed.stdout, "a new database is in its place") {
			t.Errorf("moment %d: the repair gave %v", i, fixed)
		}
		if ran.code != 0 && !strings.Contains(ran.stderr, "is damaged") {
			t.Errorf("moment %d: the run gave %v", i, ran)
		}
		if err := w.doctor(ctx); err != nil {
			t.Errorf("moment %d: after the repair: %v", i, err)
		}
		w.keeps(t, before, fmt.Sprintf("moment %d", i))
		// A run that came first and met the damage later has stored something, or nothing.
		if _, there, err := w.find(ctx, prompt(token, "one")); err != nil || ran.code == 0 && !there {
			t.Errorf("moment %d: the session of the run is there: %v, %v; the run gave %v", i, there, err, ran)
		}
	}
	t.Logf("%d of 10 runs waited for the repair", waited)
	if waited == 0 {
		t.Error("no run waited for the repair: the moments are none of it")
	}
}

// Symptom: a repair that is killed leaves no database, and the next command begins an
// empty one without a word. Trigger: kill -9 at any moment of a repair.
func TestAKilledRepair(t *testing.T) {
	t.Parallel()
	w, data, took := damagedHome(t)
	ctx := context.Background()
	r := rand.New(rand.NewPCG(5, 1))
	killed := 0
	for i := range 20 {
		w.again(t, data)
		fix, err := w.start(ctx, "doctor", "--store", "--fix")
		if err != nil {
			t.Fatal(err)
		}
		pause(time.Duration(r.Float64()*1.1*float64(took)), fix.done)
		fix.kill()
		e, err := fix.wait()
		if err != nil {
			t.Fatal(err)
		}
		if e.killed {
			killed++
		}
		look, err := w.run(ctx, "sessions", "list")
		if err != nil || look.code > 1 || look.code == 1 && (!strings.Contains(look.stderr, w.database()) || !strings.Contains(look.stderr, "doctor --store --fix")) ||
			look.code == 0 && look.stdout == "" {
			t.Errorf("kill %d: the list gave %v, %v", i, look, err)
		}
		if e, err = w.run(ctx, "doctor", "--store", "--fix"); err != nil || e.code > 1 || e.stderr != "" {
			t.Errorf("kill %d: the next repair gave %v, %v", i, e, err)
		}
		if err := w.doctor(ctx); err != nil {
			t.Errorf("kill %d: after the next repair: %v", i, err)
		}
		w.keeps(t, data, fmt.Sprintf("kill %d", i))
		if n := len(listed(t, w)); n < fixSessions/2 {
			t.Errorf("kill %d: %d sessions are left", i, n)
		}
		for _, pattern := range []string{".checked-*", ".recovered-*", "*.part"} {
			if left, err := filepath.Glob(w.database() + pattern); err != nil || len(left) > 0 {
				t.Errorf("kill %d: left behind: %v, %v", i, left, err)
			}
		}
	}
	t.Logf("%d of 20 repairs were killed", killed)
	if killed == 0 {
		t.Error("no repair was killed: the moments are none of it")
	}
}
