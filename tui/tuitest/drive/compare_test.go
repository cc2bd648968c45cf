package drive

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"alisio/tui/tuitest"
)

var (
	streams = flag.Int("streams", 300, "how many streams are compared with tmux")
	seed    = flag.Uint64("seed", 5, "of what they are made by chance")
)

// grounded makes a piece, some of them on a ground that ends with them.
func grounded(r *rand.Rand, wide bool) string {
	ground := []string{"41", "104", "48;5;17", "48;2;9;8;7"}[r.IntN(4)]
	s := piece(r, wide)
	switch {
	case r.IntN(3) > 0:
	case strings.HasPrefix(s, "\x1b") && !strings.HasSuffix(s, "x"):
		return "\x1b[" + ground + "m" + s + "\x1b[49m"
	case len(s) < 8 && s[0] < 0x80:
		return fmt.Sprintf("\x1b[%d;%dH\x1b[%sm%s\x1b[49m", 1+r.IntN(6), 8+r.IntN(5), ground, s)
	}
	return s
}

// piece makes one thing that programs write to a screen of 20×6. What starts where the
// cursor stands begins with a move to a column: see TestAgainstTmux.
func piece(r *rand.Rand, wide bool) string {
	n := func(most int) int { return 1 + r.IntN(most) }
	at := func(most int) int {
		if wide { // so far that no move ends on the second column
			return 8 + r.IntN(most-7)
		}
		return n(most)
	}
	column := fmt.Sprintf("\x1b[%dG", at(20))
	kind := r.IntN(26)
	if wide && kind >= 11 && kind <= 15 {
		return column + fmt.Sprintf("\x1b[2%c", "JK"[r.IntN(2)])
	}
	switch kind {
	case 0, 1, 2, 3:
		return strings.Repeat("abcdefgh", 3)[:n(20)]
	case 4, 5:
		if !wide {
			return "text"
		}
		return strings.Repeat("漢", n(4))
	case 6:
		return fmt.Sprintf("\x1b[%dGe\u0301x", at(20))
	case 7, 8:
		return fmt.Sprintf("\x1b[%d;%dH", n(6), at(20))
	case 9:
		return column + fmt.Sprintf("\x1b[%d%c", n(5), "ABCD"[r.IntN(4)])
	case 10:
		return column + fmt.Sprintf("\x1b[%dd", n(8))
	case 11:
		return column + fmt.Sprintf("\x1b[%dJ", r.IntN(3))
	case 12, 13:
		return column + fmt.Sprintf("\x1b[%dK", r.IntN(3))
	case 14:
		return column + fmt.Sprintf("\x1b[%dX", n(6))
	case 15:
		return fmt.Sprintf("\x1b[%dG\x1b[%d%c", n(12), n(4), "@P"[r.IntN(2)])
	case 16:
		return fmt.Sprintf("\x1b[r\x1b[%d;1H\x1b[%d%c\r", n(6), n(3), "LM"[r.IntN(2)])
	case 17:
		return column + fmt.Sprintf("\x1b[%d%c", n(2), "ST"[r.IntN(2)])
	case 18:
		top := n(4)
		bottom := top + n(6-top)
		lines := fmt.Sprintf("\x1b[%d;1H\x1b[%d%c\r", top+r.IntN(bottom-top+1), n(3), "LM"[r.IntN(2)])
		return fmt.Sprintf("\x1b[%d;%dr%s", top, bottom, []string{"", lines}[r.IntN(2)])
	case 19:
		return "\x1b[r"
	case 20:
		return column + []string{"\x1bM", "\x1bD", "\x1bE", "\r\n", "\n", "\r", "\b"}[r.IntN(7)]
	case 21, 22:
		return fmt.Sprintf("\x1b[%sm", []string{
			"0", "1", "3", "4", "7", "9", "2", "31", "97", "38;5;208", "38;2;1;2;3", "4:3", "22", "24", "39",
		}[r.IntN(15)])
	case 23:
		return column + "\t"
	case 24:
		return column + []string{"\x1b[49m\x1b7", "\x1b8"}[r.IntN(2)]
	}
	return fmt.Sprintf("\x1b[%dGz\x1b[%db", at(14), n(5))
}

// The virtual terminal and a real one show the same after the same bytes, a few hundred
// times. In this tmux is known to differ, and the streams are kept from it:
//
//   - Behind the last column the cursor has a column of its own there, which edits, feeds
//     and DECSC keep, so that the next character wraps; here they end the wrap that was to
//     come, as DEC has it. So these begin in a column that is told.
//   - IL and DL leave the column there, and work outside of the scroll region; here they go
//     to the first column, and do nothing outside, as DEC has it.
//   - The second half of a wide character in the first column leaves the first half there.
//   - Edits within a row (ED, EL, ECH, ICH, DCH) leave the other half of a wide character
//     that they cut there; here no half is left. So a stream has one or the other.
//   - ICH of more than the rest of the row holds leaves a cell there.
//   - What is left of a wide character whose other half was overwritten has the default
//     ground there, its own here; and the row that a wrap scrolls in has the default ground
//     there, the current one here, as in xterm. So these are written on the default one.
//   - REP goes on in the next row here, as in xterm, and ends with the row there.
//   - What a capture tells of a row ends with what was last written: the ground of cells
//     that were only erased behind that is not compared. Every second stream ends with a
//     character at the end of each row, so that it is.
func TestAgainstTmux(t *testing.T) {
	m := StartTmux(t, 20, 6, `stty raw -echo; printf '\033]2;start\007'; exec cat >/dev/null`)
	m.Await(t, "the start", func(s *tuitest.Screen) bool { return s.Title == "start" })
	tty, err := os.OpenFile(strings.TrimSpace(m.Run("display-message", "-p", "#{pane_tty}")), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	random := rand.New(rand.NewPCG(*seed, 6))
	for i := range *streams {
		var pieces []string
		for range 2 + random.IntN(20) {
			pieces = append(pieces, grounded(random, i%4 < 2))
		}
		if i%2 == 1 {
			pieces = append(pieces, "\x1b[r\x1b[m")
			for y := range 6 {
				pieces = append(pieces, fmt.Sprintf("\x1b[%d;20H|", y+1))
			}
			pieces = append(pieces, "\x1b[H")
		}
		if d := differs(t, m, tty, i, pieces); d != "" {
			t.Fatalf("stream %d, %q:\n%s", i, pieces, d)
		}
	}
}

// differs tells how tmux (-) and the virtual terminal (+) differ after some pieces.
func differs(t *testing.T, m *Tmux, tty *os.File, i int, pieces []string) string {
	t.Helper()
	v := tuitest.New(20, 6, tuitest.Options{})
	stream := strings.Join(pieces, "")
	fmt.Fprint(v, stream)
	if u := v.Unknown(); len(u) > 0 {
		t.Errorf("%q: unknown %q", stream, u)
	}
	mark := fmt.Sprintf("stream %d", i)
	fmt.Fprintf(tty, "\x1bc\x1b[3J%s\x1b]2;%s\a", stream, mark)
	var theirs *tuitest.Screen
	m.Await(t, mark, func(s *tuitest.Screen) bool { theirs = s; return s.Title == mark })
	return tuitest.Diff(Reduced(theirs), Reduced(v.Screen()))
}
