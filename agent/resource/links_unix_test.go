//go:build unix

package resource

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
)

func link(t *testing.T, target, at string) {
	t.Helper()
	if err := os.Symlink(target, at); err != nil {
		t.Fatal(err)
	}
}

func TestLinksOutOfTheWorkspaceAreRefused(t *testing.T) {
	_, root := makeTree(t, map[string]string{"secret": "SECRET", "out/AGENTS.md": "SECRET", "ws/docs/rules": "rules"})
	outside := filepath.Join(filepath.Dir(root), "secret")
	link(t, "../secret", filepath.Join(root, "AGENTS.override.md"))
	link(t, outside, filepath.Join(root, "AGENTS.md"))
	link(t, "docs/rules", filepath.Join(root, "AGENT.md"))
	link(t, "../out", filepath.Join(root, "sub"))
	c := load(t, Options{Root: root, Dir: filepath.Join(root, "sub")})
	if strings.Contains(c.Text, "SECRET") {
		t.Fatalf("got a file from outside:\n%s", c.Text)
	}
	if got := names(c); got != "AGENT.md:5" {
		t.Errorf("got %s, want the link that stays inside", got)
	}
	notices := strings.Join(c.Notices, "\n")
	for _, want := range []string{
		"AGENTS.override.md is a link that leads nowhere or out of the workspace: not read",
		"AGENTS.md is a link that leads nowhere or out of the workspace: not read",
		"sub/AGENTS.md was not read: ",
	} {
		if !strings.Contains(notices, want) {
			t.Errorf("got notices:\n%s\nwant %s", notices, want)
		}
	}
}

func TestGlobalFileMayBeALink(t *testing.T) {
	config, root := makeTree(t, map[string]string{"dotfiles/agents": "mine"})
	link(t, "../dotfiles/agents", filepath.Join(config, "AGENTS.md"))
	if c := load(t, Options{ConfigHome: config, Root: root, Dir: root}); names(c) != "global AGENTS.md:4" {
		t.Errorf("got %s with %q", names(c), c.Notices)
	}
}

func TestSameFileIsReadOnce(t *testing.T) {
	_, root := makeTree(t, map[string]string{"ws/AGENTS.md": "rules", "ws/sub/x": ""})
	link(t, "../AGENTS.md", filepath.Join(root, "sub", "AGENTS.md"))
	c := load(t, Options{Root: root, Dir: filepath.Join(root, "sub")})
	if want := []string{"sub/AGENTS.md is the same file as AGENTS.md: not read twice"}; names(c) != "AGENTS.md:5" || !reflect.DeepEqual(c.Notices, want) {
		t.Errorf("got %s with %q", names(c), c.Notices)
	}
}

func TestPipesAndUnreadableFilesAreNotices(t *testing.T) {
	config, root := makeTree(t, map[string]string{"ws/AGENTS.md": "x", "ws/AGENT.md": "taken"})
	for _, at := range []string{filepath.Join(config, "AGENTS.md"), filepath.Join(root, "AGENTS.override.md")} {
		if err := syscall.Mkfifo(at, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// A link in a loop is unreadable for every user, root included.
	if err := os.Remove(filepath.Join(root, "AGENTS.md")); err != nil {
		t.Fatal(err)
	}
	link(t, "AGENTS.md", filepath.Join(root, "AGENTS.md"))
	c := load(t, Options{ConfigHome: config, Root: root, Dir: root})
	want := []string{
		"global AGENTS.md was not read: not a regular file",
		"AGENTS.override.md was not read: not a regular file",
		"AGENTS.md is a link that leads nowhere or out of the workspace: not read",
	}
	if names(c) != "AGENT.md:5" || !reflect.DeepEqual(c.Notices, want) {
		t.Errorf("got %s with %q", names(c), c.Notices)
	}
}

// The kind is looked at before the open; a pipe that is put there in between
// must not make the open wait.
func TestOpenDoesNotWaitForAPipe(t *testing.T) {
	_, root := makeTree(t, nil)
	if err := syscall.Mkfifo(filepath.Join(root, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := opener(r).OpenFile("pipe", os.O_RDONLY|nonblock, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}

func TestNamesThatDrawAreQuoted(t *testing.T) {
	_, root := makeTree(t, map[string]string{"ws/a\x1b[2J\n## Instructions/AGENTS.md": "x"})
	c := load(t, Options{Root: root, Dir: filepath.Join(root, "a\x1b[2J\n## Instructions")})
	want := "## Instructions from \"a\\x1b[2J\\n## Instructions/AGENTS.md\"\n\nx\n\n"
	if c.Text != want || strings.Contains(c.Sources[0].Why, "\x1b") {
		t.Errorf("got %q, want %q", c.Text, want)
	}
}

func TestExplainWhatIsPassedOver(t *testing.T) {
	_, root := makeTree(t, map[string]string{"secret": "SECRET", "ws/AGENT.md": "rules", "ws/sub/deep/x": ""})
	link(t, "../secret", filepath.Join(root, "AGENTS.override.md"))
	if err := syscall.Mkfifo(filepath.Join(root, "AGENTS.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	link(t, "../AGENT.md", filepath.Join(root, "sub", "AGENTS.md"))
	// It is not opened, so it may be anything.
	link(t, "../../secret", filepath.Join(root, "sub", "AGENT.md"))
	want := []string{
		"AGENTS.override.md [] 0/0: is a link that leads nowhere or out of the workspace: not read",
		"AGENTS.md [] 0/0: was not read: not a regular file",
		"AGENT.md [directory] 5/5",
		"sub/AGENTS.md [] 0/5: is the same file as AGENT.md: not read twice",
		"sub/AGENT.md [] 0/0: is not read: AGENTS.md comes first",
	}
	got := explain(t, Options{Root: root, Dir: filepath.Join(root, "sub", "deep")}, filepath.Join(root, "sub", "deep", "x"))
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A link that leads out of the workspace is no directory of it.
func TestExplainFollowsNoLinkOut(t *testing.T) {
	_, root := makeTree(t, map[string]string{"out/AGENTS.md": "SECRET", "ws/AGENTS.md": "root"})
	link(t, "../out", filepath.Join(root, "sub"))
	if got, want := explain(t, Options{Root: root, Dir: root}, filepath.Join(root, "sub")), "AGENTS.md [directory] 4/4"; len(got) != 1 || got[0] != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A nested file that is a link to one that was read comes once, and none is read
// from outside.
func TestNestedLinks(t *testing.T) {
	_, root := makeTree(t, map[string]string{"secret": "SECRET", "out/AGENTS.md": "SECRET", "ws/AGENTS.md": "root", "ws/a/x": "", "ws/b/AGENTS.md": "b", "ws/c/x": ""})
	link(t, "../AGENTS.md", filepath.Join(root, "a", "AGENTS.md"))
	link(t, "AGENTS.md", filepath.Join(root, "b", "AGENTS.override.md"))
	link(t, "../../secret", filepath.Join(root, "c", "AGENTS.md"))
	link(t, "../out", filepath.Join(root, "d"))
	link(t, "b", filepath.Join(root, "e"))
	got, files, notices := nested(t, Options{Root: root, Dir: root}, "a/x", "b/x", "c/x", "d/x", "e/x")
	if got != "b/AGENTS.override.md:1" {
		t.Errorf("got %s", got)
	}
	if len(files) != 1 || strings.Contains(files[0].Text, "SECRET") {
		t.Errorf("got %+v", files)
	}
	all := strings.Join(notices, "\n")
	for _, want := range []string{"a/AGENTS.md is the same file as AGENTS.md: not read twice", "c/AGENTS.md is a link that leads nowhere or out of the workspace: not read",
		"d/AGENTS.md was not read: ", "e/AGENTS.override.md is the same file as b/AGENTS.override.md: not read twice"} {
		if !strings.Contains(all, want) {
			t.Errorf("got:\n%s\nwant %s", all, want)
		}
	}
}
