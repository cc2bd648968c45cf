package place

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"alisio/db/swap"
)

// put writes a file and returns its path.
func put(t *testing.T, name, data string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A file that is there stays as it is, and one that is made is empty and its owner's.
func TestPrepare(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "x.sqlite")
	for range 2 {
		if err := Prepare(path); err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(path)
		if err != nil || info.Size() != 0 || filepath.Separator == '/' && info.Mode().Perm() != 0o600 {
			t.Fatalf("it is %v, %v", info, err)
		}
	}
	long := put(t, "x", strings.Repeat("x", 600))
	if err := Prepare(long); err != nil || Size(long) != 600 {
		t.Errorf("got %v, now of %d bytes", err, Size(long))
	}
	if err := Create(long); !errors.Is(err, fs.ErrExist) || Size(long) != 600 {
		t.Errorf("made over one that is there: %v, now of %d bytes", err, Size(long))
	}
}

func TestRegular(t *testing.T) {
	short := put(t, "x", "dear diary")
	var damaged *DamagedError
	if err := Regular(short); !errors.As(err, &damaged) || !damaged.Text || damaged.Path != short {
		t.Errorf("a short text: %v", err)
	}
	// With a journal it may be the rest of a database that is rolled back.
	if err := os.WriteFile(short+"-journal", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Regular(short); err != nil {
		t.Errorf("with a journal: %v", err)
	}
	if err := Regular(put(t, "x", "")); err != nil {
		t.Errorf("an empty file: %v", err)
	}
	if err := Regular(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
	if err := Regular(t.TempDir()); err == nil || errors.As(err, &damaged) {
		t.Errorf("a directory: %v", err)
	}
	for _, end := range swap.Sidecars()[1:] {
		path := put(t, "x", "")
		if err := os.Mkdir(path+end, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := Regular(path); err == nil || !strings.Contains(err.Error(), end) {
			t.Errorf("a directory in the place of %s: %v", end, err)
		}
	}
}

// A database that has left its log is not begun anew.
func TestLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.sqlite")
	if err := Lost(path); err != nil {
		t.Errorf("there was none: %v", err)
	}
	if err := os.WriteFile(path+"-wal", make([]byte, 32+24+512), 0o600); err != nil {
		t.Fatal(err)
	}
	var damaged *DamagedError
	for _, what := range []func(string) error{Lost, Regular, Prepare} {
		if err := what(path); !errors.As(err, &damaged) || damaged.Path != path || damaged.Text {
			t.Errorf("got %v", err)
		}
	}
	if Size(path) != -1 {
		t.Error("it was made")
	}
}

func TestHead(t *testing.T) {
	for head, want := range map[string]bool{"SQLite format 3\x00...": true, "SQLite format 3": false, "dear diary": false, "": false} {
		if got := Head([]byte(head)); got != want {
			t.Errorf("Head(%q) = %v", head, got)
		}
	}
}
