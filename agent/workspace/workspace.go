// Package workspace is the one door to the files of a session: it says what a
// path means, opens and writes files, lists them and searches them, all inside
// the directories that the user named and nowhere else.
//
// Paths, file names, links, ignore files and contents are taken as hostile.
// A path is resolved step by step, links included, and what was found is then
// opened relative to a handle of its root without following any link, so that
// a directory swapped for a link in between leads to an error and never outside.
//
// The package asks nobody and decides nothing: that a path is protected or
// outside is told to the caller. It runs no program, opens nothing but regular
// files and directories, and scans nothing before it is asked to.
package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// root is a directory that may be used, with the handle that everything in it
// is opened through.
type root struct {
	abs      string // absolute, links resolved
	dir      *os.Root
	info     fs.FileInfo
	first    bool   // the workspace itself
	approved bool   // added by Approve, not named at start
	holds    int    // approvals that are not revoked, of an approved one; guarded by Workspace.mu
	base     string // where relative paths start, below the first root
	lone     bool   // the user's own ignore rules do not hold
}

// Workspace is a set of roots. It is safe for concurrent use.
type Workspace struct {
	mu      sync.RWMutex
	roots   []*root // the first one is the workspace; replaced, never changed
	revoked []*root // closed with the others: a call may still hold one
	own     pathSet // Alisio's own paths
	ledTo   pathSet // what settings of coding agents lead to by links
	closed  pathSet // those that are never opened
	lone    bool    // what lone of its roots is
	view    bool    // the directories named at start belong to another one

	writes *sync.Mutex // one at a time, in all views
}

// Open opens a workspace: dir is its root, extra are further directories that
// may be used. All must be existing directories.
func Open(dir string, extra ...string) (*Workspace, error) {
	w := &Workspace{writes: new(sync.Mutex)}
	for _, d := range append([]string{dir}, extra...) {
		if _, err := w.add(d, false); err != nil {
			w.Close()
			return nil, err
		}
	}
	return w, nil
}

// View is a workspace of the same directories, with approvals of its own. It is
// closed before w; what is set up on w later is not seen in it.
func (w *Workspace) View() *Workspace {
	w.mu.RLock()
	defer w.mu.RUnlock()
	v := &Workspace{own: w.own, ledTo: w.ledTo, closed: w.closed, lone: w.lone, view: true, writes: w.writes}
	for _, r := range w.roots {
		if !r.approved {
			v.roots = append(v.roots, r)
		}
	}
	return v
}

// SetBase lets relative paths start at a directory of the workspace instead of
// its root; names are shown relative to it too. Call it before anything else.
func (w *Workspace) SetBase(dir string) error {
	t, err := w.inside(dir)
	if err == nil && (!t.Dir || !t.root.first) {
		err = fmt.Errorf("%s is not a directory of the workspace", show(dir))
	}
	if err != nil {
		return fmt.Errorf("open working directory: %w", err)
	}
	t.root.base = t.rel
	return nil
}

// Approve adds a directory that the user approved while the session runs, until
// revoke is called as often as it was approved. Directories named at start stay.
func (w *Workspace) Approve(dir string) (revoke func(), err error) {
	r, err := w.add(dir, true)
	if err != nil {
		return nil, err
	}
	return sync.OnceFunc(func() { w.release(r) }), nil
}

// release takes one approval back.
func (w *Workspace) release(r *root) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !r.approved {
		return
	}
	if r.holds--; r.holds > 0 {
		return
	}
	if i := slices.Index(w.roots, r); i >= 0 {
		w.roots = slices.Delete(slices.Clone(w.roots), i, i+1)
		w.revoked = append(w.revoked, r)
	}
}

// Close gives the handles of the roots back.
func (w *Workspace) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var errs []error
	for _, r := range slices.Concat(w.roots, w.revoked) {
		if r.approved || !w.view {
			errs = append(errs, r.dir.Close())
		}
	}
	w.roots, w.revoked = nil, nil
	return errors.Join(errs...)
}

func (w *Workspace) all() []*root {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.roots
}

func (w *Workspace) add(dir string, approved bool) (*root, error) {
	r, err := openRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open workspace directory %s: %w", show(dir), plainError(err))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, have := range w.roots {
		if os.SameFile(have.info, r.info) {
			if have.approved {
				have.holds++
			}
			return have, r.dir.Close()
		}
	}
	r.first, r.approved, r.holds, r.lone = len(w.roots) == 0, approved, 1, w.lone
	w.roots = append(slices.Clip(w.roots), r)
	return r, nil
}

func openRoot(dir string) (*root, error) {
	if dir == "" {
		return nil, fs.ErrInvalid
	}
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return nil, err
	}
	// The trailing dot makes the kernel refuse, and not wait on, a FIFO.
	handle, err := os.OpenRoot(abs + string(filepath.Separator) + ".")
	if err != nil {
		return nil, err
	}
	info, err := handle.Stat(".")
	if err != nil {
		handle.Close()
		return nil, err
	}
	return &root{abs: abs, dir: handle, info: info}, nil
}

// alive tells whether the root still stands at its path. A handle outlives its
// directory: without this check, writes would go to a tree that nobody sees.
func (r *root) alive() error {
	info, err := os.Stat(r.abs)
	if err != nil || !os.SameFile(info, r.info) {
		return fmt.Errorf("workspace %s %w", show(r.abs), ErrGone)
	}
	return nil
}

// child is the absolute path of rel, a slash-separated path below the root.
func (r *root) child(rel string) string { return filepath.Join(r.abs, rel) }

// name is how a path below the root is shown.
func (r *root) name(rel string) string { return show(r.path(rel)) }

// path is that before quoting: below the first root it is the way from the base.
func (r *root) path(rel string) string {
	if way, err := filepath.Rel(r.base, rel); err == nil && r.first {
		return way
	}
	return r.child(rel)
}
