package term

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
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
			syscall.Kill(-cmd.Process.Pid, syscall.SIGCONT)
			fmt.Fprintln(report, "in the background")
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
	return s.cmd.ProcessState.ExitCode()
}

// wantRestored checks that what was turned on is turned off, in the order of
// terminal.md, section 11, and that only text follows.
func (s *rig) wantRestored() (after string) {
	s.t.Helper()
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

// C093. Symptom: the restore code exists but hangs on the graceful-exit hook only, so it
// cannot run when the program crashes.
// Trigger: force a panic in a goroutine, send SIGTERM and SIGHUP. Each way out.
func TestC093RestoredOnEachWayOut(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(s *rig)
		code int
		says string
	}{
		{"close", func(s *rig) { s.typed("q") }, 0, ""},
		{"panic", func(s *rig) { s.typed("p") }, 2, "a panic of a test"},
		{"modes", func(s *rig) { s.typed("tq") }, 0, ""},
		{"SIGTERM", func(s *rig) {
			s.cmd.Process.Signal(syscall.SIGTERM)
			s.expect("closed: the terminal was given back: terminated")
		}, 3, ""},
		{"SIGHUP", func(s *rig) { s.cmd.Process.Signal(syscall.SIGHUP); s.expect("closed") }, 3, ""},
		{"SIGINT", func(s *rig) { s.cmd.Process.Signal(syscall.SIGINT); s.expect("closed") }, 3, ""},
		{"SIGQUIT", func(s *rig) { s.cmd.Process.Signal(syscall.SIGQUIT); s.expect("closed") }, 3, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, "program")
			s.expect("open")
			if termios(t, s.slave) == s.before {
				t.Error("the terminal is not in raw mode")
			}
			c.do(s)
			if got := s.ended(); got != c.code {
				t.Errorf("exit code %d, want %d", got, c.code)
			}
			if after := s.wantRestored(); !strings.Contains(after, c.says) {
				t.Errorf("after giving back it shows %q, want %q in it", after, c.says)
			}
		})
	}
}

// A title and what comes with it is undone, too, and hides no sequence.
func TestModesAreUndone(t *testing.T) {
	s := start(t, "program", "ALISIO_TERM_MOUSE=1")
	s.expect("open")
	s.typed("tq")
	s.ended()
	shown := s.screen()
	for _, want := range []string{mouseOn, "\x1b]2;a title\x1b\\", "\x1b[6 q", "\x1b_Ga=d,d=A\x1b\\", mouseOff, "\x1b[0 q"} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q in %q", want, shown)
		}
	}
}

// A program that hangs does not keep the terminal.
func TestRestoredThoughTheProgramHangs(t *testing.T) {
	s := start(t, "program")
	s.expect("open")
	s.typed("h")
	s.expect("h")
	s.cmd.Process.Signal(syscall.SIGTERM)
	wait(t, func() bool { return strings.Contains(s.screen(), leaveAlt) && termios(t, s.slave) == s.before })
	s.wantRestored()
}

// wait waits for a condition that another process makes true.
func wait(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !done(); {
		if time.Now().After(deadline) {
			t.Fatal("it did not come true")
		}
		syscall.Select(0, nil, nil, nil, &syscall.Timeval{Usec: 2000})
	}
}

// A terminal whose output nobody reads is given back nevertheless, and in time.
func TestRestoredThoughOutputIsStuck(t *testing.T) {
	s := start(t, "program")
	s.expect("open")
	wait(t, func() bool { return strings.Contains(s.screen(), enterModes) })
	s.gate.Lock() // one read more, and the screen is read no further
	s.typed("w")
	s.expect("wrote " + ErrBusy.Error())
	begin := time.Now()
	s.cmd.Process.Signal(syscall.SIGTERM)
	s.expect("closed")
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	wait(t, func() bool { return termios(t, s.slave) == s.before })
	s.gate.Unlock()
	s.ended()
}

// A terminal that is gone ends the program's events, and nothing hangs.
func TestHangUp(t *testing.T) {
	s := start(t, "program")
	s.expect("open")
	s.slave.Close()
	s.master.Close()
	s.expect("closed")
	if err := s.cmd.Wait(); err == nil {
		t.Error("the program ended well")
	}
}

// What another program is lent the terminal for gets all that is typed and a terminal as
// it was; afterwards it is ours.
func TestLend(t *testing.T) {
	s := start(t, "program")
	s.expect("open")
	s.typed("l")
	s.expect("lent")
	if termios(t, s.slave) != s.before {
		t.Error("it is lent in raw mode")
	}
	s.wantRestored()
	s.cmd.Process.Signal(syscall.SIGINT) // Ctrl+C is for the program that has it
	s.typed("for the editor\n")
	s.expect(`read "for the editor\n"`)
	s.expect("back <nil>")
	s.expect("term.Resumed")
	if termios(t, s.slave) == s.before {
		t.Error("it is not in raw mode again")
	}
	s.typed("q")
	if code := s.ended(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	s.wantRestored()
}

// SIGTERM while the terminal is lent ends the events; the terminal was given back before.
func TestSignalWhileLent(t *testing.T) {
	s := start(t, "program")
	s.expect("open")
	s.typed("l")
	s.expect("lent")
	s.cmd.Process.Signal(syscall.SIGTERM)
	s.typed("line\n")
	s.expect("back <nil>")
	s.expect("closed: the terminal was given back: terminated")
	s.ended()
	s.wantRestored()
}

func TestSuspendAndContinue(t *testing.T) {
	for name, stop := range map[string]func(s *rig){
		"by key":    func(s *rig) { s.typed("z") },
		"by signal": func(s *rig) { s.signalJob(syscall.SIGTSTP) },
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, "shell")
			s.expect("open")
			stop(s)
			s.expect("stopped")
			if termios(t, s.slave) != s.before {
				t.Error("it is stopped in raw mode")
			}
			s.wantRestored()
			s.typed("f\n")
			s.expect("term.Resumed")
			s.typed("q")
			if code := s.ended(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			s.wantRestored()
		})
	}
}

// In the background it touches nothing; in the foreground it draws again.
func TestContinuedInTheBackground(t *testing.T) {
	s := start(t, "shell")
	s.expect("open")
	s.typed("z")
	s.expect("stopped")
	s.typed("b\n")
	s.expect("in the background")
	s.expect("suspend <nil>")
	if termios(t, s.slave) != s.before {
		t.Error("it sets raw mode in the background")
	}
	s.typed("f\n")
	s.expect("term.Resumed")
	s.typed("q")
	s.ended()
	s.wantRestored()
}

// Stopped by SIGSTOP it can not give the terminal back, but makes it right again.
func TestContinuedAfterSIGSTOP(t *testing.T) {
	s := start(t, "shell")
	s.expect("open")
	s.signalJob(syscall.SIGSTOP)
	s.expect("stopped")
	s.typed("f\r")
	s.expect("term.Resumed")
	s.typed("q")
	s.ended()
	s.wantRestored()
}

// signalJob sends a signal to the process group in the foreground.
func (s *rig) signalJob(sig syscall.Signal) {
	s.t.Helper()
	var group int32
	// Of the master: a terminal that is not ours does not tell.
	control(s.master, func(fd uintptr) { ioctl(fd, syscall.TIOCGPGRP, unsafe.Pointer(&group)) })
	if group <= 1 {
		s.t.Fatal("the terminal has no process group in the foreground")
	}
	if err := syscall.Kill(-int(group), sig); err != nil {
		s.t.Fatal(err)
	}
}

// Without a shell nobody would continue it.
func TestNoSuspendWithoutAShell(t *testing.T) {
	s := start(t, "program")
	s.expect("open")
	s.typed("z")
	if got := s.expect("suspend"); !strings.Contains(got, "no shell") {
		t.Errorf("got %q", got)
	}
	s.typed("q")
	s.ended()
}

func TestResize(t *testing.T) {
	s := start(t, "program")
	s.expect("open")
	for i := range 20 {
		size := [4]uint16{uint16(10 + i), uint16(40 + i)}
		c, _ := s.master.SyscallConn()
		c.Control(func(fd uintptr) { ioctl(fd, syscall.TIOCSWINSZ, unsafe.Pointer(&size)) })
	}
	s.expect("resize(59,29)")
	s.typed("\x1b[48;30;90;0;0t")
	s.expect("resize(90,30)")
	s.typed("q")
	s.ended()
}

// What the terminal answers changes the features, turns modes on, and is never typed
// (C103: late, split, and with BEL at its end).
func TestC103AnswersOfTheTerminal(t *testing.T) {
	s := start(t, "program", "COLORTERM=truecolor")
	s.expect("open")
	wait(t, func() bool { return strings.Contains(s.screen(), "\x1b[c") })
	s.typed("\x1b]11;rgb:ffff/ff")
	s.typed("ff/ffff\x07")
	if got := s.expect("{"); !strings.Contains(got, "Light:true") {
		t.Errorf("a light background: %s", got)
	}
	s.typed("\x1b[?2026;2$y")
	s.expect("{Colors:3 Unicode:true Light:true Sync:true")
	s.typed("\x1b[?2027;1$y\x1b[?2048;0$y\x1bP>|kitty(0.35)\x1b\\\x1b_Gi=31;OK\x1b\\\x1b[6;18;9t\x1b[?62c")
	s.expect("{Colors:3 Unicode:true Light:true Sync:true Clusters:true Keys:false Links:true Images:1 Notices:1 CellWidth:9 CellHeight:18}")
	wait(t, func() bool {
		return strings.Contains(s.screen(), "\x1b[?2027h") && strings.Contains(s.screen(), otherKeys)
	})
	s.typed("\x1b[?997;1n")
	s.expect("{Colors:3 Unicode:true Light:false")
	s.typed("q")
	s.expect("q") // and nothing of it was typed before: expect would have stopped there
	s.ended()
	if shown := s.screen(); strings.Contains(shown, "\x1b[?2048h") || !strings.Contains(shown, "\x1b[?2027l") {
		t.Errorf("modes: %q", shown)
	}
}

// C097, C096: a lone Esc is delivered after a moment without another key.
func TestC097LoneEscapeOnATerminal(t *testing.T) {
	s := start(t, "program")
	s.expect("open")
	s.typed("\x1b")
	s.expect("esc")
	s.typed("\x1b\r")
	s.expect("alt+enter")
	s.typed("q")
	s.ended()
}

// C095 on a terminal: a large paste is one event, and comes fast.
func TestC095PasteOnATerminal(t *testing.T) {
	s := start(t, "program")
	s.expect("open")
	text := strings.Repeat(strings.Repeat("y", 31)+"\n", 2000)
	begin := time.Now()
	s.typed("\x1b[200~" + text + pasteEnd + "\r")
	if got, want := s.expect("paste("), fmt.Sprintf("paste(%q)", text); got != want {
		t.Errorf("got %d bytes, want %d", len(got), len(want))
	}
	s.expect("enter")
	t.Logf("64 KiB in %v", time.Since(begin))
	s.typed("q")
	s.ended()
}

// Whatever bytes come, the terminal is given back.
func TestAnyInputOnATerminal(t *testing.T) {
	s := start(t, "program")
	s.expect("open")
	var b strings.Builder
	for i := range 40_000 {
		c := byte(i * 7919 >> 3)
		if strings.IndexByte("qphlzwt", c) < 0 {
			b.WriteByte(c)
		}
	}
	go io.Copy(io.Discard, s.said)
	s.typed(b.String())
	s.cmd.Process.Signal(syscall.SIGTERM)
	if code := s.ended(); code != 3 {
		t.Errorf("exit code %d", code)
	}
	s.wantRestored()
}

func TestOpenRefuses(t *testing.T) {
	_, err := Open(Options{Getenv: func(string) string { return "dumb" }})
	if err == nil || !strings.Contains(err.Error(), "--no-tui") {
		t.Errorf("TERM=dumb: %v", err)
	}
}
