//go:build unix

package workspace

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A file of many megabytes and an expression of many states keep one call of
// package regexp busy for minutes: a search must end all the same.
func TestSearchIsCancelledInsideAFile(t *testing.T) {
	alone(t)
	dir := t.TempDir()
	for name, line := range map[string]int{"long": 16 << 20, "short": 8 << 10} {
		put(t, filepath.Join(dir, name), "xx\n"+strings.Repeat(strings.Repeat("x", line-2)+"z\n", 16<<20/line))
	}
	w := open(t, dir)
	for _, name := range []string{"long", "short"} {
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		_, err := w.Search(ctx, SearchQuery{Pattern: "^(?:x?){600}$", Path: name}, func(Match) bool { cancel(); return true })
		cancel()
		if d := time.Since(start); !errors.Is(err, context.Canceled) || d > 10*time.Second {
			t.Errorf("%s lines: %v after %v", name, err, d)
		}
	}
}

// What matches a part of a line is no match when time ran out behind it.
func TestACutLineIsNoMatch(t *testing.T) {
	p, err := compilePattern("^(?:x?){999}x*$", false, false)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	s := &scanner{p: p, done: done}
	line := []byte(strings.Repeat("x", 2*maxWork/p.cost))
	if loc := s.find(line); len(loc) != 2 || loc[1] != len(line) {
		t.Errorf("got %v of %d", loc, len(line))
	}
	close(done)
	if loc := s.find(line); loc != nil {
		t.Errorf("after done: %v", loc)
	}
	s.over, s.spent = false, -len(line)*p.cost // done is seen inside of the line only
	if loc := s.find(line); loc != nil {
		t.Errorf("done inside the line: %v", loc)
	}
}

func TestSearchTimesOut(t *testing.T) {
	alone(t)
	dir := t.TempDir()
	put(t, filepath.Join(dir, "f"), strings.Repeat("match\n", 10_000))
	w := open(t, dir)
	synctest.Test(t, func(t *testing.T) {
		slow := func(n *int) func(Match) bool {
			return func(Match) bool { *n++; time.Sleep(maxTime + time.Second); return true }
		}
		n := 0
		st, err := w.Search(t.Context(), SearchQuery{Pattern: "match"}, slow(&n))
		if err != nil || !st.TimedOut || st.Stopped || n == 0 || n > 100 {
			t.Errorf("%d matches, %+v, %v", n, st, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		st, err = w.Search(ctx, SearchQuery{Pattern: "match"}, slow(&n))
		if !errors.Is(err, context.DeadlineExceeded) || st.TimedOut {
			t.Errorf("the caller's own deadline: %+v, %v", st, err)
		}
	})
}

// Memory is bounded whatever the size of the files, and nothing is missed: a line
// longer than the window is told once, and UTF-16 is read in parts as well.
func TestSearchMemoryIsBounded(t *testing.T) {
	dir := t.TempDir()
	const size = 3*maxWindow + 7
	long := []byte(strings.Repeat("x", size))
	for at := 0; at < size-6; at += maxWindow/2 - 3 {
		copy(long[at:], "NEEDLE")
	}
	units := strings.NewReplacer("w", "\x16\x4e", "p", "\x3d\xd8\x00\xde", "n", "\n\x00")
	wide := "\xff\xfe" + units.Replace(strings.Repeat("wwwpn", size/12)) + "N\x00E\x00E\x00D\x00L\x00E\x00\n\x00" + units.Replace("pn")
	put(t, filepath.Join(dir, "long"), "first\n"+string(long)+"\nNEEDLE\n")
	put(t, filepath.Join(dir, "wide"), wide)
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
	p, err := compilePattern("needle", true, true)
	if err != nil {
		t.Fatal(err)
	}
	sc := &scanner{p: p, maxLine: 40, context: 1, window: maxWindow}
	for name, want := range map[string][]int{"long": {2, 3}, "wide": {size/12 + 1}} {
		src, err := d.open(name)
		if err != nil {
			t.Fatal(err)
		}
		var lines []int
		err = sc.file(src, func(m Match) bool {
			lines = append(lines, m.Line)
			if !strings.Contains(m.Text, "NEEDLE") || name == "wide" && (m.Before[0] != "世世世😀" || m.After[0] != "😀") {
				t.Errorf("%s: %+v", name, m)
			}
			return true
		})
		src.Close()
		if err != nil || len(lines) != len(want) || lines[0] != want[0] || lines[len(lines)-1] != want[len(want)-1] {
			t.Errorf("%s: lines %v, want %v, %v", name, lines, want, err)
		}
		if n := cap(sc.buf) + cap(sc.low); n > 4<<20 {
			t.Errorf("%s: %d bytes are held", name, n)
		}
	}
}

// Context that does not fit the window is left out; the lines are not cut.
func TestLongLinesWithContext(t *testing.T) {
	alone(t)
	dir := t.TempDir()
	line := strings.Repeat("y", maxWindow/8)
	put(t, filepath.Join(dir, "f"), strings.Repeat("HIT"+line+"\n", 40))
	ms, _ := search(t, open(t, dir), SearchQuery{Pattern: "^HIT", Context: 20})
	if len(ms) != 40 {
		t.Fatalf("%d matches", len(ms))
	}
	for i, m := range ms {
		if m.Line != i+1 || !strings.HasPrefix(m.Text, "HITy") {
			t.Errorf("match %d: line %d, %.20q", i, m.Line, m.Text)
		}
	}
}

func TestHugeExpressionIsRefused(t *testing.T) {
	if _, err := compilePattern(strings.Repeat("(?:[ab]?){1000}", 60), false, false); err == nil || !strings.Contains(err.Error(), "repeats too much") {
		t.Errorf("got %v", err)
	}
}

func TestIgnoreRulesAreBounded(t *testing.T) {
	var top *level
	numbered := func(from, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "n%d\n", from+i)
		}
		return b.String()
	}
	count := func(l *level, n int) (obeyed int) {
		for i := range n {
			if l.ignores(fmt.Sprintf("n%d", i), false) {
				obeyed++
			}
		}
		return obeyed
	}
	if got := count(top.below("", "# a comment is no rule\n"+numbered(0, maxFileRules+10)), maxFileRules+10); got != maxFileRules {
		t.Errorf("%d rules of one file are obeyed", got)
	}
	l := top
	for i := range 7 {
		l = l.below("", numbered(i*900, 900))
	}
	if got := count(l, 7*900); got != maxRules || l.without("a/").total != maxRules {
		t.Errorf("%d rules are in force", got)
	}
	padding := "#" + strings.Repeat("x", maxRuleBytes-8) + "\n" // six bytes are left
	if l := top.below("", padding+"/build/cache\n"); l != nil {
		t.Errorf("half a rule is obeyed: %+v", l.rules)
	}
	if l := top.below("", padding+"12345\nmore"); !l.ignores("12345", false) || l.ignores("more", false) {
		t.Error("the last rule that fits is not obeyed, or one behind it is")
	}
	for n, want := range map[int]bool{maxRule: true, maxRule + 1: false} {
		name := strings.Repeat("x", n)
		if got := top.below("", name).ignores(name, false); got != want {
			t.Errorf("a rule of %d bytes: %v", n, got)
		}
	}
}

// 5000 rules of the worst kind on the longest path.
func TestIgnoreBomb(t *testing.T) {
	path := strings.Repeat(strings.Repeat("a/", 100)+strings.Repeat("a", 55)+"/", 250) + "a"
	var l *level
	for range 50 {
		l = l.below("", strings.Repeat(strings.Repeat("**/a*", 90)+"/b*\n", 140))
	}
	if l.total != maxRules {
		t.Fatalf("%d rules", l.total)
	}
	start := time.Now()
	if l.ignores(path, false) {
		t.Error("it is ignored")
	}
	g, err := compileGlob("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"+strings.Repeat("**/*a*", 300)+"/b*", false)
	if err != nil {
		t.Fatal(err)
	}
	if g.matches(path) {
		t.Error("the glob matches")
	}
	if d := time.Since(start); d > 2*time.Second {
		t.Errorf("took %v", d)
	}
}

// What is looked up means what trying rule by rule would.
func TestRulesThatAreLookedUp(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 7))
	names := []string{"a", "b", "a.c", ".c", "x.a.c", "b.", "."}
	looked := 0
	for range 3000 {
		var file strings.Builder
		for range 1 + rnd.IntN(6) {
			file.WriteString(pick(rnd, "", "", "!") + pick(rnd, "", "", "/", "a/", "**/") + pick(rnd, append(names, "*.c", "*.a.c", "*", "*.", "?", "**.c")...) + pick(rnd, "", "", "/") + "\n")
		}
		path := pick(rnd, "", "", "a/", "b/a/") + pick(rnd, names...)
		var top *level
		l := top.below("", file.String())
		looked += len(l.last)
		for _, dir := range []bool{false, true} {
			want, budget := false, maxJudging
			for i := range l.rules {
				if l.rules[i].matches(path, dir, &budget) {
					want = !l.rules[i].not
				}
			}
			if got := l.ignores(path, dir); got != want {
				t.Fatalf("%q on %s, directory %v: %v, want %v", file.String(), path, dir, got, want)
			}
		}
	}
	if looked < 5000 {
		t.Errorf("only %d keys: the test shows little", looked)
	}
}

// late is a context that lets an hour pass while it is handed on.
type late struct{ context.Context }

func (l late) Done() <-chan struct{} {
	time.Sleep(time.Hour)
	return l.Context.Done()
}

func TestListTimesOut(t *testing.T) {
	alone(t)
	w := open(t, tree(t, "a", "b"))
	synctest.Test(t, func(t *testing.T) {
		if l, err := w.List(late{t.Context()}, ListQuery{}); err != nil || !l.More || l.Total != 0 {
			t.Errorf("%+v, %v", l, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 0)
		defer cancel()
		if _, err := w.List(ctx, ListQuery{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the caller's own deadline: %v", err)
		}
	})
}

// A large honest ignore file: 300 names, 150 extensions, 50 other patterns.
func BenchmarkListManyRules(b *testing.B) {
	dir := b.TempDir()
	for i := range 200 {
		sub := filepath.Join(dir, fmt.Sprintf("d%d/src", i))
		if err := os.MkdirAll(sub, 0o755); err != nil {
			b.Fatal(err)
		}
		for j := range 100 {
			if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("file%d.go", j)), nil, 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	w, err := Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	var rules strings.Builder
	for i := range 50 {
		fmt.Fprintf(&rules, "name%d\n/build%d/\nout%d/x%d\n.dir%d/\nTarget%d\ntmp%d\n", i, i, i, i, i, i, i)
		fmt.Fprintf(&rules, "*.e%d\n*.x%d\n*.t%d\n*.a%d.b\n", i, i, i, i)
	}
	for _, file := range []string{"*.log\n", rules.String()} {
		if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(file), 0o644); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("rules=%d", strings.Count(file, "\n")), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if l, err := w.List(b.Context(), ListQuery{Limit: 100}); err != nil || l.Total != 20_000 {
					b.Fatal(l.Total, err)
				}
			}
		})
	}
}
