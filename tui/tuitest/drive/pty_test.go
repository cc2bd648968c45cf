//go:build linux

package drive

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"alisio/tui/tuitest"
)

func TestPty(t *testing.T) {
	p := StartPty(t, 30, 5, tuitest.Modern(), exec.Command("sh", "-c", `
		trap 'stty size' WINCH
		echo "ready $(stty size)"
		while :; do read line && echo "got $line" && [ "$line" = end ] && exit 3; done`))
	p.AwaitText(t, "ready 5 30")
	if p.Raw() {
		t.Error("raw mode at the start")
	}
	p.Type("hi\n")
	p.AwaitText(t, "got hi")
	p.Resize(40, 6)
	p.AwaitText(t, "6 40")
	p.Type("end\n")
	err := p.Wait(t)
	if e, ok := err.(*exec.ExitError); !ok || e.ExitCode() != 3 {
		t.Errorf("got %v, want exit 3", err)
	}
	if left := p.Restored(t); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

// What a child leaves changed is told, the mode of the pseudo-terminal too.
func TestPtyRestored(t *testing.T) {
	p := StartPty(t, 30, 5, tuitest.Modern(), exec.Command("sh", "-c", `stty raw -echo; printf '\033[?25lraw'; exec cat`))
	p.AwaitText(t, "raw")
	if !p.Raw() {
		t.Error("no raw mode")
	}
	p.Send("\x03 ")
	p.Await(t, "the echo", func(s *tuitest.Screen) bool { return s.Cursor.Column == 4 }) // Ctrl+C came as a byte
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	left := strings.Join(p.Restored(t), "; ")
	if !strings.Contains(left, "the cursor is hidden") || !strings.Contains(left, "the terminal's mode") {
		t.Errorf("got %q", left)
	}
}

// A child that ignores the hang-up does not outlive the test.
func TestPtyClose(t *testing.T) {
	p := StartPty(t, 30, 5, tuitest.Modern(), exec.Command("sh", "-c", `trap '' HUP; echo ready; while :; do read line; done`))
	p.AwaitText(t, "ready")
	p.Close()
	if p.cmd.ProcessState == nil {
		t.Error("the child still runs")
	}
}

// Under a shell with job control a program can stop and be continued, as with Ctrl+Z:
// this is how tests of that start theirs.
func TestPtyStops(t *testing.T) {
	p := StartPty(t, 40, 5, tuitest.Modern(), exec.Command("sh", "-c", `
		set -m
		sh -c 'echo running; read line; echo "read $line"'
		echo stopped
		read line
		fg >/dev/null`))
	p.AwaitText(t, "running")
	if err := p.Press("ctrl+z"); err != nil {
		t.Fatal(err)
	}
	p.AwaitText(t, "stopped")
	p.Type("\nagain\n")
	p.AwaitText(t, "read again")
	if err := p.Wait(t); err != nil {
		t.Error(err)
	}
}
