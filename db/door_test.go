package db

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var changing = regexp.MustCompile(`(?is)^\s*((insert|update|delete|replace|with\b.*\b(insert|update|delete)\b|create|drop|vacuum|reindex)\s|alter\s+table\s+\S|attach\s+(database\s+)?[?'"])`)

// mayRun are the functions that may run a statement by themselves, and hold one
// that changes rows, by the folder that they are in. Those of the migrations, of the
// copy before them and of repair record no fact; those of a storage run what a plugin
// gives them.
var mayRun = map[string][]string{
	".": {"record", "attempt", "begin", "exec", "pragma", "setJournal",
		"vacuumInto", "compact", "addTriggers"},
	"schema":  {"exec", "Raise", "begin", "alter", "climb", "New"},
	"storage": {"Exec", "Run", "plain"},
	"salvage": {"exec", "try", "orphans"},
}

// TestOneDoor holds that each statement which changes a row is an argument of
// record (spec store.md, "Every durable fact"), and that nothing but the few
// functions named here runs a statement by another way. A salvage changes the new
// database alone: main, never old.
func TestOneDoor(t *testing.T) {
	statements, used := map[string]int{}, map[string]bool{}
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		dir := filepath.Dir(path)
		for _, decl := range must(parser.ParseFile(token.NewFileSet(), path, nil, 0))(t).Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				if n, texts, _ := doors(decl); n > 0 {
					t.Errorf("%s: changing statements outside of functions: %q", path, texts)
				}
				continue
			}
			n, strays, runs := doors(f)
			statements[dir] += n
			if dir == "salvage" {
				strays = slices.DeleteFunc(strays, ofNew.MatchString)
				if runs == "exec" {
					runs = "" // its own, which is watched
				}
			}
			if slices.Contains(mayRun[dir], f.Name.Name) {
				used[dir+" "+f.Name.Name] = used[dir+" "+f.Name.Name] || len(strays) > 0 || runs != ""
				continue
			}
			if len(strays) > 0 {
				t.Errorf("%s: %s changes rows and does not go through record: %q", path, f.Name.Name, strays)
			}
			if runs != "" {
				t.Errorf("%s: %s calls %s itself", path, f.Name.Name, runs)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if statements["."] < 25 || statements["salvage"] < 5 {
		t.Errorf("changing statements found: %v, so the search does not see them", statements)
	}
	for dir, names := range mayRun {
		for _, name := range names {
			if !used[dir+" "+name] {
				t.Errorf("%s of %q need not be exempt", name, dir)
			}
		}
	}
}

// ofNew matches what a salvage may change: the new database, and which files it
// has at hand.
var ofNew = regexp.MustCompile(`(?is)^\s*((insert( or \w+)?\s+into|update|delete\s+from)\s+main\.|attach\s+\?\s+as\s+old$)`)

// doors counts a declaration's changing statements, and names those that do not go
// through record and a call that could run one.
func doors(f ast.Node) (statements int, strays []string, runs string) {
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
				strays = append(strays, s)
			}
		}
		return true
	})
	return statements, strays, runs
}

func TestDoorsCanFail(t *testing.T) {
	src := "package db\nfunc (d *DB) bad() { d.readers.ExecContext(ctx, `DELETE FROM runs`) }"
	file := must(parser.ParseFile(token.NewFileSet(), "bad.go", src, 0))(t)
	n, strays, runs := doors(file.Decls[0])
	if n != 1 || len(strays) != 1 || runs != "ExecContext" {
		t.Errorf("doors = %d, %q, %q", n, strays, runs)
	}
	if ofNew.MatchString("DELETE FROM old.runs") || !ofNew.MatchString("DELETE FROM main.runs") {
		t.Error("the new database is not told from the old one")
	}
}
