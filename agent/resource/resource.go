// Package resource finds the instruction files that go to the model: the
// global one, and one of each directory from the workspace root down to the
// working directory.
//
// It reads, it never writes, and it judges nothing that it reads: the text is
// for the model and carries no permission. It follows no link out of the
// workspace, waits for no pipe, and what it returns is bounded, valid UTF-8
// without control characters.
package resource

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Options says where to look.
type Options struct {
	// ConfigHome holds the global file; empty for none.
	ConfigHome string
	// Root is the absolute workspace root.
	Root string
	// Dir is the absolute working directory, Root or below it.
	Dir string
	// ClaudeMdFallback takes CLAUDE.md where a directory has nothing else.
	ClaudeMdFallback bool
	// MaxBytes bounds Context.Text, headers and marks included.
	MaxBytes int
}

// Context is what was found.
type Context struct {
	// Text holds the files, the global one first and the closest last, each
	// under a header. The same files give the same bytes.
	Text string
	// Sources are the files in the order of Text, those that found no room
	// included.
	Sources []Source
	// Notices tell a person what was not read or cut, one line each, safe to
	// print.
	Notices []string
}

// Source is one instruction file.
type Source struct {
	// Path is absolute.
	Path string
	// Name is how the header calls it: the path relative to the workspace
	// with slashes, or "global AGENTS.md". Safe to print.
	Name string
	// Size is that of the file in bytes, Used how many bytes of its text are
	// in Context.Text.
	Size int64
	Used int
	// Why says in a few words why this file was taken.
	Why string
}

// file is a source with its text.
type file struct {
	source Source
	text   string
	// more: the file goes on where text ends.
	more bool
	info os.FileInfo
}

// maxDirs bounds how many directories, and so how many files, are looked at.
const maxDirs = 64

// Load reads the instruction files (spec context.md, "AGENTS.md"). Files that
// can not be read are notices; an error means that the options are wrong or
// the workspace is gone.
func Load(o Options) (Context, error) {
	rel, err := filepath.Rel(o.Root, o.Dir)
	if err != nil || !filepath.IsLocal(rel) {
		return Context{}, fmt.Errorf("read instruction files: %q is not inside %q", o.Dir, o.Root)
	}
	root, err := os.OpenRoot(o.Root)
	if err != nil {
		return Context{}, fmt.Errorf("read instruction files: %w", err)
	}
	defer root.Close()

	l := &loader{limit: o.MaxBytes}
	if o.ConfigHome != "" {
		l.global(o.ConfigHome)
	}
	names := []string{"AGENTS.override.md", "AGENTS.md", "AGENT.md"}
	if o.ClaudeMdFallback {
		names = append(names, "CLAUDE.md")
	}
	dirs := chain(filepath.ToSlash(rel))
	if skip := len(dirs) - maxDirs; skip > 0 {
		l.notice("%d directories between the workspace root and the working directory were not looked at", skip)
		dirs = slices.Delete(dirs, 1, 1+skip)
	}
	for _, dir := range dirs {
		l.directory(root, o.Root, dir, names)
	}
	return l.context(), nil
}

// chain lists the directories from "." down to rel.
func chain(rel string) []string {
	dirs := []string{"."}
	if rel == "." {
		return dirs
	}
	dir := ""
	for step := range strings.SplitSeq(rel, "/") {
		dir = path.Join(dir, step)
		dirs = append(dirs, dir)
	}
	return dirs
}

// loader collects files, farthest first.
type loader struct {
	limit   int
	files   []file
	notices []string
}

func (l *loader) notice(format string, args ...any) {
	l.notices = append(l.notices, fmt.Sprintf(format, args...))
}

// global takes the first global file. Its owner may keep it anywhere, so links
// are followed.
func (l *loader) global(home string) {
	for _, name := range []string{"AGENTS.override.md", "AGENTS.md"} {
		f, found := l.read(folder(home), name, "global "+name)
		if !found {
			continue
		}
		f.source.Path = filepath.Join(home, name)
		f.source.Why = "global instructions"
		l.add(f)
		return
	}
}

// directory takes the first instruction file of a directory of the workspace.
func (l *loader) directory(root *os.Root, base, dir string, names []string) {
	for i, name := range names {
		rel := path.Join(dir, name)
		f, found := l.read(root, filepath.FromSlash(rel), printable(rel))
		if !found {
			continue
		}
		f.source.Path = filepath.Join(base, filepath.FromSlash(rel))
		f.source.Why = "instructions of " + where(dir)
		if i > 0 && name != "AGENTS.md" {
			f.source.Why += ", which has no AGENTS.md"
		}
		l.add(f)
		return
	}
}

func where(dir string) string {
	if dir == "." {
		return "the workspace root"
	}
	return printable(dir)
}

// add keeps f unless a link made it the same file as one before.
func (l *loader) add(f file) {
	same := func(g file) bool { return os.SameFile(f.info, g.info) }
	if i := slices.IndexFunc(l.files, same); i >= 0 {
		l.notice("%s is the same file as %s: not read twice", f.source.Name, l.files[i].source.Name)
		return
	}
	l.files = append(l.files, f)
}
