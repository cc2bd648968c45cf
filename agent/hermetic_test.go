package agent

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"alisio/agent/config"
	"alisio/agent/ports"
	"alisio/plug"
)

// A hermetic run is told nothing by files of the person or the project, finds
// what they would hide, and leaves nothing in the cache; what guards the person's
// own directories stays.
func TestAHermeticRunReadsNothingOfThePerson(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	write := func(name, text string) string {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	own := write("config/AGENTS.md", "global says tabs")
	write("repo/AGENTS.md", "repository says spaces")
	write("repo/.git/HEAD", "ref: refs/heads/main\n")
	write("repo/notes.mine", "x")
	write(".config/git/ignore", "*.mine\n")
	dirs := config.Dirs{Config: filepath.Join(home, "config"), State: filepath.Join(home, "state"), Cache: filepath.Join(home, "cache")}
	for _, hermetic := range []bool{false, true} {
		a := app(t, `{"turns":[{"text":"done"}]}`, Options{Dir: filepath.Join(home, "repo"), Dirs: dirs, Hermetic: hermetic})
		text, err := firstInstructions(a)
		if err != nil {
			t.Fatal(err)
		}
		for _, said := range []string{"global says tabs", "repository says spaces"} {
			if strings.Contains(text, said) == hermetic {
				t.Errorf("hermetic %v: the instructions are\n%s", hermetic, text)
			}
		}
		l, err := ports.Files(a.files, nil, nil).List(context.Background(), plug.ListQuery{})
		if err != nil {
			t.Fatal(err)
		}
		seen := false
		for _, e := range l.Entries {
			seen = seen || e.Name == "notes.mine"
		}
		if seen != hermetic {
			t.Errorf("hermetic %v: what the person ignores is listed: %v", hermetic, seen)
		}
		target, err := a.files.Resolve(own)
		if err != nil {
			t.Fatal(err)
		}
		if _, protected := a.files.Protected(target); !protected {
			t.Errorf("hermetic %v: %s is not protected", hermetic, own)
		}
		if _, err := a.Run(context.Background(), "", "go", RunOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(dirs.Cache); hermetic && !os.IsNotExist(err) {
			t.Errorf("the cache was made: %v", err)
		}
		if hermetic && (a.o.Dirs.Cache != "" || a.o.Dirs.Config != "") {
			t.Errorf("parts of the engine find %+v", a.o.Dirs)
		}
	}
	if _, err := os.Stat(dirs.State); err == nil {
		filepath.WalkDir(dirs.State, func(path string, _ fs.DirEntry, _ error) error { t.Errorf("written: %s", path); return nil })
	}
}

// Symptom: git_status told less than there was. Trigger: the person's own list of
// what git ignores.
func TestAHermeticRunAsksGitWithoutThePersonsFiles(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	repo := filepath.Join(home, "repo")
	if out, err := exec.Command("git", "init", "-q", repo).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	for name, text := range map[string]string{"repo/notes.mine": "x", ".config/git/ignore": "*.mine\n"} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, hermetic := range []bool{false, true} {
		a := app(t, `{"turns":[{"text":"done"}]}`, Options{Dir: repo, Hermetic: hermetic})
		e, err := ports.Exec(a.files, nil, a.o.Hermetic).Git(context.Background(), repo, "status", "--porcelain")
		if err != nil || e.Code != 0 || strings.Contains(e.Output, "notes.mine") != hermetic {
			t.Errorf("hermetic %v: got %+v, %v", hermetic, e, err)
		}
	}
}
