package cli

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"alisio/llm"
)

func env(args ...string) Env {
	return Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{},
		Getenv: func(string) string { return "" },
	}
}

func TestFlagsStandAnywhere(t *testing.T) {
	words := [][]string{{"run"}, {"fix"}, {"--json"}, {"-m", "x"}, {"--add-dir", "a"}, {"--add-dir=b"}, {"--allow-write"}}
	// Every rotation, and its reverse, means the same but for the order of words.
	for i := range words {
		for _, reverse := range []bool{false, true} {
			order := slices.Concat(words[i:], words[:i])
			if reverse {
				slices.Reverse(order)
			}
			c, err := parse(env(slices.Concat(order...)...))
			if err != nil {
				t.Fatalf("%v: %v", order, err)
			}
			got := append([]string{c.verb}, c.args...)
			slices.Sort(got)
			dirs := slices.Sorted(slices.Values(c.overrides.AddDirs))
			if !slices.Equal(got, []string{"fix", "run"}) || !c.json || *c.overrides.Model != "x" ||
				!slices.Equal(dirs, []string{"a", "b"}) || !c.policy.AllowWrite {
				t.Errorf("%v: got %v %+v", order, got, c.settings)
			}
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
		{"run -m --json", "", "needs a value"},
		{"run --model", "", "needs a value"},
		{"run --json=true", "", "takes no value"},
		{"run -j", "", "unknown flag \"-j\""},
		{"run --allow-wirte", "", "did you mean \"--allow-write\""},
		{"run -model x", "", "unknown flag"},
		{"run ---json", "", "unknown flag"},
		{"run --=x", "", "unknown flag"},
		{"run --keep x", "", "belongs to: alisio demo"},
	} {
		got, err := parse(env(strings.Fields(c.args)...))
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: got %v", c.args, err)
			}
			continue
		}
		if err != nil || strings.Join(append([]string{got.verb}, got.args...), " ") != c.words {
			t.Errorf("%s: got %+v, %v", c.args, got, err)
		}
	}
}

func TestTablesAreSortedAndExplained(t *testing.T) {
	byName := func(a, b flag) int { return strings.Compare(a.name, b.name) }
	if !slices.IsSortedFunc(flags(), byName) {
		t.Error("the flags are not sorted")
	}
	text := usage()
	for _, f := range flags() {
		if f.help == "" || f.verb == "" && !strings.Contains(text, "--"+f.name) {
			t.Errorf("flag --%s is not explained", f.name)
		}
	}
	if !slices.IsSortedFunc(verbs(), func(a, b verb) int { return strings.Compare(a.name, b.name) }) {
		t.Error("the commands are not sorted")
	}
	for _, line := range strings.Split(text, "\n") {
		if len(line) > 100 {
			t.Errorf("a line of %d characters: %s", len(line), line)
		}
	}
}

func TestEveryTopicPrints(t *testing.T) {
	for _, topic := range topics() {
		e := env("help", topic)
		if code := Main(context.Background(), e); code != exitDone {
			t.Errorf("help %s: exit code %d", topic, code)
		}
		page := e.Stdout.(*bytes.Buffer).String()
		if len(page) < 200 || !strings.HasSuffix(page, "\n") {
			t.Errorf("help %s: got %q", topic, page)
		}
	}
}

func TestExitCodes(t *testing.T) {
	want := map[llm.Cause]int{
		"": 0, llm.CauseTimeout: 5, llm.CauseBudget: 6, llm.CauseTurns: 3, llm.CausePermission: 4,
		llm.CauseAuth: 7, llm.CauseQuota: 7, llm.CauseRateLimited: 7, llm.CauseUnreachable: 7,
		llm.CauseServer: 7, llm.CauseBadRequest: 7, llm.CauseStream: 7, llm.CauseSandbox: 8, llm.CauseUncertain: 9,
		llm.CauseContextLength: 1, llm.CauseOutputTruncated: 1, llm.CauseFiltered: 1, llm.CauseOutputSchema: 1,
		llm.CauseDoomLoop: 1, llm.CauseStore: 1, llm.CauseInternal: 1,
	}
	for cause, code := range want {
		if got := exitCode(cause); got != code {
			t.Errorf("%q: got %d, want %d", cause, got, code)
		}
	}
}

// A caller that keeps a pipe open and never writes must not hang a run that has
// its task already; one that is slow but was asked for is waited for.
func TestASilentPipeIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		e := env("run", "the task")
		e.Stdin = r
		c, err := parse(e)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.prompt(context.Background())
		if err != nil || got != "the task" {
			t.Errorf("got %q, %v", got, err)
		}
		if note := e.Stderr.(*bytes.Buffer).String(); !strings.Contains(note, "left alone") {
			t.Errorf("nobody is told: %q", note)
		}
		w.Close()
	})
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
		{[]string{"run"}, "x", "x"},
		{[]string{"run", "a"}, " \n", "a"},
	} {
		e := env(c.args...)
		e.Stdin = strings.NewReader(c.stdin)
		call, err := parse(e)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := call.prompt(context.Background()); err != nil || got != c.want {
			t.Errorf("%v with %q: got %q, %v, want %q", c.args, c.stdin, got, err, c.want)
		}
	}
	e := env("run", "-")
	call, _ := parse(e)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := call.prompt(ctx); err == nil {
		t.Error("an empty pipe is a task")
	}
}
