package db

import (
	"errors"
	"path/filepath"
	"testing"
)

// Copying the file, which opens and closes it, does not let others in.
func TestHoldOutlivesACopy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := create(path); err != nil {
		t.Fatal(err)
	}
	release := must(holdFile(path))(t)
	if err := copyFile(path, path+".copy"); err != nil {
		t.Fatal(err)
	}
	var used *InUseError
	if _, err := holdFile(path); !errors.As(err, &used) {
		t.Errorf("held twice: %v", err)
	}
	release()
	again := must(holdFile(path))(t)
	again()
}
