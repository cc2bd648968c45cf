package workspace

import (
	"errors"
	"slices"
	"strings"
)

// pathSet holds files and directories by their folded names.
type pathSet []string

// add takes absolute paths, with what their links lead to. They need not exist;
// empty ones are passed over.
func (s *pathSet) add(paths ...string) {
	for _, p := range paths {
		if p != "" {
			*s = append(*s, foldNames(p), foldNames(resolved(p)))
		}
	}
}

// holds tells whether folded names are one of the paths, or below one.
func (s pathSet) holds(names string) bool {
	return slices.ContainsFunc(s, func(p string) bool { return names == p || strings.HasPrefix(names, p+"/") })
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
			w.ledTo = append(w.ledTo, foldNames(real))
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

// guarded tells whether a path is one of Alisio's own, or below one, and whether
// a link among the settings of coding agents leads to it.
func (w *Workspace) guarded(abs string) (own, linked bool) {
	names := foldNames(abs)
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.own.holds(names) || w.closed.holds(names), w.ledTo.holds(names)
}

// isClosedOff tells whether a path is one that tools do not open.
func (w *Workspace) isClosedOff(abs string) bool {
	return len(w.closed) > 0 && w.closed.holds(foldNames(abs))
}

// closesBelow tells whether a closed path lies below a directory, so that a walk
// need not look at each name.
func (w *Workspace) closesBelow(dir string) bool {
	below := pathSet{foldNames(dir)}
	return slices.ContainsFunc(w.closed, below.holds)
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
