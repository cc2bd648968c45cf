package trust

import (
	"path/filepath"
	"slices"
	"testing"
)

func TestLinkedNamesEveryLink(t *testing.T) {
	root := workspace(t, map[string]string{"skills/s/SKILL.md": "x", "shared/y": "y", ".agents/skills/own/z": "z", ".claude/x": ""})
	link(t, root, "../skills", ".claude/skills")
	link(t, root, "../../shared", "skills/s/more")       // met on the way of another
	link(t, root, "../../later", ".agents/skills/later") // leads to nothing yet
	got := Linked(root)
	for _, name := range []string{".alisio", ".mcp.json", ".claude/skills", ".claude/skills/s/more", ".agents/skills/later"} {
		if !slices.Contains(got, filepath.Join(root, filepath.FromSlash(name))) {
			t.Errorf("%s is missing in %q", name, got)
		}
	}
	if slices.Contains(got, filepath.Join(root, ".agents", "skills", "own")) {
		t.Error("a directory without a link is named")
	}
	link(t, root, ".", "skills/round") // it ends
	if got := Linked(root); !slices.Contains(got, filepath.Join(root, ".claude", "skills")) {
		t.Errorf("a link in a circle: got %q", got)
	}
	if got := Linked(filepath.Join(root, "none")); got != nil {
		t.Errorf("no root: got %q", got)
	}
}
