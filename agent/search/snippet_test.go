package search

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPlace(t *testing.T) {
	for _, c := range []struct{ said, query, want string }{
		{"a good morning, then go home", "go", "go"},
		{"a good morning", "go", "go"}, // a part is better than nothing
		{"parseHTTPRequest", "http", "HTTP"},
		{"goat goal", "goa*", "goa"},
		{"x", "y", ""},
		{"\u212a\u212a needle", "NEEDLE", "needle"}, // letters that are shorter when small
		{"\u023a\u023a needle", "NEEDLE", "needle"}, // and longer
		{"文章を検索する", "検索", "検索"},
		{"bad \xff bytes here", "here", "here"},
	} {
		i, n := place(c.said, c.query)
		if got := c.said[i : i+n]; got != c.want {
			t.Errorf("%q in %q: got %q", c.query, c.said, got)
		}
	}
	if i, _ := place("a good morning, then go home", "go"); i != 21 {
		t.Errorf("got %d", i)
	}
}

func TestTailPartsNoCharacter(t *testing.T) {
	family := "👩\u200d👩\u200d👧"
	if got := tail(strings.Repeat(family, 3), 12); got != "…"+family+family {
		t.Errorf("got %q", got)
	}
	if got := tail(strings.Repeat("e\u0301", 20), 5); got != "…"+strings.Repeat("e\u0301", 2) {
		t.Errorf("got %q", got)
	}
	if got := tail("short", 5); got != "short" || !utf8.ValidString(got) {
		t.Errorf("got %q", got)
	}
}
