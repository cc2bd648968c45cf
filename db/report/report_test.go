package report

import (
	"strings"
	"testing"
)

func TestFindingsAreOneLine(t *testing.T) {
	var r Report
	r.Add(Note, "", "a\x1b[2J\nb\xff%s", strings.Repeat("ü", 500))
	if s := r.Findings[0].What; strings.ContainsAny(s, "\x1b\n\xff") || len(s) > lineLimit+4 {
		t.Errorf("got %q", s)
	}
}

func TestWords(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{Decimal(-1), "0 B"}, {Decimal(999), "999 B"}, {Decimal(1000), "1 kB"}, {Decimal(999_499), "999 kB"}, {Decimal(999_500), "1.0 MB"},
		{Counted(0, "row", "rows"), "0 rows"}, {Counted(1, "row", "rows"), "1 row"}, {Counted(2, "row", "rows"), "2 rows"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}
