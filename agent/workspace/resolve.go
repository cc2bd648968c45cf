package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"alisio/agent/text"
)

const (
	maxPath  = 4096 // bytes of a path or a link's target
	maxName  = 255  // bytes of one name
	maxLinks = 40   // links followed for one path, as Linux does

	maxSimilar = 5     // look-alikes told
	maxScan    = 10000 // names read to find them
)

// Target is what a path means. It is a finding, not a right: what is done with
// it later is checked again against the root's handle.
type Target struct {
	// Name is how people and models are shown the path: relative to the
	// workspace with slashes where it is inside it, else absolute; quoted when
	// it is not plain printable UTF-8.
	Name string
	// Abs is absolute, with links resolved as far as the path exists.
	Abs string
	// Inside: within a root or an approved directory.
	Inside bool
	// Exists, Dir, Regular describe what stands there.
	Exists, Dir, Regular bool
	// Similar are names in the same directory that look like the asked one, as
	// Name shows them, when nothing stands there. Never set for what is outside.
	Similar []string
	// Approve is the directory that would have to be approved, when the path is
	// outside: itself if it is one, else the nearest that exists.
	Approve string

	root    *root
	rel     string // slash-separated below root; "" is the root
	slashed bool   // the path ended in a slash: only a directory will do
}

// Resolve says what a path means, as the kernel would: links are followed, and
// ".." leaves the directory that a link led to. The path may be absolute,
// relative to the workspace, or quoted as Target.Name shows it; "~" is a name
// like any other. No file is opened. A path outside is no error.
func (w *Workspace) Resolve(path string) (Target, error) {
	t, err := w.resolve(path)
	if err != nil {
		return Target{}, fmt.Errorf("resolve %s: %w", show(path), err)
	}
	if t.Inside && !t.Exists {
		t.Similar = w.similar(t)
	}
	return t, nil
}

func (w *Workspace) resolve(path string) (Target, error) {
	name, _, err := text.UnquoteName(path)
	if err != nil {
		return Target{}, err
	}
	if err := checkPath(name); err != nil {
		return Target{}, err
	}
	roots := w.all()
	if len(roots) == 0 {
		return Target{}, fs.ErrClosed
	}
	if err := roots[0].alive(); err != nil {
		return Target{}, err
	}
	p := pursuit{roots: roots}
	if filepath.IsAbs(name) {
		p.restart(name)
	} else {
		p.enter(roots[0], roots[0].fromBase(name))
	}
	if err := p.run(); err != nil {
		return Target{}, err
	}
	return p.target(), nil
}

// inside is Resolve for those who want to use the path: outside is an error,
// and so is a root that is gone.
func (w *Workspace) inside(path string) (Target, error) {
	t, err := w.Resolve(path)
	if err != nil {
		return t, err
	}
	if !t.Inside {
		return t, &OutsideError{Path: t.Abs, Dir: t.Approve}
	}
	return t, t.root.alive()
}

// checkPath refuses what no file can be called.
func checkPath(path string) error {
	switch {
	case path == "":
		return errors.New("the path is empty")
	case len(path) > maxPath:
		return fmt.Errorf("the path is longer than %d bytes", maxPath)
	case strings.ContainsRune(path, 0):
		return errors.New("the path contains a NUL byte")
	}
	for name := range strings.FieldsFuncSeq(path, isSeparator) {
		if len(name) > maxName {
			return fmt.Errorf("a name in the path is longer than %d bytes", maxName)
		}
	}
	if runtime.GOOS == "windows" {
		return checkWindows(path)
	}
	return nil
}

func isSeparator(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) }

// pursuit follows a path. done are the names that were seen to be directories
// (the last may be anything), todo those still to be looked at:
//
//	todo --name--> missing: the rest is taken as it stands
//	     --link--> its target goes to the front of todo
//	     --else--> done
type pursuit struct {
	roots []*root
	top   string // volume and separator
	done  []string
	todo  []string
	links int

	in   *root // the innermost root that holds done
	base int   // len(done) at that root
	info fs.FileInfo
	dots bool // the path ended in a separator or a dot
}

// enter starts at a root.
func (p *pursuit) enter(r *root, rest string) {
	p.top, p.done = splitAbs(r.abs)
	p.in, p.base, p.info = r, len(p.done), r.info
	p.todo = splitNames(rest)
}

// restart starts at the top, or at the root that an absolute path begins with:
// roots have no links in them.
func (p *pursuit) restart(abs string) {
	p.top, p.todo = splitAbs(abs)
	p.done, p.in, p.base, p.info = nil, nil, 0, nil
	for n := len(p.todo); n >= 0; n-- {
		if r := p.rootAt(p.todo[:n]); r != nil {
			p.done, p.todo = slices.Clone(p.todo[:n]), p.todo[n:]
			p.in, p.base, p.info = r, n, r.info
			return
		}
	}
}

// rootAt finds the root with just these names.
func (p *pursuit) rootAt(names []string) *root {
	abs := p.top + strings.Join(names, string(filepath.Separator))
	for _, r := range p.roots {
		if r.abs == abs {
			return r
		}
	}
	return nil
}

func (p *pursuit) path() string {
	return p.top + strings.Join(p.done, string(filepath.Separator))
}

func (p *pursuit) run() error {
	for len(p.todo) > 0 {
		name := p.todo[0]
		p.todo = p.todo[1:]
		switch name {
		case "", ".":
			p.dots = len(p.todo) == 0
		case "..":
			p.up()
		default:
			missing, err := p.step(name)
			if missing || err != nil {
				return err
			}
		}
	}
	return nil
}

// up goes to the parent. What was a file has been refused by step.
func (p *pursuit) up() {
	if len(p.done) > 0 {
		p.done = p.done[:len(p.done)-1]
	}
	p.info = nil
	if p.in == nil || len(p.done) >= p.base {
		return
	}
	p.in, p.base = nil, 0
	for n := len(p.done); n >= 0; n-- {
		if r := p.rootAt(p.done[:n]); r != nil {
			p.in, p.base = r, n
			return
		}
	}
}

func (p *pursuit) step(name string) (missing bool, err error) {
	p.done = append(p.done, name)
	path := p.path()
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, p.rest()
	case err != nil:
		return false, fmt.Errorf("%s: %w", show(path), plainError(err))
	case info.Mode()&fs.ModeSymlink != 0:
		return false, p.link(path)
	case !info.IsDir() && len(p.todo) > 0:
		return false, fmt.Errorf("%s is not a directory", show(path))
	}
	p.info = info
	for _, r := range p.roots {
		// By identity, for file systems that fold case and for bind mounts.
		if info.IsDir() && os.SameFile(info, r.info) {
			p.in, p.base = r, len(p.done)
		}
	}
	return false, nil
}

// rest takes the names below one that does not exist as they stand.
func (p *pursuit) rest() error {
	for _, name := range p.todo {
		switch name {
		case "", ".":
		case "..":
			return fmt.Errorf("%s: %w", show(p.path()), fs.ErrNotExist)
		default:
			p.done = append(p.done, name)
		}
	}
	p.dots = len(p.todo) > 0 && (p.todo[len(p.todo)-1] == "" || p.todo[len(p.todo)-1] == ".")
	p.todo, p.info = nil, nil
	return nil
}

func (p *pursuit) link(path string) error {
	if p.links++; p.links > maxLinks {
		return fmt.Errorf("%s: %w", show(path), syscall.ELOOP)
	}
	to, err := os.Readlink(path)
	if err != nil {
		return fmt.Errorf("%s: %w", show(path), plainError(err))
	}
	if err := checkPath(to); err != nil {
		return fmt.Errorf("link %s: %w", show(path), err)
	}
	p.done = p.done[:len(p.done)-1]
	rest := p.todo
	if filepath.IsAbs(to) {
		p.restart(to)
		p.todo = append(slices.Clone(p.todo), rest...)
		return nil
	}
	p.todo = append(splitNames(to), rest...)
	return nil
}

func (p *pursuit) target() Target {
	t := Target{Abs: p.path(), slashed: p.dots}
	if p.info == nil {
		// After "..", or nothing there.
		p.info, _ = os.Lstat(t.Abs)
	}
	if p.info != nil {
		t.Exists, t.Dir, t.Regular = true, p.info.IsDir(), p.info.Mode().IsRegular()
	}
	if p.in == nil {
		t.Name, t.Approve = show(t.Abs), approvable(t.Abs, t.Dir)
		return t
	}
	t.Inside, t.root = true, p.in
	t.rel = strings.Join(p.done[p.base:], "/")
	t.Abs = p.in.child(t.rel)
	t.Name = p.in.name(t.rel, p.in == p.roots[0])
	return t
}

// name is how a path below the root is shown.
func (r *root) name(rel string, first bool) string { return show(r.path(rel, first)) }

// path is that before quoting.
func (r *root) path(rel string, first bool) string {
	if !first {
		return r.child(rel)
	}
	return relative(r.base, rel)
}

// fromBase makes a relative path one that starts at the root.
func (r *root) fromBase(path string) string {
	if r.base == "" {
		return path
	}
	return r.base + "/" + path
}

// relative is the way from one slash-separated path below a root to another.
func relative(base, rel string) string {
	from, to := strings.FieldsFunc(base, isSlash), strings.FieldsFunc(rel, isSlash)
	for len(from) > 0 && len(to) > 0 && from[0] == to[0] {
		from, to = from[1:], to[1:]
	}
	way := make([]string, 0, len(from)+len(to))
	for range from {
		way = append(way, "..")
	}
	if way = append(way, to...); len(way) == 0 {
		return "."
	}
	return strings.Join(way, "/")
}

// approvable is the directory that a person would approve to open a path.
func approvable(abs string, dir bool) string {
	for !dir {
		abs = filepath.Dir(abs)
		info, err := os.Lstat(abs)
		dir = err == nil && info.IsDir() || abs == filepath.Dir(abs)
	}
	return abs
}

// similar finds names that look like the last one of a missing path: a
// no-break space for a space, composed for decomposed letters, a curly for a
// straight quote.
func (w *Workspace) similar(t Target) []string {
	d, base, err := t.parent(false)
	if err != nil {
		return nil
	}
	defer d.Close()
	f, err := d.Open(".")
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(maxScan)
	slices.Sort(names)
	want := text.Skeleton(base)
	var out []string
	for _, n := range names {
		if len(out) < maxSimilar && text.Skeleton(n) == want {
			dir := strings.TrimSuffix(t.rel, base)
			out = append(out, t.root.name(dir+n, w.first(t.root)))
		}
	}
	return out
}

// splitAbs cuts an absolute path into its volume with separator, and its names.
func splitAbs(abs string) (top string, names []string) {
	vol := filepath.VolumeName(abs)
	rest := strings.TrimLeftFunc(abs[len(vol):], isSeparator)
	if rest != "" {
		names = splitNames(rest)
	}
	return vol + string(filepath.Separator), names
}

// splitNames cuts a path at separators. Empty names stay: one at the end means
// that a directory is asked for.
func splitNames(path string) []string {
	var out []string
	for {
		i := strings.IndexFunc(path, isSeparator)
		if i < 0 {
			return append(out, path)
		}
		out, path = append(out, path[:i]), path[i+1:]
	}
}

// show makes a path fit for messages and results.
func show(path string) string { return text.QuoteName(filepath.ToSlash(path)) }
