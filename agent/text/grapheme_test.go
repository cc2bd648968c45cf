package text

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

func clusters(s string) []string { return slices.Collect(Graphemes(s)) }

// TestGraphemeBreakFile runs the test data of the Unicode Consortium.
func TestGraphemeBreakFile(t *testing.T) {
	file, err := os.ReadFile("testdata/GraphemeBreakTest.txt")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(file)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		rows++
		var all strings.Builder
		var want []string
		for part := range strings.SplitSeq(strings.Trim(strings.TrimSpace(line), "÷ "), "÷") {
			var cluster strings.Builder
			for hex := range strings.FieldsSeq(strings.ReplaceAll(part, "×", " ")) {
				r, err := strconv.ParseUint(hex, 16, 21)
				if err != nil {
					t.Fatalf("row %d: %v", rows, err)
				}
				cluster.WriteRune(rune(r))
			}
			want = append(want, cluster.String())
			all.WriteString(cluster.String())
		}
		if got := clusters(all.String()); !slices.Equal(got, want) {
			t.Errorf("%s: got %+q, want %+q", strings.TrimSpace(line), got, want)
		}
	}
	if rows != 1093 {
		t.Errorf("%d rows, want 1093", rows)
	}
}

func TestGraphemes(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"", nil},
		{"ab", []string{"a", "b"}},
		{"e\u0301x", []string{"e\u0301", "x"}},
		{"a\r\nb", []string{"a", "\r\n", "b"}},
		{"\r\r\n\n", []string{"\r", "\r\n", "\n"}},
		{"👨\u200d👩\u200d👧\u200d👦!", []string{"👨\u200d👩\u200d👧\u200d👦", "!"}},
		{"👍🏽👍", []string{"👍🏽", "👍"}},
		{"🇩🇪🇫🇷🇺", []string{"🇩🇪", "🇫🇷", "🇺"}},
		{"1\ufe0f\u20e32", []string{"1\ufe0f\u20e3", "2"}},
		{"क्षि", []string{"क्षि"}},
		{"각\u1100\u1161\u11a8", []string{"각", "\u1100\u1161\u11a8"}},
		{"a\xffb\xe2\x94", []string{"a", "\xff", "b", "\xe2", "\x94"}},
	} {
		if got := clusters(c.in); !slices.Equal(got, c.want) {
			t.Errorf("Graphemes(%+q) = %+q, want %+q", c.in, got, c.want)
		}
	}
	for got := range Graphemes("abc") {
		if got != "a" {
			t.Errorf("got %q, want a", got)
		}
		break
	}
}

func FuzzGraphemes(f *testing.F) {
	f.Add("👨\u200d👩e\u0301क्षि🇩🇪\r\n\xff", 7)
	f.Fuzz(func(t *testing.T, s string, cells int) {
		cells = 1 + int(uint(cells)%40)
		sum := 0
		for _, c := range clusters(s) {
			sum += ClusterWidth(c)
		}
		if got := strings.Join(clusters(s), ""); got != s || sum != Width(s) {
			t.Fatalf("joined %q of %q, widths %d and %d", got, s, sum, Width(s))
		}
		if got := Clip(s, cells); Width(got) > cells {
			t.Fatalf("Clip(%q, %d) is %d wide", s, cells, Width(got))
		}
		checkWrap(t, s, cells)
	})
}

// checkWrap: no line too wide, and only spaces and newlines may get lost.
func checkWrap(t *testing.T, s string, cells int) {
	t.Helper()
	got := Wrap(s, cells)
	for _, line := range got {
		if Width(line) > cells || strings.Contains(line, "\n") {
			t.Fatalf("Wrap(%q, %d): line %q is %d wide", s, cells, line, Width(line))
		}
	}
	ink := func(s string) string { return strings.NewReplacer("\r\n", "", " ", "", "\n", "").Replace(s) }
	if cells > 1 && ink(strings.Join(got, "")) != ink(s) {
		t.Fatalf("Wrap(%q, %d) = %q: text lost", s, cells, got)
	}
}

func TestTablesCoverEveryCodePoint(t *testing.T) {
	for r := rune(0); r <= utf8.MaxRune; r++ {
		p := propertyOf(r)
		if p.class() > consonant || p.width() > 2 {
			t.Fatalf("%U: class %d, width %d", r, p.class(), p.width())
		}
	}
}
