package diff

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// apply is the smallest possible patch program: it checks every old line.
func apply(t *testing.T, before []byte, f FileDiff) []byte {
	t.Helper()
	old, at := split(before), 0
	var out []byte
	for _, h := range f.Hunks {
		start := h.OldStart - 1
		if h.OldLines == 0 {
			start = h.OldStart
		}
		for ; at < start; at++ {
			out = append(out, old[at]...)
		}
		for _, l := range h.Lines {
			text := l.Text + "\n"
			if l.NoEOL {
				text = l.Text
			}
			if l.Kind != Added {
				if at >= len(old) || string(old[at]) != text {
					t.Fatalf("old line %d is not %q", at+1, text)
				}
				at++
			}
			if l.Kind != Removed {
				out = append(out, text...)
			}
		}
	}
	for ; at < len(old); at++ {
		out = append(out, old[at]...)
	}
	return out
}

// check makes a diff, parses it and applies it.
func check(t *testing.T, before, after []byte, context int) string {
	t.Helper()
	patch := Unified("f", before, after, context)
	if bytes.Equal(before, after) {
		if patch != "" {
			t.Fatalf("equal contents differ: %q", patch)
		}
		return patch
	}
	files, err := Parse(patch)
	if err != nil || len(files) != 1 {
		t.Fatalf("%v in %q", err, patch)
	}
	if got := apply(t, before, files[0]); !bytes.Equal(got, after) {
		t.Fatalf("%q and the diff\n%s\ngive %q, want %q", before, patch, got, after)
	}
	added, removed := 0, 0
	for _, h := range files[0].Hunks {
		for _, l := range h.Lines {
			switch l.Kind {
			case Added:
				added++
			case Removed:
				removed++
			}
		}
	}
	if a, r := Stat(patch); a != added || r != removed {
		t.Fatalf("Stat = %d, %d, want %d, %d", a, r, added, removed)
	}
	return patch
}

// random gives a text of few different lines, the hardest kind.
func random(r *rand.Rand, lines, kinds int) []byte {
	var b []byte
	for range lines {
		b = fmt.Appendf(b, "line %d", r.IntN(kinds))
		if r.IntN(8) == 0 {
			b = append(b, '\r')
		}
		b = append(b, '\n')
	}
	if len(b) > 0 && r.IntN(2) == 0 {
		b = b[:len(b)-1]
	}
	return b
}

func TestDiffAppliesToTheNewContent(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		kinds := 1 + r.IntN(12)
		check(t, random(r, r.IntN(30), kinds), random(r, r.IntN(30), kinds), r.IntN(5))
	}
	for range 20 {
		check(t, random(r, 2000, 40), random(r, 2000, 40), 3)
	}
}

func FuzzUnified(f *testing.F) {
	f.Add([]byte("a\nb\nc"), []byte("a\nc\n"), 3)
	f.Add([]byte("a\r\n\r\nb"), []byte("\\ No newline\n--- a\n+++ b\n@@ -1 +1 @@\n"), 0)
	f.Fuzz(func(t *testing.T, before, after []byte, context int) {
		if bytes.IndexByte(before, 0) >= 0 || bytes.IndexByte(after, 0) >= 0 {
			return
		}
		check(t, before, after, context)
	})
}

// TestShortest compares the number of edits with that of the textbook method.
func TestShortest(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		a, b := split(random(r, r.IntN(25), 4)), split(random(r, r.IntN(25), 4))
		edits := 0
		for _, c := range compare(a, b) {
			edits += c.a1 - c.a0 + c.b1 - c.b0
		}
		if want := len(a) + len(b) - 2*common(a, b); edits != want {
			t.Fatalf("%q to %q: %d edits, want %d", a, b, edits, want)
		}
	}
}

// common is the length of the longest common subsequence.
func common(a, b [][]byte) int {
	row := make([]int, len(b)+1)
	for i := range a {
		corner := 0
		for j := range b {
			up := row[j+1]
			if bytes.Equal(a[i], b[j]) {
				row[j+1] = corner + 1
			} else {
				row[j+1] = max(up, row[j])
			}
			corner = up
		}
	}
	return row[len(b)]
}

func TestRepeatedBlockIsShownWhereItWasAdded(t *testing.T) {
	before := "func a() {\n}\n\nfunc c() {\n}\n"
	after := "func a() {\n}\n\nfunc b() {\n}\n\nfunc c() {\n}\n"
	want := "--- a/f\n+++ b/f\n@@ -3,0 +4,3 @@\n+func b() {\n+}\n+\n"
	if got := check(t, []byte(before), []byte(after), 0); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// worst gives two files of n lines in which nearly everything moved.
func worst(n int) (before, after []byte) {
	r := rand.New(rand.NewPCG(5, 6))
	order := r.Perm(n)
	for i := range n {
		before = fmt.Appendf(before, "line %d\n", i)
		after = fmt.Appendf(after, "line %d\n", order[i])
	}
	return before, after
}

func TestWorkIsBounded(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	perm1, perm2 := worst(50_000)
	for name, pair := range map[string][2][]byte{
		"permutation": {perm1, perm2},
		"few kinds":   {random(r, 50_000, 30), random(r, 50_000, 30)},
		"two kinds":   {random(r, 50_000, 2), random(r, 50_000, 2)},
	} {
		d := newComparison(split(pair[0]), split(pair[1]))
		d.box(0, len(d.a), 0, len(d.b))
		if d.work > maxWork+len(d.a)+len(d.b)+4*maxCost {
			t.Errorf("%s: %d steps, bound %d", name, d.work, maxWork)
		}
		check(t, pair[0], pair[1], 3)
	}
}

func BenchmarkUnified(b *testing.B) {
	r := rand.New(rand.NewPCG(9, 10))
	before, after := worst(5000)
	small := slices.Clone(before)
	copy(small[len(small)/2:], "changed")
	for name, pair := range map[string][2][]byte{
		"permutation": {before, after},
		"few kinds":   {random(r, 5000, 30), random(r, 5000, 30)},
		"two kinds":   {random(r, 5000, 2), random(r, 5000, 2)},
		"unlike":      {before, bytes.ReplaceAll(before, []byte("line"), []byte("row"))},
		"one line":    {before, small},
	} {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Unified("f", pair[0], pair[1], 3)
			}
		})
	}
}
