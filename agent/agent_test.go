package agent

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"alisio/agent/config"
	"alisio/agent/perm"
	"alisio/agent/session"
	"alisio/agent/tools"
	"alisio/llm/script"
	"alisio/plug"
)

// app makes an application in a temporary repository with a scripted model.
func app(t *testing.T, scripted string, o Options) *App {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if o.Provider == nil {
		s, err := script.Parse([]byte(scripted))
		if err != nil {
			t.Fatal(err)
		}
		o.Provider = s.Provider("script")
	}
	o.Config = config.Default()
	o.Tools = tools.All()
	a, err := New(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return a
}

func TestRealToolsOnARealRepository(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\ntwo\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	a := app(t, `{"turns":[
		{"calls":[{"name":"read_file","arguments":{"path":"a.txt"}}]},
		{"capture":{"H":"sha256: ([0-9a-f]{64})"},"calls":[{"name":"edit_file","arguments":{"path":"a.txt","oldText":"two","newText":"three","expectedHash":"${H}"}}]},
		{"text":"done"}]}`, Options{Dir: dir, Policy: perm.Policy{AllowWrite: true}})
	out, err := a.Run(context.Background(), "", "edit it", RunOptions{RunID: "mine", CorrelationID: "c",
		OnEvent: func(e plug.Event) {
			if e.RunID != "mine" || e.CorrelationID != "c" || e.SessionID == "" {
				t.Errorf("envelope: %+v", e)
			}
		}})
	if err != nil || out.Status != Completed || out.Text != "done" {
		t.Fatalf("got %+v, %v", out, err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "a.txt"))
	if err != nil || string(got) != "one\nthree\n" {
		t.Errorf("the file holds %q, %v", got, err)
	}
}

func TestASessionGoesOnAndIsBusyForOne(t *testing.T) {
	a := app(t, `{"turns":[{"text":"first"},{"text":"second"}]}`, Options{})
	ctx := context.Background()
	var id string
	out, err := a.Run(ctx, "", "one", RunOptions{OnEvent: func(e plug.Event) {
		id = e.SessionID
		_, err := a.Run(ctx, e.SessionID, "in between", RunOptions{})
		if busy := new(session.BusyError); !errors.As(err, &busy) {
			t.Errorf("a second run of a busy session: %v", err)
		}
	}})
	if err != nil || out.SessionID != id {
		t.Fatalf("got %+v, %v", out, err)
	}
	if out, err := a.Run(ctx, id, "two", RunOptions{}); err != nil || out.Text != "second" {
		t.Errorf("got %+v, %v", out, err)
	}
	if _, err := a.Run(ctx, "unknown", "x", RunOptions{}); err == nil {
		t.Error("an unknown session was taken")
	}
	if _, err := a.Run(ctx, "", " \n", RunOptions{}); err == nil {
		t.Error("an empty prompt was taken")
	}
}

// firstInstructions are those of a session that begins now.
func firstInstructions(a *App) (string, error) {
	agent, err := a.primary("")
	if err != nil {
		return "", err
	}
	c, err := a.conversation(NewID())
	if err != nil {
		return "", err
	}
	return a.instructions(c, agent, a.gateOf(c, agent))
}

func TestInstructionsHoldTheRepositorysOwn(t *testing.T) {
	dir := t.TempDir()
	sub := filepath.Join(dir, "sub")
	if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	os.WriteFile(filepath.Join(dir, "AGENTS.md"), []byte("root says tabs"), 0o644)
	os.WriteFile(filepath.Join(sub, "AGENTS.md"), []byte("sub says spaces"), 0o644)
	a := app(t, `{"turns":[{"text":"x"}]}`, Options{Dir: sub})
	got, err := firstInstructions(a)
	if err != nil {
		t.Fatal(err)
	}
	root, inner := strings.Index(got, "root says tabs"), strings.Index(got, "sub says spaces")
	if root < 0 || inner < root {
		t.Errorf("root at %d, sub at %d in:\n%s", root, inner, got)
	}
	if again, _ := firstInstructions(a); again != got {
		t.Error("the instructions are not stable")
	}
}

func TestFindRoot(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(p string) string { return filepath.Join(top, p) }
	for _, d := range []string{"home/repo/.git", "home/repo/a/b", "home/plain/c", "home/.git", "else/.git", "else/d"} {
		if err := os.MkdirAll(at(d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for dir, want := range map[string]string{
		"home/repo":     "home/repo",
		"home/repo/a/b": "home/repo",
		"home/plain/c":  "home/plain/c", // the home directory is no workspace by accident
		"home":          "home",         // but it is when it was asked for
		"else/d":        "else",
	} {
		if got := findRoot(at(dir), at("home")); got != at(want) {
			t.Errorf("%s: got %s, want %s", dir, got, at(want))
		}
	}
}

// A .git that somebody else put above the working directory, as anybody can in
// /tmp, must not make the neighbours a part of the workspace.
func TestFindRootIgnoresForeignRepositories(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to somebody else")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(top, "mine")
	for _, d := range []string{mine, filepath.Join(top, ".git")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		git, dir int
		want     string
	}{{0, 0, top}, {1234, 0, mine}, {1234, 1234, top}, {1234, 1235, mine}, {0, 1234, top}} {
		os.Lchown(filepath.Join(top, ".git"), c.git, c.git)
		os.Lchown(mine, c.dir, c.dir)
		if got := findRoot(mine, ""); got != c.want {
			t.Errorf("owners %d and %d: got %s, want %s", c.git, c.dir, got, c.want)
		}
	}
}

func TestABrokenPluginIsLeftOut(t *testing.T) {
	a := app(t, `{"turns":[{"text":"x"}]}`, Options{Plugins: []plug.Plugin{
		{ID: "broken", APIVersion: 1, Setup: func(context.Context, *plug.API) error { return errors.New("no luck") }},
	}})
	if d := a.Diagnostics(); len(d) != 1 || !strings.Contains(d[0].Err.Error(), "no luck") {
		t.Errorf("got %v", d)
	}
	if out, err := a.Run(context.Background(), "", "go on", RunOptions{}); err != nil || out.Text != "x" {
		t.Errorf("got %+v, %v", out, err)
	}
}

// C054. Symptom: a 16 KB file was overwritten by a 4 KB fragment after the output
// cap; the tool said success and the model believed it. Trigger: a write whose
// arguments are cut, with the finish reason length and with a renamed one, and a
// whole write without a fresh read.
func TestC054ACutWriteLeavesTheFileAlone(t *testing.T) {
	whole := strings.Repeat("sixteen letters\n", 1024)
	cut := `"{\"path\":\"a.txt\",\"expectedHash\":\"%s\",\"content\":\"` + strings.Repeat("x", 4096) + `"`
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(whole)))
	for name, turns := range map[string]string{
		"length":        `{"truncated":true,"calls":[{"name":"write_file","arguments":` + fmt.Sprintf(cut, hash) + `}]}`,
		"renamed":       `{"calls":[{"name":"write_file","arguments":` + fmt.Sprintf(cut, hash) + `}]}`,
		"no fresh read": `{"calls":[{"name":"write_file","arguments":{"path":"a.txt","content":"short","expectedHash":"` + strings.Repeat("0", 64) + `"}}]},{"text":"oh"}`,
		"taken for new": `{"calls":[{"name":"write_file","arguments":{"path":"a.txt","content":"short","expectedHash":null}}]},{"text":"oh"}`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "a.txt")
			if err := os.WriteFile(file, []byte(whole), 0o644); err != nil {
				t.Fatal(err)
			}
			a := app(t, `{"turns":[`+turns+`]}`, Options{Dir: dir, Policy: perm.Policy{AllowWrite: true}})
			if _, err := a.Run(context.Background(), "", "write it", RunOptions{}); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(file); err != nil || string(got) != whole {
				t.Errorf("the file has %d bytes now, %v", len(got), err)
			}
		})
	}
}
