package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"alisio/agent/config"
	"alisio/tui/cli/base"
)

func env(args ...string) Env {
	return Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{},
		Getenv: func(string) string { return "" },
	}
}

// Symptom: a session of a local server could not go on at the one that the
// configuration names, and the hint said to name it there. Trigger: that one is the
// default.
func TestAServerInTheConfigurationIsNamed(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "config.json")
	for _, c := range []struct {
		args []string
		env  map[string]string
		want bool
	}{
		{[]string{"run", "go"}, nil, false},
		{[]string{"run", "go", "-m", "x"}, map[string]string{"ALISIO_MODEL": "y"}, false},
		{[]string{"run", "go", "--config", file}, nil, true},
		{[]string{"run", "go"}, map[string]string{"ALISIO_CONFIG_HOME": home}, true},
		{[]string{"run", "go"}, map[string]string{"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, true},
		{[]string{"run", "go", "--base-url", config.Default().Provider.BaseURL}, nil, true},
	} {
		if err := os.WriteFile(file, []byte(`{"provider": {"baseURL": "`+config.Default().Provider.BaseURL+`"}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		e := env(c.args...)
		e.Getenv = func(name string) string { return c.env[name] }
		call, err := parse(e)
		if err != nil {
			t.Fatal(err)
		}
		if o, err := call.options(); err != nil || o.NamedServer != c.want {
			t.Errorf("%v, %v: got %v, %v, want %v", c.args, c.env, o.NamedServer, err, c.want)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		args  string
		words string
		fails string
	}{
		{"run -- --json -m", "run --json -m", ""},
		{"run -", "run -", ""},
		{"run a - b", "run a - b", ""},
		{"run -m=x y", "run y", ""},
		{"run -m -x", "run", ""}, // a value may begin with one hyphen
		{"run -mx y", "run y", ""},
		{"run --yolo", "", "alisio run --help lists its flags"},
		{"demo --read-only", "", "means nothing to: alisio demo"},
		{"demo --json --quiet", "demo", ""},
		{"version -m x", "", "means nothing to"},
		{"run -m --json", "", "needs a value"},
		{"run --model", "", "needs a value"},
		{"run --json=true", "", "allowed: --json, or --json=final"},
		{"run -j", "", "unknown flag \"-j\""},
		{"run --allow-wirte", "", "did you mean \"--allow-write\""},
		{"run -model x", "", "unknown flag"},
		{"run ---json", "", "unknown flag"},
		{"run --=x", "", "unknown flag"},
		{"run --keep x", "", "belongs to: alisio demo"},
		{"sessions list --all", "sessions list", ""},
		{"--all sessions --limit 3 list --json", "sessions list", ""},
		{"sessions show 1a --all", "", "belongs to: alisio sessions list"},
		{"sessions show 1a -m x", "", "means nothing to: alisio sessions show; its flags: alisio sessions show --help"},
		{"sessions rename 1a x --json", "", "means nothing to: alisio sessions rename"},
		{"resume --session 1a x", "", "belongs to: alisio run"},
		{"run --last x", "", "means nothing to: alisio run"},
		{"run --json final", "", "as --json=final"},
		{"-c more", "more", ""},
		{"run -c more", "", "belongs to: alisio without a command"},
		{"version --db x", "", "means nothing to"},
		{"demo --db x", "", "means nothing to"},
		{"sessions list --here=yes", "", "takes no value"},
		{"frob --keep", "frob", ""}, // the command is told of, not its flag
	} {
		got, err := parse(env(strings.Fields(c.args)...))
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: got %v", c.args, err)
			}
			continue
		}
		if err != nil || strings.TrimSpace(strings.Join(append([]string{got.Verb}, got.Args...), " ")) != c.words {
			t.Errorf("%s: got %+v, %v", c.args, got, err)
		}
	}
}

func TestTablesAreSortedAndExplained(t *testing.T) {
	byName := func(a, b flag) int { return strings.Compare(a.Name, b.Name) }
	if !slices.IsSortedFunc(flags(), byName) {
		t.Error("the flags are not sorted")
	}
	for _, f := range flags() {
		for _, name := range f.In {
			if name == "" {
				continue // the program without a command
			}
			if got := resolve(strings.Fields(name)); got.Name != name || got.Command.Run == nil || len(got.Words) > 0 || got.Unknown != nil {
				t.Errorf("flag --%s is for %q, which is no command", f.Name, name)
			}
		}
	}
	for _, list := range [][]verb{verbs(), sessionVerbs(), configVerbs(), contextVerbs(), pluginVerbs(), skillVerbs(), templateVerbs(), trustVerbs()} {
		if !slices.IsSortedFunc(list, func(a, b verb) int { return strings.Compare(a.Name, b.Name) }) {
			t.Error("the commands are not sorted")
		}
	}
	lines := usage()
	for _, f := range flags() {
		said := strings.Contains(lines, "--"+f.Name+" ") || strings.Contains(lines, "--"+f.Name+"[")
		if want := takes(f, "") || takes(f, "run"); said != want {
			t.Errorf("flag --%s: it is in the usage: %v, want %v", f.Name, said, want)
		}
	}
	for _, name := range commandLine().Names() {
		page, err := page(name)
		if err != nil {
			t.Fatal(err)
		}
		_, own, _ := strings.Cut(page, "\nFlags:\n")
		for _, f := range flags() {
			said := strings.Contains(own, "--"+f.Name+" ") || strings.Contains(own, "--"+f.Name+"[")
			if takes(f, name) != said || f.Help == "" {
				t.Errorf("%s: flag --%s is taken but not explained, or the other way", name, f.Name)
			}
		}
		lines += own
	}
	for _, line := range strings.Split(lines, "\n") {
		if utf8.RuneCountInString(line) > 80 {
			t.Errorf("a line of %d characters: %s", utf8.RuneCountInString(line), line)
		}
	}
}

func TestEveryTopicPrints(t *testing.T) {
	for _, topic := range topics() {
		e := env("help", topic)
		if code := Main(context.Background(), e); code != base.ExitDone {
			t.Errorf("help %s: exit code %d", topic, code)
		}
		page := e.Stdout.(*bytes.Buffer).String()
		for line := range strings.SplitSeq(page, "\n") {
			if utf8.RuneCountInString(line) > 88 {
				t.Errorf("help %s: a line of %d characters: %s", topic, utf8.RuneCountInString(line), line)
			}
		}
		if len(page) < 200 || !strings.HasSuffix(page, "\n") {
			t.Errorf("help %s: got %q", topic, page)
		}
	}
}

func TestEveryCommandHasHelp(t *testing.T) {
	for _, name := range append(commandLine().Names(), "sessions", "config", "context", "plugins", "skills", "templates", "trust") {
		words := strings.Fields(name)
		for _, args := range [][]string{append(words, "--help"), append([]string{"help"}, words...)} {
			e := env(args...)
			if code := Main(context.Background(), e); code != base.ExitDone || e.Stdout.(*bytes.Buffer).Len() == 0 {
				t.Errorf("%v: exit code %d, %q, %q", args, code, e.Stdout, e.Stderr)
			}
		}
	}
	e := env("frob", "--help")
	if code := Main(context.Background(), e); code != base.ExitUsage || !strings.Contains(e.Stderr.(*bytes.Buffer).String(), `command "frob"`) {
		t.Errorf("frob --help: exit code %d, %q", code, e.Stderr)
	}
}

// stream is standard input of some kind.
type stream struct {
	io.Reader
	mode fs.FileMode
}

func (s stream) Stat() (fs.FileInfo, error) { return info{mode: s.mode}, nil }

type info struct {
	fs.FileInfo
	mode fs.FileMode
}

func (i info) Mode() fs.FileMode { return i.mode }

// A socket that a parent left open and never writes to must not hang a run that
// has its task already.
func TestASilentSocketIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		e := env("run", "the task")
		e.Stdin = stream{r, fs.ModeSocket}
		c, err := parse(e)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.prompt(context.Background(), c.Args, errNoTask)
		if err != nil || got != "the task" {
			t.Errorf("got %q, %v", got, err)
		}
		if note := e.Stderr.(*bytes.Buffer).String(); !strings.Contains(note, "left alone") {
			t.Errorf("nobody is told: %q", note)
		}
		w.Close()
	})
}

// What somebody pipes in is part of the task, however long it takes to come:
// "go test ./... | alisio run why".
func TestASlowPipeIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		e := env("run", "why")
		e.Stdin = stream{r, fs.ModeNamedPipe}
		c, err := parse(e)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(time.Minute)
			io.WriteString(w, "FAIL")
			time.Sleep(time.Minute)
			io.WriteString(w, " late")
			w.Close()
		}()
		got, err := c.prompt(context.Background(), c.Args, errNoTask)
		if err != nil || got != "why\n\nFAIL late" {
			t.Errorf("got %q, %v", got, err)
		}
		if note := e.Stderr.(*bytes.Buffer).String(); strings.Count(note, "waiting for the end") != 1 {
			t.Errorf("told: %q", note)
		}
	})
}

// A terminal or the null device beside a task is not read.
func TestADeviceIsNotRead(t *testing.T) {
	e := env("run", "the task")
	e.Stdin = stream{strings.NewReader("not asked for"), fs.ModeDevice | fs.ModeCharDevice}
	c, err := parse(e)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.prompt(context.Background(), c.Args, errNoTask); err != nil || got != "the task" {
		t.Errorf("got %q, %v", got, err)
	}
}

// The example of the manual can be used as it stands, and has every key.
func TestTheConfigurationOfTheManualLoads(t *testing.T) {
	page, err := manual.ReadFile("manual/config.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, block, ok := strings.Cut(string(page), "\n  {\n")
	block, _, closed := strings.Cut(block, "\n  }\n")
	if !ok || !closed {
		t.Fatal("there is no example")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte("{"+block+"\n}"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.LoadOptions{
		Dirs: config.Dirs{Config: dir}, Getenv: func(string) string { return "" }, Plugins: []string{"openai-compatible"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range config.Keys() {
		name := strings.NewReplacer("models.<id>", "models.qwen3-coder", "skillOverrides.<id>", "skillOverrides.pdf-forms", "<id>", "openai-compatible").Replace(key.Name)
		if !c.Given(name) {
			t.Errorf("the example lacks %s", key.Name)
		}
	}
}

func TestPromptAndPipe(t *testing.T) {
	for _, c := range []struct {
		args  []string
		stdin string
		want  string
	}{
		{[]string{"run", "a", "b"}, "", "a b"},
		{[]string{"run", "a"}, "x\n", "a\n\nx"},
		{[]string{"run", "a", "-"}, "x\ny\n", "a\n\nx\ny"},
		{[]string{"run", "-"}, "x", "x"},
		{[]string{"run", "-", "a", "b"}, "x", "a b\n\nx"},
		{[]string{"run", "a", "-", "b"}, "", "a - b"},
		{[]string{"run"}, "x", "x"},
		{[]string{"run", "a"}, " \n", "a"},
	} {
		e := env(c.args...)
		e.Stdin = strings.NewReader(c.stdin)
		call, err := parse(e)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := call.prompt(context.Background(), call.Args, errNoTask); err != nil || got != c.want {
			t.Errorf("%v with %q: got %q, %v, want %q", c.args, c.stdin, got, err, c.want)
		}
	}
	for _, args := range [][]string{{"run"}, {"run", "-"}} {
		call, err := parse(env(args...))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := call.prompt(context.Background(), call.Args, errNoTask); !errors.Is(err, errNoTask) {
			t.Errorf("%v with nothing to read: got %v", args, err)
		}
	}
}

// takes reports whether a command takes a flag, as parsing it says.
func takes(f flag, name string) bool {
	words := append(strings.Fields(name), "--"+f.Name)
	if f.Inline {
		words[len(words)-1] = "--" + f.Name + "=" + f.Values[0]
	}
	if f.Arg != "" && !f.Inline {
		words = append(words, slices.Concat(f.Values, validValues()[f.Arg])[0])
	}
	_, err := parse(env(words...))
	return err == nil || !strings.Contains(err.Error(), "belongs to") && !strings.Contains(err.Error(), "means nothing to")
}
