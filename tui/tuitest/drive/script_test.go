package drive

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"alisio/tui/term"
	"alisio/tui/tuitest"
)

var update = flag.Bool("update", false, "rewrite the expected parts of the files below testdata")

// echo is a program that shows what it reads: the same one in memory, behind a
// pseudo-terminal and in tmux, where the test program starts itself as it.
func echo(in io.Reader, out io.Writer, size func() (columns, rows int)) error {
	fmt.Fprint(out, "\x1b[?2004h")
	defer fmt.Fprint(out, "\x1b[?2004l")
	all := ""
	for b := make([]byte, 100); ; {
		columns, rows := size()
		fmt.Fprintf(out, "\x1b[H\x1b[2Jsize %dx%d\r\n%s", columns, rows, strings.ReplaceAll(fmt.Sprintf("%q", all), `" "`, ""))
		n, err := in.Read(b)
		if err != nil {
			return err
		}
		all += string(b[:n])
		if strings.HasSuffix(all, "q") {
			fmt.Fprint(out, "\r\nbye")
			return nil
		}
	}
}

// TestMain is echo itself when the tests start it in a terminal.
func TestMain(m *testing.M) {
	if os.Getenv("DRIVE_ECHO") == "" {
		os.Exit(m.Run())
	}
	if err := echo(os.Stdin, os.Stdout, func() (int, int) { return term.Size(os.Stdin) }); err != nil {
		os.Exit(1)
	}
}

func startEcho(t *testing.T, size Size) *Memory {
	return Start(t, size.Columns, size.Rows, tuitest.Modern(), func(t *tuitest.Terminal) error { return echo(t, t, t.Size) })
}

func TestScripts(t *testing.T) {
	Scripts(t, "testdata/keys/*.txt", func(t *testing.T, s *Script, size Size) Driver { return startEcho(t, size) })
}

// In raw mode nobody else has a hand in what is shown.
const rawEcho = `stty raw -echo; exec "$0"`

func TestScriptsInPty(t *testing.T) {
	Scripts(t, "testdata/keys/*.txt", func(t *testing.T, s *Script, size Size) Driver {
		cmd := exec.Command("sh", "-c", rawEcho, os.Args[0])
		cmd.Env = append(os.Environ(), "DRIVE_ECHO=1")
		return StartPty(t, size.Columns, size.Rows, s.Options(), cmd)
	})
}

// The same keys end with the same screen in memory and in a real terminal.
func TestScriptsInTmux(t *testing.T) {
	Scripts(t, "testdata/keys/*.txt", func(t *testing.T, s *Script, size Size) Driver {
		m := StartTmux(t, size.Columns, size.Rows, `stty raw -echo; exec `+os.Args[0], "DRIVE_ECHO=1")
		m.Await(t, "the start", func(s *tuitest.Screen) bool { return s.Contains("size") })
		t.Cleanup(func() {
			memory := startEcho(t, size)
			s.Run(t, size, memory)
			m.Same(t, memory.Screen())
		})
		return m
	})
}

func TestParseScript(t *testing.T) {
	s, err := ParseScript("x", []byte("size 20x6 80x24\nterminal poor\n# no\n\ntype a\\tb\\u{e9}\\\\\npaste <<E\n1\n\n2\nE\nrelease 3\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(s.Sizes, " ", s.Kind, " ", s.Steps), "[20x6 80x24] poor [{5 type [a\tbé\\]} {6 paste [1\n\n2]} {11 release [3]}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, c := range []struct{ in, want string }{
		{"jump", `x:1: unknown verb "jump"`},
		{"\nsize 20", `x:2: "20" is not two numbers with "x" between`},
		{"type", "x:1: type: no text"},
		{"type a\\q", `x:1: unknown escape \q`},
		{"type \\", "x:1: a backslash at the end"},
		{"type \\u12", `x:1: "\\u12" is no \u{…}`},
		{"paste <<E\nx", `x:1: no line "E" ends the text`},
		{"golden", "x:1: golden: 0 arguments, want 1 to 1"},
		{"click 3", `x:1: "3" is not two numbers with "," between`},
		{"terminal vt52", "x:1: terminal vt52: modern, poor or legacy"},
	} {
		if _, err := ParseScript("x", []byte(c.in)); err == nil || err.Error() != c.want {
			t.Errorf("%q: got %v, want %s", c.in, err, c.want)
		}
	}
}

// The steps that only a virtual terminal does.
func TestVirtualSteps(t *testing.T) {
	s, err := ParseScript("x", []byte(strings.Join([]string{
		"send raw", "focus in", "light", "click 1,2", "drag 0,0 3,0", "wheel -1", "hold", "release", "title", "pristine",
	}, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	v := tuitest.New(20, 5, tuitest.Modern())
	fmt.Fprint(v, "\x1b[?1002;1006;1004;2031h")
	s.Steps = slices.DeleteFunc(s.Steps, func(s Step) bool { return s.Verb == "pristine" })
	s.Run(t, Size{20, 5}, v)
	want := "raw\x1b[I\x1b[?997;2n\x1b[<0;2;3M\x1b[<0;2;3m\x1b[<0;1;1M\x1b[<32;4;1M\x1b[<0;4;1m\x1b[<64;1;1M"
	if got := v.Pending(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := virtualStep(v, Step{Verb: "pristine"}); err == nil {
		t.Error("modes were left and pristine is content")
	}
}

// In a bubble of synctest no test waits for a time: what a key does is there at once.
func TestMemoryInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := startEcho(t, Size{20, 5})
		m.Settle = synctest.Wait
		m.Type("ab")
		if got, want := m.Screen().Row(1), `"ab"`; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		m.Type("q")
		if err := m.Wait(t); err != nil {
			t.Errorf("got %v", err)
		}
		if left := m.Pristine(); len(left) > 0 {
			t.Errorf("left %q", left)
		}
	})
}
