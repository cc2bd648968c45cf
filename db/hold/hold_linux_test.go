package hold

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Copying the file, which opens and closes it, does not let others in.
func TestHoldOutlivesACopy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	held, err := File(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	var used *InUseError
	if _, err := File(path); !errors.As(err, &used) || used.Path != path {
		t.Errorf("held twice: %v", err)
	}
	held.Close()
	again, err := File(path)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}
