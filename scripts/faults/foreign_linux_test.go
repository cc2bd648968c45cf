package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A state home of somebody else, for a user who is not root.
func TestAStateHomeThatCanNotBeWritten(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	const nobody = 65534
	w := home(t)
	for dir := w.dir; strings.HasPrefix(dir, os.TempDir()) && dir != os.TempDir(); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(w.state, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{w.work(), w.config(), filepath.Join(w.dir, "home")} {
		if err := os.Chown(dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	cmd := w.command(context.Background(), w.task(prompt("foreign", "say"))...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	one(t, ended{args: cmd.Args, code: cmd.ProcessState.ExitCode(), stderr: stderr.String()}, w.state)
	if n := w.model.asked("foreign"); n != 0 {
		t.Errorf("the server was asked %d times", n)
	}
}
