package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestWriteFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a", "b.json")
	for _, text := range []string{"one", "", strings.Repeat("x", 2*maxFile)} {
		if err := WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := read(t, file); got != text {
			t.Errorf("got %d bytes, want %d", len(got), len(text))
		}
	}
	alone(t, file)
	dir := filepath.Dir(file)
	err := WriteFile(dir, nil, 0o600)
	if want := fmt.Sprintf("write %q: not a regular file", dir); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestReadOnlyFileIsNotReplaced(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.json")
	write(t, file, "{}")
	if err := os.Chmod(file, 0o400); err != nil {
		t.Fatal(err)
	}
	err := Set(file, "limits.maxTurns", json.RawMessage("1"))
	if !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), "read-only") || read(t, file) != "{}" {
		t.Errorf("got %v, the file is %q", err, read(t, file))
	}
	alone(t, file)
}

// An editor that saves while a setting is changed loses nothing.
func TestUpdateSeesWhatAnEditorSaved(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.json")
	for _, before := range []string{"", "{}"} {
		if before != "" {
			write(t, file, before)
		}
		err := Update(file, 0o600, func([]byte) ([]byte, error) {
			write(t, file, "the editor's")
			return []byte("ours"), nil
		})
		if !errors.Is(err, ErrChanged) || read(t, file) != "the editor's" {
			t.Errorf("got %v, the file is %q", err, read(t, file))
		}
	}
	alone(t, file)
}

func TestUpdateThatFailsOrChangesNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.json")
	refused := errors.New("no")
	for _, edit := range []func([]byte) ([]byte, error){
		func([]byte) ([]byte, error) { return nil, nil },
		func(old []byte) ([]byte, error) {
			if old != nil {
				t.Errorf("got %q of a file that is not there", old)
			}
			return []byte("x"), refused
		},
	} {
		if err := Update(file, 0o600, edit); err != nil && err != refused {
			t.Errorf("got %v", err)
		}
		if _, err := os.Lstat(file); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a file was made: %v", err)
		}
	}
	write(t, file, "")
	if err := Update(file, 0o600, func(old []byte) ([]byte, error) { return append(old, 'x'), nil }); err != nil || read(t, file) != "x" {
		t.Errorf("got %v, %q", err, read(t, file))
	}
	write(t, file, strings.Repeat("x", maxFile+1))
	err := Update(file, 0o600, func([]byte) ([]byte, error) { return []byte("lost"), nil })
	if want := fmt.Sprintf("change %q: larger than 1 MiB", file); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestOneTurnAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".lock")
	unlock, err := tryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tryLock(path); !errors.Is(err, errHeld) {
		t.Errorf("second turn: got %v", err)
	}
	unlock()
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock file stayed: %v", err)
	}
	if unlock, err = tryLock(path); err != nil {
		t.Fatal(err)
	}
	unlock()
}

// Changes of several processes, and of several goroutines in each, are all there
// in the end.
func TestConcurrentChangesAreAllKept(t *testing.T) {
	const processes, writers, each = 3, 3, 4
	file := os.Getenv("ALISIO_CONFIG_TEST_FILE")
	if file != "" {
		var group sync.WaitGroup
		for w := range writers {
			group.Go(func() {
				for i := range each {
					key := fmt.Sprintf("models.%s-%d-%d.contextWindow", os.Getenv("ALISIO_CONFIG_TEST_NAME"), w, i)
					if err := Set(file, key, json.RawMessage("1")); err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		return
	}
	file = filepath.Join(t.TempDir(), "config.json")
	var children []*exec.Cmd
	for i := range processes {
		c := exec.Command(os.Args[0], "-test.run=^TestConcurrentChangesAreAllKept$")
		c.Env = append(os.Environ(), "ALISIO_CONFIG_TEST_FILE="+file, fmt.Sprintf("ALISIO_CONFIG_TEST_NAME=%d", i))
		c.Stdout, c.Stderr = os.Stderr, os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		children = append(children, c)
	}
	for _, c := range children {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	c, err := Load(LoadOptions{File: file, Getenv: noEnv})
	if err != nil || len(c.Models) != processes*writers*each {
		t.Errorf("got %d models, %v, want %d", len(c.Models), err, processes*writers*each)
	}
	alone(t, file)
}
