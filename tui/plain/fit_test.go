package plain

import (
	"bytes"
	"strings"
	"testing"

	"alisio/agent/text"
)

func TestFit(t *testing.T) {
	for _, c := range []struct{ name, s, want string }{
		{"short", "one\ntwo\n", "one\ntwo\n"},
		{"nothing", "", ""},
		{"words", "one two three four five six\n", "one two three four\n  five six\n"},
		{"without an end", "one two three four five", "one two three four\n  five"},
		{"columns", "/a      lists what there is here\nb\n", "/a      lists what\n        there is\n        here\nb\n"},
		{"the last column in the first half", "a  b  c d e f g h i j k l m n o   p q r s\n", "a  b  c d e f g h i\n      j k l m n o\n      p q r s\n"},
		{"a column far right", "a long name of it      text that is long\n", "a long name of it\n  text that is long\n"},
		{"indented", "  one two three four five six\n", "  one two three four\n  five six\n"},
		{"no blank", strings.Repeat("x", 45) + "\n", strings.Repeat("x", 20) + "\n  " + strings.Repeat("x", 18) + "\n  " + strings.Repeat("x", 7) + "\n"},
		{"wide", "a  " + strings.Repeat("世", 12) + "\n", "a  " + strings.Repeat("世", 8) + "\n   " + strings.Repeat("世", 4) + "\n"},
	} {
		got := fit(c.s, 20)
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		for line := range strings.Lines(got) {
			if text.Width(strings.TrimSuffix(line, "\n")) > 20 {
				t.Errorf("%s: %q is too long", c.name, line)
			}
		}
	}
	long := strings.Repeat("word ", 100)
	if got := Fit(new(bytes.Buffer), long); got != long {
		t.Errorf("got %q", got)
	}
}

// A text is foreign: a line of a megabyte of gaps takes no quadratic time.
func BenchmarkFitOfGaps(b *testing.B) {
	line := strings.Repeat("a  ", 1<<18) + "\n"
	b.ReportAllocs()
	for b.Loop() {
		fit(line, 80)
	}
}
