package proc

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
)

// newCmd hands the shell's line over as it is written: quoting it once more
// would lose the quotes within (C088).
func newCmd(c *Command) *exec.Cmd {
	var cmd *exec.Cmd
	attr := &syscall.SysProcAttr{HideWindow: true, CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
	if c.Shell != "" {
		cmd = exec.Command(system("cmd.exe"))
		attr.CmdLine = `cmd.exe /d /s /c "` + c.Shell + `"`
	} else {
		cmd = exec.Command(c.Argv[0], c.Argv[1:]...)
	}
	cmd.SysProcAttr = attr
	return cmd
}

// system is the path of one of the system's programs.
func system(name string) string {
	return filepath.Join(os.Getenv("SystemRoot"), "System32", name)
}

// keepPrivate has nothing to do: handles are inherited by list.
func keepPrivate() {}

// terminate ends a running process and its descendants; there is no gentler
// way that every program understands.
func terminate(pid int) {
	_ = exec.Command(system("taskkill.exe"), "/T", "/F", "/PID", strconv.Itoa(pid)).Run()
}

// members and killRest find nothing: once a process has ended its number may
// belong to another, and nothing leads to its descendants.
func members(int) []int { return nil }

func killRest(int, func() []int) (found, left bool) { return false, false }

func since(int) uint64 { return 0 }

func writers(*os.File, uint64) []int { return nil }

func status(s *os.ProcessState) (code int, signal string) { return s.ExitCode(), "" }
