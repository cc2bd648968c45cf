package trust

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Linked returns the paths through which what needs trust in a workspace may lie
// elsewhere: the covered ones, of which a part may be a link, and the links below
// them. It reads no file and fails on nothing: what it does not reach within the
// bounds of Read is no Project either.
func Linked(root string) []string {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil
	}
	defer dir.Close()
	w := links{root: dir}
	for _, name := range covered() {
		w.found = append(w.found, filepath.Join(root, name))
		w.entry(name, 0)
	}
	return w.found
}

// links collects the links below a root.
type links struct {
	root    *os.Root
	entries int
	found   []string
}

func (w *links) entry(name string, depth int) {
	info, err := w.root.Lstat(name)
	if w.entries++; err != nil || w.entries > maxEntries {
		return
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		w.found = append(w.found, filepath.Join(w.root.Name(), name))
		if info, err = w.root.Stat(name); err != nil {
			return
		}
	}
	if !info.IsDir() || depth == maxDepth {
		return
	}
	d, err := w.root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return
	}
	defer d.Close()
	names, _ := d.Readdirnames(maxEntries)
	for _, n := range names {
		w.entry(name+"/"+n, depth+1)
	}
}
