package term

import (
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

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
