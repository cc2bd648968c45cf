//go:build unix

package trust

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

func TestPipesAreRefusedWithoutWaiting(t *testing.T) {
	root := workspace(t, map[string]string{".alisio/x": ""})
	pipe := filepath.Join(root, ".alisio", "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, root, ".alisio/pipe", "found neither a regular file nor a directory; remove it")
	// Nor does the open wait, when the pipe comes after the look.
	dir, err := os.OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	r := reader{root: dir}
	info, err := os.Stat(filepath.Join(root, ".alisio", "x"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.open(".alisio/pipe", info); err == nil || !strings.Contains(err.Error(), errMoved.Error()) {
		t.Errorf("got %v", err)
	}
}

// A file that was put in the place of the one that was looked at is not read.
func TestSwappedFileIsRefused(t *testing.T) {
	root := workspace(t, map[string]string{".alisio/a": "seen", ".alisio/b": "swapped", "secret": "s"})
	dir, err := os.OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	info, err := os.Stat(filepath.Join(root, ".alisio/a"))
	if err != nil {
		t.Fatal(err)
	}
	r := reader{root: dir}
	for _, swap := range []func() error{
		func() error { return os.Rename(filepath.Join(root, ".alisio/b"), filepath.Join(root, ".alisio/a")) },
		func() error {
			os.Remove(filepath.Join(root, ".alisio/a"))
			return os.Symlink("../secret", filepath.Join(root, ".alisio/a"))
		},
		func() error {
			os.Remove(filepath.Join(root, ".alisio/a"))
			return os.Mkdir(filepath.Join(root, ".alisio/a"), 0o755)
		},
	} {
		if err := swap(); err != nil {
			t.Fatal(err)
		}
		if err := r.file(".alisio/a", info, false); err == nil || !strings.Contains(err.Error(), errMoved.Error()) || len(r.files) != 0 {
			t.Errorf("got %v, %d files", err, len(r.files))
		}
	}
}

func TestUnreadableFileIsAnError(t *testing.T) {
	root := workspace(t, map[string]string{".alisio/x": "1"})
	if err := os.Chmod(filepath.Join(root, ".alisio/x"), 0); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		// Root reads everything: then the file is taken like any other.
		if got := names(collect(t, root)); len(got) != 1 {
			t.Errorf("got %q", got)
		}
		return
	}
	refused(t, root, ".alisio/x", "permission denied")
}

func TestNamesAreBytes(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("the file systems of macOS take UTF-8 alone")
	}
	var hashes []string
	for _, name := range []string{"\xff", "\xfe", "\\", "\n", "a\u202eb"} {
		root := workspace(t, map[string]string{".alisio/" + name: ""})
		p := collect(t, root)
		if p.Files[0].Name != ".alisio/"+name {
			t.Errorf("got %q, want %q", p.Files[0].Name, name)
		}
		hashes = append(hashes, p.Hash)
		link(t, root, "none", ".alisio/"+name+name)
		if _, err := Read(root, root); err == nil || strings.ContainsAny(err.Error(), "\n\xff\u202e") && !strings.Contains(err.Error(), `\`) {
			t.Errorf("an error with a raw name: %v", err)
		}
	}
	for i, a := range hashes {
		for _, b := range hashes[:i] {
			if a == b {
				t.Errorf("two names have the hash %s", a)
			}
		}
	}
}
