//go:build unix

package blob

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Only a regular file at a blob's own place is read: a link to the right bytes
// is not followed, a FIFO blocks nobody, a directory is no blob.
func TestBlobPlaceIsForeign(t *testing.T) {
	data := []byte("right bytes")
	hash := Hash(data)
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.WriteFile(elsewhere, data, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]func(path string) error{
		"link":      func(p string) error { return os.Symlink(elsewhere, p) },
		"fifo":      func(p string) error { return syscall.Mkfifo(p, 0o600) },
		"directory": func(p string) error { return os.Mkdir(p, 0o700) },
		"near link": func(p string) error {
			near := filepath.Join(filepath.Dir(p), "near")
			if err := os.WriteFile(near, data, 0o600); err != nil {
				return err
			}
			return os.Symlink("near", p)
		},
	}
	for name, place := range tests {
		b, dir := testBlobs(t)
		path := filepath.Join(dir, hash[:2], hash)
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := place(path); err != nil {
			t.Fatal(err)
		}
		if got, err := b.Read(hash, int64(len(data))); err == nil {
			t.Errorf("%s: read %q", name, got)
		}
		err := b.Put(hash, data, time.Now())
		if name == "directory" {
			if err == nil {
				t.Errorf("%s: replaced", name)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := b.Read(hash, int64(len(data))); err != nil {
			t.Errorf("%s: after a put: %v", name, err)
		}
		if got, err := os.ReadFile(elsewhere); err != nil || string(got) != string(data) {
			t.Errorf("%s: the file behind: %q, %v", name, got, err)
		}
	}
}

// The directory of two digits leads out of the store.
func TestBlobDirectoryLink(t *testing.T) {
	b, dir := testBlobs(t)
	data := []byte("bytes")
	hash := Hash(data)
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, hash[:2])); err != nil {
		t.Fatal(err)
	}
	if err := b.Put(hash, data, time.Now()); err == nil {
		t.Error("written through a link")
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 0 {
		t.Errorf("outside: %v, %v", entries, err)
	}
}
