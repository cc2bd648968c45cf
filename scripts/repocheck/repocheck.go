// Package repocheck checks a Go module against the repository's own rules:
// which package may import which, where third-party code and HTTP clients may
// stand, how large files, functions and packages may be, and what may not
// stand in the text at all.
//
// It holds mechanisms, not the rules: tables of arrows, sizes and exceptions
// are data of the caller (the root package's test). It reads source text only;
// it runs none of it, and judges nothing that needs type information.
package repocheck

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Complaint is one breach of a rule.
type Complaint struct {
	// Path is relative to the root, with slashes; Line is 1-based, zero for the
	// whole file.
	Path string
	Line int
	// Key names the thing complained about ("func agent/run/loop.go:step"), so
	// that an Exception can name it. Empty where no exception is possible.
	Key string
	// Text says what is wrong and what to do.
	Text string
}

func (c Complaint) String() string {
	if c.Line == 0 {
		return c.Path + ": " + c.Text
	}
	return fmt.Sprintf("%s:%d: %s", c.Path, c.Line, c.Text)
}

// Exception takes one thing out of one rule, for a reason that a reviewer can
// read.
type Exception struct {
	Rule, Key, Reason string
}

// Except drops the complaints that an exception of this rule names, and
// complains about exceptions that have no reason or are no longer needed.
func Except(rule string, complaints []Complaint, exceptions []Exception) []Complaint {
	var kept []Complaint
	used := make(map[string]bool)
	for _, c := range complaints {
		if c.Key != "" && excepted(rule, c.Key, exceptions) {
			used[c.Key] = true
			continue
		}
		kept = append(kept, c)
	}
	for _, e := range exceptions {
		switch {
		case e.Rule != rule:
		case e.Reason == "":
			kept = append(kept, Complaint{Path: e.Key, Text: "the exception gives no reason; write one"})
		case !used[e.Key]:
			kept = append(kept, Complaint{Path: e.Key, Text: "the exception is no longer needed; remove it from the table"})
		}
	}
	return kept
}

func excepted(rule, key string, exceptions []Exception) bool {
	return slices.ContainsFunc(exceptions, func(e Exception) bool { return e.Rule == rule && e.Key == key })
}

// File is one parsed Go file.
type File struct {
	// Path is relative to the root, with slashes; Dir is its folder, "." for
	// the root.
	Path, Dir string
	Source    []byte
	AST       *ast.File
	// Test, Table and Generated files are outside of most sizes. A table is a
	// file named tables.go or *_tables.go.
	Test, Table, Generated bool
	// Lines counts all lines.
	Lines int
}

// Counted reports whether the file counts as code that people write and read.
func (f *File) Counted() bool { return !f.Test && !f.Table && !f.Generated }

// Tree is a module's Go files outside testdata, in the order of paths, files
// for every operating system included.
type Tree struct {
	Root string
	// Module is the path that go.mod declares.
	Module string
	Files  []*File
	// Others are the paths of all other files outside testdata.
	Others []string

	fset *token.FileSet
}

// Load reads the module at root. It follows no link and leaves out .git.
func Load(root string) (*Tree, error) {
	t := &Tree{Root: root, fset: token.NewFileSet()}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return nil, fmt.Errorf("load tree: %w", err)
	}
	if t.Module = modulePath(mod); t.Module == "" {
		return nil, fmt.Errorf("load tree: %s/go.mod: no module line", root)
	}
	if err := filepath.WalkDir(root, t.visit); err != nil {
		return nil, fmt.Errorf("load tree: %w", err)
	}
	return t, nil
}

func (t *Tree) visit(name string, d fs.DirEntry, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil // removed during the walk, as by an editor
	}
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(t.Root, name)
	if err != nil {
		return err
	}
	rel = filepath.ToSlash(rel)
	switch {
	case d.IsDir() && (d.Name() == "testdata" || rel == ".git"):
		return filepath.SkipDir
	case !d.Type().IsRegular(), rel == ".git": // a file in further work trees
		return nil
	case !strings.HasSuffix(rel, ".go"):
		t.Others = append(t.Others, rel)
		return nil
	}
	return t.add(name, rel)
}

func (t *Tree) add(name, rel string) error {
	src, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	parsed, err := parser.ParseFile(t.fset, rel, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	base := path.Base(rel)
	t.Files = append(t.Files, &File{
		Path: rel, Dir: path.Dir(rel), Source: src, AST: parsed,
		Test:      strings.HasSuffix(base, "_test.go"),
		Table:     base == "tables.go" || strings.HasSuffix(base, "_tables.go"),
		Generated: ast.IsGenerated(parsed),
		Lines:     bytes.Count(src, []byte("\n")),
	})
	return nil
}

func (t *Tree) line(p token.Pos) int { return t.fset.Position(p).Line }

// at makes a complaint about a place in f.
func (t *Tree) at(f *File, p token.Pos, key, format string, args ...any) Complaint {
	return Complaint{Path: f.Path, Line: t.line(p), Key: key, Text: fmt.Sprintf(format, args...)}
}

// below reports whether dir is prefix or lies below it.
func below(dir, prefix string) bool {
	return dir == prefix || strings.HasPrefix(dir, prefix+"/")
}

func sorted(cs []Complaint) []Complaint {
	slices.SortStableFunc(cs, func(a, b Complaint) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Text, b.Text))
	})
	return cs
}

func modulePath(mod []byte) string {
	for line := range strings.Lines(string(mod)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "module" {
			return f[1]
		}
	}
	return ""
}
