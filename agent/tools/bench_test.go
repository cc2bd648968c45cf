package tools

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"alisio/agent/text"
	"alisio/agent/workspace"
	"alisio/plug"
)

// bench is a workspace of real files, and real programs, for the tools to work
// with.
type bench struct {
	t     testing.TB
	root  string
	files plug.Files
	exec  plug.Exec
	// maxChars is the bound of results, zero for the usual one.
	maxChars int

	mu       sync.Mutex
	progress string
}

func newBench(t testing.TB, extra ...string) *bench {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(root, extra...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	b := &bench{t: t, root: root, files: workspaceFiles(w)}
	b.exec = plug.Exec{Run: b.run, Git: b.git}
	return b
}

func (b *bench) call(args any) *plug.Call {
	b.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		b.t.Fatal(err)
	}
	return &plug.Call{Args: raw, Files: &b.files, Exec: &b.exec, MaxChars: b.maxChars, Progress: func(s string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.progress += s
	}}
}

type args map[string]any

// do prepares a call and executes its plan.
func (b *bench) do(tool plug.Tool, a args) (plug.Result, error) {
	b.t.Helper()
	c := b.call(a)
	p, err := tool.Prepare(b.t.Context(), c)
	if err != nil {
		return plug.Result{}, err
	}
	r, err := tool.Execute(b.t.Context(), c, p)
	if err != nil {
		return r, err
	}
	if s := r.PlainText(); len(s) > maxOutput || text.Plain(s) != s {
		b.t.Errorf("result of %d bytes is too long or not plain: %.200q", len(s), s)
	}
	if n := len([]rune(r.Summary)); n == 0 || n > 60 {
		b.t.Errorf("summary %q has %d characters", r.Summary, n)
	}
	return r, nil
}

// ok is the text of a call that has to succeed.
func (b *bench) ok(tool plug.Tool, a args) string {
	b.t.Helper()
	r, err := b.do(tool, a)
	if err != nil {
		b.t.Fatalf("%s %v: %v", tool.Spec().Name, a, err)
	}
	return r.PlainText()
}

// fails is the error of a call that has to fail.
func (b *bench) fails(tool plug.Tool, a args) string {
	b.t.Helper()
	r, err := b.do(tool, a)
	if err == nil {
		b.t.Fatalf("%s %v: no error, result %q", tool.Spec().Name, a, r.PlainText())
	}
	return err.Error()
}

func (b *bench) put(name, content string) {
	b.t.Helper()
	path := filepath.Join(b.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) get(name string) string {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(b.root, name))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(data)
}

// hash is the hash that read_file shows.
func (b *bench) hash(name string) string {
	b.t.Helper()
	_, rest, ok := strings.Cut(b.ok(readFile{}, args{"path": name}), "sha256: ")
	if !ok || len(rest) < 64 {
		b.t.Fatalf("read_file shows no hash of %s", name)
	}
	return rest[:64]
}

func wantIn(t *testing.T, got string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(got, want) {
			t.Errorf("got %q, want %q in it", got, want)
		}
	}
}

// workspaceFiles gives a workspace the form that tools know.
func workspaceFiles(w *workspace.Workspace) plug.Files {
	return plug.Files{
		Resolve: func(path string) (plug.Target, error) {
			t, err := w.Resolve(path)
			return plug.Target{
				Name: t.Name, Abs: t.Abs, Inside: t.Inside,
				Exists: t.Exists, Dir: t.Dir, Regular: t.Regular,
			}, err
		},
		Similar: w.Similar,
		Open: func(_ context.Context, path string) (plug.File, error) {
			f, err := w.OpenFile(path)
			if err != nil {
				return nil, err
			}
			return file{f}, nil
		},
		Write: func(ctx context.Context, q plug.Write) (plug.Written, error) {
			done, err := w.Write(ctx, workspace.Write{Path: q.Path, Data: q.Data, ExpectedSHA256: q.ExpectedSHA256})
			return plug.Written{Name: done.Name, SHA256: done.SHA256, Created: done.Created}, err
		},
		List: func(ctx context.Context, q plug.ListQuery) (plug.Listing, error) {
			l, err := w.List(ctx, workspace.ListQuery(q))
			entries := make([]plug.ListEntry, len(l.Entries))
			for i, e := range l.Entries {
				entries[i] = plug.ListEntry(e)
			}
			return plug.Listing{
				Entries: entries, Total: l.Total, More: l.More,
				IgnoredCount: l.IgnoredCount, HiddenCount: l.HiddenCount,
			}, err
		},
		Search: func(ctx context.Context, q plug.SearchQuery, onMatch func(plug.Match) bool) (plug.SearchStats, error) {
			s, err := w.Search(ctx, workspace.SearchQuery{
				Pattern: q.Pattern, Literal: q.Literal, IgnoreCase: q.IgnoreCase,
				Path: q.Path, Glob: q.Glob, Context: q.Context, MaxLine: q.MaxLine,
			}, func(m workspace.Match) bool { return onMatch(plug.Match(m)) })
			return plug.SearchStats{
				Files: s.Files, IgnoredCount: s.IgnoredCount, HiddenCount: s.HiddenCount,
				Unreadable: s.Unreadable, Stopped: s.Stopped,
			}, err
		},
	}
}

type file struct{ *workspace.File }

func (f file) Info() plug.FileInfo { return plug.FileInfo(f.File.Info()) }

func (b *bench) run(ctx context.Context, c plug.Command, onOutput func(string)) (plug.Exit, error) {
	if c.Shell != "" {
		c.Argv = []string{"/bin/sh", "-c", c.Shell}
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.Dir, cmd.Stdin = c.Dir, strings.NewReader(c.Stdin)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	start := time.Now()
	out, err := cmd.CombinedOutput()
	if onOutput != nil {
		onOutput(string(out))
	}
	e := plug.Exit{Output: string(out), Duration: time.Since(start), TimedOut: ctx.Err() != nil}
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		e.Code, err = failed.ExitCode(), nil
	}
	return e, err
}

func (b *bench) git(ctx context.Context, dir string, argv ...string) (plug.Exit, error) {
	return b.run(ctx, plug.Command{Argv: append([]string{"git"}, argv...), Dir: dir, Timeout: time.Minute}, nil)
}
