package workspace

import (
	"path/filepath"
	"strings"
)

// Guard protects Alisio's own files and directories wherever the roots are:
// whoever can write its configuration gives himself every permission of the
// next run. The paths are absolute; they need not exist. Empty ones are passed
// over.
func (w *Workspace) Guard(paths ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range paths {
		if p == "" {
			continue
		}
		w.own = append(w.own, foldNames(filepath.ToSlash(p)))
		if real := resolved(p); real != p {
			w.own = append(w.own, foldNames(filepath.ToSlash(real)))
		}
	}
}

// isOwn tells whether folded names are one of Alisio's own paths, or below one.
func (w *Workspace) isOwn(names string) bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	for _, own := range w.own {
		if names == own || strings.HasPrefix(names, own+"/") {
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
