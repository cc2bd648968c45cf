package text

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestHeadShortAndOneLine(t *testing.T) {
	for _, c := range []struct {
		in                 string
		n                  int
		head, short, title string
	}{
		{"", 3, "", "", ""},
		{"abc", 3, "abc", "abc", "abc"},
		{"abcd", 3, "abc", "ab…", "ab…"},
		{"äöü", 3, "äöü", "äöü", "äöü"},
		{"äöüß", 3, "äöü", "äö…", "äö…"},
		{"日本語です", 2, "日本", "日…", "日…"},
		{"abcd", 1, "a", "…", "…"},
		{"a\xffb", 3, "a\ufffdb", "a\ufffdb", "a\ufffdb"},
		{"a\xff\xfeb", 3, "a\ufffd\ufffd", "a\ufffd…", "a\ufffd…"},
		{" a\n\tb ", 4, " a\n\t", " a\n…", "a b"},
		{"\x1b[31mab", 2, "\x1b[", "\x1b…", "ab"},
	} {
		if got := Head(c.in, c.n); got != c.head {
			t.Errorf("Head(%q, %d) = %q, want %q", c.in, c.n, got, c.head)
		}
		if got := Short(c.in, c.n); got != c.short {
			t.Errorf("Short(%q, %d) = %q, want %q", c.in, c.n, got, c.short)
		}
		if got := OneLine(c.in, c.n); got != c.title {
			t.Errorf("OneLine(%q, %d) = %q, want %q", c.in, c.n, got, c.title)
		}
	}
}

func TestPrefix(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"abc", 3, "abc"}, {"abc", 2, "ab"}, {"abc", 0, ""}, {"aé", 2, "a"}, {"日本", 5, "日"}, {"日本", 2, ""},
		{"\x9b\x9b\x9b\x9b\x9b\x9b", 5, "\x9b\x9b"},
	} {
		if got := Prefix(c.in, c.n); got != c.want {
			t.Errorf("Prefix(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
	valid := strings.Repeat("aé日👩", 9)
	for n := range len(valid) {
		if got := Prefix(valid, n); len(got) > n || len(got) < n-3 || !utf8.ValidString(got) {
			t.Errorf("Prefix to %d: got %d bytes %q", n, len(got), got)
		}
	}
}

// What hides behind the bytes that OneLine looks at is said to be left out, and a
// text that has nothing to show at its start is not taken for an empty one.
func TestOneLineOfALongTextIsBounded(t *testing.T) {
	for in, want := range map[string]string{
		strings.Repeat(" ", 1<<20) + "x":       "…",
		"ab" + strings.Repeat("\n", 1<<20):     "ab…",
		strings.Repeat("\x1b[0m", 1<<18) + "x": "…",
		strings.Repeat("é", 1<<20):             "ééé…",
	} {
		if got := OneLine(in, 4); got != want {
			t.Errorf("OneLine of %q…: got %q, want %q", in[:4], got, want)
		}
	}
	huge := strings.Repeat("a ", 8<<20)
	if got := testing.AllocsPerRun(10, func() { _, _, _ = Head(huge, 100), Short(huge, 100), Prefix(huge, 100) }); got > 2 {
		t.Errorf("cuts of a huge text: %v allocations, want at most 2", got)
	}
}
