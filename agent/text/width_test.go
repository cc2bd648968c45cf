package text

import (
	"strings"
	"testing"
)

func TestWidth(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int
	}{
		{"", 0}, {"abc", 3}, {"\x1b\t\n\u0085", 0}, {"日本", 4}, {"ｆｕ", 4}, {"ﾊﾟ", 2}, {"\uff9f\uff9f\uff9f", 2},
		{"é", 1}, {"e\u0301", 1}, {"\u0301", 0}, {"\u200b\u200d\ufeff", 0}, {"\u00ad", 1},
		{"α", 1}, {"±", 1}, {"…", 1}, {"─", 1}, {"\ue0b0", 1}, {"\U0001fb00", 1},
		{"한", 2}, {"\u1112\u1161\u11ab", 2}, {"か\u3099", 2},
		{"🇩🇪", 2}, {"🇩", 2}, {"🏴", 2}, {"👍🏽", 2}, {"⌚", 2}, {"⌚\ufe0e", 1},
		{"1\ufe0f\u20e3", 2}, {"a\ufe0f", 1}, {"©", 1}, {"©\ufe0f", 2}, {"❤", 1}, {"❤\ufe0f", 2},
		{"का", 1}, {"க்ஷ", 2}, {"\u0600", 1}, {"\xff\xfe", 2}, {"🫩", 2}, {"𠀀", 2}, {"㊗", 2},
	} {
		if got := Width(c.in); got != c.want {
			t.Errorf("Width(%+q) = %d, want %d", c.in, got, c.want)
		}
	}
}

// C090. Symptom: summing widths per code point gives 8 for a ZWJ family and 1
// for U+26A0 U+FE0F.
// Trigger: a prompt with U+26A0 U+FE0F, a flag pair, a ZWJ family, in a
// 20-column terminal.
func TestC090Clusters(t *testing.T) {
	prompt := strings.Repeat("⚠\ufe0f🇩🇪👨\u200d👩\u200d👧\u200d👦", 5)
	if got := Width(prompt); got != 30 {
		t.Errorf("width %d, want 30", got)
	}
	lines := Wrap(prompt, 20)
	if len(lines) != 2 || Width(lines[0]) != 20 || lines[0]+lines[1] != prompt {
		t.Errorf("Wrap gave %q", lines)
	}
}

// C091. Symptom: bare U+26A0 was hard-coded as two cells; everything right of
// it drifts.
// Trigger: a line with bare U+26A0 and one with U+26A0 U+FE0F.
func TestC091Presentation(t *testing.T) {
	for s, want := range map[string]int{"⚠": 1, "⚠\ufe0e": 1, "⚠\ufe0f": 2} {
		if got := ClusterWidth(s); got != want {
			t.Errorf("ClusterWidth(%+q) = %d, want %d", s, got, want)
		}
	}
}

// C089. Symptom: wrap counts code points, the validator counts cells; a CJK
// line is one cell too wide and the program exits.
// Trigger: width 205; a tool title of 6 CJK characters plus 199 ASCII ones.
func TestC089OneWidthFunction(t *testing.T) {
	title := "日本語日本語" + strings.Repeat("x", 199)
	if got := Width(Clip(title, 205)); got != 205 {
		t.Errorf("clipped to %d cells, want 205", got)
	}
	for _, line := range Wrap(title, 205) {
		if Width(line) > 205 {
			t.Errorf("line of %d cells", Width(line))
		}
	}
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		in    string
		cells int
		want  string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"abc", 1, "…"}, {"abc", 0, ""}, {"abc", -1, ""},
		{"", 5, ""}, {"日本語", 6, "日本語"}, {"日本語", 5, "日本…"}, {"日本語", 4, "日…"},
		{"日", 1, "…"}, {"e\u0301e\u0301e\u0301", 2, "e\u0301…"}, {"ab\u0301", 2, "ab\u0301"},
		{"👨\u200d👩\u200d👧 x", 3, "👨\u200d👩\u200d👧…"},
	} {
		if got := Clip(c.in, c.cells); got != c.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", c.in, c.cells, got, c.want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		in    string
		cells int
		want  string // lines joined by |
	}{
		{"", 5, ""},
		{"abc", 5, "abc"},
		{"abcde", 5, "abcde"},
		{"abcdef", 5, "abcde|f"},
		{"ab cd ef", 5, "ab cd|ef"},
		{"ab  cd   ef", 5, "ab|cd|ef"},
		{"abcde fg", 5, "abcde|fg"},
		{"abc  \nd", 5, "abc  |d"},
		{"abc    \nd", 5, "abc|d"},
		{"a\r\nb", 5, "a|b"},
		{"abcde   \nd", 5, "abcde|d"},
		{"a\n\nb\n", 5, "a||b|"},
		{"  ab cde", 5, "  ab|cde"},
		{"  abcdef", 5, "  abc|def"},
		{"x abcdefgh y", 5, "x|abcde|fgh y"},
		{"日本語日本語", 5, "日本|語日|本語"},
		{"ab日本語", 5, "ab日|本語"},
		{"ab 日本 語", 5, "ab 日|本 語"},
		{"abcd 日", 5, "abcd|日"},
		{"hello日", 5, "hello|日"},
		{"日a", 1, "…|a"},
		{"a日b", 1, "a|…|b"},
		{"ab", 0, "a|b"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301e\u0301|e\u0301"},
		{"a👨\u200d👩\u200d👧b", 2, "a|👨\u200d👩\u200d👧|b"},
	} {
		if got := strings.Join(Wrap(c.in, c.cells), "|"); got != c.want {
			t.Errorf("Wrap(%q, %d) = %q, want %q", c.in, c.cells, got, c.want)
		}
		checkWrap(t, c.in, max(c.cells, 1))
	}
}

func BenchmarkWidth(b *testing.B) {
	for name, unit := range map[string]string{"ascii": "a line of code, ", "cjk": "日本語の文", "emoji": "👨\u200d👩\u200d👧"} {
		s := strings.Repeat(unit, 4<<10/len(unit))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				Width(s)
			}
		})
	}
}

func BenchmarkWrap(b *testing.B) {
	s := strings.Repeat("words of an answer that a model streams, ", 100)
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		Wrap(s, 80)
	}
}
