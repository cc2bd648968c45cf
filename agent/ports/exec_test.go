package ports

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"alisio/agent/workspace"
)

// What git may read is what tools may read: the workspace, added directories and
// approved ones while they are.
func TestGitIsKeptInside(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"root/sub", "added", "other"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w, err := workspace.Open(filepath.Join(base, "root"), filepath.Join(base, "added"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	other := filepath.Join(base, "other")
	for path, want := range map[string]bool{"root": true, "root/sub": true, "added": true, "other": false, ".": false, "root/../other": false} {
		if got := Inside(w)(base + "/" + path); got != want {
			t.Errorf("Inside(%s) = %v, want %v", path, got, want)
		}
	}
	revoke, err := w.Approve(other)
	if err != nil || !Inside(w)(other) {
		t.Errorf("approved, but not inside (%v)", err)
	}
	revoke()
	if Inside(w)(other) {
		t.Error("no longer approved, but inside")
	}
	// The function is the one that git gets.
	if err := os.Mkdir(filepath.Join(base, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err = Exec(w, nil, false).Git(t.Context(), filepath.Join(base, "root/sub"), "status")
	if err == nil || !strings.Contains(err.Error(), "--add-dir "+base+" opens it") {
		t.Errorf("a repository above: %v", err)
	}
}
