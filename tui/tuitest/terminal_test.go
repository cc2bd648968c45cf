package tuitest

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"alisio/agent/text"
)

var update = flag.Bool("update", false, "rewrite the expected parts of the files below testdata")

// screenOf is what a terminal of 10×4 shows after some bytes.
func screenOf(s string, o Options) *Terminal {
	t := New(10, 4, o)
	fmt.Fprint(t, s)
	return t
}

func TestText(t *testing.T) {
	for _, c := range []struct{ name, in, want, cursor string }{
		{"plain", "hello", "hello", "0,5"},
		{"newline keeps the column", "ab\ncd", "ab\n  cd", "1,4"},
		{"return", "ab\r\ncd", "ab\ncd", "1,2"},
		{"backspace", "ab\bc", "ac", "0,2"},
		{"tab", "a\tb", "a       b", "0,9"},
		{"tab stops at the edge", "\t\tb", "         b", "0,9 pending"},
		{"pending wrap", "0123456789", "0123456789", "0,9 pending"},
		{"wrap", "0123456789a", "0123456789\na", "1,1"},
		{"no wrap", "\x1b[?7l0123456789ab", "012345678b", "0,9"},
		{"return from pending", "0123456789\rx", "x123456789", "0,1"},
		{"scroll", "1\r\n2\r\n3\r\n4\r\n5", "2\n3\n4\n5", "3,1"},
		{"wide", "漢字", "漢字", "0,4"},
		{"wide wraps whole", "012345678漢", "012345678\n漢", "1,2"},
		{"wide cut left", "漢字\rx", "x 字", "0,1"},
		{"wide cut right", "漢字\x1b[2Gx", " x字", "0,2"},
		{"wide erased by half", "漢字\x1b[2G\x1b[X", "  字", "0,1"},
		{"combining", "e\u0301x", "e\u0301x", "0,2"},
		{"combining at the edge", "012345678e\u0301", "012345678e\u0301", "0,9 pending"},
		{"combining at the edge, no wrap", "\x1b[?7l012345678e\u0301", "012345678e\u0301", "0,9"},
		{"combining after nothing", "\u0301x", "x", "0,1"},
		{"up and down stop", "\x1b[9A\x1b[99B\x1b[99Cx", "\n\n\n         x", "3,9 pending"},
		{"place", "\x1b[2;3Hx\x1b[Hy\x1b[4d\x1b[5Gz", "y\n  x\n\n    z", "3,5"},
		{"insert", "abc\x1b[2G\x1b[2@x", "ax bc", "0,2"},
		{"delete", "abcd\x1b[2G\x1b[2P", "ad", "0,1"},
		{"erase to the end", "abcd\x1b[3G\x1b[K", "ab", "0,2"},
		{"erase to the start", "abcd\x1b[2G\x1b[1K", "  cd", "0,1"},
		{"erase below", "ab\r\ncd\r\nef\x1b[2;2H\x1b[J", "ab\nc", "1,1"},
		{"erase above", "ab\r\ncd\r\nef\x1b[2;1H\x1b[1J", "\n d\nef", "1,0"},
		{"erase all", "ab\r\ncd\x1b[2J", "", "1,2"},
		{"insert lines", "1\r\n2\r\n3\x1b[2H\x1b[L", "1\n\n2\n3", "1,0"},
		{"delete lines", "1\r\n2\r\n3\x1b[2H\x1b[M", "1\n3", "1,0"},
		{"region", "1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[3H\nx", "1\n3\nx\n4", "2,1"},
		{"region is left alone below", "\x1b[1;2r\x1b[4Hx\r\n\ny", "\n\n\ny", "3,1"},
		{"reverse index", "1\r\n2\x1b[H\x1bMx", "x\n1\n2", "0,1"},
		{"origin", "\x1b[2;3r\x1b[?6h\x1b[HA\x1b[9;9HB", "\nA\n        B", "2,9"},
		{"scroll up", "1\r\n2\r\n3\x1b[S", "2\n3", "2,1"},
		{"scroll down", "1\r\n2\x1b[2T", "\n\n1\n2", "1,1"},
		{"save and restore", "ab\x1b7\x1b[4;4Hx\x1b8c", "abc\n\n\n   x", "0,3"},
		{"repeat", "ab\x1b[3b", "abbbb", "0,5"},
		{"line drawing", "\x1b(0lqk\x1b(Bq", "┌─┐q", "0,4"},
		{"insert mode", "abc\r\x1b[4hx\x1b[4ly", "xybc", "0,2"},
		{"alignment", "\x1b#8", "EEEEEEEEEE\nEEEEEEEEEE\nEEEEEEEEEE\nEEEEEEEEEE", "0,0"},
		{"reset", "ab\x1b[1m\x1bcx", "x", "0,1"},
		{"broken UTF-8", "a\xE6\xBCb\xFFc", "a\uFFFDb\uFFFDc", "0,5"},
		{"C1", "ab\u009b1Dc", "ac", "0,2"},
		{"aborted", "a\x1b[12\x18b\x1b]0;x\x1ac", "abc", "0,3"},
		{"controls within a sequence", "ab\x1b[2\rCc", "abc", "0,3"},
		{"tab back and stops", "\x1b[3g\x1b[4G\x1bH\rx\ty\x1b[2Zz", "z  y", "0,1"},
	} {
		term := screenOf(c.in, Options{})
		if got := term.Text(); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
		if got := term.Screen().Cursor.String(); got != c.cursor {
			t.Errorf("%s: cursor %s, want %s", c.name, got, c.cursor)
		}
		if u := term.Unknown(); len(u) > 0 {
			t.Errorf("%s: unknown %q", c.name, u)
		}
		// The same in pieces of one byte.
		pieces := New(10, 4, Options{})
		for i := range len(c.in) {
			pieces.Write([]byte{c.in[i]})
		}
		if got := pieces.Dump(); got != term.Dump() {
			t.Errorf("%s: in pieces:\n%s", c.name, Diff(term.Dump(), got))
		}
	}
}

// The three ways in which terminals measure emoji.
func TestWidths(t *testing.T) {
	family := "👨\u200d👩\u200d👧\u200d👦"
	for _, c := range []struct {
		name                  string
		in                    string
		sums, wideVS16, joins int
	}{
		{"family", family, 8, 8, 2},
		{"flag", "🇩🇪", 2, 2, 2},
		{"skin tone", "👍🏽", 4, 4, 2},
		{"warning sign", "⚠", 1, 1, 1},
		{"warning sign as emoji", "⚠\uFE0F", 1, 2, 2},
		{"keycap", "1\uFE0F\u20E3", 1, 2, 2},
		{"Hangul in parts", "\u1112\u1161\u11ab", 2, 2, 2},
		{"Devanagari", "क्षि", 3, 3, 1},
	} {
		for i, o := range []Options{{}, {WideVS16: true}, {Clusters: Always}} {
			term := New(20, 2, o)
			fmt.Fprint(term, c.in)
			want := []int{c.sums, c.wideVS16, c.joins}[i]
			if got := term.Screen().Cursor.Column; got != want {
				t.Errorf("%s, %+v: got %d cells, want %d", c.name, o, got, want)
			}
			if got := term.Text(); got != c.in {
				t.Errorf("%s: got %q, want %q", c.name, got, c.in)
			}
		}
	}
	on := New(20, 2, Options{Clusters: OnDemand})
	fmt.Fprint(on, family+"\r\n\x1b[?2027h"+family)
	if c := on.Screen().Cursor; c.Column != 2 {
		t.Errorf("mode 2027: got column %d, want 2", c.Column)
	}
	// What becomes wide on the last column goes to the next row.
	edge := screenOf("\x1b[10G⚠\uFE0F", Options{Clusters: Always})
	if got, want := edge.Text(), "\n⚠\uFE0F"; got != want {
		t.Errorf("at the edge: got %q, want %q", got, want)
	}
}

func TestStyles(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"\x1b[1;3mx", "bold italic"},
		{"\x1b[1;2;22mx", ""},
		{"\x1b[31;42mx", "fg=red bg=green"},
		{"\x1b[91;105mx", "fg=bright-red bg=bright-magenta"},
		{"\x1b[38;5;208mx", "fg=208"},
		{"\x1b[38:5:208mx", "fg=208"},
		{"\x1b[38;2;1;2;3;1mx", "bold fg=#010203"},
		{"\x1b[38:2:1:2:3mx", "fg=#010203"},
		{"\x1b[48:2::1:2:3mx", "bg=#010203"},
		{"\x1b[4;58;5;9mx", "underline line=bright-red"},
		{"\x1b[4:3;58:2::255:0:0mx", "curly-underline line=#ff0000"},
		{"\x1b[4:3;4:0mx", ""},
		{"\x1b[21mx", "double-underline"},
		{"\x1b[7;8;9;53mx", "reverse hidden strike overline"},
		{"\x1b[7;27mx", ""},
		{"\x1b[31;39;42;49mx", ""},
		{"\x1b[1;mx", ""},
		{"\x1b[1m\x1b[mx", ""},
		{"\x1b]8;;https://a.example\x1b\\\x1b[mx", `link="https://a.example"`},
		{"\x1b]8;id=7;https://a.example\ax\x1b]8;;\a", `link="https://a.example"`},
		{"\x1b[41m\x1b[K", "bg=red"},
		{"\x1b[1;41m\x1b[2J", "bg=red"},
	} {
		term := screenOf(c.in, Options{})
		if got := term.Screen().Cell(0, 0).Style.String(); got != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
		if u := term.Unknown(); len(u) > 0 {
			t.Errorf("%q: unknown %q", c.in, u)
		}
	}
}

func TestUnknown(t *testing.T) {
	for _, in := range []string{
		"\x1b[?9999h", "\x1b[38;5m", "\x1b[38;2;1;2m", "\x1b[99m", "\x1b[4:9m", "\x1b[5y", "\x1b]9999;x\a", "\x1bPzz\x1b\\",
		"\x1b_x\x1b\\", "\x1b^x\x1b\\", "\x1b[1?h", "\x1b[ !'p", "\x01", "\x1b]52;c;***\a", "\x1b[7 q", "\x1b[9J",
		"\x1b]0;" + strings.Repeat("x", maxString+1) + "\a",
	} {
		term := screenOf(in+"ok", Options{})
		if u := term.Unknown(); len(u) != 1 {
			t.Errorf("%.20q: unknown %q", in, u)
		}
		if got := term.Text(); got != "ok" {
			t.Errorf("%.20q: shows %q", in, got)
		}
	}
}

func TestAlternateScreen(t *testing.T) {
	term := New(10, 4, Modern())
	fmt.Fprint(term, "main\x1b[>1u\x1b[?1049h\x1b[Halt\x1b[>5u\x1b[?u\x1b[?1049l\x1b[?u!")
	if got, want := term.Text(), "main!"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := term.Pending(), "\x1b[?5u\x1b[?1u"; got != want {
		t.Errorf("keyboard flags: got %q, want %q", got, want)
	}
	if got := term.Pristine(); len(got) != 3 { // the mode, and both stacks
		t.Errorf("got %q", got)
	}
}

func TestPristine(t *testing.T) {
	for _, in := range []string{
		"\x1b[?1049h", "\x1b[?25l", "\x1b[?2004h", "\x1b[?1004h", "\x1b[?1003h", "\x1b[?1006h", "\x1b[?2026h", "\x1b[?2027h",
		"\x1b[?2031h", "\x1b[?2048h", "\x1b[?7l", "\x1b[?1h", "\x1b=", "\x1b[2;3r", "\x1b[3 q", "\x1b[>4;2m", "\x1b]0;t\a",
		"\x1b[22;0t", "\x1b[1m", "\x1b]8;;https://a.example\a", "\x1b]11;#fff\a", "\x1b[4h", "\x1b(0", "\x1b[3g", "\x1b[",
		"\x1b]9;4;1;50\a", "\x1b_Gi=1,f=24,s=1,v=1;AAAA\x1b\\",
	} {
		term := screenOf(in, Modern())
		if got := term.Pristine(); len(got) != 1 {
			t.Errorf("%q: got %q", in, got)
		}
	}
	back := "text\x1b[?1049h\x1b[22;0t\x1b]0;t\a\x1b[?2004h\x1b[?25l\x1b[>1u\x1b[2;3r\x1b[1mx" +
		"\x1b[m\x1b[r\x1b[<u\x1b[?25h\x1b[?2004l\x1b[23;0t\x1b[?1049l"
	if got := screenOf(back, Modern()).Pristine(); len(got) > 0 {
		t.Errorf("given back: got %q", got)
	}
}

func TestFrames(t *testing.T) {
	term := New(10, 2, Modern())
	fmt.Fprint(term, "one")
	if s := term.Stats(); s.Frames != 1 || s.Torn != 0 {
		t.Errorf("without updates: %+v", s)
	}
	fmt.Fprint(term, "\x1b[?2026h\rtwo")
	if got := term.Text(); got != "one" {
		t.Errorf("within an update: shows %q", got)
	}
	before := term.Screen()
	fmt.Fprint(term, "!\x1b[?2026l\x1b[?2026h\x1b[?2026l")
	if got := before.Text(); got != "one" {
		t.Errorf("a screen that a test has became %q", got)
	}
	if got := term.Text(); got != "two!" {
		t.Errorf("after it: shows %q", got)
	}
	if s := term.Stats(); s.Frames != 3 || s.Torn != 0 {
		t.Errorf("synchronized: %+v", s)
	}
	fmt.Fprint(term, "\rx\x1b[?2026h\x1b[2Gy\x1b[?2026l")
	fmt.Fprint(term, "\x1b[?25l")
	if s := term.Stats(); s.Frames != 4 || s.Torn != 1 {
		t.Errorf("with one outside: %+v", s)
	}
}

func TestHistory(t *testing.T) {
	term := New(10, 3, Options{Scrollback: 4})
	for i := range 20 {
		fmt.Fprintf(term, "line %d\r\n", i)
	}
	if got, want := term.History(), []string{"line 14", "line 15", "line 16", "line 17"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	fmt.Fprint(term, "a long line that wraps")
	if got, want := term.Lines(), "a long line that wraps"; got[len(got)-1] != want {
		t.Errorf("got %q", got)
	}
	fmt.Fprint(term, "\x1b[3J")
	if got := term.History(); len(got) > 0 {
		t.Errorf("after ED 3: %q", got)
	}
}

func TestNoticesAndClipboard(t *testing.T) {
	term := screenOf("\a\x1b]9;hi\a\x1b]777;notify;a;b\x1b\\\x1b]99;i=1;x\a\x1b]52;c;aGVsbG8=\a\x1b]9;4;1;50\a\x1b]7;file://h/p\a\x1b]133;A\a", Options{})
	want := []Notice{{Kind: "bell"}, {Kind: "osc9", Body: "hi"}, {"osc777", "a", "b"}, {Kind: "osc99", Body: "x"}}
	if got := term.Notices(); !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
	if got, _ := term.Clipboard("c"); got != "hello" {
		t.Errorf("clipboard %q", got)
	}
	if term.Progress() != "1;50" || term.Directory() != "file://h/p" || !slices.Equal(term.Marks(), []string{"A"}) {
		t.Errorf("got %q, %q, %q", term.Progress(), term.Directory(), term.Marks())
	}
	if u := term.Unknown(); len(u) > 0 {
		t.Errorf("unknown %q", u)
	}
}

func TestGolden(t *testing.T) {
	term := New(24, 6, Modern())
	fmt.Fprint(term, "\x1b[?1049h\x1b[?2004h\x1b]0;a title\a\x1b[2;3H\x1b[1;31mbold\x1b[m 漢字\x1b[4;1H\x1b[44m\x1b[K\x1b[m\x1b[5;1H",
		"\x1b]8;;https://a.example\a", strings.Repeat("link ", 6), "\x1b]8;;\a\x1b[4 q")
	term.Golden(t, "dump")
}

func TestDiff(t *testing.T) {
	got := Diff("a\nb\nc\nd\ne\nf\ng\nh", "a\nb\nc\nd\nX\nf\ng\nh")
	if want := "  …\n  c\n  d\n- e\n+ X\n  f\n  g\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := Diff("a", "a"); got != "" {
		t.Errorf("got %q for the same", got)
	}
}

// With mode 2027 text takes as many cells as agent/text says, whatever it is made of, but for
// marks with nothing before that they can join, which are not shown here.
func TestClusterWidths(t *testing.T) {
	alphabet := []rune("ab é漢字👩👨🏽⚠☎🇩🇪🇫1#कषिक्ﾞｶ각가\u1100\u0301\u0600\uFE0E\uFE0F\u20E3\u200d\u200d\u094d\uE000")
	random := rand.New(rand.NewPCG(7, 8))
	for range 5000 {
		s := "x"
		for range random.IntN(12) {
			s += string(alphabet[random.IntN(len(alphabet))])
		}
		term := New(60, 2, Options{Clusters: Always})
		fmt.Fprint(term, s)
		if got, want := term.Screen().Cursor.Column, text.Width(s); got != want {
			t.Fatalf("%q: %d cells, want %d\n%s", s, got, want, term.Dump())
		}
	}
}
