package repocheck

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// State complains about what runs or lives outside of calls in code that is no
// test: init functions, panics, ends of the process outside package main, and
// package-level variables that are not fixed.
//
// A package-level variable is fixed when it has a value at its declaration
// which makes nothing run but what fixedCalls names, and no statement in its
// package assigns to it or to a part of it. A variable that is changed through
// a pointer or by a method is not found. Keys are "panic PATH:FUNC",
// "exit PATH:FUNC" and "var PATH:NAME".
func (t *Tree) State() []Complaint {
	var cs []Complaint
	for _, f := range t.Files {
		if f.Test {
			continue
		}
		for _, d := range f.AST.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				cs = append(cs, t.calls(f, d)...)
			case *ast.GenDecl:
				if d.Tok == token.VAR {
					cs = append(cs, t.vars(f, d)...)
				}
			}
		}
	}
	return sorted(append(cs, t.assignments()...))
}

func (t *Tree) calls(f *File, d *ast.FuncDecl) []Complaint {
	var cs []Complaint
	if d.Recv == nil && d.Name.Name == "init" {
		cs = append(cs, t.at(f, d.Pos(), "", "init function: nothing registers itself; let the caller call or pass a table"))
	}
	place := f.Path + ":" + funcName(d)
	ast.Inspect(d, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if id, ok := call.Fun.(*ast.Ident); ok && id.Name == "panic" {
			cs = append(cs, t.at(f, call.Pos(), "panic "+place, "panic: return an error; input never panics"))
		}
		ends := isOneOf(call.Fun, "os", "Exit") || isOneOf(call.Fun, "log", "Fatal", "Fatalf", "Fatalln", "Panic", "Panicf", "Panicln")
		if ends && f.AST.Name.Name != "main" {
			cs = append(cs, t.at(f, call.Pos(), "exit "+place, "ends the process: return an error, main alone decides the exit code"))
		}
		return true
	})
	return cs
}

func (t *Tree) vars(f *File, d *ast.GenDecl) []Complaint {
	var cs []Complaint
	for _, spec := range d.Specs {
		v, ok := spec.(*ast.ValueSpec)
		if !ok || embedded(d.Doc) || embedded(v.Doc) {
			continue
		}
		for i, name := range v.Names {
			key := "var " + f.Path + ":" + name.Name
			switch {
			case name.Name == "_":
			case i >= len(v.Values):
				cs = append(cs, t.at(f, name.Pos(), key, "package-level var %s has no value of its own, so something sets it later; keep it in a struct that the caller holds", name.Name))
			case !fixed(v.Values[i]):
				cs = append(cs, t.at(f, name.Pos(), key, "package-level var %s is made by code that runs at every start; make it where it is used", name.Name))
			}
		}
	}
	return cs
}

func embedded(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool {
		return strings.HasPrefix(c.Text, "//go:embed ")
	})
}

// fixedCalls are calls that cost nothing at the start and whose result nobody
// can change.
var fixedCalls = [][2]string{
	{"errors", "New"},
	{"fmt", "Errorf"},
	{"strings", "NewReplacer"}, // builds its table on first use
}

// fixed reports whether an initial value makes nothing run: literals, names,
// operators and the few calls above. Bodies of function literals do not run at
// the start.
func fixed(e ast.Expr) bool {
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			ok = ok && fixedCall(n)
		case *ast.UnaryExpr:
			ok = ok && n.Op != token.ARROW
		}
		return ok
	})
	return ok
}

func fixedCall(c *ast.CallExpr) bool {
	for _, f := range fixedCalls {
		if isOneOf(c.Fun, f[0], f[1]) {
			return true
		}
	}
	switch fun := c.Fun.(type) {
	case *ast.ArrayType: // []byte("…")
		return true
	case *ast.Ident:
		return slices.Contains([]string{"string", "byte", "rune", "int", "int64", "uint64", "len", "float64"}, fun.Name)
	}
	return false
}

// assignments complains about statements that change a package-level variable
// of their own package.
func (t *Tree) assignments() []Complaint {
	vars := make(map[string]map[string]*ast.Ident) // folder → name → declaration
	where := make(map[*ast.Ident]*File)
	for _, f := range t.Files {
		if f.Test {
			continue
		}
		for _, d := range f.AST.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, spec := range g.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					if vars[f.Dir] == nil {
						vars[f.Dir] = make(map[string]*ast.Ident)
					}
					if name.Name != "_" { // holds nothing, and is set everywhere
						vars[f.Dir][name.Name] = name
						where[name] = f
					}
				}
			}
		}
	}
	var cs []Complaint
	for _, f := range t.Files {
		if f.Test || vars[f.Dir] == nil {
			continue
		}
		for _, d := range f.AST.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			for _, id := range changed(fn) {
				if decl := vars[f.Dir][id.Name]; decl != nil {
					cs = append(cs, t.at(f, id.Pos(), "var "+where[decl].Path+":"+id.Name,
						"%s changes the package-level var %s; keep it in a struct that the caller holds", funcName(fn), id.Name))
				}
			}
		}
	}
	return cs
}

// changed lists the names that a function changes and does not declare
// anywhere in itself: assigned to, in whole or in part, or handed to delete or
// clear.
func changed(fn *ast.FuncDecl) []*ast.Ident {
	own := declared(fn)
	var ids []*ast.Ident
	add := func(e ast.Expr) {
		if id := root(e); id != nil && !own[id.Name] {
			ids = append(ids, id)
		}
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, e := range n.Lhs {
					add(e)
				}
			}
		case *ast.IncDecStmt:
			add(n.X)
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				add(n.Key)
				add(n.Value)
			}
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "delete" || id.Name == "clear") && len(n.Args) > 0 {
				add(n.Args[0])
			}
		}
		return true
	})
	return ids
}

// root is the variable that an expression reaches into: x of x.a[i].
func root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// declared holds every name that a function declares: its receiver,
// parameters, results and local variables.
func declared(fn *ast.FuncDecl) map[string]bool {
	names := make(map[string]bool)
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, id := range n.Names {
				names[id.Name] = true
			}
		case *ast.ValueSpec:
			for _, id := range n.Names {
				names[id.Name] = true
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, e := range n.Lhs {
					if id, ok := e.(*ast.Ident); ok {
						names[id.Name] = true
					}
				}
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				for _, e := range []ast.Expr{n.Key, n.Value} {
					if id, ok := e.(*ast.Ident); ok {
						names[id.Name] = true
					}
				}
			}
		}
		return true
	})
	return names
}
