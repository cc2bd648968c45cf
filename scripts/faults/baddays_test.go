package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// spoken makes n sessions of one call each and returns their ids, the newest
// first.
func spoken(t *testing.T, w *world, n int) []string {
	t.Helper()
	ctx := context.Background()
	for i := range n {
		if _, err := w.must(ctx, w.task(prompt(fmt.Sprintf("s%d", i), "one"))...); err != nil {
			t.Fatal(err)
		}
	}
	return listed(t, w)
}

// listed returns the ids of all sessions; each can be read and its calls pair.
func listed(t *testing.T, w *world) []string {
	t.Helper()
	ctx := context.Background()
	list, err := w.list(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, h := range list {
		if strings.ContainsRune(h.ID, '\uFFFD') {
			continue // its id was hit, and can not be typed
		}
		c, err := w.show(ctx, h.ID)
		if err == nil {
			err = c.pairs(true)
		}
		if err != nil {
			t.Errorf("session %s: %v", h.Title, err)
		}
		ids = append(ids, h.ID)
	}
	return ids
}

// one checks that a program said what is wrong in one line, with all of words in
// it, and did not do as if nothing were.
func one(t *testing.T, e ended, words ...string) {
	t.Helper()
	var lines []string
	for line := range strings.Lines(e.stderr) {
		if strings.HasPrefix(line, "error:") {
			lines = append(lines, line)
		}
	}
	if e.code != 1 || len(lines) != 1 {
		t.Errorf("want exit 1 and one line that begins with error:, got %v", e)
		return
	}
	for _, word := range words {
		if !strings.Contains(e.stderr, word) {
			t.Errorf("the line does not say %q: %s", word, e.stderr)
		}
	}
}

// A state directory that can not be made: part of its path is a file. The run is
// refused before anybody is asked.
func TestAStateHomeThatCanNotBe(t *testing.T) {
	t.Parallel()
	w := home(t)
	w.state = filepath.Join(w.dir, "file", "state")
	if err := os.WriteFile(filepath.Join(w.dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := w.run(context.Background(), w.task(prompt("nowhere", "say"))...)
	if err != nil {
		t.Fatal(err)
	}
	one(t, e, filepath.Join(w.dir, "file"))
	if n := w.model.asked("nowhere"); n != 0 {
		t.Errorf("the server was asked %d times", n)
	}
}

// spoil replaces the body of the second message, an answer with a call.
const spoil = `
import sqlite3, sys
c = sqlite3.connect(sys.argv[1])
c.execute("UPDATE messages SET body = 'not json' WHERE seq = (SELECT min(seq) + 1 FROM messages)")
c.commit()
`

// Spec store.md, "Damage": a row that can not be read is skipped with a notice.
// C112. Symptom: after a power cut a torn record makes resume show an empty
// conversation without a word. Trigger: a record that is no JSON.
func TestC112ADamagedRow(t *testing.T) {
	t.Parallel()
	w := home(t)
	ctx := context.Background()
	id := spoken(t, w, 1)[0]
	cmd, err := w.python(ctx, spoil)
	if errors.Is(err, errNoPython) {
		t.Skip(err)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	show, err := w.must(ctx, "sessions", "show", id)
	if err != nil || !strings.Contains(show.stdout, "left out") || !strings.Contains(show.stdout, finished("s0")) {
		t.Errorf("got %v, %v", show, err)
	}
	again, err := w.must(ctx, w.resume(id, prompt("on", "say"))...)
	if err != nil || !strings.Contains(again.stdout, finished("on")) || !strings.Contains(again.stderr, "left out") {
		t.Errorf("want an answer and a notice, got %v, %v", again, err)
	}
	raw, err := w.must(ctx, "sessions", "show", id, "--json")
	if err != nil || !strings.Contains(raw.stdout, `"raw":"not json"`) {
		t.Errorf("the row is not as it was: %v, %v", raw, err)
	}
}
