//go:build unix

package proc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"alisio/llm"
)

// shell runs a line; the test fails if it can not be started.
func shell(t *testing.T, line string) Exit {
	t.Helper()
	e, err := Run(t.Context(), Command{Shell: line, Dir: t.TempDir()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// gone waits until no process with this number is alive.
func gone(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; {
		if !alive(pid) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("process %d is still there", pid)
		}
	}
}

// alive takes a dead process that nobody has waited for as gone.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

// number reads the number that a program has written to a file.
func number(t *testing.T, path string) int {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		b, _ := os.ReadFile(path)
		if n, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil && strings.HasSuffix(string(b), "\n") {
			return n
		}
	}
	t.Fatalf("no number in %s", path)
	return 0
}

func TestRun(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		c    Command
		want Exit
	}{
		{"argv", Command{Argv: []string{"printf", "%s|", "a b", "$HOME", "*"}}, Exit{Output: "a b|$HOME|*|"}},
		{"directory", Command{Shell: "pwd; echo $PWD"}, Exit{Output: dir + "\n" + dir + "\n"}},
		{"input", Command{Shell: "cat", Stdin: "given\n"}, Exit{Output: "given\n"}},
		{"input unread", Command{Shell: "exit 3", Stdin: strings.Repeat("x", 1<<20)}, Exit{Code: 3}},
		{"no input", Command{Shell: "read x; echo got=$x"}, Exit{Output: "got=\n"}},
		{"code", Command{Shell: "exit 42"}, Exit{Code: 42}},
		{"signal", Command{Shell: "kill -9 $$"}, Exit{Code: -1, Signal: "killed"}},
		{"order of arrival", Command{Shell: "for i in 1 2 3; do echo o$i; echo e$i >&2; done"}, Exit{Output: "o1\ne1\no2\ne2\no3\ne3\n"}},
		{"terminal", Command{Shell: "echo $TERM $PAGER $NO_COLOR"}, Exit{Output: "dumb cat 1\n"}},
		{"not found in a shell", Command{Shell: "exec 2>/dev/null; nosuchprogram"}, Exit{Code: 127}},
		{"kept", Command{Shell: "printf abcdefgh", Head: 2, Tail: 3}, Exit{Output: "ab\n[3 bytes left out]\nfgh", Dropped: 3}},
	} {
		tt.c.Dir = dir
		got, err := Run(t.Context(), tt.c, nil)
		if got.Duration <= 0 {
			t.Errorf("%s: duration %v", tt.name, got.Duration)
		}
		got.Duration = 0
		if got != tt.want || err != nil {
			t.Errorf("%s: %+v, %v, want %+v", tt.name, got, err, tt.want)
		}
	}
}

func TestCanNotStart(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"plain": "text", "script": "#!/nonexistent/interpreter\n", "odd": "\x00\x01"} {
		mode := os.FileMode(0o700)
		if name == "plain" {
			mode = 0o600
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		c    Command
		want string
	}{
		{Command{Dir: dir}, "run: give either a program or a shell line"},
		{Command{Dir: dir, Argv: []string{"a"}, Shell: "b"}, "run: give either a program or a shell line"},
		{Command{Dir: dir, Argv: []string{"nosuchprogram"}}, `run "nosuchprogram": command not found`},
		{Command{Dir: dir, Argv: []string{"./none"}}, `run "./none": no such file, or the interpreter that it names is missing`},
		{Command{Dir: dir, Argv: []string{"./plain"}}, `run "./plain": not executable`},
		{Command{Dir: dir, Argv: []string{"./script"}}, `run "./script": no such file, or the interpreter that it names is missing`},
		{Command{Dir: dir, Argv: []string{"./odd"}}, `run "./odd": exec format error`},
		{Command{Dir: dir, Argv: []string{"echo", "a\x00b"}}, "run: the command holds a NUL byte"},
		{Command{Dir: dir + "/none", Shell: "pwd"}, "run in \"" + dir + "/none\": no such file or directory"},
		{Command{Dir: dir + "/plain", Shell: "pwd"}, "run in \"" + dir + "/plain\": not a directory"},
		{Command{Dir: "here", Shell: "pwd"}, `run: the directory "here" is not absolute`},
		{Command{Dir: dir, Shell: "pwd", Tail: -1}, "run: keep between 0 and 8388608 bytes of output"},
	} {
		if _, err := Run(t.Context(), tt.c, nil); err == nil || err.Error() != tt.want {
			t.Errorf("%+v: %v, want %s", tt.c, err, tt.want)
		}
	}
}

func TestEnvironmentHoldsNoKey(t *testing.T) {
	t.Setenv("TEST_API_KEY", "hidden")
	t.Setenv("TEST_PLAIN", "hidden")
	t.Setenv("TEST_ALLOWED", "shown")
	e, err := Run(t.Context(), Command{Shell: "env", Dir: t.TempDir(), Env: []string{"TEST_ALLOWED", "TEST_API_KEY"}}, nil)
	if err != nil || strings.Contains(e.Output, "hidden") || !strings.Contains(e.Output, "TEST_ALLOWED=shown\n") {
		t.Errorf("%s, %v", e.Output, err)
	}
}

func TestOnlyThreeDescriptors(t *testing.T) {
	// One that is inherited, as a careless parent leaves it.
	fd, err := syscall.Dup(0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	e := shell(t, `for f in /dev/fd/*; do echo "${f##*/}"; done`)
	if strings.Contains("\n"+e.Output, "\n"+strconv.Itoa(fd)+"\n") || !strings.HasPrefix(e.Output, "0\n1\n2\n") {
		t.Errorf("descriptors %q, want not %d", e.Output, fd)
	}
}

// C076: the shell has exited but a background child keeps writing to the
// inherited pipe, and the tool never returns. Trigger: an endless loop in the
// background, then the end of the line.
func TestC076BackgroundChildHoldsThePipe(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	begin := time.Now()
	e := shell(t, `(while :; do echo tick; sleep 0.1; done) & echo $! > `+pidFile+`; echo done`)
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	if e.Code != 0 || !e.LeftRunning || e.TimedOut || !strings.Contains(e.Output, "done\n") {
		t.Errorf("exit %+v", e)
	}
	gone(t, number(t, pidFile))
}

func TestQuietBackgroundChildIsStopped(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	e := shell(t, `sleep 300 >/dev/null 2>&1 & echo $! > `+pidFile)
	if !e.LeftRunning || e.Code != 0 {
		t.Errorf("exit %+v", e)
	}
	gone(t, number(t, pidFile))
}

func TestNothingLeftRunning(t *testing.T) {
	for _, line := range []string{"echo a | cat", "(echo a &) ; sleep 0.05", "true >/dev/null 2>&1 & :"} {
		if e := shell(t, line); e.LeftRunning {
			t.Errorf("%s: something is said to be left running", line)
		}
	}
}

// C078: descendants that ignore TERM keep the pipe open, there is no default
// timeout, and the session is stuck. Trigger: such a child in the background.
func TestC078DescendantIgnoresTerm(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	e := shell(t, `sh -c 'trap "" TERM; echo $$ > `+pidFile+`; while :; do sleep 1; done' & while [ ! -s `+pidFile+` ]; do sleep 0.01; done`)
	if !e.LeftRunning || e.Duration > 5*time.Second {
		t.Errorf("exit %+v", e)
	}
	gone(t, number(t, pidFile))
}

// C078, in the foreground: TERM does nothing, KILL follows.
func TestC078KillAfterGrace(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	c := Command{
		Shell:   `trap "" TERM; echo $$ > ` + pidFile + `; while :; do sleep 0.1; done`,
		Dir:     t.TempDir(),
		Timeout: 300 * time.Millisecond, grace: 200 * time.Millisecond,
	}
	e, err := Run(t.Context(), c, nil)
	if err != nil || !e.TimedOut || e.Signal != "killed" || e.LeftRunning || e.Duration < 500*time.Millisecond {
		t.Errorf("exit %+v, %v", e, err)
	}
	gone(t, number(t, pidFile))
}

func TestC078DefaultTimeout(t *testing.T) {
	for _, tt := range []struct{ in, want time.Duration }{
		{0, 2 * time.Minute}, {-1, 2 * time.Minute}, {time.Second, time.Second}, {9 * time.Hour, time.Hour},
	} {
		if got := (&Command{Timeout: tt.in}).timeout(); got != tt.want {
			t.Errorf("timeout %v is %v, want %v", tt.in, got, tt.want)
		}
	}
}

func TestTimeoutIsTermFirst(t *testing.T) {
	c := Command{Shell: `exec 2>/dev/null; trap 'echo tidy; exit 7' TERM; echo up; while :; do sleep 0.01; done`, Dir: t.TempDir(), Timeout: 500 * time.Millisecond}
	e, err := Run(t.Context(), c, nil)
	if err != nil || !e.TimedOut || e.Code != 7 || e.Output != "up\ntidy\n" {
		t.Errorf("exit %+v, %v", e, err)
	}
}

func TestCancel(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := Command{Shell: `trap "" TERM; echo before; sh -c 'echo $$ > ` + pidFile + `; sleep 300'`, Dir: t.TempDir(), grace: 50 * time.Millisecond}
	var e Exit
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		e, err = Run(ctx, c, nil)
	}()
	number(t, pidFile)
	cancel()
	<-done
	if !errors.Is(err, context.Canceled) || e.TimedOut || e.Output != "before\n" || e.Duration > 10*time.Second {
		t.Errorf("exit %+v, %v", e, err)
	}
	gone(t, number(t, pidFile))
	if _, err := Run(ctx, c, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("with a dead context: %v", err)
	}
}

// C082: the agent's memory grows with what a command prints. Trigger: "yes",
// here 30 MB of it.
func TestC082FloodIsBounded(t *testing.T) {
	e := shell(t, "yes | head -c 30000000")
	if kept := int64(len(e.Output)); kept > 50<<10 || e.Dropped < 30000000-kept || e.Code != 0 {
		t.Errorf("code %d, %d bytes kept, %d dropped", e.Code, kept, e.Dropped)
	}
	if mark := "\n[" + strconv.FormatInt(e.Dropped, 10) + " bytes left out]\n"; !strings.Contains(e.Output, mark) {
		t.Errorf("no mark %q", mark)
	}
}

// C083: the live path was not capped, and work for each chunk starved the
// timer, so that the timeout never came. Trigger: endless output of one line.
func TestC083TimeoutUnderLoad(t *testing.T) {
	emit, events := watch()
	c := Command{Shell: `cat /dev/zero | tr '\0' x`, Dir: t.TempDir(), Timeout: time.Second}
	e, err := Run(t.Context(), c, emit)
	if err != nil || !e.TimedOut || e.Duration > 5*time.Second {
		t.Errorf("timed out %v after %v, %v", e.TimedOut, e.Duration, err)
	}
	if len(e.Output) > 50<<10 || e.Dropped == 0 {
		t.Errorf("%d bytes kept, %d dropped", len(e.Output), e.Dropped)
	}
	got := events()
	if most := 2 + int(e.Duration/livePause); len(got) == 0 || len(got) > most {
		t.Errorf("%d events in %v, want at most %d", len(got), e.Duration, most)
	}
	for _, s := range got {
		if len(s) > liveMax {
			t.Errorf("an event of %d bytes", len(s))
		}
	}
}

// C084: 157 MB of output in one line drove the process to 60 GB. Limits count
// bytes, not lines.
func TestC084OneHugeLine(t *testing.T) {
	begin := time.Now()
	e := shell(t, `head -c 157000000 /dev/zero | tr '\0' a`)
	if len(e.Output) > 50<<10 || e.Dropped < 156<<20*95/100 || e.TimedOut {
		t.Errorf("%d bytes kept, %d dropped in %v", len(e.Output), e.Dropped, time.Since(begin))
	}
}

// C085: output that is decoded pipe chunk by pipe chunk breaks characters.
// Trigger: a character in two writes; and bytes that never become one.
func TestC085CharacterInTwoWrites(t *testing.T) {
	for line, want := range map[string]string{
		`printf '\342\224'; sleep 0.2; printf '\234\n'`: "\u251c\n",
		`printf 'a\342\224'`:                            "a\ufffd",
		`printf 'a\377b\n'`:                             "a\ufffdb\n",
	} {
		if e := shell(t, line); e.Output != want {
			t.Errorf("%s: %q, want %q", line, e.Output, want)
		}
	}
}

// C086: escapes and progress redraws go to the model and use up the budget.
// Trigger: 500 redraws of a percentage, kept to a few bytes.
func TestC086RedrawsAreCollapsedFirst(t *testing.T) {
	c := Command{Shell: `i=0; while [ $i -lt 500 ]; do i=$((i+1)); printf '\r\033[2K%d%%' $i; done; echo`, Dir: t.TempDir(), Head: 8, Tail: 8}
	e, err := Run(t.Context(), c, nil)
	if err != nil || e.Output != "500%\n" || e.Dropped != 0 {
		t.Errorf("exit %+v, %v", e, err)
	}
}

func BenchmarkRun(b *testing.B) {
	dir := b.TempDir()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Run(b.Context(), Command{Argv: []string{"true"}, Dir: dir}, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// Both outputs of a program, and that of git, come without the key.
func TestTheKeyIsNotInOutput(t *testing.T) {
	const key = "sk-0123456789-abcdef"
	c := Command{
		Shell: `i=0; while [ $i -lt 40 ]; do printf %s "$0$0" sk-0123 456789-abcdef; printf %s sk-0123456789-abcd >&2; printf ef; i=$((i+1)); done; printf sk-0123456789-abcde`,
		Dir:   t.TempDir(), Head: 33, Tail: 61, Redact: llm.NewRedaction(key),
	}
	c.Shell = strings.ReplaceAll(c.Shell, "$0", key)
	e, err := Run(t.Context(), c, nil)
	if err != nil || e.Dropped == 0 || strings.Contains(e.Output, "sk") || strings.Contains(e.Output, "0123") {
		t.Errorf("%q, %v", e.Output, err)
	}
}
