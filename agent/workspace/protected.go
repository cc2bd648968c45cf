package workspace

import (
	"path/filepath"
	"strings"
)

// guard is one row of the table of protected paths.
type guard struct {
	// name is a name, or names joined by slashes, in lower case. It protects
	// what is called so at any depth and everything below it. A last "*"
	// stands for the rest of a name.
	name string
	why  string
}

// Protected tells whether a change of t must be asked about in every mode, and
// why. For file tools the whole of a .git is protected.
//
// Names count below the root; above it, where the user chose the place, only
// a .git does. Of a directory that was approved later all names count. A file
// with hard links is protected when one of its names is, or can not be found.
func (w *Workspace) Protected(t Target) (why string, protected bool) {
	why, protected = w.protectedName(t)
	if !protected && t.Regular && links(t.info) > 1 {
		return w.linked(t, maxNames)
	}
	return why, protected
}

func (w *Workspace) protectedName(t Target) (why string, protected bool) {
	switch own, linked := w.guarded(t.Abs); {
	case own:
		return "Alisio's own configuration or state", true
	case linked:
		return "a link among the settings of coding agents leads to it", true
	}
	names := t.Abs
	if t.Inside && !t.root.approved {
		if inGit(names) {
			return guards()[0].why, true
		}
		names = t.rel
	}
	names = "/" + foldNames(names) + "/"
	for _, g := range guards() {
		if g.matches(names) {
			return g.why, true
		}
	}
	return "", false
}

// matches looks for the row's names in names, which are folded and have a
// slash before, between and after them.
func (g guard) matches(names string) bool {
	if stem, ok := strings.CutSuffix(g.name, "*"); ok {
		return strings.Contains(names, "/"+stem)
	}
	return strings.Contains(names, "/"+g.name+"/")
}

func inGit(names string) bool {
	return strings.Contains("/"+foldNames(names)+"/", "/.git/")
}

// foldNames writes names as the most forgiving file system would read them:
// without case (macOS, Windows), without dots and spaces at the end and without
// a stream (Windows), without characters that nobody sees (HFS+).
func foldNames(path string) string {
	names := strings.Split(strings.ToLower(strings.Map(seen, filepath.ToSlash(path))), "/")
	for i, n := range names {
		if j := strings.IndexByte(n, ':'); j > 0 {
			n = n[:j]
		}
		names[i] = strings.TrimRight(n, ". ")
	}
	return strings.Trim(strings.Join(names, "/"), "/")
}

// seen drops the characters that HFS+ ignores in names (git: utf8.c,
// next_hfs_char).
func seen(r rune) rune {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}
