package scripttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// command is one row of the table: usage and meaning for people, how many
// arguments, which of them is a regular expression (in which variables stand
// for themselves), and whether the command may be negated.
type command struct {
	name, usage string
	min, max    int // max < 0: any number
	pattern     int // counted from the end, 1 is the last; 0: none is
	negated     bool
	run         func(s *script, ctx context.Context, want bool, args []string) error
}

// commands is what a line of a script can say. "!" before a command that may
// be negated expects the opposite; of exec, sh and wait: an exit code that is
// not 0. [windows], [!linux], [unix] before a command limit it to a platform.
//
// Words are separated by white space; single quotes hold a word together and
// keep $ as it is, two of them in quotes stand for one. $NAME outside of quotes is a
// variable: HOME, TMPDIR, WORK (the working folder), SOURCE (the folder of the
// test's package, for fixtures), the homes of Params, and what scripts set. An
// unknown one is an error. stdout and stderr in place of a file name are the output
// of the last program.
func commands() []command {
	return []command{
		{"env", "NAME=VALUE…: set variables", 1, -1, 0, false, (*script).cmdEnv},
		{"unset", "NAME…: unset variables", 1, -1, 0, false, (*script).cmdUnset},
		{"cd", "DIR: where programs start and relative names begin", 1, 1, 0, false, (*script).cmdCd},
		{"stdin", "FILE: the next program reads it; nothing else is ever read", 1, 1, 0, false, (*script).cmdStdin},
		{"exec", "PROGRAM ARG… [&NAME]: run it, in the background with &NAME", 1, -1, 0, true, (*script).cmdExec},
		{"sh", "COMMAND [&NAME]: the same with /bin/sh -c", 1, 2, 0, true, (*script).cmdSh},
		{"exit", "N: the last program ended with this exit code; -1 is a signal", 1, 1, 0, false, (*script).cmdExit},
		{"signal", "INT|TERM|HUP|QUIT|KILL NAME: send to a background program", 2, 2, 0, false, (*script).cmdSignal},
		{"await", "stdout|stderr NAME PATTERN: until a background program has printed it", 3, 3, 1, false, (*script).cmdAwait},
		{"awaitfile", "FILE: until it exists", 1, 1, 0, false, (*script).cmdAwaitFile},
		{"awaitrequests", "N [SERVER]: until a server has had that many requests", 1, 2, 0, false, (*script).cmdAwaitRequests},
		{"wait", "NAME: until a background program ends; its output is the last one", 1, 1, 0, true, (*script).cmdWait},
		{"stdout", "[-count=N] PATTERN: the last program printed it", 1, 2, 1, true, (*script).cmdStdout},
		{"stderr", "[-count=N] PATTERN: likewise", 1, 2, 1, true, (*script).cmdStderr},
		{"grep", "[-count=N] PATTERN FILE: a file holds it", 2, 3, 2, true, (*script).cmdGrep},
		{"capture", "NAME PATTERN FILE: set a variable to what the group of the pattern matches", 3, 3, 2, false, (*script).cmdCapture},
		{"cmp", "FILE1 FILE2: equal; values of variables in FILE1 read as $NAME; -update rewrites FILE2", 2, 2, 0, true, (*script).cmdCmp},
		{"jsonl", "FILE: every line passes the check of Params.Line", 1, 1, 0, false, (*script).cmdJSONL},
		{"exists", "FILE…", 1, -1, 0, true, (*script).cmdExists},
		{"mode", "MODE FILE…: the permission bits, as 0600", 2, -1, 0, false, (*script).cmdMode},
		{"mkdir", "DIR…", 1, -1, 0, false, (*script).cmdMkdir},
		{"cp", "FILE TO", 2, 2, 0, false, (*script).cmdCp},
		{"rm", "FILE…: also folders with what is in them", 1, -1, 0, false, (*script).cmdRm},
		{"chmod", "MODE FILE…", 2, -1, 0, false, (*script).cmdChmod},
		{"symlink", "NAME -> TARGET", 3, 3, 0, false, (*script).cmdSymlink},
		{"mkfifo", "NAME…", 1, -1, 0, false, (*script).cmdMkfifo},
		{"expand", "FILE…: replace $NAME in files", 1, -1, 0, false, (*script).cmdExpand},
		{"fakellm", "SCRIPT.json [SERVER]: start a scripted model server; sets BASE_URL and REQUESTS (its log), with a name BASE_URL_SERVER and REQUESTS_SERVER", 1, 2, 0, false, (*script).cmdFakeLLM},
		{"down", "[SERVER]: end a server; fakellm with its name lets it come back at its address, with a new log", 0, 1, 0, false, (*script).cmdDown},
		{"requests", "N [SERVER]: a server has had that many requests", 1, 2, 0, false, (*script).cmdRequests},
		{"skip", "REASON: end here; put a platform before it", 1, 1, 0, false, (*script).cmdSkip},
	}
}

// script is one running script.
type script struct {
	name    string
	params  Params
	bin     *bin
	archive *Archive
	log     bytes.Buffer

	root string // holds the homes, logs and the working folder
	dir  string
	env  map[string]string

	// stdin is for the next program; nil is the null device.
	stdin []byte
	// What the last program printed and ended with; valid once one has run.
	stdout, stderr []byte
	code           int
	ran            bool

	background map[string]*process
	servers    map[string]*server
	// skipped is the reason why the script ended early.
	skipped string
	// updated: sections of archive have changed and are to be written back.
	updated bool
}

// newScript prepares folders and environment below root.
func newScript(name string, data []byte, root string, b *bin, p Params) (*script, error) {
	s := &script{
		name: name, params: p, bin: b, archive: ParseArchive(data), root: root, dir: filepath.Join(root, "ws"),
		background: make(map[string]*process), servers: make(map[string]*server),
	}
	if !bytes.HasPrefix(s.archive.Head, []byte("#")) {
		return nil, fmt.Errorf("%s: begin with a comment: # what is checked and where the case comes from", name)
	}
	// No script reaches the network: what is not loopback goes to a proxy that
	// is not there (nobody listens on the discard port). Servers on loopback are
	// asked directly.
	const closed = "http://127.0.0.1:9"
	s.env = map[string]string{
		"PATH": b.dir + string(os.PathListSeparator) + os.Getenv("PATH"),
		"WORK": s.dir,
		"LANG": "C.UTF-8",
		"TERM": "dumb",
		// Under the race detector a program sleeps a second when it ends.
		"GORACE":     "atexit_sleep_ms=0",
		"HTTP_PROXY": closed, "HTTPS_PROXY": closed,
	}
	var err error
	if s.env["SOURCE"], err = os.Getwd(); err != nil {
		return nil, err
	}
	for _, name := range []string{"SYSTEMROOT", "GOCOVERDIR"} {
		if v := os.Getenv(name); v != "" {
			s.env[name] = v
		}
	}
	if err := os.Mkdir(s.dir, 0o755); err != nil {
		return nil, err
	}
	for _, home := range append([]string{"HOME", "TMPDIR"}, p.Homes...) {
		s.env[home] = filepath.Join(root, strings.ToLower(home))
		if err := os.Mkdir(s.env[home], 0o700); err != nil {
			return nil, err
		}
	}
	return s, s.archive.Extract(s.dir)
}

// run obeys the lines of the script until one fails.
func (s *script) run(ctx context.Context) error {
	table := commands()
	number := 0
	for line := range strings.Lines(string(s.archive.Head)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		fmt.Fprintf(&s.log, "> %s\n", line)
		if err := s.obey(ctx, table, line); err != nil {
			return fmt.Errorf("%s:%d: %s: %w", s.name, number, line, err)
		}
		if s.skipped != "" {
			return nil
		}
	}
	return nil
}

// obey runs one line: platforms, negation, the table's row, variables.
func (s *script) obey(ctx context.Context, table []command, line string) error {
	words, err := split(line)
	if err != nil {
		return err
	}
	for len(words) > 0 && strings.HasPrefix(words[0].plain(), "[") {
		ok, err := onPlatform(words[0].plain())
		if err != nil || !ok {
			return err
		}
		words = words[1:]
	}
	want := true
	if len(words) > 0 && words[0].plain() == "!" {
		want, words = false, words[1:]
	}
	if len(words) == 0 {
		return errors.New("no command")
	}
	i := slices.IndexFunc(table, func(c command) bool { return c.name == words[0].plain() })
	if i < 0 {
		return fmt.Errorf("unknown command %q", words[0].plain())
	}
	c := table[i]
	args := make([]string, len(words)-1)
	for i, w := range words[1:] {
		if args[i], err = s.value(w, c.pattern == len(words)-1-i); err != nil {
			return err
		}
	}
	switch {
	case len(args) < c.min || c.max >= 0 && len(args) > c.max:
		return fmt.Errorf("usage: %s %s", c.name, c.usage)
	case !want && !c.negated:
		return fmt.Errorf("%s can not be negated", c.name)
	}
	return c.run(s, ctx, want, args)
}

// onPlatform decides [windows], [!linux] and the like.
func onPlatform(cond string) (bool, error) {
	name, ok := strings.CutSuffix(cond[1:], "]")
	name, not := strings.CutPrefix(name, "!")
	switch {
	case !ok:
		return false, fmt.Errorf("%s: no closing bracket", cond)
	case name == "unix":
		return (runtime.GOOS != "windows") != not, nil
	case name == "linux", name == "darwin", name == "windows":
		return (runtime.GOOS == name) != not, nil
	}
	return false, fmt.Errorf("%s: platforms are unix, linux, darwin, windows", cond)
}

// environ is the environment of programs, sorted.
func (s *script) environ() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(s.env)) {
		out = append(out, name+"="+s.env[name])
	}
	return out
}

// path makes a name absolute.
func (s *script) path(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(s.dir, filepath.FromSlash(name))
}

// read returns a file, or the last output.
func (s *script) read(name string) ([]byte, error) {
	if name != "stdout" && name != "stderr" {
		return os.ReadFile(s.path(name))
	}
	if !s.ran {
		return nil, fmt.Errorf("no program has run, so there is no %s", name)
	}
	if name == "stdout" {
		return s.stdout, nil
	}
	return s.stderr, nil
}
