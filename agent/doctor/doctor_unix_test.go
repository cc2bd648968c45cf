//go:build unix

package doctor

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"alisio/agent"
)

func TestDoctorJudgesModes(t *testing.T) {
	for _, c := range []struct {
		path   string
		mode   os.FileMode
		check  string
		level  agent.Level
		words  string
		remedy string
	}{
		{"state", 0o750, "state directory", agent.Note, "may look into", "chmod 700 "},
		{"state", 0o770, "state directory", agent.Problem, "may write in", "chmod 700 "},
		{"config/config.json", 0o622, "configuration", agent.Problem, "may change", "chmod go-w "},
		{"config/config.json", 0o644, "configuration", agent.Good, "config.json", ""},
	} {
		p := sound(t, "http://127.0.0.1:1")
		if err := os.Chmod(p.at(c.path), c.mode); err != nil {
			t.Fatal(err)
		}
		if checks := Examine(t.Context(), p.o); !found(checks, c.check, c.level, c.words, c.remedy) {
			t.Errorf("%s %o: got:\n%s", c.path, c.mode, listing(checks))
		}
	}
}

// A program that is called git and does not work must not keep the doctor.
func TestDoctorWithoutGit(t *testing.T) {
	p := sound(t, "http://127.0.0.1:1")
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	if checks := Examine(t.Context(), p.o); !found(checks, "git", agent.Note, "can not be run", "install git") {
		t.Errorf("got:\n%s", listing(checks))
	}
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if checks := Examine(t.Context(), p.o); !found(checks, "git", agent.Note, "ended with 3", "git --version") {
		t.Errorf("got:\n%s", listing(checks))
	}
}

// A pipe in the place of the list of trusted projects must not keep the doctor.
func TestDoctorTellsOfTrustThatIsAPipe(t *testing.T) {
	p := sound(t, "http://127.0.0.1:1")
	if err := syscall.Mkfifo(p.at("state/trust.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	if checks := Examine(t.Context(), p.o); !found(checks, "trust", agent.Problem, "not a regular file", "move it away") {
		t.Errorf("got:\n%s", listing(checks))
	}
}
