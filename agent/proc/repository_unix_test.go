//go:build unix

package proc

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// link makes a link in the repository.
func (r *fixture) link(target, name string) {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.RemoveAll(path); err != nil {
		r.t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		r.t.Fatal(err)
	}
}

func (r *fixture) fifo(name string) {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.RemoveAll(path); err != nil {
		r.t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// private is a repository outside of the workspace whose last change holds the
// word private.
func (r *fixture) private() string {
	dir := filepath.Join(filepath.Dir(r.dir), "private")
	r.git(r.dir, "clone", "-q", r.dir, dir)
	r.git(dir, "config", "user.name", "n")
	r.git(dir, "config", "user.email", "e@invalid")
	r.file(filepath.Join(dir, "a.txt"), "private\n", 0o600)
	r.git(dir, "commit", "-q", "-a", "-m", "private")
	r.file(filepath.Join(dir, "a.txt"), "changed\n", 0o600)
	return dir
}

// outsiders are the ways in which a working tree leads git outside. Plain git
// shows what is there, so that each row can fail.
var outsiders = []struct {
	name  string
	set   func(r *fixture, private string)
	opens string // the directory that is named, below private
}{
	{"a .git file", func(r *fixture, private string) {
		os.RemoveAll(filepath.Join(r.dir, ".git"))
		r.file(".git", "gitdir: "+private+"/.git\n", 0o600)
	}, ".git"},
	{"a .git file with a way up", func(r *fixture, _ string) {
		os.RemoveAll(filepath.Join(r.dir, ".git"))
		r.file(".git", "gitdir: ../private/.git", 0o600)
	}, ".git"},
	{"a .git link", func(r *fixture, private string) { r.link(private+"/.git", ".git") }, ".git"},
	{"a .git file that names another's working tree", func(r *fixture, private string) {
		r.git(private, "worktree", "add", "-q", "--detach", private+"/wt")
		r.file(private+"/wt/a.txt", "changed\n", 0o600)
		os.RemoveAll(filepath.Join(r.dir, ".git"))
		r.file(".git", "gitdir: "+private+"/.git/worktrees/wt\n", 0o600)
	}, ".git/worktrees/wt"},
	{"a common directory", func(r *fixture, private string) {
		r.file(".git/commondir", private+"/.git\n", 0o600)
	}, ".git"},
	{"a common directory of a git directory within", func(r *fixture, private string) {
		r.file("odd/HEAD", "ref: refs/heads/main\n", 0o600)
		r.file("odd/commondir", "../../private/.git\n", 0o600)
		os.RemoveAll(filepath.Join(r.dir, ".git"))
		r.file(".git", "gitdir: odd\n", 0o600)
	}, ".git"},
	{"alternates", func(r *fixture, private string) {
		r.file(".git/objects/info/alternates", "# x\n"+private+"/.git/objects\n", 0o600)
		r.head(private)
	}, ".git/objects"},
	{"alternates with a way up", func(r *fixture, private string) {
		r.file(".git/objects/info/alternates", "../../../private/.git/objects\n", 0o600)
		r.head(private)
	}, ".git/objects"},
	{"alternates of alternates", func(r *fixture, private string) {
		r.file(".git/objects/info/alternates", r.dir+"/.git/modules/m/objects", 0o600)
		r.file(".git/modules/m/objects/info/alternates", private+"/.git/objects", 0o600)
		r.head(private)
	}, ".git/objects"},
	{"a link in the alternates", func(r *fixture, private string) {
		r.file(".git/objects/info/alternates", r.dir+"/.git/modules/m/objects", 0o600)
		os.MkdirAll(filepath.Join(r.dir, ".git/modules/m"), 0o700)
		r.link(private+"/.git/objects", ".git/modules/m/objects")
		r.head(private)
	}, ".git/objects"},
	{"a link to objects", func(r *fixture, private string) {
		r.head(private)
		r.link(private+"/.git/objects", ".git/objects")
	}, ".git/objects"},
	{"a link to an object", func(r *fixture, private string) {
		head := r.head(private)
		for _, id := range []string{head, head + "^{tree}", head + ":a.txt"} {
			id = strings.TrimSpace(r.git(private, "rev-parse", id))
			r.file(".git/objects/"+id[:2]+"/x", "", 0o600)
			r.link(private+"/.git/objects/"+id[:2]+"/"+id[2:], ".git/objects/"+id[:2]+"/"+id[2:])
		}
	}, ""},
	{"a link within to a directory with a link", func(r *fixture, private string) {
		r.head(private)
		r.file("objects/x", "", 0o600)
		r.link("../objects", ".git/objects")
		for _, id := range []string{"HEAD", "HEAD^{tree}", "HEAD:a.txt"} {
			id = strings.TrimSpace(r.git(private, "rev-parse", id))
			r.link(private+"/.git/objects/"+id[:2], "objects/"+id[:2])
		}
	}, ""},
}

// head makes the private commit that of the repository too, as the hash of a
// commit may be known.
func (r *fixture) head(private string) string {
	id := strings.TrimSpace(r.git(private, "rev-parse", "HEAD"))
	r.file(".git/refs/heads/main", id+"\n", 0o600)
	return id
}

func TestGitReadsNothingOutside(t *testing.T) {
	for _, tt := range outsiders {
		t.Run(tt.name, func(t *testing.T) {
			r := newRepository(t)
			private := r.private()
			tt.set(r, private)
			for _, command := range []string{"diff", "status", "log"} {
				e, err := r.ask(command)
				if err == nil || !strings.Contains(err.Error(), "leads outside the workspace") ||
					!strings.Contains(err.Error(), "--add-dir "+filepath.Join(private, tt.opens)) || e.Output != "" {
					t.Errorf("%s: %+v, %v", command, e, err)
				}
			}
			all := func(string) bool { return true }
			e, err := Git(t.Context(), Command{Dir: r.dir}, all, "diff", "HEAD")
			if err != nil || !strings.Contains(e.Output, "-private") {
				t.Errorf("with everything added: %+v, %v", e, err)
			}
			if out, _ := r.tryGit(r.dir, "diff", "HEAD"); !strings.Contains(out, "-private") {
				t.Errorf("the trap does not work: plain git says\n%s", out)
			}
		})
	}
}

// A home directory under version control is no business of a project below.
func TestGitFindsNoRepositoryAbove(t *testing.T) {
	r := newRepository(t)
	r.file("proj/x", "", 0o600)
	proj := filepath.Join(r.dir, "proj")
	inside := func(path string) bool { return within(proj, path) }
	e, err := Git(t.Context(), Command{Dir: proj}, inside, "diff")
	if err == nil || err.Error() != "git: the repository here leads outside the workspace, to "+r.dir+"; --add-dir "+r.dir+" opens it" {
		t.Errorf("%+v, %v", e, err)
	}
}

// Without a repository, git compares any two files.
func TestGitComparesNoFiles(t *testing.T) {
	r := newRepository(t)
	secret := filepath.Join(t.TempDir(), "secret")
	r.file(secret, "private\n", 0o600)
	for name, set := range map[string]func(){
		"broken": func() { r.file(".git/HEAD", "nothing\n", 0o600) },
		"unknown": func() {
			r.git(r.dir, "init", "-q")
			r.file(".git/config", "[core]\nrepositoryformatversion = 99\n", 0o600)
		},
		"none": func() { os.RemoveAll(filepath.Join(r.dir, ".git")) },
	} {
		set()
		e, err := r.ask("diff", secret, "--", "a.txt")
		if err != nil || e.Code < 128 || strings.Contains(e.Output, "private") {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
	}
	if out, _ := r.tryGit(r.dir, "diff", secret, "--", "a.txt"); !strings.Contains(out, "-private") {
		t.Errorf("the trap does not work: plain git says\n%s", out)
	}
}

// What is no way out has to work: linked working trees, within the workspace or
// known to the repository outside; alternates and links within.
func TestGitInOtherLayouts(t *testing.T) {
	r := newRepository(t)
	private := r.private()
	tree := filepath.Join(filepath.Dir(r.dir), "tree")
	r.git(private, "worktree", "add", "-q", "--detach", tree)
	r.file(tree+"/a.txt", "changed\n", 0o600)
	r.git(r.dir, "worktree", "add", "-q", "--detach", r.dir+"/.wt/one")
	r.file(".wt/one/a.txt", "changed\n", 0o600)
	r.git(r.dir, "clone", "-q", "--shared", r.dir, r.dir+"/shared")
	r.file("shared/a.txt", "changed\n", 0o600)
	r.git(r.dir, "init", "-q", "--separate-git-dir="+r.dir+"/.else", r.dir+"/apart")
	r.file("linked/x", "", 0o600)
	r.link("../.git", "linked/.git")
	for _, tt := range []struct{ root, dir, want string }{
		{tree, tree, "-private\n+changed\n"},
		{r.dir, r.dir, "-old\n+new\n"},
		{r.dir, r.dir + "/.wt/one", "-old\n+changed\n"},
		{r.dir, r.dir + "/shared", "-old\n+changed\n"},
		{r.dir, r.dir + "/apart", ""},
		{r.dir, r.dir + "/linked", "-old\n"},
	} {
		inside := func(path string) bool { return within(tt.root, path) }
		e, err := Git(t.Context(), Command{Dir: tt.dir}, inside, "diff")
		if err != nil || e.Code != 0 || !strings.HasSuffix(e.Output, tt.want) {
			t.Errorf("%s: %+v, %v", tt.dir, e, err)
		}
		if e, err = Git(t.Context(), Command{Dir: tt.dir}, inside, "status"); err != nil || e.Code != 0 {
			t.Errorf("%s: %+v, %v", tt.dir, e, err)
		}
	}
}

// A FIFO where git reads holds it up until its time is over.
func TestGitWaitsForNoFIFO(t *testing.T) {
	r := newRepository(t)
	for _, name := range []string{
		".git/info/exclude", ".git/info/attributes", ".git/objects/info/alternates", ".git/HEAD", ".git/packed-refs",
		".git/index", ".git/commondir", ".gitattributes", ".gitignore", ".mailmap", ".git",
	} {
		saved := filepath.Join(filepath.Dir(r.dir), "saved")
		r.git(filepath.Dir(r.dir), "clone", "-q", r.dir, saved)
		r.fifo(name)
		begin := time.Now()
		_, err := r.ask("status")
		if took := time.Since(begin); err == nil || !strings.Contains(err.Error(), r.dir+"/"+name) || took > 2*time.Second {
			t.Errorf("%s: %v after %v", name, err, took)
		}
		os.RemoveAll(r.dir)
		if err := os.Rename(saved, r.dir); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		set  func()
		want string
	}{
		{func() { r.fifo("deep/.gitignore") }, "git status: stopped after 300ms: "},
		{func() { r.fifo("fifo"); r.config("include.path", r.dir+"/fifo") }, "read git configuration: stopped after 300ms: "},
	} {
		tt.set()
		at, err := findRepository(r.dir, r.inside)
		if err != nil {
			t.Fatal(err)
		}
		c := Command{Dir: r.dir, Timeout: 300 * time.Millisecond, extra: append(at.env(), gitEnv...)}
		if e, err := c.git(t.Context(), []string{"status"}); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%+v, %v, want %s", e, err, tt.want)
		}
	}
}

// Reading changes nothing, not even the index of a file whose time alone
// differs, nor notes that keep what a conversion gave.
func TestGitWritesNothing(t *testing.T) {
	r := newRepository(t)
	r.file("b.txt", "same\n", 0o600)
	r.git(r.dir, "add", "b.txt")
	r.git(r.dir, "commit", "-q", "-m", "b", "--", "b.txt")
	r.driver()
	r.config("diff.x.textconv", "cat")
	r.config("diff.x.cachetextconv", "true")
	r.config("core.untrackedCache", "true")
	r.config("gc.auto", "1")
	for i, args := range [][]string{
		{"diff", "--no-ext-diff", "--no-textconv"}, {"diff"}, {"status"}, {"diff", "--cached", "HEAD~1"}, {"log", "-p"}, {"show"}, {"ls-files"},
	} {
		when := time.Unix(int64(1e9+i), 0)
		if err := os.Chtimes(filepath.Join(r.dir, "b.txt"), when, when); err != nil {
			t.Fatal(err)
		}
		before := r.digest()
		e, err := r.ask(args...)
		if err != nil || e.Code != 0 || strings.Contains(e.Output, "b.txt") && i < 3 {
			t.Errorf("%q: %+v, %v", args, e, err)
		}
		if r.digest() != before {
			t.Errorf("git %q changed .git", args)
		}
		if i < 2 {
			if r.git(r.dir, args...); r.digest() == before {
				t.Errorf("the trap does not work: plain git %q changed nothing", args)
			}
		}
	}
}

// digest is a hash of all that .git holds.
func (r *fixture) digest() string {
	r.t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(filepath.Join(r.dir, ".git"), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var data []byte
		if d.Type().IsRegular() {
			data, err = os.ReadFile(path)
		}
		fmt.Fprintf(h, "%s %v %x\n", path, d.Type(), sha256.Sum256(data))
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
