package trust

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// workspace makes a directory with these files.
func workspace(t *testing.T, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		put(t, root, name, text)
	}
	return root
}

func put(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, root, target, name string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
		t.Fatal(err)
	}
}

func collect(t *testing.T, root string) *Project {
	t.Helper()
	p, err := Read(root, root)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func names(p *Project) []string {
	var all []string
	for _, f := range p.Files {
		all = append(all, f.Name)
	}
	return all
}

// whole is a workspace with something of everything.
func whole() map[string]string {
	return map[string]string{
		".alisio/config.json":           `{"provider": {"model": "m"}, "limits": {"maxTurns": 5},}`,
		".alisio/plugins/p/bin":         "#!/bin/sh\n",
		".alisio/prompts/fix.md":        "fix",
		".agents/skills/s/SKILL.md":     "skill",
		".agents/agents/a.md":           "agent",
		".claude/skills/c/scripts/x.sh": "run",
		".claude/agents/b.md":           "agent",
		".opencode/agent/o.md":          "agent",
		".opencode/agents/o.md":         "agent",
		".mcp.json":                     "{}",
		".claude/settings.json":         "not ours",
		".agents/other":                 "not ours",
		"AGENTS.md":                     "no trust needed",
		"sub/.alisio/config.json":       "not the root",
	}
}

func TestReadTakesWhatNeedsTrust(t *testing.T) {
	root := workspace(t, whole())
	p := collect(t, root)
	want := []string{".agents/agents/a.md", ".agents/skills/s/SKILL.md", ".alisio/config.json", ".alisio/plugins/p/bin",
		".alisio/prompts/fix.md", ".claude/agents/b.md", ".claude/skills/c/scripts/x.sh", ".mcp.json",
		".opencode/agent/o.md", ".opencode/agents/o.md"}
	if got := names(p); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if p.Root != root || p.Empty() {
		t.Errorf("got root %q, empty %v", p.Root, p.Empty())
	}
	if data, ok := p.File(".mcp.json"); !ok || string(data) != "{}" {
		t.Errorf("got %q, %v", data, ok)
	}
	for _, name := range []string{"AGENTS.md", ".alisio", "", ".mcp.jso", ".mcp.jsonx"} {
		if _, ok := p.File(name); ok {
			t.Errorf("File(%q) gave something", name)
		}
	}
	s, err := p.Summary()
	if wantKeys := []string{"limits.maxTurns", "provider.model"}; err != nil || !slices.Equal(s.Keys, wantKeys) || len(s.Files) != len(want)-1 {
		t.Errorf("got %+v, %v", s, err)
	}
	if c := p.Config(); c == nil || c.File != filepath.Join(root, ".alisio", "config.json") || !strings.HasPrefix(string(c.Data), "{") {
		t.Errorf("got configuration %+v", c)
	}
}

func TestReadLooksAtNothingAbove(t *testing.T) {
	root := workspace(t, map[string]string{".mcp.json": "{}", "sub/x": ""})
	p := collect(t, filepath.Join(root, "sub"))
	if !p.Empty() || p.Config() != nil || p.Root != filepath.Join(root, "sub") {
		t.Errorf("got %q of %q", names(p), p.Root)
	}
	if s, err := p.Summary(); err != nil || s.Keys != nil || s.Files != nil {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestRootIsResolved(t *testing.T) {
	root := workspace(t, map[string]string{"real/.mcp.json": "{}"})
	link(t, root, "real", "alias")
	p := collect(t, filepath.Join(root, "alias"))
	t.Chdir(filepath.Join(root, "real"))
	q := collect(t, ".")
	if p.Root != filepath.Join(root, "real") || p.Root != q.Root || p.Hash != q.Hash {
		t.Errorf("got %q and %q, want %q", p.Root, q.Root, filepath.Join(root, "real"))
	}
	if _, err := Read(filepath.Join(root, "none"), root); err == nil {
		t.Error("no such root: got no error")
	}
}

func TestHashIsOfTheContentAlone(t *testing.T) {
	a, b := collect(t, workspace(t, whole())), collect(t, workspace(t, whole()))
	if a.Hash != b.Hash || len(a.Hash) != 64 {
		t.Errorf("the same files: got %s and %s", a.Hash, b.Hash)
	}
	// The form is stored: to change it asks everybody again.
	fixed := sum([]File{{Name: ".mcp.json", Data: []byte("{}")}})
	if want := "55a74181a779cfda6d8a19806ea374240ef3f2c9caf6971102bab3c34e3f2048"; fixed != want {
		t.Errorf("the form of the hash changed: got %s", fixed)
	}
}

// Symptom: approval is stored by name; what stands under the name can change
// without a new one. Trigger: accept once, change something, look again.
func TestC142AnyChangeIsAnotherHash(t *testing.T) {
	move := func(from, to string) func(t *testing.T, root string) {
		return func(t *testing.T, root string) {
			if err := os.Rename(filepath.Join(root, from), filepath.Join(root, to)); err != nil {
				t.Fatal(err)
			}
		}
	}
	write := func(name, text string) func(t *testing.T, root string) {
		return func(t *testing.T, root string) { put(t, root, name, text) }
	}
	changes := map[string]func(t *testing.T, root string){
		"a byte of a plugin": write(".alisio/plugins/p/bin", "#!/bin/sh "),
		"a byte of a skill":  write(".claude/skills/c/scripts/x.sh", "ruN"),
		"a file more":        write(".alisio/plugins/p/lib", ""),
		"a file less":        func(t *testing.T, root string) { os.Remove(filepath.Join(root, ".mcp.json")) },
		"a name":             move(".alisio/prompts/fix.md", ".alisio/prompts/fiy.md"),
		"the case of a name": move(".alisio/prompts/fix.md", ".alisio/prompts/Fix.md"),
		"bytes moved over": func(t *testing.T, root string) {
			put(t, root, ".opencode/agent/o.md", "agen")
			put(t, root, ".opencode/agents/o.md", "tagent")
		},
		"a link for the file": func(t *testing.T, root string) {
			os.Remove(filepath.Join(root, ".claude/agents/b.md"))
			link(t, root, "../../.agents/agents/a.md", ".claude/agents/b.md")
		},
		"the executable bit": func(t *testing.T, root string) { os.Chmod(filepath.Join(root, ".alisio/plugins/p/bin"), 0o744) },
		"of bytes to a folder": func(t *testing.T, root string) {
			os.Remove(filepath.Join(root, ".mcp.json"))
			put(t, root, ".mcp.json/x", "{}")
		},
	}
	if runtime.GOOS == "windows" {
		delete(changes, "the executable bit")
		delete(changes, "a link for the file")
	}
	before := collect(t, workspace(t, whole()))
	store := New(t.TempDir())
	seen := map[string]string{before.Hash: "nothing"}
	for name, change := range changes {
		root := workspace(t, whole())
		accept(t, store, root, before.Hash)
		change(t, root)
		p := collect(t, root)
		if other := seen[p.Hash]; other != "" {
			t.Errorf("%s has the hash of %s", name, other)
		}
		seen[p.Hash] = name
		if ok, err := store.Accepted(root, p.Hash); ok || err != nil {
			t.Errorf("%s: got %v, %v", name, ok, err)
		}
	}
	root := workspace(t, whole())
	put(t, root, "AGENTS.md", "other")
	put(t, root, ".claude/settings.json", "other")
	if got := collect(t, root).Hash; got != before.Hash {
		t.Error("what needs no trust changed the hash")
	}
}

// What was hashed is what is used, whatever stands on the disk by then.
func TestBytesAreThoseThatWereHashed(t *testing.T) {
	root := workspace(t, whole())
	p := collect(t, root)
	put(t, root, ".alisio/config.json", `{"provider": {"model": "evil"}}`)
	if err := os.RemoveAll(filepath.Join(root, ".alisio", "plugins")); err != nil {
		t.Fatal(err)
	}
	if c := p.Config(); bytes.Contains(c.Data, []byte("evil")) {
		t.Errorf("got %s", c.Data)
	}
	if data, ok := p.File(".alisio/plugins/p/bin"); !ok || string(data) != "#!/bin/sh\n" || sum(p.Files) != p.Hash {
		t.Errorf("got %q, %v", data, ok)
	}
}

func TestSummaryOfWhatCanNotBeRead(t *testing.T) {
	p := collect(t, workspace(t, map[string]string{".alisio/config.json": "{", ".mcp.json": "{}"}))
	if s, err := p.Summary(); err == nil || !slices.Equal(s.Files, []string{".mcp.json"}) {
		t.Errorf("got %+v, %v", s, err)
	}
}

// Symptom: a skill is loaded that is in no hash. Trigger: it stands in a directory
// between the root and the working directory, or in one that the key skills names.
func TestSkillsOnTheWayAndThoseOfTheConfigurationNeedTrust(t *testing.T) {
	root := workspace(t, map[string]string{
		".agents/skills/s/SKILL.md":         "root",
		".alisio/config.json":               `{"skills": ["../tools/skills", "../a", "../.agents", "own", "/etc", "../../x", "../none"]}`,
		".alisio/own/o/SKILL.md":            "own",
		"tools/skills/t/SKILL.md":           "tool",
		"tools/other/x":                     "not a skill",
		"a/.claude/skills/a/SKILL.md":       "in a directory of skills",
		"b/.claude/skills/b/SKILL.md":       "b",
		"b/c/.alisio/skills/c/SKILL.md":     "c",
		"b/c/.alisio/config.json":           "not the root",
		"b/c/d/.agents/skills/d/SKILL.md":   "below",
		"side/.agents/skills/side/SKILL.md": "beside",
	})
	core := []string{".agents/skills/s/SKILL.md", ".alisio/config.json", ".alisio/own/o/SKILL.md", "a/.claude/skills/a/SKILL.md",
		"tools/skills/t/SKILL.md"}
	for _, tt := range []struct {
		dir  string
		more []string
	}{
		{".", nil}, {"tools", nil}, {"none", nil}, {"..", nil},
		{"b", []string{"b/.claude/skills/b/SKILL.md"}},
		{"b/c", []string{"b/.claude/skills/b/SKILL.md", "b/c/.alisio/skills/c/SKILL.md"}},
		{"a", nil},
	} {
		p, err := Read(root, filepath.Join(root, tt.dir))
		if err != nil {
			t.Fatal(err)
		}
		want := slices.Sorted(slices.Values(append(slices.Clone(core), tt.more...)))
		if got := names(p); !slices.Equal(got, want) {
			t.Errorf("%s:\ngot  %q\nwant %q", tt.dir, got, want)
		}
		at := collect(t, root)
		if p.Core().Hash != at.Hash || !slices.Equal(names(p.Core()), core) || p.Core().Core() != p.Core() {
			t.Errorf("%s: the core is %q", tt.dir, names(p.Core()))
		}
		if (p.Hash == at.Hash) != (len(tt.more) == 0) {
			t.Errorf("%s: the hash is that of the root: %v", tt.dir, p.Hash == at.Hash)
		}
	}
	before, err := Read(root, filepath.Join(root, "b"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tools/skills/t/SKILL.md", "b/.claude/skills/b/run.sh"} {
		put(t, root, name, "other")
		after, err := Read(root, filepath.Join(root, "b"))
		if err != nil || after.Hash == before.Hash {
			t.Errorf("%s: the hash stays, %v", name, err)
		}
		before = after
	}
}

// A directory of skills must not lead out of the workspace by a link.
func TestADirectoryOfSkillsThatLeadsOutIsRefused(t *testing.T) {
	root := workspace(t, map[string]string{".alisio/config.json": `{"skills": ["../team"]}`})
	link(t, root, t.TempDir(), "team")
	refused(t, root, "team", "found a link that leads to nothing in the workspace")
	root = workspace(t, map[string]string{"sub/x": ""})
	link(t, root, t.TempDir(), "sub/.claude")
	if _, err := Read(root, filepath.Join(root, "sub")); err == nil || !strings.Contains(err.Error(), "escapes") {
		t.Errorf("got %v", err)
	}
}
