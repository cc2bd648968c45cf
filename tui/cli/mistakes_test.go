package cli

import (
	"bytes"
	goflag "flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"alisio/agent/tools"
	"alisio/plug/openai"
	"alisio/scripts/scripttest"
)

var update = goflag.Bool("update", false, "rewrite what testdata/mistakes.txt expects; then read the difference")

// typed is one command line of mistakes.txt with what the program answers.
type typed struct {
	line string
	env  map[string]string
	args []string
	want []string
}

// Wrong things that people type: each ends with its exit code and a sentence that
// says what is wrong and what to do, on standard error. What it leaves in the person's
// directories is told too.
func TestMistakes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the answers hold the words and the paths of other systems")
	}
	file, err := filepath.Abs("testdata/mistakes.txt")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	archive := scripttest.ParseArchive(data)
	intro, cases := readTyped(t, string(archive.Head))
	if len(cases) < 60 {
		t.Errorf("%d command lines, want 60 at least", len(cases))
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(root, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := archive.Extract(work); err != nil {
		t.Fatal(err)
	}
	t.Chdir(work)
	before := below(t, work)
	for i := range cases {
		c := &cases[i]
		got := c.run(t, root)
		switch {
		case *update && !c.fits(got):
			c.want = got
		case !c.fits(got):
			t.Errorf("alisio %s\ngot  %s\nwant %s", c.line, strings.Join(got, "\n     "), strings.Join(c.want, "\n     "))
		}
	}
	if after := below(t, work); !slices.Equal(after, before) {
		t.Errorf("the working directory has %q, and had %q", after, before)
	}
	if *update {
		archive.Head = []byte(intro + blocks(cases))
		if err := os.WriteFile(file, archive.Format(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// readTyped reads blocks that begin with "$ " and end with an empty line; other lines
// are for readers and belong to the block behind them.
func readTyped(t *testing.T, head string) (intro string, cases []typed) {
	t.Helper()
	open := false
	for line := range strings.Lines(head) {
		line = strings.TrimRight(line, "\n")
		switch rest, is := strings.CutPrefix(line, "$ "); {
		case is:
			c := typed{line: rest, env: map[string]string{}}
			for _, w := range words(t, rest) {
				name, value, isEnv := strings.Cut(w, "=")
				if len(c.args) == 0 && isEnv && name == strings.ToUpper(name) {
					c.env[name] = value
					continue
				}
				c.args = append(c.args, w)
			}
			cases, open = append(cases, c), true
		case line == "":
			open = false
		case open:
			c := &cases[len(cases)-1]
			c.want = append(c.want, line)
		case len(cases) == 0:
			intro += line + "\n"
		default:
			t.Errorf("%q belongs to no command line", line)
		}
	}
	return intro + "\n", cases
}

// words takes a line apart at spaces; what stands in quotes is a Go string.
func words(t *testing.T, line string) (list []string) {
	t.Helper()
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimLeft(line, " ") {
		word := ""
		for line != "" && line[0] != ' ' {
			if line[0] != '"' {
				word, line = word+line[:1], line[1:]
				continue
			}
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			plain, err := strconv.Unquote(quoted)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			word, line = word+plain, line[len(quoted):]
		}
		list = append(list, word)
	}
	return list
}

// run types a line and returns what came of it: standard output behind "| ", standard
// error, the exit code.
func (c *typed) run(t *testing.T, root string) []string {
	t.Helper()
	home := filepath.Join(root, "home")
	if err := os.RemoveAll(home); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	e := env(c.args...)
	e.Plugins, e.Tools = Plugins{openai.Plugin()}, tools.All()
	e.Getenv = func(name string) string {
		value, given := c.env[name]
		switch {
		case given:
			return strings.ReplaceAll(value, "$WORK", filepath.Join(root, "work"))
		case strings.HasPrefix(name, "ALISIO_") && strings.HasSuffix(name, "_HOME"):
			return filepath.Join(home, strings.ToLower(name))
		case name == "HOME":
			return home
		}
		return ""
	}
	for i, arg := range e.Args {
		e.Args[i] = strings.ReplaceAll(arg, "$WORK", filepath.Join(root, "work"))
	}
	code := Main(t.Context(), e)
	seen := func(out any) []string {
		s := strings.NewReplacer(filepath.Join(root, "work"), "$WORK", home, "$HOME").Replace(out.(*bytes.Buffer).String())
		s = regexp.MustCompile(`(session|resume) [0-9a-f]{8}( |\n)`).ReplaceAllString(s, "$1 1a2b3c4d$2") // of a new session
		if s == "" {
			return nil
		}
		return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	}
	var got []string
	for _, line := range seen(e.Stdout) {
		got = append(got, "| "+line)
	}
	got = append(got, seen(e.Stderr)...)
	for _, name := range below(t, home) {
		if dir, _, isLock := strings.Cut(name, "/locks/"); isLock {
			name = dir + "/locks/ID"
		}
		got = append(got, "left $HOME/"+name)
	}
	if odd := regexp.MustCompile(`[\x00-\x1f\x7f-\x9f]`).FindString(strings.Join(got, "")); odd != "" {
		t.Errorf("alisio %s: %q reaches the terminal", c.line, odd)
	}
	return append(got, fmt.Sprintf("exit %d", code))
}

// fits compares line by line; an expected one that ends in "..." may go on.
func (c *typed) fits(got []string) bool {
	if len(got) != len(c.want) {
		return false
	}
	for i, want := range c.want {
		before, open := strings.CutSuffix(want, "...")
		if got[i] != want && !(open && strings.HasPrefix(got[i], before)) {
			return false
		}
	}
	return true
}

func blocks(cases []typed) string {
	var b strings.Builder
	for _, c := range cases {
		fmt.Fprintf(&b, "$ %s\n%s\n\n", c.line, strings.Join(c.want, "\n"))
	}
	return b.String()
}

// below lists the files below a directory.
func below(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		list = append(list, filepath.ToSlash(name))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
