package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"alisio/agent/text"
)

const (
	// maxGitEntries bounds the files and directories of a repository that are
	// looked at, maxAlternates its stores of objects.
	maxGitEntries = 500_000
	maxAlternates = 32
	maxGitFile    = 64 << 10 // bytes of a file that says where something is
)

var errNoRepository = errors.New("not a git repository")

// repository is where git is to work. We find it, git does not: what was
// looked at is what git uses.
type repository struct {
	inside  func(path string) bool
	top     string // the working tree: the directory that holds .git
	dir     string // the git directory, and that of the main working tree,
	common  string // if it is another; links resolved
	seen    map[string]bool
	entries int
}

// findRepository takes the nearest .git at or above dir, which has no links in its
// path. It refuses one from which git would read what lies outside: by a .git that
// points there, a common directory, an alternate store of objects, or a link
// within; and one with a FIFO or a device in a place where git would wait for it.
//
// A linked working tree (git worktree add) may have its git directory outside,
// if that knows of it: nothing in the working tree can bring this about.
func findRepository(dir string, inside func(path string) bool) (*repository, error) {
	r := &repository{inside: inside, top: dir, seen: make(map[string]bool)}
	for !exists(filepath.Join(r.top, ".git")) {
		up := filepath.Dir(r.top)
		if up == r.top {
			return nil, errNoRepository
		}
		r.top = up
	}
	if !inside(r.top) {
		return nil, outside("the repository here", r.top)
	}
	known, err := r.open()
	if err != nil || known {
		return r, err
	}
	return r, r.look()
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// env tells git what was found, so that it looks for nothing itself and no
// core.worktree counts.
func (r *repository) env() []string {
	env := []string{"GIT_DIR=" + r.dir, "GIT_WORK_TREE=" + r.top}
	if r.common != "" {
		env = append(env, "GIT_COMMON_DIR="+r.common)
	}
	return env
}

// open follows .git. Known: the git directory lies outside and knows of us.
func (r *repository) open() (known bool, err error) {
	link := filepath.Join(r.top, ".git")
	at := link
	if info, err := os.Stat(link); err != nil || !info.IsDir() {
		line, err := pointer(link, "gitdir: ")
		if err != nil {
			return false, err
		}
		at = below(r.top, line)
	}
	if r.dir, err = filepath.EvalSymlinks(at); err != nil {
		return false, fmt.Errorf("git: %s leads to %s: %w", quote(link), quote(at), cause(err))
	}
	if !r.inside(r.dir) {
		back, err := pointer(filepath.Join(r.dir, "gitdir"), "")
		if err == nil && at != link && filepath.Base(back) == ".git" {
			home, err := filepath.EvalSymlinks(filepath.Dir(below(r.dir, back)))
			known = err == nil && home == r.top
		}
		if !known {
			return false, outside(quote(link), r.dir)
		}
		return true, nil
	}
	common := filepath.Join(r.dir, "commondir")
	line, err := pointer(common, "")
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		r.common, err = filepath.EvalSymlinks(below(r.dir, line))
	}
	if err == nil && !r.inside(r.common) {
		err = outside(quote(common), r.common)
	}
	return false, err
}

// look judges all that git may open in the git directories, the stores of
// objects and at the top of the working tree.
func (r *repository) look() error {
	for _, name := range gitTreeFiles {
		if err := r.walk(filepath.Join(r.top, name)); err != nil {
			return err
		}
	}
	common := r.dir
	if r.common != "" {
		common = r.common
	}
	for _, dir := range []string{r.dir, common} {
		if err := r.walk(dir); err != nil {
			return err
		}
	}
	for stores, i := []string{filepath.Join(common, "objects")}, 0; i < len(stores); i++ {
		dir, err := filepath.EvalSymlinks(stores[i])
		if err != nil || slices.Contains(stores[:i], dir) {
			continue // Git finds nothing there either, or nothing new.
		}
		stores[i] = dir
		list := filepath.Join(dir, "info", "alternates")
		switch {
		case i > maxAlternates:
			return fmt.Errorf("git: %s: too many stores of objects", quote(list))
		case !r.inside(dir):
			return outside("a store of objects", dir)
		}
		if err := r.walk(dir); err != nil {
			return err
		}
		lines, err := read(list)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for line := range strings.SplitSeq(lines, "\n") {
			if strings.HasPrefix(line, `"`) {
				return fmt.Errorf("git: %s: a quoted path, which is not followed", quote(list))
			}
			if line != "" && line[0] != '#' {
				stores = append(stores, below(dir, line))
			}
		}
	}
	return nil
}

// walk judges a file, or a directory with all in it, once.
func (r *repository) walk(root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		r.entries++
		switch {
		case r.entries > maxGitEntries:
			return errors.New("git: the repository holds too many files to look at; git gc packs them")
		case err != nil, d.IsDir() && r.seen[path]:
			return fs.SkipDir // What we can not read, git can not either.
		case path != root && filepath.Dir(path) == root && slices.Contains(gitUnread, d.Name()):
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.IsDir():
			r.seen[path] = true
		case d.Type() == fs.ModeSymlink:
			return r.follow(path)
		case !d.Type().IsRegular() && d.Type() != fs.ModeSocket: // A socket can not be opened.
			return fmt.Errorf("git: %s is not a regular file, git would wait for it", quote(path))
		}
		return nil
	})
}

// follow judges what a link leads to.
func (r *repository) follow(link string) error {
	to, err := filepath.EvalSymlinks(link)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("git: follow %s: %w", quote(link), cause(err))
	case !r.inside(to):
		return outside("the link "+quote(link), to)
	}
	return r.walk(to)
}

// read returns a small file.
func read(path string) (string, error) {
	info, err := os.Stat(path)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxGitFile) {
		err = errors.New("not a small regular file")
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return "", fmt.Errorf("git: read %s: %w", quote(path), cause(err))
	}
	return string(data), nil
}

// pointer reads a file that holds a path and nothing else.
func pointer(path, prefix string) (string, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return "", fmt.Errorf("git: %s is a link", quote(path))
	}
	data, err := read(path)
	if err != nil {
		return "", err
	}
	line, ok := strings.CutPrefix(strings.TrimRight(data, "\r\n"), prefix)
	if !ok || line == "" || strings.ContainsAny(line, "\r\n\x00") {
		return "", fmt.Errorf("git: %s does not say where the repository is", quote(path))
	}
	return line, nil
}

// below is path as it is meant in dir.
func below(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return dir + string(filepath.Separator) + path
}

// outside says how what is refused can be allowed.
func outside(what, path string) error {
	dir := path
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		dir = filepath.Dir(path)
	}
	return fmt.Errorf("git: %s leads outside the workspace, to %s; --add-dir %s opens it", what, quote(path), quote(dir))
}

func quote(path string) string { return text.QuoteName(path) }
