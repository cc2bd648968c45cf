package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"alisio/agent/text"
)

const (
	maxPath  = 4096 // bytes of a path or a link's target
	maxName  = 255  // bytes of one name
	maxLinks = 40   // links followed for one path, as Linux does
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
	// Approve is the directory that would have to be approved, when the path is
	// outside: itself if it is one, else the nearest that exists.
	Approve string

	info    fs.FileInfo // of what stands there
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
	p := pursuit{roots: roots}
	if !filepath.IsAbs(name) {
		name = roots[0].child(roots[0].base) + string(filepath.Separator) + name
	}
	p.restart(name)
	if err := p.run(); err != nil {
		return Target{}, err
	}
	return p.target()
}

// inside is Resolve for those who want to use the path: outside is an error.
func (w *Workspace) inside(path string) (Target, error) {
	t, err := w.Resolve(path)
	if err == nil && !t.Inside {
		err = &OutsideError{Path: t.Abs, Dir: t.Approve}
	}
	if err == nil && w.isClosedOff(t.Abs) {
		err = fmt.Errorf("open %s: %w", t.Name, ErrClosedOff)
	}
	return t, err
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
	for _, name := range splitNames(path) {
		if len(name) > maxName {
			return fmt.Errorf("a name in the path is longer than %d bytes", maxName)
		}
	}
	if runtime.GOOS == "windows" {
		return checkWindows(path)
	}
	return nil
}

// pursuit follows a path from the top. way are the places that it led through,
// todo the names still to be looked at:
//
//	todo --name--> way; below what is missing, all is taken as it stands
//	     --link--> its target goes to the front of todo
//	     --".."--> back by one place
type pursuit struct {
	roots   []*root
	way     []place // directories; the last may be anything
	todo    []string
	links   int
	slashed bool // the last name was empty or a dot
}

// place is a point of the way.
type place struct {
	abs  string
	info fs.FileInfo // nil: nothing is there
	in   *root       // the innermost root that holds it, and the path below that
	rel  string
}

// restart goes to the top of an absolute path.
func (p *pursuit) restart(abs string) {
	vol := filepath.VolumeName(abs)
	p.todo = append(splitNames(abs[len(vol):]), p.todo...)
	p.way = nil
	top := place{abs: vol + string(filepath.Separator)}
	top.info, _ = os.Lstat(top.abs)
	p.come(top)
}

// come adds a place. A root is known by identity, not by name, for file systems
// that fold case, for bind mounts and because it may have been replaced.
func (p *pursuit) come(to place) {
	for _, r := range p.roots {
		if os.SameFile(to.info, r.info) {
			to.in, to.rel = r, ""
		}
	}
	p.way = append(p.way, to)
}

func (p *pursuit) run() error {
	for len(p.todo) > 0 {
		name, here := p.todo[0], p.way[len(p.way)-1]
		p.todo = p.todo[1:]
		p.slashed = name == "" || name == "."
		switch {
		case p.slashed:
		case name != "..":
			if err := p.step(here, name); err != nil {
				return err
			}
		case here.info == nil:
			return fmt.Errorf("%s: %w", show(here.abs), fs.ErrNotExist)
		default:
			p.way = p.way[:max(len(p.way)-1, 1)]
		}
	}
	return nil
}

func (p *pursuit) step(here place, name string) error {
	to := place{abs: filepath.Join(here.abs, name), in: here.in, rel: path.Join(here.rel, name)}
	if here.info != nil {
		info, err := os.Lstat(to.abs)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return fmt.Errorf("%s: %w", show(to.abs), plainError(err))
		case info.Mode()&fs.ModeSymlink != 0:
			return p.link(to.abs)
		case !info.IsDir() && len(p.todo) > 0:
			return fmt.Errorf("%s is not a directory", show(to.abs))
		}
		to.info = info
	}
	p.come(to)
	return nil
}

func (p *pursuit) link(path string) error {
	if p.links++; p.links > maxLinks {
		return fmt.Errorf("%s: %w", show(path), syscall.ELOOP)
	}
	to, err := os.Readlink(path)
	if err == nil {
		err = checkPath(to)
	}
	if err != nil {
		return fmt.Errorf("link %s: %w", show(path), plainError(err))
	}
	if filepath.IsAbs(to) {
		p.restart(to)
	} else {
		p.todo = append(splitNames(to), p.todo...)
	}
	return nil
}

func (p *pursuit) target() (Target, error) {
	at := p.way[len(p.way)-1]
	t := Target{Name: show(at.abs), Abs: at.abs, slashed: p.slashed}
	if at.info != nil {
		t.info, t.Exists, t.Dir, t.Regular = at.info, true, at.info.IsDir(), at.info.Mode().IsRegular()
	}
	if at.in != nil {
		t.Inside, t.root, t.rel = true, at.in, at.rel
		t.Name, t.Abs = at.in.name(at.rel), at.in.child(at.rel)
		return t, nil
	}
	const sep = string(filepath.Separator)
	for _, r := range p.roots { // in it by name, but it is another directory now?
		if err := r.alive(); err != nil && strings.HasPrefix(at.abs+sep, r.abs+sep) {
			return t, err
		}
	}
	for _, d := range p.way {
		if d.info != nil && d.info.IsDir() || t.Approve == "" {
			t.Approve = d.abs
		}
	}
	return t, nil
}

// splitNames cuts a path at separators. Empty names stay: one at the end means
// that a directory is asked for.
func splitNames(path string) []string { return strings.Split(filepath.ToSlash(path), "/") }

// show makes a path fit for messages and results.
func show(path string) string { return text.QuoteName(filepath.ToSlash(path)) }
