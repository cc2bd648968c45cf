package resource

import (
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// Attached is an instruction file that joins the conversation when a path below its
// directory is touched.
type Attached struct {
	Source
	// Text is the file under its header, as in Context.Text, cut and marked where
	// the room ended.
	Text string
	// SHA256 is the lower-case hex hash of what was read: a file with another one
	// has changed since, and is attached again.
	SHA256 string
}

// Nested reads the instruction files of the directories that lead to paths and that
// a run which starts in o.Dir does not look at by itself: below it, or beside it in
// the workspace. Paths are absolute with their links resolved; they need not exist,
// and those outside the workspace are passed over. Files come root first; one that is
// the same file as another, or as one that was read at the start, comes once. All
// texts together have at most o.MaxBytes, the closest kept: what the start has used
// of that is for the caller to take off.
//
// Which files were attached already, by path and hash, is the caller's to know.
func Nested(o Options, paths ...string) (files []Attached, notices []string, err error) {
	start, err := filepath.Rel(o.Root, o.Dir)
	if err != nil || !filepath.IsLocal(start) {
		return nil, nil, fmt.Errorf("read nested instruction files: %q is not inside %q", o.Dir, o.Root)
	}
	root, err := os.OpenRoot(o.Root)
	if err != nil {
		return nil, nil, fmt.Errorf("read nested instruction files: %w", err)
	}
	defer root.Close()
	dirs := o.nestedDirs(root, paths)
	if len(dirs) == 0 {
		return nil, nil, nil
	}
	l := &loader{limit: o.MaxBytes}
	l.load(root, o, filepath.ToSlash(start))
	first := len(l.files)
	l.notices = nil // they were told at the start
	if skip := len(dirs) - maxDirs; skip > 0 {
		l.notice("%d directories were not looked at for instruction files", skip)
		dirs = dirs[skip:] // the deepest of a way come last
	}
	for _, dir := range dirs {
		l.directory(root, o, dir)
	}
	l.files = l.files[first:]
	notices = l.context().Notices
	for _, f := range l.files {
		if f.block != "" {
			files = append(files, Attached{f.source, f.block, hex.EncodeToString(f.sum[:])})
		}
	}
	return files, notices, nil
}

// nestedDirs lists the directories on the ways to paths that a start does not look
// at, parents first.
func (o Options) nestedDirs(root *os.Root, paths []string) []string {
	var dirs []string
	for _, p := range paths {
		rel, err := filepath.Rel(o.Root, p)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		if info, err := root.Stat(rel); err != nil || !info.IsDir() {
			rel = filepath.Dir(rel)
		}
		for _, dir := range chain(path.Clean(filepath.ToSlash(rel))) {
			if !contains(filepath.Join(o.Root, filepath.FromSlash(dir)), o.Dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}
