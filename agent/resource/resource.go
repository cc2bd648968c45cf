// Package resource finds what people wrote down for the model: instruction files
// (the global one, one of each directory from the workspace root down to the
// working directory, and those below it when a path there is touched), skills, and
// templates of prompts.
//
// It reads and never writes, and none of what it reads carries a permission. It
// decides nothing about trust: the caller says whether a project's skills and
// templates count, and may hand over the very bytes that were trusted. It follows no
// link out of the directory that it was given, waits for no pipe, runs nothing, and
// what it returns is bounded, valid UTF-8 without characters that nobody sees.
package resource

import (
	"crypto/sha256"
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
	// Size is that of the file in bytes, Used how many of them are in Context.Text: all
	// of a file that is not cut, though blank lines around its text are not.
	Size int64
	Used int
	// Why says in a few words why this file was taken.
	Why string
}

// file is a source with its text.
type file struct {
	source Source
	text   string
	// more: the file goes on where text ends. cut: not all of its text found room.
	more, cut bool
	// sum is the SHA-256 of the bytes that were read.
	sum [sha256.Size]byte
	// block is the text under its header as far as it found room, and fate what
	// became of it where it is not whole.
	block string
	fate  string
	info  os.FileInfo
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
	l.load(root, o, filepath.ToSlash(rel))
	return l.context(), nil
}

// load reads the global file and those of the directories down to rel.
func (l *loader) load(root *os.Root, o Options, rel string) {
	if o.ConfigHome != "" {
		l.start = true
		l.global(o.ConfigHome)
	}
	dirs := chain(rel)
	if skip := len(dirs) - maxDirs; skip > 0 {
		l.start = false
		between := fmt.Sprintf("%d directories between the workspace root and the working directory", skip)
		l.pass(Source{Name: between}, "were not looked at")
		dirs = slices.Delete(dirs, 1, 1+skip)
	}
	for _, dir := range dirs {
		l.start = contains(filepath.Join(o.Root, filepath.FromSlash(dir)), o.Dir)
		l.directory(root, o, dir)
	}
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
	// explain: keep in seen what became of each candidate, those included that
	// a run does not look at.
	explain bool
	seen    []candidate
	start   bool // Explained.AtStart of what is looked at now
}

func (l *loader) notice(format string, args ...any) {
	l.notices = append(l.notices, fmt.Sprintf(format, args...))
}

// global takes the first global file. Its owner may keep it anywhere, so links
// are followed.
func (l *loader) global(home string) {
	at := func(name string) spot {
		return spot{folder(home), name, Source{Path: filepath.Join(home, name), Name: "global " + name, Why: "global instructions"}}
	}
	names := []string{"AGENTS.override.md", "AGENTS.md"}
	for i, name := range names {
		if f, found := l.read(at(name)); found {
			l.add(f, Global)
			for _, other := range names[i+1:] {
				l.shadowed(at(other), name)
			}
			return
		}
	}
}

const claude = "CLAUDE.md"

// directory takes the first instruction file of a directory of the workspace.
func (l *loader) directory(root *os.Root, o Options, dir string) {
	at := func(name string) spot {
		rel := path.Join(dir, name)
		inside := filepath.FromSlash(rel)
		return spot{root, inside, Source{Path: filepath.Join(o.Root, inside), Name: printable(rel), Why: "instructions of " + where(dir)}}
	}
	names := []string{"AGENTS.override.md", "AGENTS.md", "AGENT.md", claude}
	if !o.ClaudeMdFallback {
		names = names[:len(names)-1]
		defer l.unwanted(at(claude))
	}
	for i, name := range names {
		f, found := l.read(at(name))
		if !found {
			continue
		}
		if i > 1 {
			f.source.Why += ", which has no AGENTS.md"
		}
		l.add(f, kindOf(name))
		for _, other := range names[i+1:] {
			l.shadowed(at(other), name)
		}
		return
	}
}

// spot is where a file may be.
type spot struct {
	from   opener
	name   string // as from knows it
	source Source
}

func where(dir string) string {
	if dir == "." {
		return "the workspace root"
	}
	return printable(dir)
}

// add keeps f unless a link made it the same file as one before.
func (l *loader) add(f file, kind Kind) {
	same := func(g file) bool { return os.SameFile(f.info, g.info) }
	if i := slices.IndexFunc(l.files, same); i >= 0 {
		l.pass(f.source, "is the same file as "+l.files[i].source.Name+": not read twice")
		return
	}
	l.files = append(l.files, f)
	if l.explain {
		l.seen = append(l.seen, candidate{Explained{Kind: kind, AtStart: l.start}, len(l.files) - 1})
	}
}
