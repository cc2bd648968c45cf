package repocheck

import (
	"bytes"
	"fmt"
	"go/ast"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Door is a third-party module and the one package that may import it.
type Door struct {
	Module, Package string
}

// Doors checks that go.mod requires no module directly but those of doors, has
// no toolchain line, and that third-party packages are imported behind their
// door alone, by tests too. cgo has no door.
func (t *Tree) Doors(doors []Door) []Complaint {
	cs := t.requirements(doors)
	for _, f := range t.Files {
		for _, spec := range f.AST.Imports {
			if text := t.foreign(f, importPath(spec), doors); text != "" {
				cs = append(cs, t.at(f, spec.Pos(), "", "%s", text))
			}
		}
	}
	return sorted(cs)
}

func (t *Tree) foreign(f *File, imported string, doors []Door) string {
	first, _, _ := strings.Cut(imported, "/")
	switch {
	case imported == "C":
		return "cgo is not used: the binary is static and reads as Go"
	case !strings.Contains(first, ".") || below(imported, t.Module):
		return ""
	}
	i := slices.IndexFunc(doors, func(d Door) bool { return below(imported, d.Module) })
	switch {
	case i < 0:
		return fmt.Sprintf("third-party package %s has no door; use the standard library", imported)
	case doors[i].Package != f.Dir:
		return fmt.Sprintf("%s is imported in %s alone; use what that package offers", imported, doors[i].Package)
	}
	return ""
}

// requirements reads go.mod line by line; its grammar allows no more here.
func (t *Tree) requirements(doors []Door) []Complaint {
	data, err := os.ReadFile(filepath.Join(t.Root, "go.mod"))
	if err != nil {
		return []Complaint{{Path: "go.mod", Text: err.Error()}}
	}
	var cs []Complaint
	block := ""
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || strings.HasPrefix(words[0], "//"):
			continue
		case words[0] == ")":
			block = ""
			continue
		case len(words) > 1 && words[1] == "(":
			block = words[0]
			continue
		}
		if block != "" {
			words = append([]string{block}, words...)
		}
		if text := directive(words, doors); text != "" {
			cs = append(cs, Complaint{Path: "go.mod", Line: number, Text: text})
		}
	}
	return cs
}

func directive(words []string, doors []Door) string {
	switch words[0] {
	case "toolchain":
		return "no toolchain line: the go line names the lowest version that builds"
	case "replace":
		return "no replace line: others build this module as it stands"
	case "require":
		indirect := words[len(words)-1] == "indirect"
		known := slices.ContainsFunc(doors, func(d Door) bool { return len(words) > 1 && d.Module == words[1] })
		if !indirect && !known {
			return fmt.Sprintf("direct requirement %s has no door; use the standard library", strings.Join(words[1:], " "))
		}
	}
	return ""
}

// network is how connections, and questions to name servers, are made without a
// client that was handed over. Listening is no such way: a listener is asked.
var network = []struct {
	pkg   string
	names []string
	why   string
}{
	{"net/http", []string{"Client", "Transport", "DefaultClient", "DefaultTransport", "Get", "Head", "Post", "PostForm"},
		"take a *http.Client from the caller"},
	{"net", []string{
		"Dial", "DialTimeout", "DialTCP", "DialUDP", "DialIP", "DialUnix", "Dialer",
		"Resolver", "DefaultResolver", "ResolveTCPAddr", "ResolveUDPAddr", "ResolveIPAddr",
		"LookupAddr", "LookupCNAME", "LookupHost", "LookupIP", "LookupMX", "LookupNS", "LookupPort", "LookupSRV", "LookupTXT",
	}, "take a *http.Client or a net.Conn from the caller"},
	{"crypto/tls", []string{"Dial", "DialWithDialer", "Dialer", "Client"}, "take a *http.Client or a net.Conn from the caller"},
	{"net/smtp", nil, "it dials by itself"},
	{"net/rpc", nil, "it dials by itself"},
	{"net/rpc/jsonrpc", nil, "it dials by itself"},
	{"net/textproto", []string{"Dial"}, "take a *http.Client or a net.Conn from the caller"},
	{"log/syslog", nil, "it dials by itself"},
	{"syscall", []string{"Connect", "Socket"}, "take a net.Conn from the caller"},
}

// Connections complains about every place outside home that makes an
// http.Client or http.Transport, uses the default ones, dials, or asks a name
// server. Test files, packages for tests alone and scripts are exempt. Pointer
// types are free: a client that is handed over is the right way.
func (t *Tree) Connections(home string, forTests ...string) []Complaint {
	var cs []Complaint
	for _, f := range t.Files {
		if f.Test || f.Dir == home || below(f.Dir, "scripts") || slices.Contains(forTests, f.Dir) {
			continue
		}
		for _, n := range network {
			name, dot := importName(f.AST, n.pkg)
			switch {
			case dot:
				cs = append(cs, t.at(f, f.AST.Package, "", "import %s under its name, so that uses can be checked", n.pkg))
			case name != "" && n.names == nil:
				cs = append(cs, t.at(f, f.AST.Package, "", "%s: connections are made in %s alone; %s", n.pkg, home, n.why))
			case name != "":
				cs = append(cs, t.uses(f, name, n.names, func(used string) string {
					return fmt.Sprintf("%s.%s: connections are made in %s alone; %s", path.Base(n.pkg), used, home, n.why)
				})...)
			}
		}
	}
	return sorted(cs)
}

// uses finds the uses of names of a package, its pointer types left out.
func (t *Tree) uses(f *File, pkg string, names []string, say func(used string) string) []Complaint {
	var cs []Complaint
	ast.Inspect(f.AST, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.StarExpr:
			return !isOneOf(n.X, pkg, names...)
		case *ast.SelectorExpr:
			if isOneOf(n, pkg, names...) {
				cs = append(cs, t.at(f, n.Pos(), "", "%s", say(n.Sel.Name)))
			}
		}
		return true
	})
	return cs
}

// importName returns the name under which a file uses a package, empty if it
// does not, and whether it is imported with a dot.
func importName(f *ast.File, pkg string) (name string, dot bool) {
	for _, spec := range f.Imports {
		switch {
		case importPath(spec) != pkg:
		case spec.Name == nil:
			return path.Base(pkg), false
		case spec.Name.Name == ".":
			return "", true
		default:
			return spec.Name.Name, false
		}
	}
	return "", false
}

// isOneOf reports whether e is pkg.X with X one of names.
func isOneOf(e ast.Expr, pkg string, names ...string) bool {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == pkg && slices.Contains(names, sel.Sel.Name)
}

// Closure is what a package may need to be built, all that it imports
// included.
type Closure struct {
	Package string
	// Ours are the packages of ours that it may need.
	Ours []string
	// Never are standard packages that it must not need.
	Never []string
}

// Closures asks the go command for everything that the packages need.
func (t *Tree) Closures(closures []Closure) []Complaint {
	var cs []Complaint
	for _, c := range closures {
		complain := func(format string, args ...any) {
			cs = append(cs, Complaint{Path: c.Package, Text: fmt.Sprintf(format, args...)})
		}
		cmd := exec.Command("go", "list", "-deps", "./"+c.Package)
		cmd.Dir = t.Root
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			complain("go list -deps: %v: %s", err, strings.TrimSpace(stderr.String()))
			continue
		}
		for _, dep := range strings.Fields(string(out)) {
			ours := strings.TrimPrefix(dep, t.Module+"/")
			switch {
			case below(dep, t.Module) && !slices.Contains(c.Ours, ours):
				complain("needs %s, which its users should not have to read", ours)
			case slices.Contains(c.Never, dep):
				complain("needs %s, which it must not; hand it a function, or move the code to a folder below", dep)
			}
		}
	}
	return cs
}
