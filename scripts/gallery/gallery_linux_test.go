package main

import (
	"flag"
	"os"
	"os/exec"
	"testing"

	"alisio/tui/tuitest/drive"
)

var _ = flag.Bool("update", false, "rewrite the expected screens below testdata")

// TestMain is the gallery itself when a test starts it so.
func TestMain(m *testing.M) {
	if os.Getenv("ALISIO_TEST_GALLERY") != "" {
		os.Exit(run())
	}
	os.Exit(m.Run())
}

var environ = []string{"ALISIO_TEST_GALLERY=1", "COLORTERM=truecolor", "LANG=C.UTF-8", "TERM=xterm-256color", "NO_COLOR=", "SSH_TTY=", "SSH_CONNECTION="}

// The same keys at three sizes: the screens are golden, and the terminal is given back.
func TestTour(t *testing.T) {
	drive.Scripts(t, "testdata/keys/*.txt", func(t *testing.T, s *drive.Script, size drive.Size) drive.Driver {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), environ...)
		p := drive.StartPty(t, size.Columns, size.Rows, s.Options(), cmd)
		return p
	})
}

// A terminal that others wrote shows of the same keys what ours does.
func TestTourInTmux(t *testing.T) {
	data, err := os.ReadFile("testdata/keys/tour.txt")
	if err != nil {
		t.Fatal(err)
	}
	s, err := drive.ParseScript("tour", data)
	if err != nil {
		t.Fatal(err)
	}
	var steps []drive.Step
	for _, step := range s.Steps {
		if step.Verb != "golden" { // tmux tells less of styles; Same compares what it does
			steps = append(steps, step)
		}
	}
	s.Steps = steps
	for _, size := range s.Sizes {
		t.Run(size.String(), func(t *testing.T) {
			m := drive.StartTmux(t, size.Columns, size.Rows, "exec "+os.Args[0]+" -safe", environ...)
			s.Run(t, size, m)
			cmd := exec.Command(os.Args[0], "-safe")
			cmd.Env = append(append(os.Environ(), environ...), "TERM=tmux-256color", "TMUX=x")
			p := drive.StartPty(t, size.Columns, size.Rows, s.Options(), cmd)
			s.Run(t, size, p)
			m.Same(t, p.Screen())
			p.Type("q")
			if err := p.Wait(t); err != nil {
				t.Error(err)
			}
			if left := p.Restored(t); len(left) > 0 {
				t.Errorf("left on the terminal: %q", left)
			}
		})
	}
}
