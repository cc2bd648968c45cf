package db

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var changing = regexp.MustCompile(`(?is)^\s*(insert|update|delete|replace|with\b.*\b(insert|update|delete)\b|create|drop|alter|vacuum|attach|reindex)\s`)

// Files whose statements change databases without a fact: migrations, the copy
// before them, another program's storage, repair.
var exempt = regexp.MustCompile(`^(migrate|backup|storage.*|check.*|repair.*)\.go$`)

// TestOneDoor holds that each statement which changes a row is an argument of
// record (spec store.md, "Every durable fact"), and that nothing but the few
// functions named here runs a statement by another way.
func TestOneDoor(t *testing.T) {
	mayRun := []string{"record", "attempt", "begin", "exec", "pragma", "setJournal"}
	files := must(parser.ParseDir(token.NewFileSet(), ".", func(i fs.FileInfo) bool { return !strings.HasSuffix(i.Name(), "_test.go") }, 0))(t)
	statements := 0
	for name, file := range files["db"].Files {
		if exempt.MatchString(name) {
			continue
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			n, stray, runs := doors(f)
			statements += n
			if stray != "" {
				t.Errorf("%s: %s changes rows and does not go through record: %s", name, f.Name.Name, stray)
			}
			if runs != "" && !slices.Contains(mayRun, f.Name.Name) {
				t.Errorf("%s: %s calls %s itself", name, f.Name.Name, runs)
			}
		}
	}
	if statements < 25 {
		t.Errorf("%d changing statements found, so the search does not see them", statements)
	}
}

// doors counts a function's changing statements, and names one that does not go
// through record and a call that could run one.
func doors(f *ast.FuncDecl) (statements int, stray, runs string) {
	recorded := map[ast.Node]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			sel, ok := n.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			switch sel.Sel.Name {
			case "record", "recordOne":
				for _, a := range n.Args {
					recorded[a] = true
				}
			case "exec", "pragma", "Exec", "ExecContext", "MustExec":
				runs = sel.Sel.Name
			}
		case *ast.BasicLit:
			s, err := strconv.Unquote(n.Value)
			if n.Kind != token.STRING || err != nil || !changing.MatchString(s) {
				return true
			}
			statements++
			if !recorded[n] {
				stray = s
			}
		}
		return true
	})
	return statements, stray, runs
}

func TestDoorsCanFail(t *testing.T) {
	src := "package db\nfunc (d *DB) bad() { d.readers.ExecContext(ctx, `DELETE FROM runs`) }"
	file := must(parser.ParseFile(token.NewFileSet(), "bad.go", src, 0))(t)
	n, stray, runs := doors(file.Decls[0].(*ast.FuncDecl))
	if n != 1 || stray == "" || runs != "ExecContext" {
		t.Errorf("doors = %d, %q, %q", n, stray, runs)
	}
}
