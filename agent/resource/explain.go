package resource

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Kind says by which rule an instruction file is one.
type Kind string

// The kinds.
const (
	// Global is the person's own, for all workspaces.
	Global Kind = "global"
	// Directory is AGENTS.md, or AGENT.md, of a directory.
	Directory Kind = "directory"
	// Override is AGENTS.override.md, which goes before AGENTS.md.
	Override Kind = "override"
	// Fallback is CLAUDE.md, taken with context.claudeMdFallback.
	Fallback Kind = "fallback"
)

// Explained is a file that could hold instructions and what becomes of it.
type Explained struct {
	// Source has a Size for files that were opened alone.
	Source
	// Kind is empty for a file that was passed over.
	Kind Kind
	// Applies: at least a part of its text goes to the model.
	Applies bool
	// AtStart: a run that starts in Options.Dir looks at it. Any other is of a
	// directory that is not on the way there.
	AtStart bool
	// Note says why it was passed over or left out, or where it was cut, as the
	// end of a sentence that begins with Name; empty for a file that is whole.
	// Safe to print.
	Note string
}

// candidate is an Explained that may wait for its file to be joined.
type candidate struct {
	Explained
	file int // index in loader.files, -1 for one that was passed over
}

// Explain tells which files a run that works in the directory of a path is
// given, in the order in which it reads them, and which it passes over (spec
// context.md, "AGENTS.md"). The path is absolute and inside Options.Root; it need
// not exist. Nothing is opened that such a run would not open: of the files that
// others keep from being read it says only that they are there.
func Explain(o Options, at string) ([]Explained, error) {
	rel, err := filepath.Rel(o.Root, at)
	if err != nil || !filepath.IsLocal(rel) {
		return nil, fmt.Errorf("explain instructions: %q is not inside %q", at, o.Root)
	}
	root, err := os.OpenRoot(o.Root)
	if err != nil {
		return nil, fmt.Errorf("explain instructions: %w", err)
	}
	defer root.Close()
	if info, err := root.Stat(rel); err != nil || !info.IsDir() {
		rel = filepath.Dir(rel)
	}
	l := &loader{limit: o.MaxBytes, explain: true}
	l.load(root, o, filepath.ToSlash(rel))
	l.context()
	return l.explained(), nil
}

// Share says how much of a file is read: "13 bytes", or "500 of 900 bytes".
func (s Source) Share() string {
	if int64(s.Used) == s.Size {
		return fmt.Sprintf("%d bytes", s.Size)
	}
	return fmt.Sprintf("%d of %d bytes", s.Used, s.Size)
}

// Describe writes an explanation for a model or a person: a line for each file,
// under one that names the path.
func Describe(name string, files []Explained) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Instruction files for %s, as they are read; the last says most:\n", printable(name))
	applies := false
	for _, f := range files {
		state := "passed over"
		switch {
		case f.Applies && f.AtStart:
			state = "applies"
		case f.Applies:
			state = "applies once a tool touches a path there"
		}
		fmt.Fprintf(&b, "- %s: %s", f.Name, state)
		if applies = applies || f.Applies; f.Applies {
			fmt.Fprintf(&b, ", %s, %s", f.Share(), f.Why)
		}
		if f.Note != "" {
			b.WriteString("; it " + f.Note)
		}
		b.WriteByte('\n')
	}
	if !applies {
		b.WriteString("None applies: an AGENTS.md in the workspace would.\n")
	}
	return b.String()
}

// explained puts what came of joining the files to the candidates.
func (l *loader) explained() []Explained {
	all := make([]Explained, 0, len(l.seen))
	for _, c := range l.seen {
		e := c.Explained
		if c.file >= 0 {
			f := l.files[c.file]
			e.Source, e.Applies, e.Note = f.source, f.source.Used > 0, f.fate
		}
		all = append(all, e)
	}
	return all
}

// contains reports whether p is dir or below it.
func contains(dir, p string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && filepath.IsLocal(rel)
}

// pass tells of a file that is there and is not taken.
func (l *loader) pass(s Source, why string) {
	l.notice("%s %s", s.Name, why)
	l.note(s, why)
}

func (l *loader) note(s Source, why string) {
	if l.explain {
		s.Why = ""
		l.seen = append(l.seen, candidate{Explained{Source: s, AtStart: l.start, Note: why}, -1})
	}
}

// shadowed tells of a file that is not looked at, as another one comes first.
func (l *loader) shadowed(at spot, by string) {
	if l.there(at) {
		l.note(at.source, "is not read: "+by+" comes first")
	}
}

// unwanted tells of a CLAUDE.md that the configuration leaves alone.
func (l *loader) unwanted(at spot) {
	if l.there(at) {
		l.note(at.source, "is not read: context.claudeMdFallback is false")
	}
}

// there looks and does not open; only an explanation wants to know.
func (l *loader) there(at spot) bool {
	if !l.explain {
		return false
	}
	_, err := at.from.Lstat(at.name)
	return err == nil
}

// kindOf is the kind of a file of a directory.
func kindOf(name string) Kind {
	switch name {
	case "AGENTS.override.md":
		return Override
	case claude:
		return Fallback
	}
	return Directory
}
