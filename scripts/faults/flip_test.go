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
)

// Bytes of the database flip on the disk. Whatever was hit, nothing hangs or
// panics, the error names the file and the remedy, the remedy saves the rest and
// keeps the damaged file as it was.
func TestFlippedBytes(t *testing.T) {
	t.Parallel()
	w := home(t)
	const sessions = 8
	spoken(t, w, sessions)
	// A sound database is compacted: its log is then in the file.
	if _, err := w.must(context.Background(), "doctor", "--store", "--fix"); err != nil {
		t.Fatal(err)
	}
	sound, err := os.ReadFile(w.database())
	if err != nil {
		t.Fatal(err)
	}
	hurt := 0
	for seed := range uint64(12) {
		state := w.state
		w.state = filepath.Join(w.dir, fmt.Sprintf("flipped-%d", seed))
		flipped := flip(sound, seed)
		if err := os.MkdirAll(w.state, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(w.database(), flipped, 0o600); err != nil {
			t.Fatal(err)
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			if w.hurt(t, seed, flipped, sessions) {
				hurt++
			}
		})
		w.state = state
	}
	if hurt < 3 {
		t.Errorf("of 12 flips only %d hurt anything", hurt)
	}
}

// flip overwrites some bytes of some pages but the first.
func flip(sound []byte, seed uint64) []byte {
	const page = 4096
	r := rand.New(rand.NewPCG(seed, 1))
	out := bytes.Clone(sound)
	for range 1 + seed%3 {
		at := page + r.IntN(len(out)-page)
		if r.IntN(2) == 0 {
			at -= at % page // its header
		}
		for i := at; i < min(at+64, len(out)); i++ {
			out[i] = byte(r.UintN(256))
		}
	}
	return out
}

// hurt looks at a damaged database, repairs it if it is one to SQLite, and
// reports whether it was.
func (w *world) hurt(t *testing.T, seed uint64, flipped []byte, sessions int) bool {
	t.Helper()
	ctx := context.Background()
	hint := "doctor --store --fix"
	for _, args := range [][]string{{"sessions", "list"}, w.task(prompt("flip", "say")), {"doctor", "--store"}} {
		if err := os.WriteFile(w.database(), flipped, 0o600); err != nil {
			t.Fatal(err)
		}
		e, err := w.run(ctx, args...)
		said := e.stdout + e.stderr
		if err != nil || e.killed || strings.Contains(said, "goroutine ") || e.code > 1 ||
			e.code == 1 && (!strings.Contains(said, w.database()) || !strings.Contains(said, hint)) {
			t.Errorf("seed %d: want the file's name and its remedy, got %v, %v", seed, e, err)
		}
		if args[0] == "doctor" && e.code == 0 {
			return false
		}
	}
	if err := os.WriteFile(w.database(), flipped, 0o600); err != nil {
		t.Fatal(err)
	}
	fix, err := w.run(ctx, "doctor", "--store", "--fix")
	if err != nil || fix.code > 1 || fix.killed {
		t.Errorf("seed %d: the repair gave %v, %v", seed, fix, err)
	}
	if err := w.doctor(ctx); err != nil {
		t.Errorf("seed %d: after the repair: %v; it gave %v", seed, err, fix)
	}
	if got := len(listed(t, w)); got < sessions/2 {
		t.Errorf("seed %d: %d of %d sessions are left: %v", seed, got, sessions, fix)
	}
	if e, err := w.must(ctx, w.task(prompt("after", "say"))...); err != nil {
		t.Errorf("seed %d: a run after the repair: %v, %v", seed, e, err)
	}
	kept := false
	files, err := filepath.Glob(filepath.Join(w.state, "*"))
	for _, f := range files {
		data, err := os.ReadFile(f)
		kept = kept || err == nil && bytes.Equal(data, flipped)
	}
	if err != nil || !kept {
		t.Errorf("seed %d: the damaged file is not kept in %q, %v", seed, files, err)
	}
	return true
}
