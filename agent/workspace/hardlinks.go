package workspace

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// How much is looked through for the other names of a file.
const (
	maxNames     = 200_000
	maxNamesTime = 2 * time.Second
)

// hunt looks for all names of a file with hard links, in everything below the
// roots, hidden and ignored too. A write changes the file under all of them.
type hunt struct {
	w     *Workspace
	root  *root
	file  fs.FileInfo
	names int // not found yet
	found []foundName

	entries int // that may still be read
	end     time.Time

	why string // a name that was found is protected
}

// foundName is a name in a directory. A directory can be met twice, below two
// roots or because it was moved; its names count once.
type foundName struct {
	dir  fs.FileInfo
	base string
}

// linked tells whether one of the names of t is protected. A name that is not
// found may be.
func (w *Workspace) linked(t Target, entries int) (why string, protected bool) {
	h := hunt{w: w, file: t.info, names: links(t.info), entries: entries, end: time.Now().Add(maxNamesTime)}
	for _, h.root = range w.all() {
		if d, err := h.root.dir.OpenRoot("."); err == nil {
			h.dir(d, "")
		}
	}
	if h.why == "" && h.names > 0 {
		h.why = fmt.Sprintf("has other names, %d of them outside of what can be seen", h.names)
	}
	return h.why, h.why != ""
}

// dir looks through a directory and closes it.
func (h *hunt) dir(d *os.Root, rel string) {
	defer d.Close()
	for _, e := range h.read(d) {
		if h.names == 0 || h.why != "" || time.Now().After(h.end) {
			return
		}
		name := path.Join(rel, e.Name())
		switch {
		case e.Type().IsRegular():
			if info, err := d.Lstat(e.Name()); err == nil && os.SameFile(info, h.file) {
				h.add(d, name)
			}
		case e.IsDir() && strings.Count(name, "/") < maxDepth:
			if sub, err := stepInto(d, e.Name()); err == nil {
				h.dir(sub, name)
			}
		}
	}
}

func (h *hunt) read(d *os.Root) []fs.DirEntry {
	if h.entries <= 0 {
		return nil
	}
	f, err := d.Open(".")
	if err != nil {
		return nil
	}
	defer f.Close()
	list, _ := f.ReadDir(h.entries)
	h.entries -= len(list)
	return list
}

// add counts and judges a name that was found in d.
func (h *hunt) add(d *os.Root, rel string) {
	dir, err := d.Stat(".")
	if err != nil {
		return
	}
	base := path.Base(rel)
	if slices.ContainsFunc(h.found, func(f foundName) bool { return f.base == base && os.SameFile(f.dir, dir) }) {
		return
	}
	h.found = append(h.found, foundName{dir, base})
	h.names--
	if why, ok := h.w.protectedName(Target{Abs: h.root.child(rel), Inside: true, root: h.root, rel: rel}); ok {
		h.why = fmt.Sprintf("the same file as %s, %s", h.root.name(rel), why)
	}
}
