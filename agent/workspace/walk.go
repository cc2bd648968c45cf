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

// walkQuery says what to walk, as ListQuery does.
type walkQuery struct {
	path, glob      string
	depth           int
	hidden, ignored bool
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
	q     walkQuery
	glob  *glob
	visit func(found) bool
	seen  int
	left  left
}

// walk visits what q asks for until visit returns false.
func (w *Workspace) walk(ctx context.Context, q walkQuery, visit func(found) bool) (left, error) {
	t, g, err := w.start(&q)
	if err != nil || t.root == nil {
		return left{}, err
	}
	k := walker{ctx: ctx, root: t.root, q: q, glob: g, visit: visit}
	if t.rel != "" {
		k.base = t.rel + "/"
	}
	d, err := openFolder(t.root.dir)
	if err != nil {
		return left{}, plainError(err)
	}
	if t.Dir {
		err = k.from(d)
	} else {
		err = k.one(d, t)
	}
	if errors.Is(err, errStop) {
		err = nil
	}
	return k.left, err
}

// errStop ends a walk that has been told enough.
var errStop = errors.New("stopped")

// start finds the directory to walk and what to filter by. Directories that a
// glob names literally are asked for as a path is: neither ignore rules nor dots
// hide them. A glob for what does not exist gives no root, and no error.
func (w *Workspace) start(q *walkQuery) (Target, *glob, error) {
	if q.path == "" {
		q.path = "."
	}
	t, err := w.inside(q.path)
	if err == nil && !t.Exists {
		err = fmt.Errorf("%s: %w", t.Name, fs.ErrNotExist)
	}
	if err != nil || q.glob == "" {
		return t, nil, err
	}
	p := filepath.ToSlash(q.glob)
	p = strings.TrimPrefix(p, filepath.ToSlash(t.Abs)+"/")
	byName := !strings.Contains(p, "/")
	for strings.HasPrefix(p, "./") || strings.HasPrefix(p, "/") {
		p = strings.TrimPrefix(strings.TrimPrefix(p, "."), "/")
	}
	if slices.Contains(strings.Split(p, "/"), "..") {
		return t, nil, fmt.Errorf("glob %s: may not leave its directory", show(q.glob))
	}
	dir, rest := splitGlob(p)
	if !hasWildcard(rest) {
		if sub, err := w.inside(t.root.child(path.Join(t.rel, p))); err == nil && sub.Exists && (sub.Dir || !byName) {
			return sub, nil, nil
		}
	}
	if dir != "" {
		if t, err = w.inside(t.root.child(path.Join(t.rel, dir))); err != nil {
			return t, nil, err
		}
		if !t.Dir {
			return Target{}, nil, nil
		}
	}
	if rest == "" {
		return t, nil, nil
	}
	g, err := compileGlob(rest, byName)
	return t, g, err
}

// one visits a single file that was asked for by its path.
func (k *walker) one(d *folder, t Target) error {
	defer func() { d.drop() }()
	if !t.Regular {
		return fmt.Errorf("%s: %w", t.Name, ErrNotRegular)
	}
	dir, name := path.Split(t.rel)
	if err := k.descend(&d, dir, func(string) {}); err != nil {
		return err
	}
	k.visit(found{in: d, name: name, root: k.root, rel: t.rel})
	return nil
}

// descend replaces d by the directory dir below it.
func (k *walker) descend(d **folder, dir string, each func(rel string)) error {
	rel := ""
	for name := range strings.FieldsFuncSeq(dir, isSlash) {
		each(rel)
		rel += name + "/"
		sub, err := (*d).sub(name, k.root.child(strings.TrimSuffix(rel, "/")))
		if err != nil {
			return fmt.Errorf("%s: %w", show(rel), plainError(err))
		}
		(*d).drop()
		*d = sub
	}
	return nil
}

// from walks the directory that was asked for. When it is ignored itself, no
// rule from above it holds.
func (k *walker) from(d *folder) error {
	defer func() { d.drop() }()
	var lv *level
	lv, k.above = k.root.excludes()
	off := false
	err := k.descend(&d, k.base, func(rel string) {
		lv = k.rules(d, rel, lv)
		next, _, _ := strings.Cut(k.base[len(rel):], "/")
		off = off || lv.ignores(k.above+rel+next, true)
	})
	if err != nil {
		return err
	}
	if off {
		lv = nil
	}
	lv = k.rules(d, k.base, lv)
	if k.base != "" {
		lv = lv.without(k.above + k.base)
	}
	return k.dir(d, k.base, lv, 1)
}

// rules adds those of the ignore file in d, when it has one.
func (k *walker) rules(d *folder, rel string, lv *level) *level {
	s, err := d.open(ignoreFile)
	if err != nil {
		return lv
	}
	defer s.close()
	buf := make([]byte, min(s.size+1, maxIgnoreFile))
	n, err := s.read(buf)
	if err != nil && err != io.EOF {
		return lv
	}
	return lv.below(k.above+rel, string(buf[:n]))
}

// entry is a name of a directory with the key that it is sorted by.
type entry struct {
	name, key string
	kind      fs.FileMode
}

// dir walks an open directory whose ignore file is in lv already.
func (k *walker) dir(d *folder, rel string, lv *level, depth int) error {
	for _, e := range k.read(d) {
		if err := k.ctx.Err(); err != nil {
			return err
		}
		path := rel + e.name
		if k.leaveOut(e, path, lv) {
			continue
		}
		f := found{in: d, name: e.name, root: k.root, rel: path, kind: e.kind}
		if !e.kind.IsDir() || k.cut(depth) {
			if k.matches(path) && !k.visit(f) {
				return errStop
			}
			continue
		}
		if depth >= maxDepth {
			k.left.more = true
			continue
		}
		if err := k.enter(d, e.name, path, lv, depth); err != nil {
			return err
		}
	}
	if k.left.more && k.seen >= maxEntries {
		return errStop
	}
	return nil
}

// enter walks a directory in d. One that can not be opened is counted.
func (k *walker) enter(d *folder, name, rel string, lv *level, depth int) error {
	sub, err := d.sub(name, k.root.child(rel))
	if err != nil {
		k.left.unreadable++
		return nil
	}
	defer sub.drop()
	rel += "/"
	return k.dir(sub, rel, k.rules(sub, rel, lv), depth+1)
}

// cut tells whether directories at this depth are not entered.
func (k *walker) cut(depth int) bool {
	return k.q.depth > 0 && depth >= k.q.depth || k.glob != nil && k.glob.levels > 0 && depth >= k.glob.levels
}

func (k *walker) matches(path string) bool {
	return k.glob == nil || k.glob.matches(path[len(k.base):])
}

// leaveOut applies the rules about hidden and ignored names. A name that the
// glob spells out is exempt.
func (k *walker) leaveOut(e entry, path string, lv *level) bool {
	if e.name == ".git" {
		return true
	}
	if k.glob != nil && k.glob.literal && k.matches(path) {
		return false
	}
	if !k.q.hidden && e.name[0] == '.' && (k.glob == nil || !k.glob.dots) {
		k.left.hidden++
		return true
	}
	if !k.q.ignored && lv.ignores(k.above+path, e.kind.IsDir()) {
		k.left.ignored++
		return true
	}
	return false
}

// read reads the names in d, sorted. Only directories, files and links count.
func (k *walker) read(d *folder) []entry {
	var out []entry
	for {
		list, err := d.readDir(1024)
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
		k.seen += len(list)
		if k.seen >= maxEntries {
			k.left.more = true
			break
		}
		if err != nil {
			if err != io.EOF {
				k.left.unreadable++
			}
			break
		}
	}
	slices.SortFunc(out, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
	return out
}
