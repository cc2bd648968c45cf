//go:build unix

package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"alisio/agent/text"
)

func search(t *testing.T, w *Workspace, q SearchQuery) ([]Match, SearchStats) {
	t.Helper()
	var out []Match
	st, err := w.Search(t.Context(), q, func(m Match) bool {
		out = append(out, m)
		return true
	})
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	return out, st
}

// hits shows matches as one line each word: name:line:text.
func hits(ms []Match) string {
	var out []string
	for _, m := range ms {
		if m.Binary {
			out = append(out, m.Name+" is binary")
			continue
		}
		out = append(out, fmt.Sprintf("%s:%d:%s", m.Name, m.Line, m.Text))
	}
	return strings.Join(out, " | ")
}

func TestSearch(t *testing.T) {
	alone(t)
	dir := tree(t, "ln -> a.go")
	for name, data := range map[string]string{
		"a.go":        "package a\n\nfunc Foo() {}\n// foo.bar\n",
		"a/b.go":      "\tFOO\r\nfoo$\r\nend",
		"a-b.txt":     "x foo\n",
		".hid":        "foo\n",
		"x.log":       "foo\n",
		".gitignore":  "*.log\n",
		"bom.txt":     "\ufefffoo at start\n",
		"u16.txt":     "\xff\xfef\x00o\x00o\x00 \x00\xe4\x00\n\x00x\x00\n\x00f\x00o\x00o\x00",
		"kelvin":      "\u212aIWI\n",
		"empty":       "",
		"z/last\xff":  "foo \x1b[31mred\x1b[0m \xff\n",
		"a/trail.txt": "no newline foo",
	} {
		put(t, filepath.Join(dir, name), data)
	}
	w := open(t, dir)
	last := `"z/last\xff":1:foo red ` + text.Plain("\xff")
	tests := []struct {
		q    SearchQuery
		want string
	}{
		{SearchQuery{Pattern: "foo"}, `a-b.txt:1:x foo | a.go:4:// foo.bar | a/b.go:2:foo$ | a/trail.txt:1:no newline foo | bom.txt:1:foo at start | u16.txt:1:foo ä | u16.txt:3:foo | ` + last},
		{SearchQuery{Pattern: "foo", IgnoreCase: true, Path: "a"}, `a/b.go:1: FOO | a/b.go:2:foo$ | a/trail.txt:1:no newline foo`},
		{SearchQuery{Pattern: "foo.bar", Literal: true}, `a.go:4:// foo.bar`},
		{SearchQuery{Pattern: "foo$", Literal: true}, `a/b.go:2:foo$`},
		{SearchQuery{Pattern: "(foo$", Literal: true}, ``},
		{SearchQuery{Pattern: `foo$`}, `a-b.txt:1:x foo | a/trail.txt:1:no newline foo | u16.txt:3:foo`},
		{SearchQuery{Pattern: `^foo`, Glob: "*.txt"}, `bom.txt:1:foo at start | u16.txt:1:foo ä | u16.txt:3:foo`},
		{SearchQuery{Pattern: `\$$`}, `a/b.go:2:foo$`},
		{SearchQuery{Pattern: `^end$`}, `a/b.go:3:end`},
		{SearchQuery{Pattern: `^$`, Path: "a.go"}, `a.go:2:`},
		{SearchQuery{Pattern: `(?i)func foo|nothing`}, `a.go:3:func Foo() {}`},
		{SearchQuery{Pattern: `[fF]oo\(\)`}, `a.go:3:func Foo() {}`},
		{SearchQuery{Pattern: `fu(?i)NC`, Path: "a.go"}, `a.go:3:func Foo() {}`},
		{SearchQuery{Pattern: `FU(?i)NC`, Path: "a.go"}, ``},
		{SearchQuery{Pattern: "kiwi", IgnoreCase: true}, "kelvin:1:\u212aIWI"},
		{SearchQuery{Pattern: "foo", Path: ".hid"}, `.hid:1:foo`},
		{SearchQuery{Pattern: "foo", Path: "x.log"}, `x.log:1:foo`},
		{SearchQuery{Pattern: "foo", Glob: "x.log"}, `x.log:1:foo`},
		{SearchQuery{Pattern: "foo", Glob: "*.log"}, ``},
		{SearchQuery{Pattern: "foo", Path: "ln"}, `a.go:4:// foo.bar`},
		{SearchQuery{Pattern: "x", Path: "empty"}, ``},
	}
	for _, tt := range tests {
		ms, _ := search(t, w, tt.q)
		if got := strings.ReplaceAll(hits(ms), "\t", " "); got != tt.want {
			t.Errorf("%+v:\n got %s\nwant %s", tt.q, got, tt.want)
		}
	}
	if _, st := search(t, w, SearchQuery{Pattern: "foo"}); st != (SearchStats{Files: 9, IgnoredCount: 1, HiddenCount: 2}) {
		t.Errorf("stats %+v", st)
	}
}

func TestSearchRefuses(t *testing.T) {
	alone(t)
	dir := tree(t, "ws/f", "out/f")
	w := open(t, filepath.Join(dir, "ws"))
	var outside *OutsideError
	for _, tt := range []struct {
		q    SearchQuery
		want string
	}{
		{SearchQuery{}, "pattern is empty"}, {SearchQuery{Pattern: "("}, "missing closing"}, {SearchQuery{Pattern: "a\nb", Literal: true}, "line end"},
		{SearchQuery{Pattern: `a\nb`}, "line end"}, {SearchQuery{Pattern: strings.Repeat("a", maxPattern+1)}, "longer than"},
		{SearchQuery{Pattern: "a", Path: "none"}, "not exist"}, {SearchQuery{Pattern: "a", Glob: "["}, "no ]"}, {SearchQuery{Pattern: "a", Path: "../out"}, "outside"},
	} {
		_, err := w.Search(t.Context(), tt.q, func(Match) bool { return true })
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "search text: ") {
			t.Errorf("%.40v: %v, want %q", tt.q, err, tt.want)
		}
		if tt.want == "outside" && !errors.As(err, &outside) {
			t.Errorf("not an OutsideError: %v", err)
		}
	}
}

func TestSearchContext(t *testing.T) {
	alone(t)
	dir := t.TempDir()
	put(t, filepath.Join(dir, "f"), "one\ntwo\nHIT\nfour\nfive\nHIT")
	w := open(t, dir)
	ms, _ := search(t, w, SearchQuery{Pattern: "HIT", Context: 2})
	want := []Match{
		{Name: "f", Line: 3, Text: "HIT", Before: []string{"one", "two"}, After: []string{"four", "five"}},
		{Name: "f", Line: 6, Text: "HIT", Before: []string{"four", "five"}},
	}
	if !reflect.DeepEqual(ms, want) {
		t.Errorf("got %+v", ms)
	}
}

// In UTF-8 a file may be longer than it was, and than any buffer.
func TestSearchUTF16ThatGrows(t *testing.T) {
	alone(t)
	dir := t.TempDir()
	put(t, filepath.Join(dir, "f"), "\xff\xfe"+strings.Repeat("\x16\x4e", 65_400)+"T\x00o\x00")
	w := open(t, dir)
	if ms, _ := search(t, w, SearchQuery{Pattern: "to", IgnoreCase: true, MaxLine: 10}); len(ms) != 1 || !strings.HasSuffix(ms[0].Text, "To") {
		t.Errorf("%+v", ms)
	}
}

// C178: the number of matches was limited and their length was not, so that one
// minified file gave 650 KB. Trigger: a line of 1 MB with the word in it.
func TestC178LongLinesAreClipped(t *testing.T) {
	alone(t)
	dir := t.TempDir()
	half := strings.Repeat("é\u4e16\U0001f600x", 50_000)
	put(t, filepath.Join(dir, "x.min.js"), half+"TOKEN"+half)
	put(t, filepath.Join(dir, "head"), "TOKEN"+half)
	put(t, filepath.Join(dir, "tail"), half+"TOKEN")
	put(t, filepath.Join(dir, "whole"), strings.Repeat("T", 1000))
	w := open(t, dir)
	for _, size := range []int{0, 10, 100, 403, 1 << 30} {
		q := SearchQuery{Pattern: "TOKEN", MaxLine: size, Context: 1}
		ms, _ := search(t, w, q)
		bound := size
		if size == 0 {
			bound = 400
		}
		bound = min(bound, maxShown)
		if len(ms) != 3 {
			t.Fatalf("%d matches", len(ms))
		}
		for _, m := range ms {
			if !m.Clipped || len(m.Text) > bound || len(m.Text) < bound-8 || !strings.Contains(m.Text, "TOKEN") || !utf8.ValidString(m.Text) || strings.Contains(m.Text, "\ufffd") {
				t.Errorf("MaxLine %d: %s: clipped %v, %d bytes, %.40q", size, m.Name, m.Clipped, len(m.Text), m.Text)
			}
		}
	}
	if ms, _ := search(t, w, SearchQuery{Pattern: "T+", Path: "whole", MaxLine: 100}); len(ms) != 1 || len(ms[0].Text) != 100 || !ms[0].Clipped {
		t.Errorf("a match longer than the bound: %+v", ms)
	}
}

// C179: a NUL in a source file makes the search report no match. Trigger:
// 'hello TOKEN here\x00more\n'.
func TestC179NulIsNotNoMatch(t *testing.T) {
	alone(t)
	dir := t.TempDir()
	put(t, filepath.Join(dir, "n.ts"), "hello TOKEN here\x00more\n")
	put(t, filepath.Join(dir, "late.ts"), "TOKEN\n"+strings.Repeat("x", 20_000)+"\x00")
	put(t, filepath.Join(dir, "other.bin"), "\x00\x01nothing")
	w := open(t, dir)
	for _, q := range []SearchQuery{{Pattern: "TOKEN"}, {Pattern: "token", IgnoreCase: true}, {Pattern: `TOK.\w`}, {Pattern: "[T]OKEN", Path: "n.ts"}} {
		ms, _ := search(t, w, q)
		want := "late.ts is binary | n.ts is binary"
		if q.Path != "" {
			want = "n.ts is binary"
		}
		if got := hits(ms); got != want {
			t.Errorf("%+v: %s", q, got)
		}
	}
}

// C180: a notice about a binary file was parsed as a match and failed the whole
// search. Trigger: a .pyc that holds the pattern next to sources.
func TestC180BinaryNextToText(t *testing.T) {
	alone(t)
	dir := tree(t, "unreadable")
	put(t, filepath.Join(dir, "m.py"), "TOKEN = 1\nTOKEN\n")
	put(t, filepath.Join(dir, "m.pyc"), "\x00\x00TOKEN\nTOKEN\n")
	put(t, filepath.Join(dir, "n.py"), "TOKEN\n")
	syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644)
	w := open(t, dir)
	ms, st := search(t, w, SearchQuery{Pattern: "TOKEN"})
	if got, want := hits(ms), "m.py:1:TOKEN = 1 | m.py:2:TOKEN | m.pyc is binary | n.py:1:TOKEN"; got != want || st.Unreadable != 0 {
		t.Errorf("got %s, %+v", got, st)
	}
}

func TestSearchOrderAndStop(t *testing.T) {
	alone(t)
	dir := t.TempDir()
	for i := range 700 {
		put(t, filepath.Join(dir, fmt.Sprintf("d%d/f%03d", i%7, i)), strings.Repeat("match\n", 300))
	}
	w := open(t, dir)
	last, n := "", 0
	st, err := w.Search(t.Context(), SearchQuery{Pattern: "match"}, func(m Match) bool {
		key := fmt.Sprintf("%s:%04d", m.Name, m.Line)
		if key <= last {
			t.Fatalf("%s after %s", key, last)
		}
		last = key
		n++
		return true
	})
	if err != nil || n != 700*300 || st.Files != 700 || st.Stopped {
		t.Errorf("%d matches, %+v, %v", n, st, err)
	}
	for _, stop := range []int{1, 2, 299, 301, 5000} {
		n = 0
		st, err := w.Search(t.Context(), SearchQuery{Pattern: "match"}, func(Match) bool { n++; return n < stop })
		if err != nil || n != stop || !st.Stopped || st.Files > 700 {
			t.Errorf("stop at %d: %d matches, %+v, %v", stop, n, st, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = w.Search(ctx, SearchQuery{Pattern: "match"}, func(Match) bool { cancel(); return true })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if left := descriptors(t); left > 60 {
		t.Errorf("%d descriptors are open", left)
	}
}

// A directory is swapped for a link to the outside while it is walked: nothing
// outside may be listed or searched.
func TestSwappedDirectoryIsNotSearchedOutside(t *testing.T) {
	alone(t)
	dir := tree(t, "ws/d/e/inner", "ws/a", "ws/z", "out/e/secret", "out/secret")
	w := open(t, filepath.Join(dir, "ws"))
	stop := swap(t, filepath.Join(dir, "ws"), "d", "../out")
	inner := 0
	for i := 0; i < 500 || inner == 0 && i < 100000; i++ {
		ms, _ := search(t, w, SearchQuery{Pattern: "inner|secret"})
		l, err := w.List(t.Context(), ListQuery{})
		if err != nil {
			t.Fatal(err)
		}
		got := hits(ms) + strings.Join(names(l), " ")
		if strings.Contains(got, "secret") {
			t.Fatalf("found %s", got)
		}
		inner += strings.Count(got, "inner")
	}
	stop()
	if inner == 0 {
		t.Error("the directory was never walked: the test shows nothing")
	}
}

// descriptors counts what this process has open, where that can be seen.
func descriptors(t *testing.T) int {
	t.Helper()
	es, err := os.ReadDir("/proc/self/fd")
	if errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	return len(es)
}

// naive is what a search must find: the expression on each line.
func naive(expr, data string, context int) []Match {
	re := regexp.MustCompile(expr)
	data = strings.TrimPrefix(data, "\ufeff")
	lines := strings.Split(data, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	var out []Match
	plain := func(ls []string) (p []string) {
		for _, l := range ls {
			p = append(p, text.Plain(strings.TrimSuffix(l, "\r")))
		}
		return p
	}
	for i, l := range lines {
		if re.MatchString(strings.TrimSuffix(l, "\r")) {
			out = append(out, Match{Line: i + 1, Text: plain(lines[i : i+1])[0],
				Before: plain(lines[max(0, i-context):i]), After: plain(lines[i+1 : min(len(lines), i+1+context)])})
		}
	}
	return out
}

// Random patterns on random files, in windows of every size, against the
// expression on each line.
func TestScanAgainstEachLine(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 5))
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	d, err := openFolder(root)
	if err != nil {
		t.Fatal(err)
	}
	defer d.drop()
	for i := range 1200 {
		data, expr, fold := randomText(rnd), randomPattern(rnd), rnd.IntN(3) == 0
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
		p, err := compilePattern(expr, false, fold)
		if err != nil {
			t.Fatalf("%s: %v", expr, err)
		}
		sc := &scanner{p: p, context: rnd.IntN(3), maxLine: maxShown, window: 1024 << rnd.IntN(4)}
		src, err := d.open("f")
		if err != nil {
			t.Fatal(err)
		}
		var got []Match
		err = sc.file(src, func(m Match) bool { got = append(got, m); return true })
		src.Close()
		if fold {
			expr = "(?i)" + expr
		}
		if want := naive(expr, data, sc.context); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("round %d: %s, context %d, window %d on %q (literals %q exact %v):\n got %+v\nwant %+v, %v",
				i, expr, sc.context, sc.window, data, p.lits, p.exact, got, want, err)
		}
	}
}

func randomText(rnd *rand.Rand) string {
	var b strings.Builder
	if rnd.IntN(9) == 0 {
		b.WriteString("\ufeff")
	}
	for range rnd.IntN(200) * (1 + rnd.IntN(20)) {
		b.WriteString(pick(rnd, "a", "b", "c", "A", "B", "k", "K", "\u212a", "s", "ſ", "foo", "Foo", "bar", "BAR", " ", "\n", "\n", "\n", "\r\n", "é", "É", "\xff", "1", "\r"))
	}
	return b.String()
}

func randomPattern(rnd *rand.Rand) string {
	var b strings.Builder
	for range 1 + rnd.IntN(4) {
		b.WriteString(pick(rnd, "a", "b", "foo", "Foo", "bar", "k", "s", "é", "ab", ".", "[ab]", "[^a]", `\w`, `\s`, `\d`, "(a|b)", "(foo|bar)", "(fo|b[ao]r)", "(?i:foo)", "(?i:k)", "(a*)", "^", "$", `\b`, "1", `[\n1]`))
		b.WriteString(pick(rnd, "", "", "", "", "+", "*", "?", "{2}", "{1,3}", "|", "|foo"))
	}
	if _, err := regexp.Compile(b.String()); err != nil {
		return "foo"
	}
	return b.String()
}

// A line longer than the largest window is searched in parts, and a match on
// the border of two is found.
func TestLinesBeyondTheWindow(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	d, err := openFolder(root)
	if err != nil {
		t.Fatal(err)
	}
	defer d.drop()
	const most = 64 << 10
	for _, at := range []int{0, 1000, most - 3, most - 1, most, 3 * most, 5*most - 7} {
		line := []byte(strings.Repeat("x", 5*most))
		copy(line[at:], "NEEDLE")
		put(t, filepath.Join(dir, "f"), "first\n"+string(line)+"\nNEEDLE last\n")
		p, err := compilePattern("NEEDLE", true, false)
		if err != nil {
			t.Fatal(err)
		}
		sc := &scanner{p: p, maxLine: 40, window: most}
		src, err := d.open("f")
		if err != nil {
			t.Fatal(err)
		}
		seen := map[int]bool{}
		err = sc.file(src, func(m Match) bool {
			seen[m.Line] = true
			if !strings.Contains(m.Text, "NEEDLE") {
				t.Errorf("at %d: %+v", at, m)
			}
			return true
		})
		src.Close()
		if err != nil || !seen[2] || !seen[3] || len(seen) != 2 || len(sc.buf) > most {
			t.Errorf("at %d: lines %v, buffer of %d, %v", at, seen, len(sc.buf), err)
		}
	}
}

func TestLower(t *testing.T) {
	all := make([]byte, 256+3)
	for i := range all {
		all[i] = byte(i)
	}
	for from := range 9 {
		in := all[from:]
		got := make([]byte, len(in))
		if lower(got, in) {
			t.Error("all bytes are ASCII")
		}
		for i, c := range in {
			want := c
			if c >= 'A' && c <= 'Z' {
				want += 'a' - 'A'
			}
			if got[i] != want {
				t.Errorf("%#x: got %#x", c, got[i])
			}
		}
	}
	if !lower(make([]byte, 128), all[:128]) {
		t.Error("ASCII is not seen")
	}
}

// Trying only the places where a match can begin finds what a search from the
// front finds.
func TestFindInIsTheExpression(t *testing.T) {
	known := 0
	for _, expr := range []string{`(quo|lex)\w+Client`, `const.*Handler`, `ab*c`, `(a|ab)(c|bcd)`, `ab$`, `\bab`, `^ab`, `a|b`, `é.`, `(?i)ab.`, `[ab]c+`, `(ab)+c?`, `ab\B.`} {
		p, err := compilePattern(expr, false, false)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.starts) > 0 {
			known++
		}
		for _, line := range []string{"", "ab", "xab", "abcd", "a ab abc abcd ababab", "quox lexClient", "lexaClient quobClient", "const x Handler Handler",
			"quo quo quo quo quo quo quoxClient", "\xffab\xc3c", "\xe9ab", "éab é.", "aab bab bcc", "ac bc"} {
			if got, want := p.findIn([]byte(line)), p.re.FindIndex([]byte(line)); !slices.Equal(got, want) {
				t.Errorf("%s in %q: got %v, want %v", expr, line, got, want)
			}
		}
	}
	if known < 5 {
		t.Errorf("of %d expressions it is known what they begin with", known)
	}
}

func FuzzPattern(f *testing.F) {
	f.Add("a(b|c)+d", "abcd\nxabd", true)
	f.Add(`(?i)k[\x00-\x{10ffff}]{3}`, "K\u212a", false)
	f.Add("\u0130x", "a\u0130X", true)
	f.Fuzz(func(t *testing.T, expr, data string, fold bool) {
		p, err := compilePattern(expr, false, fold)
		if err != nil {
			return
		}
		line, _, _ := strings.Cut(data, "\n")
		s := &scanner{p: p, maxLine: 100}
		found := false
		s.emit = func(Match) bool { found = true; return true }
		s.buf = []byte(line)
		s.search(&piece{text: []byte(line), upto: len(line), line: 1})
		if got, want := p.findIn([]byte(line)), p.re.FindIndex([]byte(line)); !slices.Equal(got, want) {
			t.Fatalf("%q in %q: got %v, want %v", expr, line, got, want)
		}
		if want := line != "" && p.re.MatchString(strings.TrimSuffix(line, "\r")); found != want {
			t.Fatalf("%q on %q: %v, the expression says %v (literals %q)", expr, line, found, want, p.lits)
		}
	})
}
