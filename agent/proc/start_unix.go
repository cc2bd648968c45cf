//go:build unix

package proc

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// killRounds bounds how often new processes of a session are looked for.
const killRounds = 20

// newCmd makes the command in a new session: no controlling terminal, so that
// what opens /dev/tty fails at once (C080), and a process group of its own.
func newCmd(c *Command) *exec.Cmd {
	argv := c.Argv
	if c.Shell != "" {
		argv = []string{"/bin/sh", "-c", c.Shell}
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// keepPrivate marks descriptors above 2 as not to be inherited. Those that Go
// opened are so already; this is for those that whoever started us left open.
func keepPrivate() {
	dir, err := os.Open("/dev/fd")
	if err != nil {
		return
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // Those that could be read are worth it.
	for _, name := range names {
		if fd, err := strconv.Atoi(name); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// terminate asks the process group to end.
func terminate(pid int) {
	_ = syscall.Kill(-pid, syscall.SIGTERM) // A group that is gone is what we want.
}

// killRest kills the process group of pid and what else members and more find
// until nothing is left, and reports whether there was anything and still is.
// The kernel gives a number out again only when no process has it as its group
// or session.
func killRest(pid int, more func() []int) (found, left bool) {
	for range killRounds {
		alive := members(pid)
		if len(alive) > 0 {
			_ = syscall.Kill(-pid, syscall.SIGKILL) // The next round tells what is left.
		}
		alive = append(alive, more()...)
		if len(alive) == 0 {
			return found, false
		}
		found = true
		for _, p := range alive {
			_ = syscall.Kill(p, syscall.SIGKILL)
		}
		time.Sleep(time.Millisecond) // A killed process needs a moment to go.
	}
	return found, true
}

// group is the process group of pid, as kill wants it, if it has members.
func group(pid int) []int {
	if syscall.Kill(-pid, 0) != nil {
		return nil
	}
	return []int{-pid}
}

// status tells how a program ended.
func status(s *os.ProcessState) (code int, signal string) {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return -1, w.Signal().String()
	}
	return s.ExitCode(), ""
}
