package tuitest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestResize(t *testing.T) {
	for _, c := range []struct {
		name          string
		in            string
		columns, rows int
		history       []string
		want, cursor  string
	}{
		{"narrower", "one two three", 5, 4, nil, "one t\nwo th\nree", "2,3"},
		{"wider", "0123456789abcdef", 20, 4, nil, "0123456789abcdef", "0,16"},
		{"wide characters", "漢字漢字", 5, 4, nil, "漢字\n漢字", "1,4"},
		{"pending", "0123456789", 5, 4, nil, "01234\n56789", "1,4 pending"},
		{"no longer pending", "0123456789", 12, 4, nil, "0123456789", "0,10"},
		{"scrolls out", "0123456789\r\n0123456789\r\n0123", 5, 4, []string{"01234"}, "56789\n01234\n56789\n0123", "3,4"},
		{"fewer rows", "1\r\n2\r\n3\r\n4", 10, 2, []string{"1", "2"}, "3\n4", "1,1"},
		{"fewer rows, empty ones first", "1\r\n2", 10, 2, nil, "1\n2", "1,1"},
		{"more rows bring back", "1\r\n2\r\n3\r\n4\r\n5\r\n6", 10, 5, []string{"1"}, "2\n3\n4\n5\n6", "4,1"},
	} {
		term := screenOf(c.in, Options{})
		term.Resize(c.columns, c.rows)
		if got := term.Text(); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
		if got := term.Screen().Cursor.String(); got != c.cursor {
			t.Errorf("%s: cursor %s, want %s", c.name, got, c.cursor)
		}
		if got := term.History(); !slices.Equal(got, c.history) {
			t.Errorf("%s: history %q, want %q", c.name, got, c.history)
		}
	}
}

// Whatever sizes a terminal goes through, what was written is there once and in order.
func TestResizeKeepsText(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		term := New(40, 10, Options{})
		var want []string
		for i := range 60 {
			line := fmt.Sprintf("%d %s", i, strings.Repeat("word 漢 ", random.IntN(12)))
			want = append(want, strings.TrimRight(line, " "))
			fmt.Fprint(term, line, "\r\n")
			if random.IntN(4) == 0 {
				term.Resize(2+random.IntN(100), 1+random.IntN(30))
			}
		}
		got := term.Lines()
		for i := range got {
			got[i] = strings.TrimRight(got[i], " ")
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got\n%s", Diff(strings.Join(want, "\n"), strings.Join(got, "\n")))
		}
	}
}

func TestResizeTells(t *testing.T) {
	term := New(10, 4, Modern())
	var told string
	term.OnResize(func(columns, rows int) { told += fmt.Sprintf("%dx%d ", columns, rows) })
	fmt.Fprint(term, "\x1b[?2048h\x1b[?1049hshown\x1b[4;9H漢")
	term.Pending()
	term.Resize(9, 5)
	term.Resize(9, 5)
	if got, want := term.Pending(), "\x1b[48;5;9;80;72t"; got != want || told != "9x5 " {
		t.Errorf("got %q and %q", got, told)
	}
	if got, want := term.Text(), "shown"; got != want {
		t.Errorf("the alternate screen: got %q, want %q", got, want)
	}
}

// FuzzTerminal writes, resizes and types whatever comes: nothing panics or hangs, what is
// kept is bounded, and every row has whole characters.
func FuzzTerminal(f *testing.F) {
	f.Add([]byte("hello\r\n\x1b[1;31m漢字\x1b[2G\x1b[X"), uint16(0x0A04))
	f.Add([]byte("\x1b[?1049h\x1b[2;3r\x1b[5S\x1b[3T\x1b[L\x1b[M\x1b[99@\x1b[99P"), uint16(0x0101))
	f.Add([]byte("\x1b_Ga=T,f=24,s=1,v=1,c=9999,r=9999;AAAA\x1b\\\x1b]8;;x\a"), uint16(0x0502))
	f.Add([]byte("👨\u200d👩\u200d👧⚠\uFE0F\xFF\xE6\x1b]52;c;?\a\x1b[99999999b"), uint16(0x0203))
	f.Fuzz(func(t *testing.T, b []byte, size uint16) {
		checkBytes(t, b, int(size>>8&63), int(size&31))
	})
}

func checkBytes(t *testing.T, b []byte, columns, rows int) {
	t.Helper()
	o := Modern()
	o.Scrollback, o.ITermImages = 50, true
	term := New(20, 5, o)
	fmt.Fprint(term, "\x1b[?2027h")
	term.Write(b[:len(b)/2])
	term.Resize(columns, rows)
	term.Press("ctrl+a", "up", "f3")
	term.Write(b[len(b)/2:])
	term.Resize(rows, columns)
	fmt.Fprint(term, "\x1b[?2026l")
	s := term.Screen()
	for y, cells := range s.Cells {
		for x := 0; x < len(cells); {
			w := cells[x].Width
			if w < 1 || x+w > len(cells) || w == 2 && cells[x+1].Width != 0 {
				t.Fatalf("row %d, column %d: half a character in\n%s", y, x, s.Dump())
			}
			x += w
		}
		if len(cells) != s.Columns {
			t.Fatalf("row %d has %d cells of %d", y, len(cells), s.Columns)
		}
	}
	if c := s.Cursor; c.Column < 0 || c.Column >= s.Columns || c.Row < 0 || c.Row >= s.Rows {
		t.Fatalf("cursor %s in %dx%d", c, s.Columns, s.Rows)
	}
	if n := len(term.History()); n > 50 {
		t.Fatalf("%d rows of history", n)
	}
}

// A long run of FuzzTerminal's check on pieces that mean something.
func TestRandomBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	pieces := []string{
		"\x1b[", "\x1b]", "\x1bP", "\x1b_G", "\x1b\\", "\a", ";", ":", "?", "1", "9", "25", "99999", "h", "l", "m", "r", "H", "J", "K", "L", "M",
		"P", "@", "S", "T", "X", "b", "u", "漢", "e\u0301", "👨\u200d👩", "🇩", "⚠\uFE0F", "\n", "\r", "\t", "\b", "text", "\xFF", "\u009b",
		"\x1b[?1049h", "\x1b[?1049l", "\x1b[?2026h", "\x1b[?2026l", "\x1b[4h", "\x1b[?6h", "\x1b[2;4r", "\x1b7", "\x1b8", "\x1bc", "\x1bM",
		"\x1b[?2027l", "\x1b[?7l", "\x1b[?7h", "\x1b[?2027h",
	}
	for range 2000 {
		var b []byte
		for range 1 + random.IntN(60) {
			b = append(b, pieces[random.IntN(len(pieces))]...)
		}
		checkBytes(t, b, random.IntN(40), random.IntN(12))
	}
}

// C105, C106: a program that draws its last lines anew by moving up over them leaves
// copies in the history when the window was narrowed in between, because the terminal
// has wrapped them by then. This is what a test of the cases sees, and what it sees of a
// program that clears and starts from the top.
func TestHistoryShowsCopies(t *testing.T) {
	draw := func(t *Terminal, back string) {
		fmt.Fprint(t, back)
		for i := range 4 {
			fmt.Fprintf(t, "\x1b[2Kline %d of an answer that is long\r\n", i)
		}
	}
	copies := func(back string) int {
		term := New(40, 5, Options{})
		draw(term, "")
		for _, columns := range []int{20, 40, 15, 40} {
			term.Resize(columns, 5)
			draw(term, back)
		}
		return strings.Count(strings.Join(term.Lines(), "\n"), "line 0")
	}
	if n := copies("\x1b[4A\r"); n < 2 {
		t.Errorf("moving up: %d copies of a line", n)
	}
	if n := copies("\x1b[H\x1b[2J\x1b[3J"); n != 1 {
		t.Errorf("clearing: %d copies of a line", n)
	}
}
