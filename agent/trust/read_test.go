package trust

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// refused reads a workspace that must not be read.
func refused(t *testing.T, root, name, want string) {
	t.Helper()
	p, err := Read(root, root)
	if want = fmt.Sprintf("read project file %q: %s", filepath.Join(root, name), want); p != nil || err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestLinksInsideAreFollowed(t *testing.T) {
	root := workspace(t, map[string]string{".agents/skills/s/SKILL.md": "skill", "shared/mcp.json": "{}", ".claude/x": "", ".alisio/y": ""})
	link(t, root, "../.agents/skills", ".claude/skills")
	link(t, root, "shared/mcp.json", ".mcp.json")
	p := collect(t, root)
	for _, want := range []File{
		{Name: ".claude/skills/s/SKILL.md", Data: []byte("skill")},
		{Name: ".mcp.json", Link: true, Data: []byte("{}")},
	} {
		data, ok := p.File(want.Name)
		if !ok || string(data) != string(want.Data) {
			t.Errorf("%s: got %q, %v", want.Name, data, ok)
		}
	}
	before := p.Hash
	put(t, root, "shared/mcp.json", `{"a": 1}`)
	if collect(t, root).Hash == before {
		t.Error("what a link leads to is not in the hash")
	}
}

func TestLinksThatAreRefused(t *testing.T) {
	const nowhere = "found a link that leads to nothing in the workspace"
	tests := []struct{ name, target, want string }{
		{".alisio/out", "../../outside", nowhere},
		{".alisio/absolute", "/etc/passwd", nowhere},
		{".alisio/dangling", "none", nowhere},
		{".alisio/self", "self", nowhere},
		{".alisio/sub/up", "..", "found a link to a directory that it is in"},
		{".alisio/here", ".", "found a link to a directory that it is in"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := workspace(t, map[string]string{".alisio/sub/x": "1"})
			link(t, root, tt.target, tt.name)
			refused(t, root, tt.name, tt.want)
		})
	}
	root := workspace(t, map[string]string{"a": ""})
	link(t, root, t.TempDir(), ".alisio")
	refused(t, root, ".alisio", nowhere)
	// The directory around what is covered.
	outside := workspace(t, map[string]string{"skills/s/SKILL.md": "x"})
	root = workspace(t, nil)
	link(t, root, outside, ".claude")
	refused(t, root, ".claude/agents", "path escapes from parent")
}

func TestBounds(t *testing.T) {
	fill := func(n int) string { return strings.Repeat("x", n) }
	t.Run("file", func(t *testing.T) {
		root := workspace(t, map[string]string{".mcp.json": fill(maxFile)})
		collect(t, root)
		put(t, root, ".mcp.json", fill(maxFile+1))
		refused(t, root, ".mcp.json", "larger than 1 MiB; make it smaller or remove it")
	})
	t.Run("together", func(t *testing.T) {
		root := workspace(t, nil)
		for i := range maxAll / maxFile {
			put(t, root, fmt.Sprintf(".alisio/skills/%02d", i), fill(maxFile))
		}
		put(t, root, ".alisio/plugins/p/bin", fill(2*maxFile))
		collect(t, root)
		put(t, root, ".mcp.json", "x")
		refused(t, root, ".mcp.json", "with this file, more than 16 MiB need trust; remove what nobody needs")
	})
	t.Run("plugins", func(t *testing.T) {
		root := workspace(t, map[string]string{".alisio/plugins/p/bin": ""})
		bin := filepath.Join(root, ".alisio/plugins/p/bin")
		if err := os.Truncate(bin, maxPlugins); err != nil { // a hole
			t.Fatal(err)
		}
		collect(t, root)
		put(t, root, ".alisio/plugins/p/zzz", "x")
		if _, err := Read(root, root); err == nil || !strings.Contains(err.Error(), "with this file, more than 64 MiB need trust") {
			t.Errorf("together: got %v", err)
		}
		if err := os.Truncate(bin, 1<<40); err != nil {
			t.Skipf("the file system takes no file of 1 TiB: %v", err)
		}
		if _, err := Read(root, root); err == nil || !strings.Contains(err.Error(), "64 MiB") {
			t.Errorf("huge: got %v", err)
		}
	})
	t.Run("depth", func(t *testing.T) {
		deep := ".alisio" + strings.Repeat("/d", maxDepth-1)
		root := workspace(t, map[string]string{deep + "/x": ""})
		collect(t, root)
		put(t, root, deep+"/e/x", "")
		refused(t, root, deep+"/e", "found directories nested deeper than 8; move it up")
	})
	t.Run("entries", func(t *testing.T) {
		root := workspace(t, map[string]string{".alisio/x": ""})
		read := func() error {
			dir, err := os.OpenRoot(root)
			if err != nil {
				t.Fatal(err)
			}
			defer dir.Close()
			r := reader{root: dir, entries: maxEntries - 2}
			return r.entry(".alisio", 0)
		}
		if err := read(); err != nil {
			t.Errorf("as many as allowed: got %v", err)
		}
		put(t, root, ".alisio/y", "")
		if err := read(); err == nil || !strings.Contains(err.Error(), "found more than 2000 files and directories that need trust") {
			t.Errorf("got %v", err)
		}
	})
}

func TestNamesThatAreNoDirectories(t *testing.T) {
	root := workspace(t, map[string]string{".agents": "a file", ".alisio": "a file"})
	if got := names(collect(t, root)); len(got) != 1 || got[0] != ".alisio" {
		t.Errorf("got %q", got)
	}
}
