package proc

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"alisio/llm"
)

// fixture is a real repository, with a committed file that has changed since.
type fixture struct {
	t    *testing.T
	dir  string
	mark string // the file that a program which ran leaves behind
	prog string // a program that leaves it behind and passes its input on
	quit string // one that only leaves it behind
}

func newRepository(t *testing.T) *fixture {
	t.Helper()
	// The person's own configuration is out of the game.
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &fixture{t: t, dir: filepath.Join(base, "repo"), mark: filepath.Join(base, "PWNED"), prog: filepath.Join(base, "evil"), quit: filepath.Join(base, "quit")}
	r.file(r.prog, "#!/bin/sh\ntouch '"+r.mark+"'\ncat\n", 0o700)
	r.file(r.quit, "#!/bin/sh\ntouch '"+r.mark+"'\n", 0o700)
	r.git(base, "init", "-q", "-b", "main", r.dir)
	r.git(r.dir, "config", "user.name", "n")
	r.git(r.dir, "config", "user.email", "e@invalid")
	r.file("a.txt", "old\n", 0o600)
	r.git(r.dir, "add", "a.txt")
	r.git(r.dir, "commit", "-q", "-m", "first")
	r.file("a.txt", "new\n", 0o600)
	return r
}

// file writes a file; a relative path is in the repository.
func (r *fixture) file(path, text string, mode os.FileMode) {
	r.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.dir, path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		r.t.Fatal(err)
	}
}

// git runs the plain git, as a careless program does.
func (r *fixture) git(dir string, args ...string) string {
	r.t.Helper()
	out, err := r.tryGit(dir, args...)
	if err != nil {
		r.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return out
}

func (r *fixture) tryGit(dir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(r.t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.WaitDelay = time.Second
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// ask is Git where the repository is the workspace.
func (r *fixture) ask(args ...string) (Exit, error) {
	return Git(r.t.Context(), Command{Dir: r.dir}, r.inside, args...)
}

func (r *fixture) inside(path string) bool { return within(r.dir, path) }

func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, dir+string(filepath.Separator))
}

func (r *fixture) config(key, value string) { r.git(r.dir, "config", key, value) }

func (r *fixture) pwned() bool {
	_, err := os.Stat(r.mark)
	return err == nil
}

// driver makes a.txt subject to the driver x of filters and diffs.
func (r *fixture) driver() {
	r.file(".gitattributes", "a.txt filter=x diff=x\n", 0o600)
}

// submodule adds a repository within, whose own filter is the trap.
func (r *fixture) submodule() {
	sub := filepath.Join(r.dir, "sub")
	r.git(r.dir, "init", "-q", "-b", "main", sub)
	r.git(sub, "config", "user.name", "n")
	r.git(sub, "config", "user.email", "e@invalid")
	r.file("sub/b.txt", "old\n", 0o600)
	r.git(sub, "add", "b.txt")
	r.git(sub, "commit", "-q", "-m", "sub")
	r.git(r.dir, "-c", "advice.addEmbeddedRepo=false", "add", "sub")
	r.git(r.dir, "commit", "-q", "-m", "with sub", "--", "sub")
	r.file("sub/.gitattributes", "b.txt filter=x\n", 0o600)
	r.git(sub, "config", "filter.x.clean", r.prog)
	r.file("sub/b.txt", "new\n", 0o600)
	r.file(".gitmodules", "[submodule \"sub\"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n", 0o600)
}

// missing makes the repository one whose objects come from elsewhere when
// they are needed, and takes one away.
func (r *fixture) missing(key, value string) {
	r.git(r.dir, "config", "core.repositoryformatversion", "1")
	r.git(r.dir, "config", "extensions.partialClone", "origin")
	r.git(r.dir, "config", "remote.origin.promisor", "true")
	r.git(r.dir, "config", "remote.origin.url", "file://"+r.dir)
	if key != "" {
		r.git(r.dir, "config", key, value)
	}
	blob := strings.TrimSpace(r.git(r.dir, "rev-parse", "HEAD:a.txt"))
	if err := os.Remove(filepath.Join(r.dir, ".git/objects", blob[:2], blob[2:])); err != nil {
		r.t.Fatal(err)
	}
}

// traps are the ways in which a repository makes git run a program. Each is
// sprung by the plain git first, so that the row can fail.
var traps = []struct {
	name string
	set  func(r *fixture)
	args []string
}{
	{"fsmonitor", func(r *fixture) { r.config("core.fsmonitor", r.prog) }, []string{"status"}},
	{"hooks", func(r *fixture) {
		r.file(".git/hooks/post-index-change", "#!/bin/sh\ntouch '"+r.mark+"'\n", 0o700)
		r.git(r.dir, "add", "a.txt") // Makes the hook's mark at once;
		os.Remove(r.mark)
		now := r.dir + "/a.txt" // a file whose times alone differ refreshes the index.
		r.file(now, "new\n", 0o600)
		if err := os.Chtimes(now, time.Unix(1e9, 0), time.Unix(1e9, 0)); err != nil {
			r.t.Fatal(err)
		}
	}, []string{"status"}},
	{"clean filter", func(r *fixture) { r.driver(); r.config("filter.x.clean", r.prog) }, []string{"diff"}},
	{"required filter", func(r *fixture) {
		r.driver()
		r.config("filter.x.clean", r.prog)
		r.config("filter.x.required", "true")
	}, []string{"status"}},
	{"filter process", func(r *fixture) { r.driver(); r.config("filter.x.process", r.prog) }, []string{"status"}},
	{"filter with an odd name", func(r *fixture) {
		r.file(".gitattributes", "a.txt filter=A.b\x1b[1m\n", 0o600)
		r.config("filter.A.b\x1b[1m.clean", r.prog)
	}, []string{"diff"}},
	{"filter with an equals sign", func(r *fixture) {
		r.file(".gitattributes", "a.txt filter=a=b diff=c=d\n", 0o600)
		r.config("filter.a=b.clean", r.prog)
		r.config("filter.a=b.required", "true")
		r.config("diff.c=d.textconv", r.prog)
	}, []string{"diff"}},
	{"included filter", func(r *fixture) {
		r.driver()
		r.file("more", "[filter \"x\"]\n\tclean = "+r.prog+"\n", 0o600)
		r.config("include.path", "../more")
	}, []string{"diff"}},
	{"filter of the working tree's configuration", func(r *fixture) {
		r.driver()
		r.config("extensions.worktreeConfig", "true")
		r.git(r.dir, "config", "--worktree", "filter.x.clean", r.prog)
	}, []string{"diff"}},
	{"external diff", func(r *fixture) { r.config("diff.external", r.prog) }, []string{"diff"}},
	{"diff driver", func(r *fixture) { r.driver(); r.config("diff.x.command", r.prog) }, []string{"diff"}},
	{"text conversion", func(r *fixture) { r.driver(); r.config("diff.x.textconv", r.prog) }, []string{"diff"}},
	{"alias", func(r *fixture) { r.config("alias.st", "!"+r.prog) }, []string{"st"}},
	{"submodule", (*fixture).submodule, []string{"status"}},
	{"submodule in a diff", (*fixture).submodule, []string{"diff"}},
	{"fetch from a program", func(r *fixture) {
		r.missing("remote.origin.uploadpack", r.quit)
	}, []string{"diff"}},
	{"fetch over ssh", func(r *fixture) {
		r.missing("core.sshCommand", r.quit)
		r.config("remote.origin.url", "ssh://host.invalid/x")
	}, []string{"diff"}},
	{"fetch by ext", func(r *fixture) {
		r.missing("protocol.ext.allow", "always")
		r.config("remote.origin.url", "ext::"+r.quit)
	}, []string{"diff"}},
	{"signature", func(r *fixture) {
		r.config("gpg.program", r.prog)
		r.config("log.showSignature", "true")
		tree := strings.TrimSpace(r.git(r.dir, "rev-parse", "HEAD^{tree}"))
		r.file("commit", "tree "+tree+"\nauthor n <e> 0 +0000\ncommitter n <e> 0 +0000\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nsigned\n", 0o600)
		id := strings.TrimSpace(r.git(r.dir, "hash-object", "-t", "commit", "-w", "commit"))
		r.git(r.dir, "update-ref", "HEAD", id)
	}, []string{"log"}},
}

func TestGitRunsNothingOfTheRepository(t *testing.T) {
	for _, trap := range traps {
		t.Run(trap.name, func(t *testing.T) {
			r := newRepository(t)
			trap.set(r)
			e, err := r.ask(trap.args...)
			if r.pwned() {
				t.Errorf("a program of the repository ran (exit %+v, %v)", e, err)
			}
			os.Remove(r.mark)
			out, _ := r.tryGit(r.dir, trap.args...)
			if !r.pwned() {
				t.Errorf("the trap does not work: plain git left no mark\n%s", out)
			}
		})
	}
}

// The answers must be right, not only harmless.
func TestGitAnswers(t *testing.T) {
	r := newRepository(t)
	r.driver()
	r.config("filter.x.clean", r.prog)
	r.config("filter.x.required", "true")
	r.config("diff.x.command", r.prog)
	t.Setenv("GIT_DIR", "/nonexistent")
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"status", "--porcelain=v1", "-b"}, "## main\n M a.txt\n?? .gitattributes\n"},
		{[]string{"rev-parse", "--show-prefix"}, "\n"},
	} {
		e, err := r.ask(tt.args...)
		if err != nil || e.Code != 0 || e.Output != tt.want {
			t.Errorf("git %q: %+v, %v, want %q", tt.args, e, err, tt.want)
		}
	}
	e, err := r.ask("diff", "--no-ext-diff", "--no-textconv", "--no-color")
	if err != nil || e.Code != 0 || !strings.HasSuffix(e.Output, "@@ -1 +1 @@\n-old\n+new\n") {
		t.Errorf("diff: %+v, %v", e, err)
	}
	e, err = Git(t.Context(), Command{Dir: t.TempDir()}, r.inside, "status")
	if err != nil || e.Code != 128 || !strings.Contains(e.Output, "not a git repository") {
		t.Errorf("outside: %+v, %v", e, err)
	}
}

// A repository must not place its working tree over other directories.
func TestGitStaysInTheWorkingTree(t *testing.T) {
	r := newRepository(t)
	other := t.TempDir()
	r.file(filepath.Join(other, "a.txt"), "private\n", 0o600)
	r.file("deep/er/file", "", 0o600)
	r.config("core.worktree", other)
	e, err := Git(t.Context(), Command{Dir: filepath.Join(r.dir, "deep", "er")}, r.inside, "diff", "--no-ext-diff", "--no-textconv")
	if err != nil || e.Code != 0 || strings.Contains(e.Output, "private") || !strings.Contains(e.Output, "+new") {
		t.Errorf("%+v, %v", e, err)
	}
	if out := r.git(r.dir, "diff"); !strings.Contains(out, "private") {
		t.Errorf("the trap does not work: plain git says\n%s", out)
	}
}

func TestGitRefuses(t *testing.T) {
	r := newRepository(t)
	for _, tt := range []struct {
		name string
		set  func()
		args []string
		want string
	}{
		{"nothing", nil, nil, `git "": not one of the commands that only read`},
		{"a writing command", nil, []string{"commit", "-m", "x"}, "not one of the commands that only read"},
		{"an option first", nil, []string{"-c", "core.fsmonitor=x", "status"}, "not one of the commands that only read"},
		{"a broken file", func() { r.file(".git/config", "[broken\x1b", 0o600) }, []string{"status"}, "read git configuration: bad config line 1 in file "},
		{"many filters", func() {
			var b strings.Builder
			for i := range maxGitOverrides + 1 {
				fmt.Fprintf(&b, "[filter \"f%d\"]\n\tclean = x\n", i)
			}
			r.file(".git/config", b.String(), 0o600)
		}, []string{"status"}, "too many programs"},
		{"a huge file", func() {
			r.file(".git/config", strings.Repeat("[a \""+strings.Repeat("b", 1000)+"\"]\n\tc = d\n", 1100), 0o600)
		}, []string{"status"}, "too large"},
		{"no git", func() { t.Setenv("PATH", t.TempDir()) }, []string{"status"}, "git is not installed"},
	} {
		if tt.set != nil {
			tt.set()
		}
		_, err := r.ask(tt.args...)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.ContainsRune(err.Error(), '\x1b') {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestGitOverrides(t *testing.T) {
	keys := []string{
		"core.editor", "core.gitproxy", "core.bare", "credential.https://x.helper", "pager.log", "gpg.ssh.program",
		"merge.x.driver", "trailer.x.cmd", "filter.a b.c.smudge", "filter.x.required", "user.name", "remote.o.url",
	}
	got, err := gitOverrides(keys)
	want := []string{
		"core.editor=false", "core.gitproxy=false", "credential.https://x.helper=", "pager.log=false", "gpg.ssh.program=false",
		"merge.x.driver=false", "trailer.x.cmd=false", "filter.a b.c.smudge=", "filter.x.required=false",
	}
	got = slices.DeleteFunc(got, func(s string) bool { return s == "-c" })
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestTheKeyIsNotInGitOutput(t *testing.T) {
	const key = "sk-0123456789-abcdef"
	r := newRepository(t)
	r.file("a.txt", key+"\n", 0o600)
	c := Command{Dir: r.dir, Redact: llm.NewRedaction(key)}
	e, err := Git(t.Context(), c, r.inside, "diff")
	if err != nil || !strings.Contains(e.Output, "+[redacted]\n") || strings.Contains(e.Output, key[:8]) {
		t.Errorf("%q, %v", e.Output, err)
	}
	// git's message is cut after 400 characters, in the middle of the key.
	r.file(".git/config", "[core]\n\trepositoryformatversion = "+strings.Repeat("x", 362)+key+"\n", 0o600)
	if _, err = Git(t.Context(), c, r.inside, "diff"); err == nil || strings.Contains(err.Error(), key[:8]) {
		t.Errorf("error: %v", err)
	}
}

// Symptom: two runs with one fingerprint told the model different things. Trigger:
// what one person's files of git ignore or show in another way.
func TestGitAloneReadsNothingOfThePerson(t *testing.T) {
	for name, text := range map[string]string{
		".config/git/ignore": "*.mine\n",
		".config/git/config": "[status]\n\tshowUntrackedFiles = no\n",
		".gitconfig":         "[core]\n\texcludesFile = ~/mine\n",
	} {
		r := newRepository(t)
		home := os.Getenv("HOME")
		r.file(filepath.Join(home, name), text, 0o600)
		r.file(filepath.Join(home, "mine"), "*.mine\n", 0o600)
		r.file("notes.mine", "x", 0o600)
		for _, alone := range []bool{false, true} {
			c := Command{Dir: r.dir, Impersonal: alone}
			e, err := Git(context.Background(), c, func(string) bool { return true }, "status", "--porcelain")
			if err != nil || e.Code != 0 || strings.Contains(e.Output, "?? notes.mine") != alone {
				t.Errorf("%s, alone %v: got %+v, %v", name, alone, e, err)
			}
		}
	}
}
