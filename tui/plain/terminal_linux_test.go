package plain

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"alisio/agent"
	"alisio/agent/config"
	"alisio/agent/perm"
	"alisio/llm"
	"alisio/llm/script"
	"alisio/plug"
)

// terminal opens a pseudo-terminal of 60 cells and returns its two ends.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	var n, unlock uint32
	size := [4]uint16{24, 60}
	for _, call := range []struct {
		request uintptr
		arg     unsafe.Pointer
	}{
		{syscall.TIOCGPTN, unsafe.Pointer(&n)}, {syscall.TIOCSPTLCK, unsafe.Pointer(&unlock)},
		{syscall.TIOCSWINSZ, unsafe.Pointer(&size)},
	} {
		// Not master.Fd(), after which Close would wait for a Read.
		c, err := master.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		c.Control(func(fd uintptr) {
			if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, fd, call.request, uintptr(call.arg)); e != 0 {
				t.Error(e)
			}
		})
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// person sits at a terminal and waits for what it shows.
type person struct {
	t      *testing.T
	master *os.File
	shown  chan string // closed when the terminal is gone
	seen   string
}

func (p *person) read() {
	defer close(p.shown)
	buf := make([]byte, 4096)
	for {
		n, err := p.master.Read(buf)
		if err != nil {
			return
		}
		p.shown <- string(buf[:n])
	}
}

// sees waits until something is shown that was not seen before, and returns what was
// shown until then.
func (p *person) sees(want string) string {
	p.t.Helper()
	limit := time.After(20 * time.Second)
	for {
		if before, after, found := strings.Cut(p.seen, want); found {
			p.t.Logf("%q", before+want)
			p.seen = after
			return before
		}
		select {
		case s, ok := <-p.shown:
			if p.seen += s; !ok {
				p.t.Fatalf("the terminal went away before %q: %q", want, p.seen)
			}
		case <-limit:
			p.t.Fatalf("no %q in %q", want, p.seen)
		}
	}
}

// insists types keys again and again until something is shown.
func (p *person) insists(keys, want string) {
	p.t.Helper()
	limit := time.After(20 * time.Second)
	for again := time.After(0); !strings.Contains(p.seen, want); {
		select {
		case s, ok := <-p.shown:
			if p.seen += s; !ok && !strings.Contains(p.seen, want) {
				p.t.Fatalf("the terminal went away before %q: %q", want, p.seen)
			}
		case <-again:
			p.types(keys)
			again = time.After(200 * time.Millisecond)
		case <-limit:
			p.t.Fatalf("no %q in %q", want, p.seen)
		}
	}
	p.sees(want)
}

func (p *person) types(keys string) { fmt.Fprint(p.master, keys) }

const ctrlC, ctrlD, ctrlZ = "\x03", "\x04", "\x1a"

// converse is the program on the other side: it exits with 130, as the command
// line does, when the conversation was cancelled.
func converse(turns string) {
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, syscall.SIGINT)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	l := NewLines(LineOptions{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Interrupts: interrupts,
		Quit: func() { os.Exit(131) }, Quiet: os.Getenv("LINES_QUIET") != "", NoBanner: os.Getenv("LINES_NO_BANNER") != "",
	})
	s, err := script.Parse([]byte(turns))
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	app, err := agent.New(ctx, agent.Options{
		Dir: os.Getenv("LINES_DIR"), Config: config.Default(), Policy: perm.Policy{}, Asker: l,
		Provider: s.Provider("script"), Model: llm.Model{ID: "toy-1"}, Tools: []plug.Tool{&toy{}},
	})
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	ended, err := l.Run(ctx, app, Talk{})
	switch {
	case err != nil:
		fmt.Println(err)
		os.Exit(1)
	case ended.Cancelled:
		os.Exit(130)
	}
	os.Exit(0)
}

// sit starts the program on a terminal of its own.
func sit(t *testing.T, turns string) (*person, *exec.Cmd) {
	t.Helper()
	return sitBefore(t, turns, "exec")
}

// sitBefore is sit with a shell in between, which is given what to do with the
// program that its words begin with.
func sitBefore(t *testing.T, turns, before string, after ...string) (*person, *exec.Cmd) {
	t.Helper()
	master, slave := terminal(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "sh", "-c", before+" '"+exe+"' -test.run=^TestLinesOnATerminal$"+strings.Join(after, ""))
	cmd.Env = append(os.Environ(), "LINES_TURNS="+turns, "LINES_DIR="+t.TempDir(), "TERM=xterm", "NO_COLOR=1", "CI=")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// The other end stays open here: what was printed last is lost else with the
	// program that closes it.
	t.Cleanup(func() { slave.Close() })
	p := &person{t: t, master: master, shown: make(chan string, 64)}
	go p.read()
	return p, cmd
}

// exits waits for the end of the program.
func exits(t *testing.T, cmd *exec.Cmd, want int) {
	t.Helper()
	cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != want {
		t.Errorf("exit code %d, want %d", got, want)
	}
}

// A whole conversation on a real terminal, which edits its lines and sends the
// signals itself.
func TestLinesOnATerminal(t *testing.T) {
	if turns := os.Getenv("LINES_TURNS"); turns != "" {
		converse(turns)
	}
	long := strings.ReplaceAll(answers(strings.Repeat("0123456789", 100)), "1000", "10")
	t.Run("prompt, question, paste, end", func(t *testing.T) {
		p, cmd := sit(t, `{"turns":[{"calls":[{"name":"toy","arguments":{"x":1}}]},{"text":"Done."},{"text":"Read."}]}`)
		p.sees("\x1b[?2004h")
		p.sees("Ctrl+D leaves\r\n> ")
		p.types("do it\n")
		p.sees("question: toy wants to run a program")
		p.types("y") // half a line, before it can have been read
		p.sees("\rallow? ")
		p.sees("? all: ")
		p.types("\n")
		p.sees("that is no answer")
		p.sees("? all: ")
		p.types("y\n")
		p.sees("toy\r\n")
		p.sees("Done.\r\n")
		p.sees("> ")
		p.types("\x1b[200~one\n/two\x1b[201~\n")
		p.sees("Read.\r\n")
		p.sees("> ")
		p.types(ctrlD)
		p.sees("\x1b[?2004l")
		exits(t, cmd, 0)
	})
	t.Run("half a line before the question", func(t *testing.T) {
		p, cmd := sit(t, `{"turns":[{"calls":[{"name":"toy","arguments":{"x":1}}]},{"text":"Done."}]}`)
		p.sees("> ")
		p.types("do it\n")
		p.sees("question: toy wants to run a program")
		p.types("y" + ctrlD) // which is read at once
		p.sees("? all: ")
		p.types("\n")
		p.sees("typed before this could be read, and\r\n  dropped")
		p.sees("? all: ")
		p.types("n\n")
		p.sees("not allowed")
		p.sees("> ")
		p.types(ctrlD)
		exits(t, cmd, 0)
	})
	// Symptom: a line that was typed before the mark allowed a call. Trigger: the
	// process was stopped meanwhile, so that line and timer came at once.
	t.Run("stopped between question and mark", func(t *testing.T) {
		const times = 8
		var turns []string
		for i := range times {
			turns = append(turns, fmt.Sprintf(`!{"x":%d}`, i)) // the same again would be a loop
		}
		turns = append(turns, ".")
		p, cmd := sit(t, answers(turns...))
		p.sees("> ")
		p.types("do it\n")
		for range times {
			p.sees("question: toy wants to run a program")
			asked := time.After(quiet + 4*settle)
			cmd.Process.Signal(syscall.SIGSTOP)
			p.types("y\n")
			<-asked
			cmd.Process.Signal(syscall.SIGCONT)
			p.sees("? all: ")
			p.types("n\n")
			p.sees("not allowed")
		}
		p.sees("> ")
		p.types(ctrlD)
		exits(t, cmd, 0)
	})
	t.Run("stop a run, then leave", func(t *testing.T) {
		p, cmd := sit(t, long)
		p.sees("> ")
		p.types("do it\n")
		p.sees("0123")
		p.types("next\n")
		p.sees("what is typed now waits")
		p.types(ctrlC)
		p.sees("notice: stopped")
		p.sees("not sent, since it was typed while the run worked:")
		p.sees("  | next")
		p.sees("> ")
		p.types(ctrlC)
		p.sees(howOut)
		p.types(ctrlC)
		p.sees("\x1b[?2004l")
		exits(t, cmd, 130)
	})
	t.Run("no with the key that ends", func(t *testing.T) {
		p, cmd := sit(t, `{"turns":[{"calls":[{"name":"toy","arguments":{"x":1}}]},{"text":"Done."}]}`)
		p.sees("> ")
		p.types("do it\n")
		p.sees("? all: ")
		p.types(ctrlD)
		p.sees("not allowed: the person said no")
		p.sees("Done.\r\n")
		p.sees("> ") // the conversation goes on
		p.types(ctrlD)
		exits(t, cmd, 0)
	})
	t.Run("a line that the terminal has cut", func(t *testing.T) {
		p, cmd := sit(t, answers("x"))
		p.sees("> ")
		p.types(strings.Repeat("x", canonical+10) + "\n")
		p.sees("was not sent")
		p.types(ctrlD)
		exits(t, cmd, 0)
	})
	// Symptom: the shell was left in the mode that marks pastes, and the conversation
	// without it after fg. Trigger: Ctrl+Z.
	t.Run("stopped by the shell", func(t *testing.T) {
		p, cmd := sitBefore(t, answers("x"), "set -m;", "; echo the shell; fg")
		p.sees("\x1b[?2004h")
		p.sees("Ctrl+D leaves\r\n> ")
		p.types(ctrlZ)
		p.sees("\x1b[?2004l")
		p.sees("the shell")
		p.sees("\x1b[?2004h")
		p.types(ctrlD)
		p.sees("\x1b[?2004l")
		exits(t, cmd, 0)
	})
	t.Run("nobody can continue it", func(t *testing.T) {
		p, cmd := sit(t, answers("x"))
		p.sees("\x1b[?2004h")
		p.sees("> ")
		p.types(ctrlZ)
		p.sees("\x1b[?2004l")
		p.sees("\x1b[?2004h")
		p.types(ctrlD)
		p.sees("\x1b[?2004l")
		exits(t, cmd, 0)
	})
	// The wait that a server asks for (C034), on a real terminal of 60 cells.
	t.Run("a wait is counted down", func(t *testing.T) {
		p, cmd := sit(t, `{"turns":[{"error":{"cause":"rate_limited","message":"slow down","retryAfterMs":1500}},{"text":"Done."}]}`)
		p.sees("> ")
		p.types("do it\n")
		p.sees("\r\x1b[Knotice: too many requests: trying again in 2 s (1 of 4)")
		p.sees("\r\x1b[Knotice: too many requests: trying again in 1 s (1 of 4)")
		p.sees("\r\x1b[Knotice: too many requests: trying again in 2 s (1 of 4)\r\n")
		p.sees("Done.\r\n")
		p.sees("> ")
		p.types(ctrlD)
		exits(t, cmd, 0)
	})
	// Symptom: the shell was left in the mode that marks pastes. Trigger: a run does
	// not end, and the second interrupt ends the process.
	t.Run("a second interrupt", func(t *testing.T) {
		p, cmd := sit(t, `{"turns":[{"calls":[{"name":"toy","arguments":{"hang":1}}]},{"text":"Done."}]}`)
		p.sees("> ")
		p.types("do it\n")
		p.sees("? all: ")
		p.types("y\n")
		p.sees("hanging")
		p.insists(ctrlC, "\x1b[?2004l") // two that come at once are one
		exits(t, cmd, 131)
	})
	t.Run("told to end", func(t *testing.T) {
		p, cmd := sit(t, long)
		p.sees("> ")
		p.types("do it\n")
		p.sees("0123")
		cmd.Process.Signal(syscall.SIGTERM)
		p.sees("\x1b[?2004l")
		exits(t, cmd, 130)
	})
	t.Run("the terminal goes away", func(t *testing.T) {
		p, cmd := sit(t, long)
		p.sees("> ")
		p.master.Close()
		exits(t, cmd, 130)
	})
}

// The startup screen stands in front of the head, in the signs that the terminal has,
// and says nothing that the head says again.
func TestTheStartupScreen(t *testing.T) {
	const screen, head = "Fair winds", "alisio " + agent.Version + " · toy-1 · new session\r\n"
	for _, c := range []struct {
		name, env              string
		screen, ascii, colours bool
	}{
		{"UTF-8", "LC_ALL=C.UTF-8 TERM=xterm", true, false, false},
		{"of LANG", "-u LC_ALL -u LC_CTYPE LANG=de_DE.utf8 TERM=xterm", true, false, false},
		{"colour", "-u NO_COLOR LC_ALL=C.UTF-8 TERM=xterm", true, false, true},
		{"a C locale", "LC_ALL=C LANG=C.UTF-8 TERM=xterm", true, true, false},
		{"dumb", "-u NO_COLOR CLICOLOR_FORCE=1 LC_ALL=C.UTF-8 TERM=dumb", true, true, false},
		{"CI", "CI=true LC_ALL=C.UTF-8", false, false, false},
		{"--no-banner", "LINES_NO_BANNER=1 LC_ALL=C.UTF-8", false, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, cmd := sitBefore(t, answers("x"), "exec env "+c.env)
			shown := strings.TrimPrefix(p.sees("Enter sends"), bracketOn)
			if got := strings.Contains(shown, screen); got != c.screen || strings.Contains(shown, head) == c.screen {
				t.Errorf("screen %v:\n%s", got, shown)
			}
			if n := strings.Count(shown, "toy-1"); n != 1 {
				t.Errorf("the model stands there %d times:\n%s", n, shown)
			}
			if ascii := strings.IndexFunc(shown, func(r rune) bool { return r > '~' }) < 0; ascii != c.ascii {
				t.Errorf("ASCII alone: %v:\n%s", ascii, shown)
			}
			if got := strings.Contains(shown, "\x1b["); got != c.colours {
				t.Errorf("colours %v: %q", got, shown)
			}
			p.sees("> ")
			p.types(ctrlD)
			exits(t, cmd, 0)
		})
	}
	t.Run("--quiet", func(t *testing.T) {
		p, cmd := sitBefore(t, answers("x"), "exec env LINES_QUIET=1")
		if shown := p.sees("> "); shown != bracketOn {
			t.Errorf("got %q", shown)
		}
		p.types(ctrlD)
		exits(t, cmd, 0)
	})
}

// Symptom: words of errors and notices are broken in two. Trigger: a terminal that is
// narrower than they are long.
func TestErrorsAndNoticesBreakBetweenWords(t *testing.T) {
	master, slave := terminal(t)
	Failure(slave, llm.Errorf(llm.CauseBadRequest, "%s", strings.Repeat("word ", 12)+"last").WithHint(strings.Repeat("hint ", 11)+"last"))
	Note(slave, "%s", strings.Repeat("note ", 11)+"last")
	slave.Close()
	var shown strings.Builder
	buf := make([]byte, 4096)
	for {
		n, err := master.Read(buf)
		shown.Write(buf[:n])
		if err != nil {
			break
		}
	}
	want := "error: " + strings.Repeat("word ", 9) + "word\r\n       word word last\r\n" +
		"hint:  " + strings.Repeat("hint ", 9) + "hint\r\n       hint last\r\n" +
		"notice: " + strings.Repeat("note ", 9) + "note\r\n  note last\r\n"
	if got := shown.String(); got != want {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
}
