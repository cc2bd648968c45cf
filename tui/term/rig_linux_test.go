package term

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// TestMain is, when a test starts it so, a program that has a terminal.
func TestMain(m *testing.M) {
	switch os.Getenv("ALISIO_TERM_TEST") {
	case "program":
		os.Exit(program())
	case "shell":
		os.Exit(shell())
	}
	os.Exit(m.Run())
}

// report is where the program of a test says what happens to it.
var report = os.NewFile(3, "report")

// program opens the terminal, says what it gets, and does what some keys ask for.
func program() int {
	t, err := Open(Options{Escape: 50 * time.Millisecond, Mouse: os.Getenv("ALISIO_TERM_MOUSE") != ""})
	if err != nil {
		fmt.Fprintln(report, err)
		return 2
	}
	defer t.Close()
	defer t.Guard()
	fmt.Fprintln(report, "open")
	for e := range t.Events() {
		switch e := e.(type) {
		case Closed:
			fmt.Fprintln(report, "closed:", e.Err)
			return 3
		case Changed:
			fmt.Fprintf(report, "%+v\n", e.Features)
			continue
		}
		fmt.Fprintln(report, word(e))
		switch word(e) {
		case "q":
			return 0
		case "p":
			ended := make(chan bool)
			go func() {
				defer close(ended)
				defer t.Guard()
				panic("a panic of a test")
			}()
			<-ended
		case "h":
			select {} // it hears and does nothing any more
		case "t":
			t.SetTitle("a\x1b]2;b\x07 title")
			t.SetCursor(BarCursor)
			t.SetMouse(true)
			t.HasImages()
		case "l":
			err := t.Lend(func(in, out *os.File) error {
				if _, err := t.Write([]byte("x")); err != ErrBusy {
					return fmt.Errorf("a write while lent: %v", err)
				}
				fmt.Fprintln(report, "lent")
				line, err := bufio.NewReader(in).ReadString('\n')
				fmt.Fprintf(report, "read %q\n", line)
				return err
			})
			fmt.Fprintln(report, "back", err)
		case "z":
			fmt.Fprintln(report, "suspend", t.Suspend())
		case "w":
			// More than the terminal takes while nobody reads.
			_, err := t.Write(bytes.Repeat([]byte("full "), 1<<18))
			fmt.Fprintln(report, "wrote", err)
		}
	}
	return 4
}

// shell runs the program as a job of its own, and takes the terminal back when it stops.
func shell() int {
	me, err := os.Executable()
	if err != nil {
		return 2
	}
	cmd := exec.Command(me)
	cmd.Env = append(os.Environ(), "ALISIO_TERM_TEST=program")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{report}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Foreground: true, Ctty: 0}
	ignored := make(chan os.Signal, 1)
	notifyTTOU(ignored)
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(report, err)
		return 2
	}
	for {
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil {
			continue
		}
		if !status.Stopped() {
			return status.ExitStatus()
		}
		own := int32(syscall.Getpgrp())
		ioctl(0, syscall.TIOCSPGRP, unsafe.Pointer(&own))
		fmt.Fprintln(report, "stopped")
		// A key gives the job the terminal again; b only lets it go on.
		if line() == "b" {
			fmt.Fprintln(report, "in the background") // before the job says anything
			syscall.Kill(-cmd.Process.Pid, syscall.SIGCONT)
			line()
		}
		job := int32(cmd.Process.Pid)
		ioctl(0, syscall.TIOCSPGRP, unsafe.Pointer(&job))
		syscall.Kill(-cmd.Process.Pid, syscall.SIGCONT)
	}
}

// line reads one line, and nothing of the next.
func line() string {
	var s []byte
	for one := make([]byte, 1); ; s = append(s, one[0]) {
		if n, err := os.Stdin.Read(one); n == 0 || err != nil || one[0] == '\n' || one[0] == '\r' {
			return string(s)
		}
	}
}

func ioctl(fd uintptr, request uintptr, arg unsafe.Pointer) {
	syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(arg))
}

// rig is a program on a pseudo-terminal.
type rig struct {
	t      *testing.T
	master *os.File
	slave  *os.File
	cmd    *exec.Cmd
	before syscall.Termios
	said   *bufio.Reader

	mu    sync.Mutex
	shown []byte
	gate  sync.Mutex // held while the screen is not to be read
	read  chan struct{}
}

func start(t *testing.T, mode string, env ...string) *rig {
	t.Helper()
	master, slave := terminal(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	me, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &rig{t: t, master: master, slave: slave, said: bufio.NewReader(r), read: make(chan struct{})}
	s.before = termios(t, slave)
	s.cmd = exec.Command(me)
	s.cmd.Env = append([]string{"ALISIO_TERM_TEST=" + mode, "TERM=xterm-256color", "LANG=C.UTF-8"}, env...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = slave, slave, slave
	s.cmd.ExtraFiles = []*os.File{w}
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	t.Cleanup(func() {
		s.cmd.Process.Kill()
		s.cmd.Wait()
		r.Close()
	})
	go func() {
		defer close(s.read)
		buf := make([]byte, 4096)
		for {
			s.gate.Lock()
			s.gate.Unlock()
			n, err := master.Read(buf)
			s.mu.Lock()
			s.shown = append(s.shown, buf[:n]...)
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return s
}

func termios(t *testing.T, f *os.File) (state syscall.Termios) {
	t.Helper()
	c, err := f.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	c.Control(func(fd uintptr) { ioctl(fd, syscall.TCGETS, unsafe.Pointer(&state)) })
	return state
}

// expect reads reports up to the one that begins so.
func (s *rig) expect(want string) string {
	s.t.Helper()
	var got []string
	for {
		line, err := s.said.ReadString('\n')
		if err != nil {
			s.t.Fatalf("no %q: %q, %v; on the screen: %q", want, got, err, s.screen())
		}
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, want) {
			return line
		}
		got = append(got, line)
	}
}

func (s *rig) typed(keys string) {
	s.t.Helper()
	if _, err := s.master.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

func (s *rig) screen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.shown)
}

// ended waits for the end of the program, and checks that the terminal is as before.
func (s *rig) ended() (code int) {
	s.t.Helper()
	err := s.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	if got := termios(s.t, s.slave); got != s.before {
		s.t.Errorf("the terminal's modes are %+v, were %+v", got, s.before)
	}
	s.slave.Close()
	<-s.read
	if code = s.cmd.ProcessState.ExitCode(); code > 4 {
		s.t.Errorf("exit code %d, on the screen: %q", code, s.screen())
	}
	return code
}

// wantRestored checks that what was turned on is turned off, in the order of
// terminal.md, section 11, and that only text follows.
func (s *rig) wantRestored() (after string) {
	s.t.Helper()
	// What the program wrote is read by somebody else.
	wait(s.t, func() bool {
		shown := s.screen()
		return strings.Contains(shown[strings.LastIndex(shown, enterModes)+1:], leaveAlt)
	})
	shown := s.screen()
	at := strings.LastIndex(shown, enterModes)
	if at < 0 {
		s.t.Fatalf("no screen was opened: %q", shown)
	}
	rest := shown[at+len(enterModes):]
	for _, off := range []string{leaveKeys, leaveModes, plainPen, leaveAlt} {
		i := strings.Index(rest, off)
		if i < 0 {
			s.t.Fatalf("%q does not follow in %q", off, rest)
		}
		rest = rest[i+len(off):]
	}
	if strings.Contains(rest, "\x1b") {
		s.t.Errorf("after giving back: %q", rest)
	}
	return rest
}

// notifyTTOU lets a shell take the terminal back from the background.
func notifyTTOU(c chan os.Signal) { signal.Ignore(syscall.SIGTTOU); signal.Notify(c, syscall.SIGTTIN) }
