//go:build unix

package workspace

import (
	"context"
	"errors"
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
	s.spent = -len(line) * p.cost // done is seen inside of the line only
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
