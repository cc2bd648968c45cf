package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"alisio/agent/diff"
	"alisio/agent/text"
)

const before = `package tax

func Total(lines []Line) *big.Rat {
	sum := new(big.Rat)
	for _, l := range lines { sum.Add(sum, round2(l.Amount())) }
	return sum
}
`

const after = `package tax

func Total(lines []Line) *big.Rat {
	sum := new(big.Rat)
	for _, l := range lines { sum.Add(sum, l.Amount()) }
	return round2(sum)
}
`

func TestDiff(t *testing.T) {
	d, err := NewDiff(diff.Unified("tax/total.go", []byte(before), []byte(after), 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	wantLines(t, all(d, 80),
		"4           sum := new(big.Rat)",
		"5 −         for _, l := range lines { sum.Add(sum, round2(l.Amount())) }",
		"6 −         return sum",
		"5 +         for _, l := range lines { sum.Add(sum, l.Amount()) }",
		"6 +         return round2(sum)",
		"7   }",
	)
	if added, removed := d.Stat(); added != 2 || removed != 2 {
		t.Errorf("got +%d -%d", added, removed)
	}
	var words []string
	for _, l := range all(d, 80) {
		for _, s := range l {
			if s.On == text.AddedWord || s.On == text.RemovedWord {
				words = append(words, s.Text)
			}
		}
	}
	if got, want := strings.Join(words, "|"), "round2(|)|round2(|)"; got != want {
		t.Errorf("marked %q, want %q", got, want)
	}
	for _, l := range all(d, 30) {
		if l.Width() > 30 {
			t.Errorf("%q is too wide", l)
		}
	}
	// What is copied is the code, without numbers and signs.
	v := NewViewer(30, 20, d)
	v.Press(0, 2)
	v.Drag(29, 4)
	if got, want := v.Selected(), "        for _, l := range lines { sum.Add(sum, round2(l.Amount())) }"; got != want {
		t.Errorf("copied %q, want %q", got, want)
	}
}

func TestDiffOfFiles(t *testing.T) {
	patch := diff.Unified("a.txt", nil, []byte("new\x1b[31m line\n"), 3) + diff.Unified("b.txt", []byte("gone"), nil, 3)
	d, err := NewDiff(patch, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantLines(t, all(d, 60), "a.txt", "a new file", "1 + new line", "b.txt", "the file is deleted", "1 − gone ⏎ no newline at the end")
	cut, err := NewDiff(diff.UnifiedMax("c", []byte(strings.Repeat("x\n", 50)), []byte(strings.Repeat("y\n", 50)), 3, 60), nil)
	if err != nil {
		t.Fatal(err)
	}
	rows := shown(all(cut, 60))
	if got := rows[len(rows)-1]; got != "⋯ more lines changed than are shown" {
		t.Errorf("the end of a cut diff: %q", got)
	}
}

// Of hunks after the first the lines are lexed anew, and each side for itself.
func TestDiffLexes(t *testing.T) {
	var began []string
	lex := func(path string) Lexer {
		n := 0
		began = append(began, path)
		return func(line string) text.Styled { n++; return text.Of(line, text.Role(n)) }
	}
	patch := "--- a/x.go\n+++ b/x.go\n@@ -1,2 +1,2 @@\n-one\n+eins\n two\n@@ -9 +9 @@\n-nine\n+neun\n"
	d, err := NewDiff(patch, lex)
	if err != nil {
		t.Fatal(err)
	}
	rows := all(d, 40)
	wantLines(t, rows, "1 − one", "1 + eins", "2   two", "⋯", "9 − nine", "9 + neun")
	if got := rows[2][len(rows[2])-1].Role; got != text.Role(2) {
		t.Errorf("the second line of the new side has role %d", got)
	}
	if len(began) != 4 {
		t.Errorf("lexers for %v", began)
	}
}

func TestDiffOfNoPatch(t *testing.T) {
	d, err := NewDiff("no\tpatch\x1b[2J\nat all", nil)
	if err == nil {
		t.Error("no error")
	}
	wantLines(t, all(d, 40), "no      patch", "at all")
}

func TestWithin(t *testing.T) {
	for _, c := range []struct{ before, after, gone, fresh string }{
		{"return sum", "return round2(sum)", "", "round2(|)"},
		{"a, b := f(x)", "a, c := f(x, y)", "b", "c|, y"},
		{"total = 1", "total = 22", "1", "22"},
		{"wholly other", "not at all alike?", "", ""},
		{"", "x", "", ""},
		{"same", "same", "", ""},
		{"日本 one", "日本 two", "one", "two"},
		{"bad \xff byte here", "bad byte here", "\xff ", ""},
	} {
		gone, fresh := within(c.before, c.after)
		if g, f := texts(c.before, gone), texts(c.after, fresh); g != c.gone || f != c.fresh {
			t.Errorf("%q to %q: gone %q, want %q; new %q, want %q", c.before, c.after, g, c.gone, f, c.fresh)
		}
	}
}

func texts(s string, spans []span) string {
	var out []string
	for _, p := range spans {
		out = append(out, s[p.from:p.to])
	}
	return strings.Join(out, "|")
}

// Lines of any length are compared in bounded time.
func TestWithinIsBounded(t *testing.T) {
	long := strings.Repeat("a b ", 100_000)
	begin := time.Now()
	if gone, fresh := within(long, long+"c"); gone != nil || fresh != nil {
		t.Errorf("got %v and %v", gone, fresh)
	}
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
}

func BenchmarkDiff(b *testing.B) {
	var was, is strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&was, "line %d of the file = %d\n", i, i)
		fmt.Fprintf(&is, "line %d of the file = %d\n", i, i+i%3)
	}
	patch := diff.Unified("x", []byte(was.String()), []byte(is.String()), 3)
	b.ReportAllocs()
	for b.Loop() {
		d, err := NewDiff(patch, nil)
		if err != nil || d.Len(80) < 1000 {
			b.Fatal(err)
		}
	}
}
