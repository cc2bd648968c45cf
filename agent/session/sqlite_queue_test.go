package session

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"alisio/db"
)

func TestSQLiteQueue(t *testing.T) {
	queueSuite(t, func(t *testing.T) queueStore { return openAt(t, t.TempDir(), nil) })
}

// What waits survives the process, is no part of an export, and goes with its
// session.
func TestQueueOnTheDisk(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	s := openAt(t, dir, nil)
	must(t, s.Create(ctx, Session{ID: "a"}))
	for i := range 3 {
		must(t, s.Enqueue(ctx, "a", fmt.Sprint("secret-", i)))
	}
	other, err := OpenSQLite(ctx, db.Options{Path: filepath.Join(dir, "sessions.sqlite"), Home: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	var export bytes.Buffer
	if err := other.Export(ctx, "a", &export); err != nil || strings.Contains(export.String(), "secret") {
		t.Errorf("export %s, %v", export.String(), err)
	}
	moved, err := other.Drain(ctx, "a", "r1")
	if err != nil || len(moved) != 3 || moved[2].Text != "secret-2" {
		t.Fatalf("drained %+v, %v", moved, err)
	}
	if got, err := s.RunMessages(ctx, "a", "r1"); err != nil || len(got) != 3 {
		t.Errorf("messages of the run: %+v, %v", got, err)
	}
	must(t, s.Enqueue(ctx, "a", "more"))
	if _, err := s.Delete(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	must(t, s.Create(ctx, Session{ID: "a"}))
	if got, err := s.Queued(ctx, "a"); err != nil || len(got) != 0 {
		t.Errorf("of a new session: %q, %v", got, err)
	}
}

// A cancelled drain moves nothing.
func TestQueueAndCancel(t *testing.T) {
	s := openAt(t, t.TempDir(), nil)
	must(t, s.Create(t.Context(), Session{ID: "a"}))
	must(t, s.Enqueue(t.Context(), "a", "x"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Drain(ctx, "a", "r"); err == nil {
		t.Error("no error")
	}
	queued, err := s.Queued(t.Context(), "a")
	messages, err2 := s.Messages(t.Context(), "a")
	if err != nil || err2 != nil || len(queued) != 1 || len(messages) != 0 {
		t.Errorf("%q wait, %d messages", queued, len(messages))
	}
}
