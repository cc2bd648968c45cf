package tools

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"alisio/plug"
)

func TestShell(t *testing.T) {
	b := newBench(t)
	b.put("sub/x", "")
	c := b.call(args{"command": "echo out; pwd; exit 3", "cwd": "sub", "timeoutMs": 5000})
	p, err := shell{}.Prepare(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	dir := b.root + "/sub"
	if p.Effect != plug.EffectProcess || p.Title != "echo out; pwd; exit 3" || p.Shell != p.Title || p.Argv != nil || p.Dir != dir ||
		p.Paths[0] != (plug.PlanPath{Path: dir, Access: plug.AccessRead}) || p.Key != "shell echo out; pwd; exit 3 in "+dir {
		t.Errorf("plan %+v", p)
	}
	r, err := shell{}.Execute(t.Context(), c, p)
	if err != nil {
		t.Fatal(err)
	}
	got := r.PlainText()
	if !strings.HasPrefix(got, "out\n"+dir+"\nexit 3 · ") || !strings.HasSuffix(got, " s") || !r.IsError || r.Summary != "exit 3" {
		t.Errorf("got %q, %q, error %v", got, r.Summary, r.IsError)
	}
	if b.progress != "out\n"+dir+"\n" {
		t.Errorf("progress %q", b.progress)
	}
	var block plug.Block
	if err := json.Unmarshal(r.Parts[len(r.Parts)-1].Block, &block); err != nil || block.Kind != plug.BlockTerminal ||
		block.Command != p.Shell || block.CWD != "sub" || block.Output != b.progress || *block.ExitCode != 3 || block.Truncated {
		t.Errorf("block %+v, %v", block, err)
	}
	r, err = b.do(shell{}, args{"command": "true"})
	if err != nil || r.IsError || !strings.HasPrefix(r.PlainText(), "(no output)\nexit 0 · ") {
		t.Errorf("got %q, %v", r.PlainText(), err)
	}
}

func TestRunProcess(t *testing.T) {
	b := newBench(t)
	got := b.ok(runProcess{}, args{"command": "printf", "args": []string{"%s|", "a b", "$HOME", "*", ""}})
	if !strings.HasPrefix(got, "a b|$HOME|*||\nexit 0") {
		t.Errorf("got %q", got)
	}
	if got := b.ok(runProcess{}, args{"command": "cat", "stdin": "in\x00put"}); !strings.HasPrefix(got, "input\nexit 0") {
		t.Errorf("got %q", got)
	}
	for title, a := range map[string]args{
		"go test ./tax":              {"command": "go", "args": []string{"test", "./tax"}},
		`sh -c 'echo '\''x'\'' > y'`: {"command": "sh", "args": []string{"-c", "echo 'x' > y"}},
		"a '' 'b ⏎ c' 'd<U+202E>e'":  {"command": "a", "args": []string{"", "b\nc", "d\u202ee"}},
	} {
		p, err := runProcess{}.Prepare(t.Context(), b.call(a))
		if err != nil || p.Title != title || p.Shell != "" || !strings.HasPrefix(p.Key, "run_process ") {
			t.Errorf("got %q, want %q (%v)", p.Title, title, err)
		}
	}
	p, err := runProcess{}.Prepare(t.Context(), b.call(args{"command": "cat", "stdin": "x"}))
	if err != nil || p.Key != "" || p.Stdin != "x" {
		t.Errorf("with input: plan %+v, %v", p, err)
	}
	wantIn(t, b.fails(runProcess{}, args{"command": "go test ./..."}), "put its arguments into args, or use shell")
}

func TestCommandsAreChecked(t *testing.T) {
	b := newBench(t)
	b.put("file", "")
	for _, c := range []struct {
		tool plug.Tool
		args args
		want string
	}{
		{shell{}, args{"command": " \n"}, "command is empty"},
		{shell{}, args{"command": "a\x00b"}, "NUL byte"},
		{shell{}, args{"command": "ls", "cwd": "nowhere"}, "cwd: nowhere does not exist"},
		{shell{}, args{"command": "ls", "cwd": "file"}, "cwd: file is not a directory"},
		{runProcess{}, args{"command": ""}, "command is empty"},
		{runProcess{}, args{"command": "a", "args": []string{"\x00"}}, "NUL byte"},
	} {
		wantIn(t, b.fails(c.tool, c.args), c.want)
	}
	long := strings.Repeat("x", 5000)
	p, err := shell{}.Prepare(t.Context(), b.call(args{"command": "echo " + long}))
	if err != nil || len(p.Title) > maxTitle+10 || len(p.Shell) != 5005 {
		t.Errorf("title of %d bytes, %v", len(p.Title), err)
	}
}

func TestTimeouts(t *testing.T) {
	b := newBench(t)
	var got time.Duration
	b.exec.Run = func(_ context.Context, c plug.Command, _ func(string)) (plug.Exit, error) {
		got = c.Timeout
		return plug.Exit{}, nil
	}
	for ms, want := range map[int64]time.Duration{0: 2 * time.Minute, 1500: 1500 * time.Millisecond, -4: 2 * time.Minute, 1 << 60: time.Hour} {
		b.ok(shell{}, args{"command": "x", "timeoutMs": ms})
		if got != want {
			t.Errorf("%d: got %v, want %v", ms, got, want)
		}
	}
}

func TestExitIsTold(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct {
		exit    plug.Exit
		want    string
		summary string
		failed  bool
	}{
		{plug.Exit{Output: "ok\n\n", Duration: 2100 * time.Millisecond}, "ok\nexit 0 · 2.1 s", "exit 0", false},
		{plug.Exit{Code: 1}, "(no output)\nexit 1 · 0.0 s", "exit 1", true},
		{plug.Exit{Code: -1, Signal: "killed"}, "(no output)\nended by signal: killed · 0.0 s", "ended by signal: killed", true},
		{plug.Exit{Code: -1, Signal: "terminated", TimedOut: true}, "(no output)\n(it did not end in time: timeoutMs gives it more, at most 3600000)\ntimed out after 2.0 s · 0.0 s", "timed out after 2.0 s", true},
		{plug.Exit{Output: "done", LeftRunning: true}, "done\n(it left processes running in the background; they were stopped)\nexit 0 · 0.0 s", "exit 0", false},
		{plug.Exit{Output: "done", LeftRunning: true, Survived: true}, "done\n(it left processes running in the background; at least one could not be stopped and still runs)\nexit 0 · 0.0 s", "exit 0", false},
		{plug.Exit{Output: "x", Dropped: 4 << 20}, "x\n(4 MiB of output were left out)\nexit 0 · 0.0 s", "exit 0", false},
		{plug.Exit{Output: "\x1b[31mred\x1b[0m\xff"}, "red\uFFFD\nexit 0 · 0.0 s", "exit 0", false},
	} {
		b.exec.Run = func(context.Context, plug.Command, func(string)) (plug.Exit, error) { return c.exit, nil }
		r, err := b.do(shell{}, args{"command": "x", "timeoutMs": 2000})
		if err != nil || r.PlainText() != c.want || r.Summary != c.summary || r.IsError != c.failed {
			t.Errorf("%+v: got %q, %q, %v", c.exit, r.PlainText(), r.Summary, err)
		}
	}
	b.exec.Run = func(context.Context, plug.Command, func(string)) (plug.Exit, error) {
		return plug.Exit{Output: "head\n" + strings.Repeat("output\n", 20000) + "last words"}, nil
	}
	r, err := b.do(shell{}, args{"command": "x"})
	if err != nil || !strings.HasPrefix(r.PlainText(), "head\n") || !strings.Contains(r.PlainText(), "bytes left out …\n") || !strings.Contains(r.PlainText(), "last words\nexit 0") {
		t.Errorf("%d bytes, %v", len(r.PlainText()), err)
	}
	b.exec.Run = func(context.Context, plug.Command, func(string)) (plug.Exit, error) {
		return plug.Exit{}, errors.New("start x: not found")
	}
	if got := b.fails(shell{}, args{"command": "x y"}); got != "start x: not found" {
		t.Errorf("got %q", got)
	}
}
