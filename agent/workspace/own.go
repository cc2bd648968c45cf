package workspace

import (
	"errors"
	"path/filepath"
	"strings"
)

// pathSet holds files and directories by their folded names.
type pathSet []string

// add takes absolute paths, with what their links lead to. They need not exist;
// empty ones are passed over.
func (s *pathSet) add(paths ...string) {
	for _, p := range paths {
		if p == "" {
			continue
		}
		*s = append(*s, foldNames(filepath.ToSlash(p)))
		if real := resolved(p); real != p {
			*s = append(*s, foldNames(filepath.ToSlash(real)))
		}
	}
}

// holds tells whether folded names are one of the paths, or below one.
func (s pathSet) holds(names string) bool {
	for _, p := range s {
		if names == p || strings.HasPrefix(names, p+"/") {
			return true
		}
	}
	return false
}

// Guard protects Alisio's own files and directories wherever the roots are:
// whoever can write its configuration gives himself every permission of the
// next run. The paths are absolute.
func (w *Workspace) Guard(paths ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.own.add(paths...)
}

// GuardLinked protects what the links in paths lead to: settings that lie under
// another name. The paths are absolute, and protected by their names already.
func (w *Workspace) GuardLinked(paths ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range paths {
		if real := resolved(p); real != p {
			w.ledTo = append(w.ledTo, foldNames(filepath.ToSlash(real)))
		}
	}
}

// CloseOff guards files, and keeps tools from opening them at all: the database
// of this process loses its locks when any descriptor of one of its files is
// closed (fcntl(2), "record locks"). The paths are absolute. Call it before
// anything is opened.
func (w *Workspace) CloseOff(paths ...string) { w.closed.add(paths...) }

// ErrClosedOff tells of a file that no tool opens.
var ErrClosedOff = errors.New("it belongs to the session database of this program, which tools do not open")

// isOwn tells whether folded names are one of Alisio's own paths, or below one.
func (w *Workspace) isOwn(names string) bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.own.holds(names) || w.closed.holds(names)
}

func (w *Workspace) isLinked(names string) bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.ledTo.holds(names)
}

// isClosedOff tells whether a path is one that tools do not open.
func (w *Workspace) isClosedOff(abs string) bool {
	return len(w.closed) > 0 && w.closed.holds(foldNames(filepath.ToSlash(abs)))
}

// closesBelow tells whether a closed path lies below a directory, so that a walk
// need not look at each name.
func (w *Workspace) closesBelow(dir string) bool {
	for _, p := range w.closed {
		if below := (pathSet{foldNames(filepath.ToSlash(dir))}); below.holds(p) {
			return true
		}
	}
	return false
}

// resolved follows the links of a path as far as it exists.
func resolved(path string) string {
	p := pursuit{}
	p.restart(path)
	if err := p.run(); err != nil {
		return path
	}
	return p.way[len(p.way)-1].abs
}
