package workspace

import (
	"os"
	"path/filepath"
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
