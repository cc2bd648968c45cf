package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Instruction files below the working directory are found when a link leads to it, as
// the tools name files by where they are.
func TestNestedFilesAreFoundThroughALink(t *testing.T) {
	if os.PathSeparator == '\\' {
		t.Skip("links need a privilege on this system")
	}
	real := realPath(t.TempDir())
	if err := os.MkdirAll(filepath.Join(real, "work", "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(real, "work", "sub", "AGENTS.md"), []byte("be kind\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{real, link} {
		app, _, _ := one(t, "memory", dir, Options{})
		c, err := app.conversation("s")
		if err != nil {
			t.Fatal(err)
		}
		found, err := app.nested(c)(t.Context(), []string{filepath.Join(real, "work", "sub", "x")})
		if err != nil || len(found) != 1 || !strings.Contains(found[0].Text, "be kind") {
			t.Errorf("from %s: got %+v, %v", dir, found, err)
		}
	}
}
