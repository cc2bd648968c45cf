package repocheck

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Word is a text that may not stand in the repository.
type Word struct {
	// Pattern is a regular expression, matched line by line. Write it so that it
	// does not match itself: "TO[D]O".
	Pattern string
	// GoOnly limits it to Go files; otherwise every text file is searched.
	GoOnly bool
	// Why says what to do instead.
	Why string
}

// maxText bounds the text files that are read for words, in bytes.
const maxText = 4 << 20

// Words complains about each line that holds a word. Files with a NUL byte and
// files over 4 MiB are taken for data and left out, as is everything below
// testdata.
func (t *Tree) Words(words []Word) []Complaint {
	var cs []Complaint
	for _, w := range words {
		re, err := regexp.Compile(w.Pattern)
		if err != nil {
			cs = append(cs, Complaint{Path: "table of words", Text: err.Error()})
			continue
		}
		for _, f := range t.Files {
			cs = append(cs, find(f.Path, f.Source, re, w.Why)...)
		}
		if w.GoOnly {
			continue
		}
		for _, name := range t.Others {
			cs = append(cs, find(name, t.text(name), re, w.Why)...)
		}
	}
	return sorted(cs)
}

// text returns a text file's bytes, nil for data and for what can not be read.
func (t *Tree) text(name string) []byte {
	full := filepath.Join(t.Root, filepath.FromSlash(name))
	info, err := os.Stat(full)
	if err != nil || info.Size() > maxText {
		return nil
	}
	data, err := os.ReadFile(full)
	if err != nil || bytes.IndexByte(data, 0) >= 0 {
		return nil
	}
	return data
}

func find(name string, data []byte, re *regexp.Regexp, why string) []Complaint {
	if !re.Match(data) {
		return nil
	}
	var cs []Complaint
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if found := re.Find(line); found != nil {
			cs = append(cs, Complaint{Path: name, Line: number, Text: fmt.Sprintf("%q stands here: %s", found, why)})
		}
	}
	return cs
}

// Names complains about string literals in the files of dir and below, tests
// included, that hold one of the names as a whole word.
func (t *Tree) Names(dir string, names []string) []Complaint {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = regexp.QuoteMeta(n)
	}
	re := regexp.MustCompile(`(^|[^\w-])(` + strings.Join(quoted, "|") + `)($|[^\w-])`)
	var cs []Complaint
	for _, f := range t.Files {
		if !below(f.Dir, dir) {
			continue
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			value, err := strconv.Unquote(lit.Value)
			if m := re.FindStringSubmatch(value); err == nil && m != nil {
				cs = append(cs, t.at(f, lit.Pos(), "name "+f.Path+":"+m[2],
					"names %q; the engine knows no built-in plugin: main hands them over", m[2]))
			}
			return true
		})
	}
	return sorted(cs)
}

// Layout complains about files and folders at the top level that are not in
// allowed. What ignored matches (patterns of path/filepath.Match) is left out.
func (t *Tree) Layout(allowed, ignored []string) []Complaint {
	entries, err := os.ReadDir(t.Root)
	if err != nil {
		return []Complaint{{Path: ".", Text: err.Error()}}
	}
	known := make(map[string]bool)
	for _, name := range allowed {
		known[name] = true
	}
	var cs []Complaint
	for _, e := range entries {
		if !known[e.Name()] && !matchesAny(ignored, e.Name()) {
			cs = append(cs, Complaint{Path: e.Name(), Text: "not part of the top level; find its place in a folder"})
		}
	}
	return cs
}

func matchesAny(patterns []string, name string) bool {
	for _, p := range patterns {
		if ok, err := filepath.Match(p, name); ok && err == nil {
			return true
		}
	}
	return false
}
