package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxEntries bounds the directory entries that one walk reads.
const maxEntries = 500_000

// found is what a walk visits: a file, a link, or a directory that the depth
// cut off.
type found struct {
	in   *folder // open until the visit returns; keep it to use it later
	name string  // in the folder
	root *root
	rel  string // below the root, slashes
	kind fs.FileMode
}

// left counts what a walk did not visit.
type left struct {
	ignored, hidden, unreadable int
	more                        bool // the walk met its own limits
}

// walker goes through a directory in the order of paths: names are sorted as if
// directories ended in a slash, which makes the order that of whole paths.
//
//	walk ─ start: which directory, which rules above it
//	        └ dir ─ read names, sort ─ each: rules, glob ─ visit | dir
//
// Nothing is read ahead of the visit but the names of the open directories.
type walker struct {
	ctx   context.Context
	root  *root
	base  string // rel of the start with a slash, or ""
	above string // from the repository's top to the root, or ""
	q     ListQuery
	glob  glob
	visit func(found) bool
	seen  int
	left  left
}

// errStop ends a walk that has been told enough.
var errStop = errors.New("stopped")

// walk visits what q asks for, without paging, until visit returns false.
func (w *Workspace) walk(ctx context.Context, q ListQuery, visit func(found) bool) (left, error) {
	t, g, err := w.start(q)
	if err != nil || t.root == nil {
		return left{}, err
	}
	k := walker{ctx: ctx, root: t.root, q: q, glob: g, visit: visit}
	d, err := w.folder(t.root)
	if err != nil {
		return left{}, plainError(err)
	}
	if err = k.from(d, t); err == errStop {
		err = nil
	}
	return k.left, err
}

// start finds the directory to walk and what to filter by. Directories that a
// glob names literally are asked for as a path is: neither ignore rules nor dots
// hide them. A glob for what does not exist gives no root, and no error.
func (w *Workspace) start(q ListQuery) (Target, glob, error) {
	t, err := w.inside(cmp.Or(q.Path, "."))
	switch {
	case err != nil:
	case !t.Exists:
		err = fmt.Errorf("%s: %w", t.Name, fs.ErrNotExist)
	case !t.Dir && !t.Regular:
		err = fmt.Errorf("%s: %w", t.Name, ErrNotRegular)
	}
	if err != nil || q.Glob == "" {
		return t, glob{}, err
	}
	p := strings.TrimPrefix(filepath.ToSlash(q.Glob), filepath.ToSlash(t.Abs)+"/")
	byName := !strings.Contains(p, "/")
	for strings.HasPrefix(p, "./") || strings.HasPrefix(p, "/") {
		p = strings.TrimPrefix(strings.TrimPrefix(p, "."), "/")
	}
	if slices.Contains(strings.Split(p, "/"), "..") {
		return t, glob{}, fmt.Errorf("glob %s: may not leave its directory", show(q.Glob))
	}
	below := func(rel string) (Target, error) { return w.inside(t.root.child(path.Join(t.rel, rel))) }
	dir, rest := splitGlob(p)
	if !hasWildcard(rest) {
		if sub, err := below(p); err == nil && (sub.Dir || sub.Regular && !byName) {
			return sub, glob{}, nil
		}
	}
	if dir != "" {
		if t, err = below(dir); err != nil || !t.Dir {
			return Target{}, glob{}, err
		}
	}
	g, err := compileGlob(rest, byName)
	return t, g, err
}

// from goes down to the directory or the file that was asked for. When it is
// ignored itself, no rule from above it holds.
func (k *walker) from(d *folder, t Target) error {
	dir, name := t.rel, ""
	if !t.Dir {
		dir, name = path.Split(t.rel)
	}
	var lv *level
	lv, k.above = k.root.excludes()
	off := false
	for n := range strings.FieldsFuncSeq(dir, isSlash) {
		lv = k.rules(d, k.base, lv)
		off = off || lv.ignores(k.above+k.base+n, true)
		sub, err := d.sub(n)
		d.drop()
		if err != nil {
			return fmt.Errorf("%s: %w", show(k.base+n), plainError(err))
		}
		d, k.base = sub, k.base+n+"/"
	}
	if !t.Dir {
		defer d.drop()
		k.visit(found{in: d, name: name, root: k.root, rel: t.rel})
		return nil
	}
	if off {
		lv = nil
	}
	return k.dir(d, k.base, lv, 1)
}

// rules adds those of the ignore file in d, when it has one.
func (k *walker) rules(d *folder, rel string, lv *level) *level {
	s, err := d.open(ignoreFile)
	if err != nil {
		return lv
	}
	defer s.Close()
	buf := make([]byte, min(s.size, maxRuleBytes)+1)
	n, err := s.fill(buf)
	if err != nil && err != io.EOF {
		return lv
	}
	return lv.below(k.above+rel, string(buf[:n]))
}

// dir walks an open directory, at a depth of 1 the one that was asked for, and
// drops it.
func (k *walker) dir(d *folder, rel string, lv *level, depth int) error {
	defer d.drop()
	lv = k.rules(d, rel, lv)
	if depth == 1 && rel != "" {
		lv = lv.without(k.above + rel)
	}
	for _, e := range k.read(d) {
		if err := k.ctx.Err(); err != nil {
			return err
		}
		path := rel + e.name
		switch {
		case k.leaveOut(d, e, path, lv):
		case !e.kind.IsDir() || depth == k.q.Depth || depth == k.glob.levels:
			if k.matches(path) && !k.visit(found{in: d, name: e.name, root: k.root, rel: path, kind: e.kind}) {
				return errStop
			}
		case depth >= maxDepth:
			k.left.more = true
		default:
			sub, err := d.sub(e.name)
			if err != nil {
				k.left.unreadable++
				continue
			}
			if err := k.dir(sub, path+"/", lv, depth+1); err != nil {
				return err
			}
		}
	}
	if k.seen >= maxEntries {
		return errStop
	}
	return nil
}

func (k *walker) matches(path string) bool { return k.glob.matches(path[len(k.base):]) }

// leaveOut applies the rules about hidden and ignored names. A name that the
// glob spells out is exempt.
func (k *walker) leaveOut(d *folder, e entry, path string, lv *level) bool {
	switch {
	case e.name == ".git":
	case d.closes(e.name):
		k.left.hidden++
	case k.glob.literal && k.matches(path):
		return false
	case !k.q.Hidden && e.name[0] == '.' && !k.glob.dots:
		k.left.hidden++
	case !k.q.Ignored && lv.ignores(k.above+path, e.kind.IsDir()):
		k.left.ignored++
	default:
		return false
	}
	return true
}

// entry is a name of a directory with the key that it is sorted by.
type entry struct {
	name, key string
	kind      fs.FileMode
}

// read reads the names in d, sorted. Only directories, files and links count.
func (k *walker) read(d *folder) []entry {
	list, err := d.names.ReadDir(max(maxEntries-k.seen, 1)) // 0 would be all
	if err != nil && err != io.EOF {
		k.left.unreadable++
	}
	k.seen += len(list)
	k.left.more = k.left.more || k.seen >= maxEntries
	out := make([]entry, 0, len(list))
	for _, e := range list {
		en := entry{name: e.Name(), key: e.Name(), kind: e.Type()}
		switch {
		case en.kind.IsDir():
			en.key += "/"
		case !en.kind.IsRegular() && en.kind&fs.ModeSymlink == 0:
			continue
		}
		out = append(out, en)
	}
	slices.SortFunc(out, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
	return out
}
