package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"alisio/agent"
	"alisio/agent/text"
	"alisio/llm"
	"alisio/plug"
	"alisio/plug/openai"
	"alisio/tui/cli/base"
)

// png is a whole image of one pixel.
const png = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89" +
	"\x00\x00\x00\nIDATx\x9cc\x00\x01\x00\x00\x05\x00\x01\r\n-\xb4\x00\x00\x00\x00IEND\xaeB`\x82"

func TestIDsOfCallersAreChecked(t *testing.T) {
	for _, name := range []string{"request-id", "correlation-id"} {
		for _, c := range []struct {
			id   string
			good bool
		}{
			{"a", true}, {"build/17:lint#2~", true}, {strings.Repeat("x", 200), true}, {"", false},
			{strings.Repeat("x", 201), false}, {"a b", false}, {"a\tb", false}, {"é", false}, {"a\x1b", false}, {"a\x7f", false},
		} {
			got, err := parse(env("run", "--"+name+"="+c.id, "task"))
			if (err == nil) != c.good {
				t.Errorf("--%s %q: got %v", name, c.id, err)
			}
			if err != nil && (!strings.Contains(err.Error(), "1 to 200 printable ASCII") || len(err.Error()) > 250) {
				t.Errorf("--%s: got %v", name, err)
			}
			if c.good && got.task.requestID+got.task.correlationID != c.id {
				t.Errorf("--%s: got %+v", name, got.task)
			}
		}
	}
}

func TestImages(t *testing.T) {
	dir := t.TempDir()
	write := func(name, body string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.png", png)
	write("page.png", "<html>")
	write("cut.png", png[:40])
	write("empty.png", "")
	write("large.png", png+strings.Repeat("x", llm.MaxImageBytes))
	write("large.txt", strings.Repeat("x", llm.MaxImageBytes+1))
	for _, c := range []struct{ name, fails string }{
		{"a.png", ""}, {filepath.Join(dir, "a.png"), ""},
		{"none.png", "none.png is not there"}, {"page.png", "page.png is no PNG"}, {"cut.png", "cut off"}, {"empty.png", "is no PNG"},
		{"large.png", "larger than 5 MiB"}, {"large.txt", "is no PNG"}, {".", "is a directory"},
	} {
		call, err := parse(env("run", "--image", c.name, "task"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := call.images(dir)
		switch {
		case c.fails == "" && (err != nil || len(got) != 1 || string(got[0].Data) != png || got[0].MIMEType != "image/png"):
			t.Errorf("%s: got %v", c.name, err)
		case c.fails != "" && (err == nil || !strings.HasPrefix(err.Error(), "--image: ") || !strings.Contains(err.Error(), c.fails)):
			t.Errorf("%s: got %v, want %q", c.name, err, c.fails)
		}
	}
	many := []string{"run", "task"}
	for range maxImages + 1 {
		many = append(many, "--image=a.png")
	}
	call, err := parse(env(many...))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := call.images(dir); err == nil || !strings.Contains(err.Error(), "at most 20") {
		t.Errorf("21 images: got %v", err)
	}
}

// The files that no run may rewrite are found from the directory of --cwd.
func TestGuardedFiles(t *testing.T) {
	c, err := parse(env("run", "x", "--db", "s.db", "--config", "/c.json"))
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(c.guarded("/w"), " ")
	if want := filepath.FromSlash("/c.json /w/s.db"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The line that tells how to go on says again what only flags had said, and names
// files so that they are found without --cwd too.
func TestGoOnRepeatsFlags(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ args, want string }{
		{"run x", "session 1 · go on with: alisio resume 1 \"…\""},
		{"run x --base-url http://127.0.0.1:1/v1?a=b -m org/m --allow-write --effort low",
			"session 1 · go on with: alisio resume 1 --base-url 'http://127.0.0.1:1/v1?a=b' -m org/m \"…\""},
		{"run x --db s.db --config c.json", "session 1 · go on with: alisio resume 1 --db s.db --config c.json \"…\""},
		{"run x --db s.db --cwd " + dir, "session 1 · go on with: alisio resume 1 --db " + text.ShellWord(filepath.Join(dir, "s.db")) + " \"…\""},
	} {
		call, err := parse(env(strings.Fields(c.args)...))
		if err != nil {
			t.Fatal(err)
		}
		if got := call.goOn(t.Context(), nil, "1"); got != c.want {
			t.Errorf("%s: got %s, want %s", c.args, got, c.want)
		}
	}
}

// A run that was cancelled goes on by the short id too.
func TestGoOnAfterACancel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sqlite")
	store, err := agent.OpenStore(t.Context(), agent.StoreOptions{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	export := `{"type":"session","schemaVersion":1,"id":"12345678-9"}` + "\n" + `{"type":"end","lines":1}`
	if _, err := store.Import(t.Context(), strings.NewReader(export)); err != nil {
		t.Fatal(err)
	}
	call, err := parse(env("run", "x"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, want := call.goOn(ctx, store, "12345678-9"), "session 12345678 · go on with: alisio resume 12345678 \"…\""; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Symptom: a run that was stopped while the program started ended with exit code 2 and the
// advice to switch on a plugin. Trigger: a signal between two plugins.
func TestASignalDuringTheStartIsToldAsOne(t *testing.T) {
	home := t.TempDir()
	var stderr bytes.Buffer
	e := env("run", "-m", "m", "--base-url", "http://127.0.0.1:9/v1", "--cwd", home, "hello")
	ctx, cancel := context.WithCancel(t.Context())
	e.Stderr = &stderr
	e.Plugins = Plugins{{ID: "toy", Name: "A toy", Version: "1.0.0", APIVersion: plug.APIVersion, Setup: func(context.Context, *plug.API) error {
		cancel()
		return nil
	}}, openai.Plugin()}
	e.Getenv = func(name string) string {
		if strings.HasPrefix(name, "ALISIO_") && strings.HasSuffix(name, "_HOME") {
			return filepath.Join(home, name)
		}
		return ""
	}
	if got := Main(ctx, e); got != base.ExitCancelled || !strings.Contains(stderr.String(), "the run was cancelled") || strings.Contains(stderr.String(), "plugin") {
		t.Errorf("got exit code %d, %s", got, stderr.String())
	}
}

// Symptom: the line that tells how to go on led to another session. Trigger: one
// whose whole id is how the id of this one begins.
func TestGoOnLeadsToItsOwnSession(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sqlite")
	store, err := agent.OpenStore(t.Context(), agent.StoreOptions{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	const own, other = "e69f3989-f1e3", "e69f3989"
	for _, id := range []string{own, other} {
		if err := store.Create(t.Context(), agent.Session{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	call, err := parse(env("run", "x"))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{own, other} {
		if got, want := call.goOn(t.Context(), store, id), "session "+id+" · go on with: alisio resume "+id+" \"…\""; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestForeignFiles(t *testing.T) {
	dir := t.TempDir()
	pages := strings.Repeat("\x00", 8192)
	for _, c := range []struct {
		name, body string
		want       bool
	}{
		{"text", "This is dear to somebody.", true},
		{"export.jsonl", `{"type":"message","body":{"role":"user"}}`, true},
		{"picture.png", png + pages, true},
		{"empty", "", false},
		{"new.sqlite", "SQLite format 3\x00", false},
		{"no-header.sqlite", pages + `{"role":"user"`, false},
		{"at-an-edge.sqlite", strings.Repeat("\x00", 1<<20-3) + "CREATE TABLE sessions", false},
	} {
		path := filepath.Join(dir, c.name)
		if err := os.WriteFile(path, []byte(c.body), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := agent.IsForeign(path); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
	if agent.IsForeign(dir) || agent.IsForeign(filepath.Join(dir, "none")) {
		t.Error("what is no file is told of elsewhere")
	}
	if err := os.WriteFile(filepath.Join(dir, "text-wal"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if agent.IsForeign(filepath.Join(dir, "text")) {
		t.Error("a file with a log beside it may be a database")
	}
}

func TestResumeNeedsASessionAndATask(t *testing.T) {
	for _, c := range []struct {
		args  []string
		fails string
	}{
		{[]string{"resume"}, "no session is named"},
		{[]string{"resume", "-"}, "no session is named"},
		{[]string{"resume", "1a2b"}, "no task is given; use: alisio resume SESSION"},
		{[]string{"resume", "--last"}, "no task is given; use: alisio resume SESSION"},
		{[]string{"resume", "1a2b", "--db", "x y"}, "hint:  alisio sessions show 1a2b --db 'x y' prints"},
	} {
		e := env(c.args...)
		if code := Main(t.Context(), e); code != base.ExitUsage {
			t.Errorf("%v: exit code %d", c.args, code)
		}
		if got := e.Stderr.(interface{ String() string }).String(); !strings.Contains(got, c.fails) {
			t.Errorf("%v: got %q", c.args, got)
		}
	}
}
