package tools

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"alisio/plug"
)

func (b *bench) sh(line string) {
	b.t.Helper()
	e, err := b.run(b.t.Context(), plug.Command{Shell: line, Dir: b.root, Timeout: defaultTimeout}, nil)
	if err != nil || e.Code != 0 {
		b.t.Fatalf("%s: %v %s", line, err, e.Output)
	}
}

func newRepository(t *testing.T) *bench {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("this machine has no git: ", err)
	}
	b := newBench(t)
	b.put("a.txt", "one\ntwo\n")
	b.put("dir/[b].txt", "b\n")
	b.sh("git init -q -b main && git add . && git -c user.name=n -c user.email=e@x commit -q -m first")
	return b
}

func TestGitStatus(t *testing.T) {
	b := newRepository(t)
	if got := b.ok(gitStatus{}, args{}); got != "## main\nclean: nothing is changed" {
		t.Errorf("got %q", got)
	}
	b.put("a.txt", "one\nTWO\n")
	b.put("new", "")
	r, err := b.do(gitStatus{}, args{})
	if err != nil || r.PlainText() != "## main\n M a.txt\n?? new" || r.Summary != "2 files" {
		t.Errorf("got %q, %q, %v", r.PlainText(), r.Summary, err)
	}
}

func TestGitDiff(t *testing.T) {
	b := newRepository(t)
	if got := b.ok(gitDiff{}, args{}); got != "no changes" {
		t.Errorf("got %q", got)
	}
	b.put("a.txt", "one\nTWO\n")
	b.put("dir/[b].txt", "B\n")
	b.put("dir/b.txt", "not tracked\n")
	r, err := b.do(gitDiff{}, args{})
	if err != nil || r.Summary != "+2 −2" {
		t.Errorf("summary %q, %v", r.Summary, err)
	}
	wantIn(t, r.PlainText(), "+TWO\n", "+B\n")
	for _, path := range []string{"dir", "dir/[b].txt", filepath.Join(b.root, "dir", "[b].txt")} {
		got := b.ok(gitDiff{}, args{"path": path})
		wantIn(t, got, "-b\n+B\n")
		if strings.Contains(got, "TWO") {
			t.Errorf("%s: got %q", path, got)
		}
	}
	b.sh("rm a.txt && git add dir")
	wantIn(t, b.ok(gitDiff{}, args{"path": "a.txt"}), "deleted file", "-two\n")
	wantIn(t, b.ok(gitDiff{}, args{"staged": true}), "+B\n")
	got := b.ok(gitDiff{}, args{"base": "HEAD"})
	wantIn(t, got, "+B\n", "-two\n")
	wantIn(t, b.fails(gitDiff{}, args{"base": "nosuch"}), "git diff: exit 128", "nosuch")
}

func TestGitDiffIsBounded(t *testing.T) {
	b := newRepository(t)
	b.put("a.txt", strings.Repeat("line\n", 30000))
	r, err := b.do(gitDiff{}, args{})
	if err != nil || r.Summary != "+30000 −2" {
		t.Errorf("summary %q, %v", r.Summary, err)
	}
	wantIn(t, r.PlainText(), "more are left out: give a path")
}

func TestGitDiffBase(t *testing.T) {
	b := newBench(t)
	for _, base := range []string{"--output=x", "-x", "a b", "HEAD:x", "a;b", "a\nb", "x\u202ey", "$(x)", strings.Repeat("a", 201)} {
		if _, err := (gitDiff{}).Prepare(t.Context(), b.call(args{"base": base})); err == nil {
			t.Errorf("%q was taken for a revision", base)
		}
	}
	for _, base := range []string{"", "HEAD~3", "main..feature/x-1", "a...b", "v1.0^{}", "@{u}", "größe", "fix/#12"} {
		if _, err := (gitDiff{}).Prepare(t.Context(), b.call(args{"base": base})); err != nil {
			t.Errorf("%q: %v", base, err)
		}
	}
}

func TestGitWithoutRepository(t *testing.T) {
	b := newBench(t)
	b.exec.Git = func(context.Context, string, ...string) (plug.Exit, error) {
		return plug.Exit{Code: 128, Output: "fatal: not a git repository (or any of the parent directories): .git\n"}, nil
	}
	wantIn(t, b.fails(gitStatus{}, args{}), "this is not a git repository")
	wantIn(t, b.fails(gitDiff{}, args{}), "this is not a git repository")
	b.exec.Git = func(context.Context, string, ...string) (plug.Exit, error) {
		return plug.Exit{Code: 129, Output: "error: unknown option `no-abbrev-commit'\nusage: git diff --no-index [<options>] <path> <path>"}, nil
	}
	wantIn(t, b.fails(gitDiff{}, args{}), "this is not a git repository")
	b.exec.Git = func(context.Context, string, ...string) (plug.Exit, error) {
		return plug.Exit{}, errors.New("git is not installed")
	}
	wantIn(t, b.fails(gitStatus{}, args{}), "run git: git is not installed")
}
