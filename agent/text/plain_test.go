package text

import (
	"strings"
	"testing"
)

func TestPlainReturnsCleanTextItself(t *testing.T) {
	clean := strings.Repeat("one\ttwo\nécran 日本 👩\u200d💻 \u00a0", 10)
	if got := testing.AllocsPerRun(100, func() { _ = Plain(clean) }); got != 0 {
		t.Errorf("Plain of clean text: %v allocations, want 0", got)
	}
	if Plain(clean) != clean {
		t.Error("clean text changed")
	}
}

func TestLine(t *testing.T) {
	for _, c := range [][2]string{
		{"", ""},
		{"plain", "plain"},
		{"  a  ", "a"},
		{"a\nb\t c\r\n", "a b c"},
		{"a  b", "a b"},
		{"\x1b[31mred\x1b[0m\u202e\n", "red"},
		{"a\u2028b", "a b"},
		{"\n\t \n", ""},
	} {
		if got := Line(c[0]); got != c[1] {
			t.Errorf("Line(%q) = %q, want %q", c[0], got, c[1])
		}
	}
}

func TestVisible(t *testing.T) {
	for _, c := range [][2]string{
		{"rm -rf ./build\n\tdone", "rm -rf ./build\n\tdone"},
		{"a\u202eb", "a<U+202E>b"},
		{"a\u200bb\ufeffc\u00add", "a<U+200B>b<U+FEFF>c<U+00AD>d"},
		{"a\rb\x1b[2Kc\bd\x7f", "a<U+000D>b<U+001B>[2Kc<U+0008>d<U+007F>"},
		{"a\u009bb", "a<U+009B>b"},
		{"a\x9bb\xff", "a<0x9B>b<0xFF>"},
		{"a\u00a0b\u3000c", "a<U+00A0>b<U+3000>c"},
		{"a\u2028b", "a<U+2028>b"},
		{"x\U000e0041y\U000e0100", "x<U+E0041>y<U+E0100>"},
		{"\u3164=\u115f\u2800", "<U+3164>=<U+115F><U+2800>"},
		{"⚠\ufe0f", "⚠<U+FE0F>"},
		{"é 日本 \ufffd", "é 日本 \ufffd"},
	} {
		if got := Visible(c[0]); got != c[1] {
			t.Errorf("Visible(%q) = %q, want %q", c[0], got, c[1])
		}
	}
}

func TestIsPlain(t *testing.T) {
	for s, want := range map[string]bool{
		"": true, "main.go": true, "écran d\u2019ici": true, "日本 x": true, "\ufffd": true,
		"e\u0301": true, "\ue000": true,
		"a\nb": false, "a\tb": false, "\x1b": false, "\x7f": false, "\u0085": false,
		"\xff": false, "\xe2\x94": false, "\u202e": false, "\u200b": false, "\u200d": false,
		"\u2028": false, "\u00a0": false, "\u202f": false, "\ufeff": false, "\U000e0001": false,
		"\U000e0100": false, "\ufe0f": false,
	} {
		if got := IsPlain(s); got != want {
			t.Errorf("IsPlain(%q) = %v, want %v", s, got, want)
		}
		if shown := Visible(s) == s; want && !shown {
			t.Errorf("IsPlain(%q) but Visible changes it", s)
		}
	}
}

func TestValid(t *testing.T) {
	for _, c := range [][2]string{
		{"as\x1b it\u202e is\r", "as\x1b it\u202e is\r"},
		{"a\xffb", "a\ufffdb"},
		{"\xe2\x94x\x9b", "\ufffdx\ufffd"},
		{"\xf0\x9f\x98", "\ufffd"},
	} {
		if got := Valid(c[0]); got != c[1] {
			t.Errorf("Valid(%q) = %q, want %q", c[0], got, c[1])
		}
	}
}
