package repocheck

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Style complains about names and documentation that the style page rules
// out: a package without a package comment, receivers of more than one letter,
// types named after one of vague, and exported types that repeat their
// package's name. Keys are "doc DIR", "receiver PATH:FUNC" and "type PATH:NAME".
func (t *Tree) Style(vague []string) []Complaint {
	var cs []Complaint
	documented := make(map[string]bool)
	first := make(map[string]*File)
	for _, f := range t.Files {
		if f.Test {
			continue
		}
		if first[f.Dir] == nil {
			first[f.Dir] = f
		}
		documented[f.Dir] = documented[f.Dir] || f.AST.Doc != nil
		cs = append(cs, t.names(f, vague)...)
	}
	for dir, f := range first {
		if !documented[dir] {
			cs = append(cs, t.at(f, f.AST.Package, "doc "+dir, "package %s has no package comment: say what it is and what it refuses to do", f.AST.Name.Name))
		}
	}
	return sorted(cs)
}

func (t *Tree) names(f *File, vague []string) []Complaint {
	var cs []Complaint
	for _, d := range f.AST.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || len(d.Recv.List) == 0 || len(d.Recv.List[0].Names) == 0 {
				continue
			}
			if name := d.Recv.List[0].Names[0].Name; utf8.RuneCountInString(name) != 1 {
				cs = append(cs, t.at(f, d.Pos(), "receiver "+f.Path+":"+funcName(d), "receiver %s: one letter is enough", name))
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if s, ok := spec.(*ast.TypeSpec); ok {
					cs = append(cs, t.typeName(f, s, vague)...)
				}
			}
		}
	}
	return cs
}

func (t *Tree) typeName(f *File, s *ast.TypeSpec, vague []string) []Complaint {
	key := "type " + f.Path + ":" + s.Name.Name
	name := s.Name.Name
	if i := slices.IndexFunc(vague, func(v string) bool { return strings.HasSuffix(strings.ToLower(name), strings.ToLower(v)) }); i >= 0 {
		return []Complaint{t.at(f, s.Pos(), key, "type %s: %q says nothing; use the field's own term", name, vague[i])}
	}
	pkg := path.Base(f.Dir)
	if f.AST.Name.Name != "main" && repeats(name, pkg) {
		return []Complaint{t.at(f, s.Pos(), key, "type %s repeats its package: callers write %s.%s", name, pkg, name)}
	}
	return nil
}

// repeats: a name of more than one word whose first is the package's.
func repeats(name, pkg string) bool {
	if !token.IsExported(name) || len(name) <= len(pkg) || !strings.EqualFold(name[:len(pkg)], pkg) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(name[len(pkg):])
	return unicode.IsUpper(next)
}
