package repocheck

import (
	"fmt"
	"go/ast"
	"slices"
	"strconv"
	"strings"
)

// Row is one line of the table of allowed arrows. Packages are folders
// relative to the module's root; "main" is the root package itself.
type Row struct {
	// Package is one folder, or "folder/*" for every folder below one.
	Package string
	// May lists the packages of ours that it may import.
	May []string
	// Any, if set, also allows everything below that folder but But, and exempts
	// the row from the search for arrows that nobody uses.
	Any string
	But []string
	// TestsOnly packages exist for tests: nothing else may import them.
	TestsOnly bool
}

func (r *Row) covers(pkg string) bool {
	if dir, ok := strings.CutSuffix(r.Package, "/*"); ok {
		return strings.HasPrefix(pkg, dir+"/")
	}
	return r.Package == pkg
}

func (r *Row) allows(pkg string) bool {
	if slices.Contains(r.May, pkg) {
		return true
	}
	return r.Any != "" && below(pkg, r.Any) && !slices.Contains(r.But, pkg)
}

// Arrows checks every import of ours against the table. Imports of test files
// are free but for the root package. It complains about packages without a
// row, imports without an arrow, and rows and arrows that nobody uses.
func (t *Tree) Arrows(rows []Row) []Complaint {
	a := arrows{tree: t, rows: rows, used: make(map[string]bool)}
	for _, f := range t.Files {
		a.file(f)
	}
	for i := range rows {
		a.unused(&rows[i])
	}
	return sorted(a.found)
}

type arrows struct {
	tree  *Tree
	rows  []Row
	used  map[string]bool // "row" and "row → package"
	found []Complaint
}

func (a *arrows) file(f *File) {
	pkg := packageName(f.Dir)
	row := a.row(pkg)
	if row == nil && !f.Test {
		a.found = append(a.found, a.tree.at(f, f.AST.Package, "",
			"package %s has no row in the table of arrows; is this its place? then add the row", pkg))
	}
	if row != nil && !f.Test {
		a.used[row.Package] = true
	}
	for _, spec := range f.AST.Imports {
		if to, ok := a.tree.ours(spec); ok {
			a.arrow(f, row, pkg, to, spec)
		}
	}
}

func (a *arrows) arrow(f *File, row *Row, pkg, to string, spec *ast.ImportSpec) {
	complain := func(format string, args ...any) {
		a.found = append(a.found, a.tree.at(f, spec.Pos(), "", format, args...))
	}
	switch target := a.row(to); {
	case to == "main":
		complain("the root package is the roof: nothing may import it")
	case f.Test || row == nil:
	case target != nil && target.TestsOnly && !row.TestsOnly:
		complain("%s is for tests alone; import it in a _test.go file", to)
	case !row.allows(to):
		complain("%s may not import %s: the table has no such arrow; hand over a function or an interface instead, or move the code", pkg, to)
	default:
		a.used[row.Package+" → "+to] = true
	}
}

func (a *arrows) unused(r *Row) {
	complain := func(format string, args ...any) {
		a.found = append(a.found, Complaint{Path: r.Package, Text: fmt.Sprintf(format, args...)})
	}
	if !a.used[r.Package] {
		complain("nobody uses this row of the table of arrows: no such package; rows come with their first use")
		return
	}
	if r.Any != "" {
		return
	}
	for _, to := range r.May {
		if !a.used[r.Package+" → "+to] {
			complain("nobody uses the arrow to %s; arrows come with their first use", to)
		}
	}
}

func (a *arrows) row(pkg string) *Row {
	i := slices.IndexFunc(a.rows, func(r Row) bool { return r.covers(pkg) })
	if i < 0 {
		return nil
	}
	return &a.rows[i]
}

// ours returns the package of an import of this module, as rows name it.
func (t *Tree) ours(spec *ast.ImportSpec) (string, bool) {
	p := importPath(spec)
	if !below(p, t.Module) {
		return "", false
	}
	return packageName(strings.TrimPrefix(strings.TrimPrefix(p, t.Module), "/")), true
}

func packageName(dir string) string {
	if dir == "." || dir == "" {
		return "main"
	}
	return dir
}

// importPath is empty for a path that can not be unquoted; the parser lets
// none through.
func importPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return ""
	}
	return p
}
