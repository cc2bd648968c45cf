package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"alisio/plug"
	"alisio/tui/cli/args"
)

// asProgram makes the test binary the program itself, so that shells find one.
const asProgram = "ALISIO_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(Main(context.Background(), Env{Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv}))
	}
	os.Exit(m.Run())
}

// shell runs a shell in a directory with a program "alisio" in its path and the
// shell's completion script beside it, as "script".
func shell(t *testing.T, name string, argv ...string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("there is no %s on this machine to try its completion in", name)
	}
	script, err := commandLine().Script(name)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	self := fmt.Sprintf("#!/bin/sh\n%s=1 exec '%s' \"$@\"\n", asProgram, os.Args[0])
	for file, text := range map[string]string{"bin/alisio": self, "script": script, "notes one.txt": "", "odd[1].txt": "", "odd1.txt": "", "sub/x": ""} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(file)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, argv...)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "HOME="+dir, "TERM=dumb", "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", name, err, out)
	}
	return string(out)
}

func TestCompletionInBash(t *testing.T) {
	for _, c := range []struct{ words, want string }{
		{"alisio sess", "sessions"},
		{"alisio sessions sh", "show"},
		{"alisio run --allow-w", "--allow-write"},
		{"alisio run --mode = f", "full"}, // bash takes "=" for a word
		{"alisio --mode au", "auto"},
		{"alisio run --image no", "notes one.txt"},
		{"alisio run --config = no", "notes one.txt"},
		{"alisio run --config odd[", "odd[1].txt"}, // not what it matches
		{"alisio help perm", "permissions"},
		{"alisio run --cwd su", "sub"},
		{"alisio completion z", "zsh"},
		{"alisio run --agent pl", "plan"},
		{"alisio skills v", "validate"},
		{"alisio skills validate su", "sub"},
		{"alisio plugins do", "doctor"},
		{"alisio nonsense x", ""},
	} {
		words := strings.Fields(c.words)
		line := strings.ReplaceAll(c.words, " = ", "=")
		got := shell(t, "bash", "--norc", "-c", fmt.Sprintf(
			`source ./script; COMP_LINE=%q COMP_POINT=%d COMP_WORDS=(%s) COMP_CWORD=%d; _alisio; printf '%%s\n' "${COMPREPLY[@]}"`,
			line, len(line), strings.Join(words, " "), len(words)-1))
		if strings.TrimSpace(got) != c.want {
			t.Errorf("%s: got %q, want %q", c.words, got, c.want)
		}
	}
}

func TestCompletionInFish(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"alisio sess", "sessions"},
		{"alisio sessions sh", "show"},
		{"alisio run --allow-w", "--allow-write"},
		{"alisio run --mode=f", "--mode=full"},
		{"alisio --mode au", "auto"},
		{"alisio run --image no", "notes one.txt"},
		{"alisio run --config=no", "--config=notes one.txt"},
		{"alisio run --cwd=su", "--cwd=sub/"},
		{"alisio run --cwd su", "sub/"},
		{"alisio completion z", "zsh"},
	} {
		got := shell(t, "fish", "--no-config", "-c", fmt.Sprintf("source ./script; complete -C '%s'", c.line))
		first, _, _ := strings.Cut(strings.TrimSpace(got), "\t")
		if strings.ReplaceAll(first, `\`, "") != c.want {
			t.Errorf("%s: got %q, want %q", c.line, got, c.want)
		}
	}
}

func TestCompletionInZsh(t *testing.T) {
	cases := []struct{ typed, want string }{
		{"alisio sess", "alisio sessions "},
		{"alisio sessions sh", "alisio sessions show "},
		{"alisio run --allow-w", "alisio run --allow-write "},
		{"alisio run --mode=f", "alisio run --mode=full "},
		{"alisio run --image no", `alisio run --image notes\ one.txt `},
		{"alisio run --cwd su", "alisio run --cwd sub/"},
	}
	// The lines are typed into an interactive zsh, which prints what each became.
	var typing strings.Builder
	for i, c := range cases {
		fmt.Fprintf(&typing, "zpty -w -n z '%s'$'\t\x18'\nuntil_shown '<%d:%s>'\n", c.typed, i+1, c.want)
	}
	shell(t, "zsh", "-f", "-c", `
		zmodload zsh/zpty
		until_shown() {
			local piece
			until [[ $out == *"$1"* ]]; do
				zpty -r z piece || { print -r -- "not shown: $1 in ${(V)out}"; exit 3 }
				out+=$piece
			done
		}
		zpty z 'zsh -f -i'
		zpty -w z 'PS1=""; unsetopt zle_bracketed_paste; autoload -U compinit; compinit -u -D; source ./script; n=0; show() { print -r -- "<$((++n)):$BUFFER>"; BUFFER= }; zle -N show; bindkey "^X" show; print ready-$((6*7))'
		until_shown ready-42
		`+typing.String())
}

// What can stand for an agent, and for a plugin, is asked of the program as it is built.
func TestCompletionOfAgentsAndPlugins(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"--agent", ""}, "build\tworks on the task, with every permission that was given\nplan\treads and plans, " +
			"changes nothing, and asks for a review of the plan\ntoy-agent\twinds up\n"},
		{[]string{"run", "--agent=toy"}, "--agent=toy-agent\twinds up\n"},
		{[]string{"run", "--disable-plugin", "t"}, "toy\tA toy\n"},
	} {
		e := env(append([]string{"completion", "--words", "--"}, c.words...)...)
		e.Getenv = func(name string) string {
			if strings.HasPrefix(name, "ALISIO_") && strings.HasSuffix(name, "_HOME") {
				return dir
			}
			return ""
		}
		e.Plugins = Plugins{{ID: "toy", Name: "A toy", Version: "1.0.0", APIVersion: plug.APIVersion, Setup: func(_ context.Context, api *plug.API) error {
			_, err := api.AddAgent(plug.Agent{ID: "toy-agent", Description: "winds up"})
			return err
		}}}
		code := Main(t.Context(), e)
		if got := e.Stdout.(*bytes.Buffer).String(); code != 0 || got != c.want {
			t.Errorf("%q: exit code %d, got %q, want %q", c.words, code, got, c.want)
		}
		if said := e.Stderr.(*bytes.Buffer).String(); said != "" {
			t.Errorf("%q: %s", c.words, said)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}

func TestCompletionKnowsEveryWord(t *testing.T) {
	names := commandLine().Names()
	for _, name := range names {
		words := strings.Fields(name)
		got := commandLine().Complete(words)
		if !slices.ContainsFunc(got, func(c args.Candidate) bool { return c.Word == words[len(words)-1] && c.Help != "" }) {
			t.Errorf("%s: got %v", name, got)
		}
		flags := commandLine().Complete(append(words, "--"))
		for _, f := range commandLine().Flags {
			offered := slices.ContainsFunc(flags, func(c args.Candidate) bool { return c.Word == "--"+f.Name })
			if offered != takes(f, name) {
				t.Errorf("%s: --%s is offered: %v, is taken: %v", name, f.Name, offered, !offered)
			}
		}
	}
	for _, shell := range args.Shells() {
		if s, err := commandLine().Script(shell); err != nil || !strings.Contains(s, "alisio completion --words") || strings.Contains(s, "PROGRAM") {
			t.Errorf("%s: %v\n%s", shell, err, s)
		}
	}
}
