package repocheck

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
)

// Limits are hard sizes. Files and packages are counted in lines without
// tests, tables and generated files.
type Limits struct {
	File, Function, StructFields, Package int
}

// Sizes complains about what is larger than the limits. Keys are "file PATH",
// "func PATH:NAME", "struct PATH:NAME" and "package DIR".
func (t *Tree) Sizes(l Limits) []Complaint {
	var cs []Complaint
	packages := make(map[string]int)
	for _, f := range t.Files {
		if !f.Counted() {
			continue
		}
		packages[f.Dir] += f.Lines
		if f.Lines > l.File {
			cs = append(cs, Complaint{Path: f.Path, Key: "file " + f.Path,
				Text: fmt.Sprintf("%d lines, the limit is %d; split it by idea, not by size", f.Lines, l.File)})
		}
		cs = append(cs, t.declarations(f, l)...)
	}
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		if n := packages[dir]; n > l.Package {
			cs = append(cs, Complaint{Path: dir, Key: "package " + dir,
				Text: fmt.Sprintf("%d lines in the package, the limit is %d", n, l.Package)})
		}
	}
	return sorted(cs)
}

func (t *Tree) declarations(f *File, l Limits) []Complaint {
	var cs []Complaint
	ast.Inspect(f.AST, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if lines := t.line(n.End()) - t.line(n.Pos()) + 1; lines > l.Function {
				cs = append(cs, t.at(f, n.Pos(), "func "+f.Path+":"+funcName(n),
					"func %s has %d lines, the limit is %d; find the steps in it and name them", funcName(n), lines, l.Function))
			}
		case *ast.TypeSpec:
			s, ok := n.Type.(*ast.StructType)
			if ok && s.Fields.NumFields() > l.StructFields {
				cs = append(cs, t.at(f, n.Pos(), "struct "+f.Path+":"+n.Name.Name,
					"struct %s has %d fields, the limit is %d; which of them belong together?", n.Name.Name, s.Fields.NumFields(), l.StructFields))
			}
		}
		return true
	})
	return cs
}

// funcName is "Name", or "Type.Name" for a method.
func funcName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	typ := d.Recv.List[0].Type
	if s, ok := typ.(*ast.StarExpr); ok {
		typ = s.X
	}
	switch g := typ.(type) {
	case *ast.IndexExpr:
		typ = g.X
	case *ast.IndexListExpr:
		typ = g.X
	}
	if id, ok := typ.(*ast.Ident); ok {
		return id.Name + "." + d.Name.Name
	}
	return d.Name.Name
}

// Lines counts the lines of code that people write and read in these packages
// or single files, tests, tables, generated files and the files without aside. A
// name that changes nothing is an error, so that a renamed file neither falls out
// of the count nor stays exempt.
func (t *Tree) Lines(names, without []string) (int, error) {
	total := 0
	seen := make(map[string]bool)
	for _, f := range t.Files {
		i := slices.IndexFunc(names, func(name string) bool { return name == f.Dir || name == f.Path })
		if i < 0 {
			continue
		}
		seen[names[i]] = true
		if slices.Contains(without, f.Path) {
			seen[f.Path] = true
			continue
		}
		if f.Counted() {
			total += f.Lines
		}
	}
	for _, name := range slices.Concat(names, without) {
		if !seen[name] {
			return total, fmt.Errorf("count lines: no package or file %s", name)
		}
	}
	return total, nil
}

// Share tells how much of a package's code is comments.
type Share struct {
	Package         string
	Lines, Comments int
}

// Percent is 0 for an empty package.
func (s Share) Percent() float64 {
	if s.Lines == 0 {
		return 0
	}
	return 100 * float64(s.Comments) / float64(s.Lines)
}

// CommentShares counts lines that a comment begins on or runs over, package by
// package, tests, tables and generated files aside.
func (t *Tree) CommentShares() []Share {
	byDir := make(map[string]*Share)
	for _, f := range t.Files {
		if !f.Counted() {
			continue
		}
		s := byDir[f.Dir]
		if s == nil {
			s = &Share{Package: packageName(f.Dir)}
			byDir[f.Dir] = s
		}
		s.Lines += f.Lines
		for _, g := range f.AST.Comments {
			s.Comments += t.line(g.End()) - t.line(g.Pos()) + 1
		}
	}
	var shares []Share
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		shares = append(shares, *byDir[dir])
	}
	return shares
}
