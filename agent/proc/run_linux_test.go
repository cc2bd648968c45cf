package proc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// terminal opens a pseudo-terminal and returns its two ends.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	var n, unlock uint32
	for _, call := range []struct {
		request uintptr
		arg     *uint32
	}{{syscall.TIOCGPTN, &n}, {syscall.TIOCSPTLCK, &unlock}} {
		if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), call.request, uintptr(unsafe.Pointer(call.arg))); e != 0 {
			t.Fatal(e)
		}
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slave.Close() })
	return master, slave
}

// C080: programs open /dev/tty when their input is null, so they still prompt
// on the person's terminal and hang. Trigger: such programs, run by a process
// that has a controlling terminal.
func TestC080NoControllingTerminal(t *testing.T) {
	if os.Getenv("PROC_TEST_TTY") != "" {
		f, err := os.Open("/dev/tty")
		if err != nil {
			t.Fatalf("this process has no terminal: %v", err)
		}
		f.Close()
		for _, line := range []string{"cat", "read x", "cat < /dev/tty", "head -c 1 /dev/tty"} {
			e := shell(t, line)
			if fails := line != "cat"; (e.Code != 0) != fails || e.TimedOut {
				t.Errorf("%s: %+v", line, e)
			}
		}
		return
	}
	_, slave := terminal(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "log")
	out, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestC080NoControllingTerminal$", "-test.timeout=30s")
	cmd.Env = append(os.Environ(), "PROC_TEST_TTY=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	if err := cmd.Run(); err != nil {
		b, _ := os.ReadFile(log)
		t.Errorf("%v\n%s", err, b)
	}
}

// A child with a process group of its own, but no session, is found.
func TestOtherGroupOfTheSessionIsStopped(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	e := shell(t, `bash -c 'set -m; sleep 300 >/dev/null 2>&1 & echo $! > `+pidFile+`'`)
	if !e.LeftRunning {
		t.Errorf("exit %+v", e)
	}
	gone(t, number(t, pidFile))
}

// A child with a session of its own that keeps the pipe is found by it, and with
// it those of its session that do not.
func TestOtherSessionIsFoundByThePipe(t *testing.T) {
	dir := t.TempDir()
	wait := "\n" + `while [ ! -s ` + dir + `/second ]; do sleep 0.01; done; echo done`
	for _, line := range []string{
		`setsid sh -c 'echo $$ > ` + dir + `/first; sleep 300 >/dev/null 2>&1 & echo $! > ` + dir + `/second; wait' &`,
		`setsid -f sh -c 'echo $$ > ` + dir + `/first; exec >/dev/null; sleep 300 & echo $! > ` + dir + `/second; wait'`,
	} {
		e := shell(t, line+wait)
		if !e.LeftRunning || e.Survived || e.Output != "done\n" || e.Duration.Seconds() > 10 {
			t.Errorf("exit %+v", e)
		}
		for _, name := range []string{"first", "second"} {
			gone(t, number(t, filepath.Join(dir, name)))
			os.Remove(filepath.Join(dir, name))
		}
	}
}

// It is found too when the time is up.
func TestOtherSessionIsFoundAfterTimeout(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	c := Command{Shell: `setsid sh -c 'echo $$ > ` + pidFile + `; exec sleep 300'; sleep 300`, Dir: t.TempDir(), Timeout: 500 * time.Millisecond}
	e, err := Run(t.Context(), c, nil)
	if err != nil || !e.TimedOut || e.LeftRunning || e.Survived {
		t.Errorf("exit %+v, %v", e, err)
	}
	gone(t, number(t, pidFile))
}

// Of a child with a session of its own that let go of the output nothing is
// known, and nothing is told.
func TestOtherSessionWithoutThePipeIsMissed(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	e := shell(t, `setsid sh -c 'echo $$ > `+pidFile+`; exec sleep 300' >/dev/null 2>&1 & while [ ! -s `+pidFile+` ]; do sleep 0.01; done`)
	pid := number(t, pidFile)
	defer syscall.Kill(pid, syscall.SIGKILL)
	if e.LeftRunning || e.Survived {
		t.Errorf("exit %+v", e)
	}
	if !alive(pid) {
		t.Error("the child was stopped: the package comment says that it is missed")
	}
}

// Who was there before the program is not its child, even if it holds the
// output: a server may have been handed it. It is told about and left alone.
func TestElderHolderIsSpared(t *testing.T) {
	fifo, log := filepath.Join(t.TempDir(), "fifo"), filepath.Join(t.TempDir(), "log")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	// The server opens what it is told to and keeps it.
	server := exec.CommandContext(t.Context(), "sh", "-c", `read way < "$0"; exec 3> "$way"; echo $$ > "$1"; exec sleep 300`, fifo, log)
	server.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer server.Wait()
	defer server.Process.Kill()
	for since(server.Process.Pid) == tick(t) {
	}
	e := shell(t, `echo /proc/$$/fd/2 > `+fifo+`; while [ ! -s `+log+` ]; do sleep 0.01; done; echo done`)
	if !e.LeftRunning || !e.Survived || e.Output != "done\n" {
		t.Errorf("exit %+v", e)
	}
	if !alive(server.Process.Pid) {
		t.Error("the server was stopped")
	}
}

// tick is the present time as processes have it.
func tick(t *testing.T) uint64 {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	return since(cmd.Process.Pid)
}

func TestLives(t *testing.T) {
	for stat, want := range map[string]bool{
		"12 (sh) S 1 12 12 0 -1": true,
		"12 (a) Z) R 1 9 12 0":   true,
		"12 (sh) Z 1 12 12 0 -1": false,
		"12 (x) S 1) X 1 1 99 0": false,
		"12 (sh)":                false,
		"":                       false,
	} {
		if got := lives(fields([]byte(stat))); got != want {
			t.Errorf("lives(%q) = %v, want %v", stat, got, want)
		}
	}
}

// The bound holds for the whole process: with 70 MB of output, what it ever
// used stays below 32 MB.
func TestC082PeakMemory(t *testing.T) {
	if os.Getenv("PROC_TEST_FLOOD") != "" {
		shell(t, "yes | head -c 20000000; yes $(head -c 9999 /dev/zero | tr '\\0' x) | head -c 50000000")
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(status), "VmHWM:")
		var kB int
		if _, err := fmt.Sscan(rest, &kB); err != nil || kB > 32<<10 {
			t.Errorf("peak memory %d kB, %v", kB, err)
		}
		t.Logf("peak memory %d kB", kB)
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestC082PeakMemory$", "-test.v")
	cmd.Env = append(os.Environ(), "PROC_TEST_FLOOD=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}
