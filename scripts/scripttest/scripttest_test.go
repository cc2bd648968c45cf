package scripttest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if IsSelf("toy") {
		os.Exit(toy(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// toy is a program to run in scripts.
func toy(args []string) int {
	switch args[0] {
	case "say": // to stdout, the rest to stderr
		fmt.Println(args[1])
		for _, a := range args[2:] {
			fmt.Fprintln(os.Stderr, a)
		}
	case "fail":
		return 3
	case "cat":
		if _, err := io.Copy(os.Stdout, os.Stdin); err != nil {
			return 1
		}
	case "env":
		fmt.Println(strings.Join(os.Environ(), "\n"))
	case "until": // a signal comes
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM)
		fmt.Println("ready")
		<-c
		fmt.Println("told to stop")
		return 130
	case "orphan": // leaves a child behind that holds stdout
		self, err := os.Executable()
		if err != nil {
			return 1
		}
		cmd := exec.Command(self, "until")
		cmd.Stdout = os.Stdout
		if cmd.Start() != nil {
			return 1
		}
		fmt.Println("pid", cmd.Process.Pid)
	case "get":
		resp, err := http.Get(args[1])
		if err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			return 1
		}
		defer resp.Body.Close()
		fmt.Println(resp.StatusCode)
	case "post":
		resp, err := http.Post(args[1], "application/json", strings.NewReader(args[2]))
		if err != nil {
			return 1
		}
		defer resp.Body.Close()
		if _, err := io.Copy(os.Stdout, bufio.NewReader(resp.Body)); err != nil {
			return 1
		}
	}
	return 0
}

func params() Params {
	return Params{
		Self: "toy", Build: map[string]string{"fakellm": "alisio/scripts/fakellm"}, Homes: []string{"TOY_HOME"},
		Line: func(line []byte) error {
			if !bytes.HasPrefix(line, []byte("{")) {
				return errors.New("no object")
			}
			return nil
		},
	}
}

func programs(t *testing.T, p Params) *bin {
	t.Helper()
	b, err := newBin(t.TempDir(), p)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// play runs the text of a script without a test around it.
func play(t *testing.T, text string, b *bin, p Params) (*script, error) {
	t.Helper()
	s, err := newScript("x.txt", []byte(text), t.TempDir(), b, p)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err = s.run(ctx)
	return s, errors.Join(err, s.close(err != nil))
}

// TestRun runs the scripts of testdata as a user of the package does; they
// show every command succeed.
func TestRun(t *testing.T) {
	p := params()
	p.Dir = "testdata"
	Run(t, p)
}

// TestFailures: each of these scripts must fail, and say why; a command that
// can not fail tests nothing.
func TestFailures(t *testing.T) {
	tests := []struct{ name, script, want string }{
		{"no origin", "exec toy say a", "begin with a comment"},
		{"unknown command", "# x\nexek toy", `x.txt:2: exek toy: unknown command "exek"`},
		{"too few arguments", "# x\ncmp a", "usage: cmp FILE1 FILE2"},
		{"not negatable", "# x\n! env A=1", "can not be negated"},
		{"open quote", "# x\nexec 'toy", "a quote is not closed"},
		{"unknown variable", "# x\nexec toy say $NOBODY", `no variable "NOBODY"`},
		{"unknown platform", "# x\n[plan9] exec toy", "platforms are"},
		{"no such program", "# x\nexec no-such-program-here", "executable file not found"},
		{"exit code", "# x\nexec toy fail", "exit code 3"},
		{"exit code expected", "# x\n! exec toy say a", "another one was expected"},
		{"other exit code", "# x\n! exec toy fail\nexit 4", "exit code 3, want 4"},
		{"exit before exec", "# x\nexit 0", "no program has run"},
		{"stdout before exec", "# x\nstdout a", "no program has run"},
		{"stdout", "# x\nexec toy say a\nstdout b", "no match in stdout"},
		{"not stdout", "# x\nexec toy say a\n! stdout a", `stdout holds "a"`},
		{"stderr", "# x\nexec toy say a b\nstderr a", "no match in stderr"},
		{"count", "# x\nexec toy say aa\nstdout -count=1 a", "2 matches in stdout, want 1"},
		{"grep", "# x\ngrep b f\n-- f --\na\n", "no match in f"},
		{"capture", "# x\ncapture V 'b(.)' f\n-- f --\na\n", "no match in f"},
		{"capture without group", "# x\ncapture V b f\n-- f --\nb\n", "exactly one group"},
		{"cmp", "# x\ncmp f g\n-- f --\na\nb\n-- g --\na\nc\n", "f and g differ:\nline 2:\n got \"b\\n\"\nwant \"c\\n\""},
		{"cmp end", "# x\ncmp f g\n-- f --\na\n-- g --\na\nc\n", "got \"\"\nwant \"c\\n\""},
		{"not cmp", "# x\n! cmp f g\n-- f --\na\n-- g --\na\n", "are equal"},
		{"jsonl", "# x\njsonl f\n-- f --\n{}\nlog line\n", "f:2: no object"},
		{"jsonl empty", "# x\njsonl f\n-- f --\n", "f is empty"},
		{"jsonl cut", "# x\nsh 'printf {}'\njsonl stdout", "the last line of stdout has no end"},
		{"exists", "# x\nexists f", "no such file"},
		{"not exists", "# x\n! exists f\n-- f --\n", "f exists"},
		{"mode", "# x\nchmod 600 f\nmode 644 f\n-- f --\n", "mode 0600, want 0644"},
		{"cd", "# x\ncd nowhere", "no such file"},
		{"section outside", "# x\n-- ../f --\n", "leads out"},
		{"left in background", "# x\nexec toy until &u", "nobody waited for the background program u"},
		{"await ended", "# x\nexec toy say a &s\nawait stdout s b", "the program ended before; it printed:\na"},
		{"wait unknown", "# x\nwait s", `no background program "s"`},
		{"signal unknown", "# x\nsignal TERM s", `no background program "s"`},
		{"two of a name", "# x\nexec toy until &u\nexec toy until &u", "a name of its own"},
		{"requests without server", "# x\nrequests 1", "no such server"},
		{"request beyond the script", "# x\nfakellm s.json\nexec toy post $BASE_URL/chat/completions '{}'\n-- s.json --\n{\"replies\":[]}\n", "fakellm : error: the script is over"},
		{"requests", "# x\nfakellm s.json\nrequests 1\n-- s.json --\n{\"replies\":[]}\n", "0 requests, want 1"},
		{"broken server script", "# x\nfakellm s.json\n-- s.json --\n{\"repliez\":[]}\n", "repliez"},
	}
	p := params()
	b := programs(t, p)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := play(t, tt.script, b, p)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
		})
	}
}

// TestOrphan: a program that leaves a process behind which holds its output
// must not hang the script, and fails it.
func TestOrphan(t *testing.T) {
	t.Parallel()
	p := params()
	s, err := play(t, "# x\nexec toy orphan", programs(t, p), p)
	if err == nil || !strings.Contains(err.Error(), "left a process behind") {
		t.Errorf("got %v", err)
	}
	var pid int
	if _, err := fmt.Sscanf(string(s.stdout), "pid %d", &pid); err != nil {
		t.Fatalf("%v in %q", err, s.stdout)
	}
	child, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Kill(); err != nil {
		t.Error(err)
	}
}

// TestTimeout: the end of a script's time kills its program.
func TestTimeout(t *testing.T) {
	t.Parallel()
	p := params()
	b := programs(t, p)
	s, err := newScript("x.txt", []byte("# x\nexec toy until &u\nawait stdout u ready\nwait u"), t.TempDir(), b, p)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	err = s.run(ctx)
	if err == nil || !strings.Contains(err.Error(), "time") && !strings.Contains(err.Error(), "script's end") {
		t.Errorf("got %v", err)
	}
	if err := s.close(true); err != nil {
		t.Error(err)
	}
}

func TestUpdate(t *testing.T) {
	p := params()
	p.Update = true
	const head = "# x\nexec toy say $WORK/a\ncmp stdout want\n"
	s, err := play(t, head+"-- want --\nold\n-- other --\nkept\n", programs(t, p), p)
	if err != nil {
		t.Fatal(err)
	}
	got, want := string(s.archive.Format()), head+"-- want --\n$WORK/a\n-- other --\nkept\n"
	if !s.updated || got != want {
		t.Errorf("updated %v, got:\n%s\nwant:\n%s", s.updated, got, want)
	}
}

// Fixtures are found from the folder of the test's package.
func TestSource(t *testing.T) {
	p := params()
	if _, err := play(t, "# x\nexists $SOURCE/scripttest.go\n", programs(t, p), p); err != nil {
		t.Error(err)
	}
}

func TestSkip(t *testing.T) {
	p := params()
	s, err := play(t, "# x\nskip 'not here'\nexec toy fail\n", programs(t, p), p)
	if err != nil || s.skipped != "not here" {
		t.Errorf("got %v, skipped %q", err, s.skipped)
	}
}

func TestSplit(t *testing.T) {
	s := &script{env: map[string]string{"A": "x.y", "B": ""}}
	tests := []struct {
		line    string
		pattern bool
		want    []string
	}{
		{"a  b\tc", false, []string{"a", "b", "c"}},
		{"a # comment", false, []string{"a"}},
		{"a#b", false, []string{"a#b"}},
		{"'a b' ''", false, []string{"a b", ""}},
		{"'it''s'", false, []string{"it's"}},
		{"$A '$A' p'q'${A}", false, []string{"x.y", "$A", "pqx.y"}},
		{"^$A", true, []string{`^x\.y`}},
		{"$B", false, []string{""}},
	}
	for _, tt := range tests {
		words, err := split(tt.line)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, w := range words {
			v, err := s.value(w, tt.pattern)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, v)
		}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", tt.want) {
			t.Errorf("%s: got %q, want %q", tt.line, got, tt.want)
		}
	}
}

func TestArchive(t *testing.T) {
	const text = "# head\n\n-- a/b --\none\n-- not a section\n-- empty --\n-- last --\nno end"
	a := ParseArchive([]byte(text))
	if got, want := string(a.Head), "# head\n\n"; got != want {
		t.Errorf("head: got %q, want %q", got, want)
	}
	for name, want := range map[string]string{"a/b": "one\n-- not a section\n", "empty": "", "last": "no end"} {
		if s := a.Section(name); s == nil || string(s.Data) != want {
			t.Errorf("section %s: got %v, want %q", name, s, want)
		}
	}
	if a.Section("none") != nil {
		t.Error("found a section that is not there")
	}
	if got, want := string(a.Format()), text+"\n"; got != want {
		t.Errorf("format: got %q, want %q", got, want)
	}
	dir := t.TempDir()
	if err := a.Extract(dir); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "a", "b")); err != nil || string(got) != "one\n-- not a section\n" {
		t.Errorf("extracted %q, %v", got, err)
	}
}

func TestOutputIsBounded(t *testing.T) {
	var o output
	o.data = make([]byte, maxOutput-2)
	if n, err := o.Write([]byte("abcd")); n != 4 || err != nil {
		t.Errorf("got %d, %v: the program must not see the bound", n, err)
	}
	if got := len(o.bytes()); got != maxOutput {
		t.Errorf("kept %d bytes, want %d", got, maxOutput)
	}
}
