package text

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// strip runs the pieces through one Stripper to the end.
func strip(pieces ...string) string {
	var s Stripper
	var out []byte
	for _, p := range pieces {
		out = s.Append(out, []byte(p))
	}
	return string(s.Flush(out))
}

var stripCases = []struct{ name, in, want string }{
	{"plain", "a b\tc\nd", "a b\tc\nd"},
	{"sgr", "\x1b[1;31mred\x1b[0m", "red"},
	{"private mode", "\x1b[?1049hx\x1b[>4;2my\x1b[2 qz", "xyz"},
	{"colon parameters", "\x1b[58:2::1:2:3mx", "x"},
	{"osc bel", "\x1b]0;title\x07x", "x"},
	{"osc st", "\x1b]8;;http://h\x1b\\link\x1b]8;;\x1b\\.", "link."},
	{"dcs", "\x1bP+q544e\x1b\\x", "x"},
	{"sos pm apc", "\x1bXa\x1b\\1\x1b^b\x1b\\2\x1b_c\x1b\\3", "123"},
	{"two bytes", "\x1b7\x1b=\x1bcx\x1b8", "x"},
	{"character set", "\x1b(Bx\x1b#8y", "xy"},
	{"c1 characters", "\u009b31mred\u009d0;t\u009cx\u0090d\u009cy\u0085z", "redxyz"},
	{"c1 bytes", "\x9b31mred\x9d0;t\x9cx\x90d\x9cy", "redxy"},
	{"st byte inside a character", "\x1b]0;\u4f5c\u009cx", "x"},
	{"cancelled", "\x1b[3\x18x\x1b]a\x1ay", "xy"},
	{"escape restarts", "\x1b[3\x1b[1mx\x1b]a\x1b[0my", "xy"},
	{"newline ends a string", "\x1b]0;never\nshown", "\nshown"},
	{"newline ends a csi", "\x1b[12\nshown", "\nshown"},
	{"csi cut by text", "\x1b[3é", "é"},
	{"unfinished at the end", "x\x1b[3", "x"},
	{"lone escape", "x\x1b", "x"},
	{"nested fakes nothing", "\x1b\x1b[[31mx", "31mx"},
	{"other controls", "a\x00\x07\x0b\x0c\x0e\x7fb", "ab"},
	{"crlf", "a\r\nb\r\n", "a\nb\n"},
	{"cr cr lf", "a\r\r\nb", "a\nb"},
	{"redraw", "10%\r20%\r100%\nok", "100%\nok"},
	{"shorter redraw", "100%\r5%", "5%"},
	{"cr at the end", "a\nb\r", "a\nb"},
	{"cr keeps earlier lines", "a\nb\rc", "a\nc"},
	{"spinner", "|\b/\b-\b\\\bdone", "done"},
	{"overstrike", "N\bNA\bAM\bM E\bE", "NAM E"},
	{"underline", "_\bx", "x"},
	{"backspace over a wide character", "日本\b\b語", "語"},
	{"backspace at the start", "\b\b\ba\nb\b\b\bc", "a\nc"},
	{"backspace then newline", "abc\b\b\n", "abc\n"},
	{"bidi", "a\u202eb\u2066c\u2069d\u200ee\u061cf", "abcdef"},
	{"line separators", "a\u2028b\u2029c", "a\nb\nc"},
	{"tags", "a\U000e0041\U000e007fb\U000e0101c\ufff9d", "abcd"},
	{"joiner and presentation stay", "👩\u200d💻⚠\ufe0f", "👩\u200d💻⚠\ufe0f"},
	{"invalid", "a\xffb\xc0\xafc", "a\ufffdb\ufffd\ufffdc"},
	{"other encodings", "caf\xe9 \x80", "caf\ufffd \ufffd"},
	{"cut character is one", "a\xe2\x94b\xf0\x9f\x98c", "a\ufffdb\ufffdc"},
	{"cut character frees no c1", "\xe2\x9b31m", "\ufffd31m"},
	{"cut at the end", "a\xf0\x9f", "a\ufffd"},
	{"surrogate", "\xed\xa0\x80", "\ufffd\ufffd\ufffd"},
	{"written replacement", "\ufffd", "\ufffd"},
}

func TestStripper(t *testing.T) {
	for _, c := range stripCases {
		if got := strip(c.in); got != c.want {
			t.Errorf("%s: strip(%q) = %q, want %q", c.name, c.in, got, c.want)
		}
		if got := Plain(c.in); got != c.want {
			t.Errorf("%s: Plain(%q) = %q, want %q", c.name, c.in, got, c.want)
		}
		for i := range c.in {
			if got := strip(c.in[:i], c.in[i:]); got != c.want {
				t.Errorf("%s: cut at %d: %q, want %q", c.name, i, got, c.want)
			}
		}
		if got := strip(strings.Split(c.in, "")...); got != c.want {
			t.Errorf("%s: in characters: %q, want %q", c.name, got, c.want)
		}
	}
}

// C085. Symptom: tool output decoded pipe chunk by pipe chunk breaks
// box-drawing characters.
// Trigger: `printf '\xe2\x94'; sleep 0.2; printf '\x9c\n'`.
func TestC085SplitCharacter(t *testing.T) {
	var out, err Stripper
	got := out.Append(nil, []byte("\xe2\x94"))
	if len(got) != 0 || len(out.Pending()) != 0 {
		t.Fatalf("half a character gave %q, pending %q", got, out.Pending())
	}
	other := err.Append(nil, []byte("e\n"))
	got = out.Append(got, []byte("\x9c\n"))
	if string(got) != "\u251c\n" || string(other) != "e\n" {
		t.Errorf("got %q and %q, want U+251C and e", got, other)
	}
}

// C086. Symptom: CSI sequences and progress redraws go raw to the model and
// use up the output budget.
// Trigger: `for i in $(seq 1 500); do printf '\r\033[2K%d%%' $i; done; echo`.
func TestC086Redraws(t *testing.T) {
	var s Stripper
	var out []byte
	for i := 1; i <= 500; i++ {
		out = fmt.Appendf(nil, "\r\x1b[2K%d%%", i)
		out = s.Append(nil, out)
		if want := fmt.Sprintf("%d%%", i); len(out) > 0 || string(s.Pending()) != want {
			t.Fatalf("out %q, pending %q, want none and %q", out, s.Pending(), want)
		}
	}
	if out = s.Append(out, []byte("\n")); string(out) != "500%\n" {
		t.Errorf("got %q, want %q", out, "500%\n")
	}
}

// C084. Symptom: 157 MB of grep output, mostly one line, drove the process to
// 60 GB.
// Trigger: `head -c 157000000 /dev/zero | tr '\0' a`.
func TestC084OneLongLine(t *testing.T) {
	var s Stripper
	piece := bytes.Repeat([]byte("a"), 32<<10)
	out, total := make([]byte, 0, 2*maxLine), 0
	for range 200 {
		out = s.Append(out[:0], piece)
		total += len(out)
		if cap(s.line) > 2*maxLine || cap(out) > 2*maxLine {
			t.Fatalf("line %d, out %d bytes held", cap(s.line), cap(out))
		}
	}
	if total += len(s.Flush(nil)); total != 200*len(piece) {
		t.Errorf("got %d bytes, want %d", total, 200*len(piece))
	}
}

func TestLongLineIsCutAtTheSamePlace(t *testing.T) {
	for _, in := range []string{
		strings.Repeat("ab", maxLine/2) + "\rlast",
		strings.Repeat("ab", maxLine/2) + "c\rlast",
		"x" + strings.Repeat("日本", maxLine/3) + "\b\b\rlast\n",
		"xy" + strings.Repeat("é😀日", maxLine/4) + "\b\b-",
	} {
		want := strip(in)
		for _, size := range []int{1, 3, 1000, maxLine} {
			var pieces []string
			for rest := in; rest != ""; {
				n := min(size, len(rest))
				pieces, rest = append(pieces, rest[:n]), rest[n:]
			}
			if got := strip(pieces...); got != want {
				t.Errorf("pieces of %d: %d bytes, want %d", size, len(got), len(want))
			}
		}
	}
}

func TestUnterminatedStringIsBounded(t *testing.T) {
	for _, open := range []string{"\x1b]0;", "\x1bP", "\x1b_", "\x9d", "\x1b[", "\x1b("} {
		in := open + strings.Repeat("1", 2*maxEscape) + "shown"
		if got := strip(in); !strings.HasSuffix(got, "shown") || len(got) < maxEscape {
			t.Errorf("%q swallowed the output: %d bytes left", open, len(got))
		}
	}
	image := "\x1b_Gm=1,q=2;" + strings.Repeat("A", 4096) + "\x1b\\x"
	if got := strip(image); got != "x" {
		t.Errorf("image piece left %d bytes", len(got))
	}
}

func TestFlushStartsAnew(t *testing.T) {
	var s Stripper
	s.Flush(s.Append(nil, []byte("half\r\x1b]0;a\xe2")))
	if got := string(s.Flush(s.Append(nil, []byte("new")))); got != "new" {
		t.Errorf("got %q, want %q", got, "new")
	}
}

// FuzzStripper: however the input is cut the output is the same, and it is
// plain text that a second pass leaves alone.
func FuzzStripper(f *testing.F) {
	for i, c := range stripCases {
		f.Add([]byte(c.in), uint16(i), uint16(2*i))
	}
	f.Fuzz(func(t *testing.T, in []byte, i, j uint16) {
		a, b := min(int(i), len(in)), min(int(j), len(in))
		a, b = min(a, b), max(a, b)
		want := strip(string(in))
		if got := strip(string(in[:a]), string(in[a:b]), string(in[b:])); got != want {
			t.Fatalf("cut at %d, %d: %q, want %q", a, b, got, want)
		}
		if !isClean(want) || !utf8.ValidString(want) || Plain(want) != want {
			t.Fatalf("not plain: %q", want)
		}
		if isClean(string(in)) && want != string(in) {
			t.Fatalf("clean text changed: %q", want)
		}
	})
}

func BenchmarkStripper(b *testing.B) {
	for name, unit := range map[string]string{
		"ascii":  "the quick brown fox jumps over the lazy dog 0123456789 and goes home\n",
		"sgr":    "\x1b[32mok\x1b[0m  \x1b[1malisio/agent/text\x1b[0m  0.012s (cached) [no tests to run]\n",
		"cjk":    "日本語のテキストはバイトごとに三つずつ進むのでここが一番遅い道になる\n",
		"redraw": "\r\x1b[2K 50% building",
	} {
		in := []byte(strings.Repeat(unit, 32<<10/len(unit)))
		b.Run(name, func(b *testing.B) {
			var s Stripper
			var out []byte
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				out = s.Append(out[:0], in)
			}
		})
	}
}
