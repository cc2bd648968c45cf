package text

import (
	"reflect"
	"strings"
	"testing"
)

func TestStyledClip(t *testing.T) {
	line := Of("abc", Dim).With("日本", Accent).With("z", Bad)
	for cells, want := range map[int]Styled{
		0: {{"", Style{Role: Dim}}},
		1: {{"…", Style{Role: Dim}}},
		3: {{"ab…", Style{Role: Dim}}},
		4: {{"abc", Style{Role: Dim}}, {"…", Style{Role: Accent}}},
		5: {{"abc", Style{Role: Dim}}, {"…", Style{Role: Accent}}},
		7: {{"abc", Style{Role: Dim}}, {"日…", Style{Role: Accent}}},
		8: line,
		9: line,
	} {
		got := line.Clip(cells)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("to %d cells: got %q, want %q", cells, got, want)
		}
		if got.Width() > cells {
			t.Errorf("to %d cells: %d wide", cells, got.Width())
		}
	}
	if line.String() != "abc日本z" {
		t.Errorf("clipping changed the line: %q", line)
	}
}

func TestStyledWithSharesNothing(t *testing.T) {
	base := make(Styled, 0, 8).With("a", Normal)
	one, two := base.With("1", Dim), base.With("2", Dim)
	if one.String() != "a1" || two.String() != "a2" {
		t.Errorf("got %q and %q", one, two)
	}
}

func TestStyledRestyled(t *testing.T) {
	line := Of("abc", Dim).With("def", Accent)
	got := line.Restyled(2, 4, func(s Style) Style { s.On = Found; return s })
	want := Styled{
		{"ab", Style{Role: Dim}}, {"c", Style{Role: Dim, On: Found}},
		{"d", Style{Role: Accent, On: Found}}, {"ef", Style{Role: Accent}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A styled line is wrapped where the plain one is, whatever its pieces are.
func TestStyledWrapsLikeText(t *testing.T) {
	for _, s := range []string{
		"", "one two  three", "日本語 and Latin", "averylongwordthatfitsnowhere", "👨\u200d👩\u200d👧 family 👍🏽", "e\u0301e\u0301e\u0301 x",
	} {
		var line Styled
		for c := range Graphemes(s) {
			line = append(line, Span{c, Style{Role: Role(len(line) % 3)}})
		}
		for cells := 1; cells <= 16; cells++ {
			var got []string
			for _, l := range line.Wrap(cells) {
				got = append(got, l.String())
			}
			if want := Wrap(s, cells); !reflect.DeepEqual(got, want) {
				t.Errorf("%q in %d: got %q, want %q", s, cells, got, want)
			}
		}
	}
}

func TestTabs(t *testing.T) {
	for _, c := range []struct {
		in     string
		column int
		want   string
	}{
		{"none", 3, "none"}, {"\tx", 0, "        x"}, {"a\tb", 0, "a       b"}, {"a\tb", 6, "a b"}, {"a\tb", 7, "a        b"},
		{"日本\tx\n\ty", 1, "日本   x\n        y"}, {"12345678\t.", 0, "12345678        ."},
	} {
		if got := Tabs(c.in, c.column); got != c.want {
			t.Errorf("Tabs(%q, %d) = %q, want %q", c.in, c.column, got, c.want)
		}
	}
}

func TestFold(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "abc": "abc", "ÄBC ΑΣ": "äbc ασ", "x\xffY\xc3": "x\xffy\xc3", "ȺK\u212a": "Ⱥk\u212a", "İ": "İ",
	} {
		got := Fold(in)
		if got != want || len(got) != len(in) {
			t.Errorf("Fold(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestDoubtful(t *testing.T) {
	for _, c := range []string{"⚠\ufe0f", "⚠\ufe0e", "🇩🇪", "👨\u200d👩\u200d👧", "👍🏽", "👍", "🇩", "1\ufe0f\u20e3", "க்ஷ", "\u0301", "\u200b"} {
		if !Doubtful(c) {
			t.Errorf("%+q counts as safe", c)
		}
	}
	for _, c := range strings.Fields("a é e\u0301 日 ─ ⚠ α か\u3099 ✓") {
		if Doubtful(c) {
			t.Errorf("%+q counts as doubtful", c)
		}
	}
}
