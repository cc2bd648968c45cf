package agent

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"alisio/agent/config"
	"alisio/llm"
	"alisio/llm/script"
)

// Symptom: /resume went on with a conversation that somebody else had made up. Trigger:
// it was imported, and names this workspace.
func TestAnImportedSessionIsNotGoneOnWith(t *testing.T) {
	ctx := context.Background()
	open := func(name string) *Store {
		s, err := OpenStore(ctx, StoreOptions{Path: filepath.Join(t.TempDir(), name)})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	app := func(s *Store, dir string) *App {
		turns, err := script.Parse([]byte(`{"turns":[{"text":"Hello."}]}`))
		if err != nil {
			t.Fatal(err)
		}
		a, err := New(ctx, Options{Dir: dir, Config: config.Default(), Provider: turns.Provider("script"), Model: llm.Model{ID: "toy-1"}, Store: s})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { a.Close(ctx) })
		return a
	}
	dir := t.TempDir()
	from, to := open("from.db"), open("to.db")
	theirs, ours := app(from, dir), app(to, dir)
	out, err := theirs.Run(ctx, "", "hi", RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := theirs.FindSession(ctx, out.SessionID[:8]); err != nil || s.ID != out.SessionID {
		t.Errorf("one that was made here: %+v, %v", s, err)
	}
	var export bytes.Buffer
	if err := from.Export(ctx, out.SessionID, &export); err != nil {
		t.Fatal(err)
	}
	if _, err := to.Import(ctx, &export); err != nil {
		t.Fatal(err)
	}
	if _, err := ours.FindSession(ctx, out.SessionID); err == nil || !strings.Contains(err.Error(), "was imported") {
		t.Errorf("imported: got %v", err)
	}
	if _, err := to.Adopt(ctx, out.SessionID, dir); err != nil {
		t.Fatal(err)
	}
	if s, err := ours.FindSession(ctx, out.SessionID); err != nil || s.ID != out.SessionID {
		t.Errorf("adopted: %+v, %v", s, err)
	}
}
