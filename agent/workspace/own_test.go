package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestOwnFilesAreProtectedWhereverTheRootIs(t *testing.T) {
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	config := filepath.Join(home, "conf", "alisio")
	for _, d := range []string{config, filepath.Join(home, "project")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(config, filepath.Join(home, "link")); err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{home, filepath.Join(home, "conf"), config} {
		w, err := Open(root)
		if err != nil {
			t.Fatal(err)
		}
		// One is given by a link, one does not exist yet.
		w.Guard("", filepath.Join(home, "link"), filepath.Join(home, "state", "alisio"), filepath.Join(home, "extra.json"))
		for path, want := range map[string]bool{
			filepath.Join(config, "config.json"):               true,
			filepath.Join(config, "Config.JSON"):               true,
			config:                                             true,
			filepath.Join(home, "conf", "alisio2", "x"):        false,
			filepath.Join(home, "conf", "other"):               false,
			filepath.Join(home, "project", "config.json"):      false,
			filepath.Join(home, "state", "alisio", "x.sqlite"): true,
			filepath.Join(home, "extra.json"):                  true,
			filepath.Join(home, "extra.json2"):                 false,
		} {
			target, err := w.Resolve(path)
			if err != nil {
				t.Fatal(err)
			}
			if why, got := w.Protected(target); got != want {
				t.Errorf("root %s: %s: got %v (%s), want %v", root, path, got, why, want)
			}
		}
		w.Close()
	}
}

// Symptom: a model wrote a skill without a question, by another name. Trigger:
// .claude/skills is a link to ../skills.
func TestWhatSettingsLinkToIsProtected(t *testing.T) {
	root := t.TempDir()
	for _, d := range []string{".claude", "skills/s", "skills2"} {
		if err := os.MkdirAll(filepath.Join(root, filepath.FromSlash(d)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../skills", filepath.Join(root, ".claude", "skills")); err != nil {
		t.Fatal(err)
	}
	w, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	w.GuardLinked(filepath.Join(real, ".claude", "skills"), filepath.Join(real, "skills2"), filepath.Join(real, "none"))
	for name, want := range map[string]bool{
		"skills": true, "skills/new.md": true, "skills/s/x": true, "Skills/x": true, ".claude/skills/x": true,
		"skills2/x": false, "none": false, "main.go": false,
	} {
		target, err := w.Resolve(name)
		if err != nil {
			t.Fatal(err)
		}
		if why, got := w.Protected(target); got != want {
			t.Errorf("%s: got %v (%s), want %v", name, got, why, want)
		}
	}
}

// The database of this process loses its locks when a tool opens and closes one
// of its files.
func TestClosedOffFilesAreNeverOpened(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"state/sessions.sqlite-shm", "state/blobs/x", "code/main.go", "other/db", "other/db2"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("needle\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("state", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	w, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	w.CloseOff(filepath.Join(dir, "state"), filepath.Join(dir, "other", "db"))
	for path, closed := range map[string]bool{
		"state/sessions.sqlite-shm": true, "state/blobs/x": true, "link/blobs/x": true, "other/db": true,
		"other/db2": false, "code/main.go": false,
	} {
		f, err := w.OpenFile(path)
		if errors.Is(err, ErrClosedOff) != closed {
			t.Errorf("%s: got %v, closed off %v", path, err, closed)
		}
		if err == nil {
			f.Close()
		}
	}
	var found []string
	if _, err := w.Search(context.Background(), SearchQuery{Pattern: "needle"}, func(m Match) bool {
		found = append(found, m.Name)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"code/main.go", "other/db2"}; !slices.Equal(found, want) {
		t.Errorf("searched %v, want %v", found, want)
	}
	if _, err := w.Search(context.Background(), SearchQuery{Pattern: "needle", Path: "state"}, func(Match) bool { return true }); !errors.Is(err, ErrClosedOff) {
		t.Errorf("search in a closed directory: %v", err)
	}
	testClosedFolder(t, w)
}

// The door of a walk is closed too, whatever the walk asks for.
func testClosedFolder(t *testing.T, w *Workspace) {
	t.Helper()
	top, err := w.folder(w.all()[0])
	if err != nil {
		t.Fatal(err)
	}
	defer top.drop()
	if _, err := top.sub("state"); !errors.Is(err, ErrClosedOff) {
		t.Errorf("directory that is closed off: got %v", err)
	}
	other, err := top.sub("other")
	if err != nil {
		t.Fatal(err)
	}
	defer other.drop()
	for name, closed := range map[string]bool{"db": true, "DB": true, "db2": false} {
		src, err := other.open(name)
		if errors.Is(err, ErrClosedOff) != closed {
			t.Errorf("%s: got %v, closed off %v", name, err, closed)
		}
		if err == nil {
			src.Close()
		}
	}
}
