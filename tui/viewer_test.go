package tui

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"alisio/agent/text"
)

// numbered is blocks of so many rows each, "b.r" in each row.
func numbered(blocks, rows int) []Block {
	var out []Block
	for b := range blocks {
		var lines Lines
		for r := range rows {
			lines = append(lines, text.Unstyled(fmt.Sprintf("%d.%d", b, r)))
		}
		out = append(out, lines)
	}
	return out
}

func window(v *Viewer) string { return strings.Join(shown(v.Lines()), " ") }

func wantWindow(t *testing.T, v *Viewer, want string) {
	t.Helper()
	if got := window(v); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestViewerFollowsItsEnd(t *testing.T) {
	v := NewViewer(10, 3)
	wantWindow(t, v, "")
	v.Add(numbered(2, 2)...)
	wantWindow(t, v, "0.1 1.0 1.1")
	v.Scroll(-1)
	wantWindow(t, v, "0.0 0.1 1.0")
	v.Add(Lines{text.Unstyled("new")})
	wantWindow(t, v, "0.0 0.1 1.0") // who reads is not disturbed
	if got := v.Below(100); got != 2 || v.AtEnd() {
		t.Errorf("%d rows below, at the end: %v", got, v.AtEnd())
	}
	v.Scroll(5)
	wantWindow(t, v, "1.0 1.1 new")
	v.Add(Lines{text.Unstyled("more")})
	wantWindow(t, v, "1.1 new more") // at the end it follows again
	v.Home()
	wantWindow(t, v, "0.0 0.1 1.0")
	v.Scroll(-9)
	wantWindow(t, v, "0.0 0.1 1.0")
	v.Page(1)
	wantWindow(t, v, "1.0 1.1 new")
	v.End()
	wantWindow(t, v, "1.1 new more")
	v.Clear()
	wantWindow(t, v, "")
	v.Scroll(1)
	v.Home()
	wantWindow(t, v, "")
}

// What is shown stays where it is while blocks above it come, grow and shrink.
func TestViewerKeepsItsPlace(t *testing.T) {
	v := NewViewer(10, 2, numbered(5, 3)...)
	v.Home()
	v.Scroll(7)
	wantWindow(t, v, "2.1 2.2")
	v.Insert(0, numbered(2, 4)...)
	wantWindow(t, v, "2.1 2.2")
	v.Replace(3, Lines{text.Unstyled("one"), text.Unstyled("two"), text.Unstyled("three"), text.Unstyled("four")})
	wantWindow(t, v, "2.1 2.2")
	v.Replace(4, Lines{text.Unstyled("short")})
	wantWindow(t, v, "short 3.0")
	v.Replace(4, Lines{})
	wantWindow(t, v, "3.0 3.1")
}

func TestViewerResizes(t *testing.T) {
	long := Wrap(text.Unstyled(strings.TrimSpace(strings.Repeat("word ", 100))))
	v := NewViewer(5, 4, long)
	v.Home()
	v.Scroll(50)
	v.Resize(10, 4) // two words a row
	if p, _ := v.At(0); p.Row < 20 || p.Row > 30 {
		t.Errorf("half of the text was above, now %d of 50 rows", p.Row)
	}
	v.Resize(0, 0)
	if got := len(v.Lines()); got != 1 {
		t.Errorf("%d rows in the least window", got)
	}
}

// In any order of changes the window is full where there is enough, its rows follow
// each other, and nothing panics.
func TestViewerAnyOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 2))
	for range 300 {
		v := NewViewer(1+r.IntN(12), 1+r.IntN(6))
		total := func() (n int) {
			for i := range v.Blocks() {
				n += v.Block(i).Len(v.width)
			}
			return n
		}
		for range 60 {
			switch r.IntN(12) {
			case 0, 1:
				v.Add(numbered(1, r.IntN(4))...)
			case 2:
				v.Add(Wrap(text.Unstyled(strings.Repeat("ab 日本 ", r.IntN(6)))))
			case 3:
				v.Insert(r.IntN(v.Blocks()+1), numbered(1, r.IntN(3))...)
			case 4:
				if n := v.Blocks(); n > 0 {
					v.Replace(r.IntN(n), numbered(1, r.IntN(5))[0])
				}
			case 5:
				v.Resize(r.IntN(14), r.IntN(8))
			case 6:
				v.Scroll(r.IntN(21) - 10)
			case 7:
				v.Home()
			case 8:
				v.Find([]string{"1", "日本", "b", "none", ""}[r.IntN(5)])
			case 9:
				v.Next()
				v.Previous()
			case 10:
				v.Press(r.IntN(14), r.IntN(8))
				v.Drag(r.IntN(14), r.IntN(12)-2)
				v.Selected()
			case 11:
				v.Word(r.IntN(14), r.IntN(8))
				v.Row(r.IntN(8))
				v.Selected()
			}
			if got, want := len(v.Lines()), min(total(), v.height); got != want {
				t.Fatalf("%d rows are shown of %d in a window of %d", got, total(), v.height)
			}
		}
	}
}

// C107. Symptom: resuming a 25 MB session takes the process to 2.2 GB in half a minute.
// Trigger: a session store with 8,000 parts; resume. Of a long history only what is
// seen is laid out.
func TestC107OnlyWhatIsSeenIsLaidOut(t *testing.T) {
	laid := map[int]bool{}
	var blocks []Block
	for i := range 8000 {
		blocks = append(blocks, counted{laid, i})
	}
	v := NewViewer(80, 24, blocks...)
	v.Lines()
	v.Scroll(-10)
	v.Lines()
	v.Below(10)
	if len(laid) > 40 {
		t.Errorf("%d blocks were laid out to show 24 rows", len(laid))
	}
	v.Home()
	v.Lines()
	if len(laid) > 80 {
		t.Errorf("%d blocks were laid out to go home", len(laid))
	}
}

// counted is a block of a row that tells that it is laid out.
type counted struct {
	laid map[int]bool
	id   int
}

func (c counted) Len(int) int          { c.laid[c.id] = true; return 1 }
func (c counted) Line(int) text.Styled { return text.Unstyled("x") }

func TestFind(t *testing.T) {
	v := NewViewer(8, 2, Wrap(text.Unstyled("one two three"), text.Unstyled("Two")), numbered(3, 2)[2], Wrap(text.Unstyled("the two")))
	v.Home()
	for _, step := range []struct {
		do    func() bool
		found bool
		want  string
	}{
		{func() bool { return v.Find("TWO") }, true, "one two three"},
		{v.Next, true, "three Two"},
		{v.Next, true, "2.1 the two"},
		{v.Next, true, "one two three"},
		{v.Previous, true, "2.1 the two"},
		{v.Previous, true, "Two 2.0"},
		{func() bool { return v.Find("two three") }, true, "one two three"}, // over the break
		{v.Next, true, "one two three"},
		{func() bool { return v.Find("absent") }, false, "one two three"},
		{v.Next, false, "one two three"},
	} {
		if got := step.do(); got != step.found {
			t.Errorf("%s: found %v, want %v", step.want, got, step.found)
		}
		wantWindow(t, v, step.want)
	}
}

// Matches are marked in each row, the one that is looked at in another way.
func TestFindMarks(t *testing.T) {
	v := NewViewer(8, 3, Wrap(text.Unstyled("a two three two")))
	v.Find("two")
	var marks []string
	for _, l := range v.Lines() {
		for _, s := range l {
			if s.On == text.Found {
				marks = append(marks, fmt.Sprint(s.Text, s.Attr == text.Reverse))
			}
		}
	}
	if got, want := strings.Join(marks, " "), "twotrue twofalse"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	v.Find("two three")
	marks = nil
	for _, l := range v.Lines() {
		for _, s := range l {
			if s.On == text.Found {
				marks = append(marks, s.Text)
			}
		}
	}
	if got, want := strings.Join(marks, "|"), "two|three"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	v.Find("")
	for _, l := range v.Lines() {
		if len(l) != 1 {
			t.Errorf("%v is marked after the search", l)
		}
	}
}

func TestSelect(t *testing.T) {
	quoted := Indented{Wrap(text.Unstyled("日本語 and more words")), text.Of("› ", text.Accent), text.Unstyled("  ")}
	v := NewViewer(12, 6, quoted, Lines{text.Unstyled("last  "), text.Unstyled("end")})
	wantLines(t, v.Lines(), "› 日本語 and", "  more words", "last", "end")
	for _, c := range []struct {
		from, to [2]int
		want     string
	}{
		{[2]int{2, 0}, [2]int{2, 0}, "日"}, {[2]int{3, 0}, [2]int{4, 0}, "日本"},
		{[2]int{4, 0}, [2]int{3, 0}, "日"}, // backwards it ends before where it began
		{[2]int{0, 0}, [2]int{11, 1}, "日本語 and more words"}, {[2]int{9, 0}, [2]int{11, 2}, "and more words\nlast"},
		{[2]int{2, 3}, [2]int{7, 1}, "words\nlast\nen"}, {[2]int{0, 5}, [2]int{0, 2}, "last\nend"},
	} {
		v.Press(c.from[0], c.from[1])
		v.Drag(c.to[0], c.to[1])
		if got := v.Selected(); got != c.want {
			t.Errorf("%v to %v: got %q, want %q", c.from, c.to, got, c.want)
		}
	}
	v.Word(8, 1)
	if got := v.Selected(); got != "words" {
		t.Errorf("the word: %q", got)
	}
	v.Row(1)
	if got := v.Selected(); got != "日本語 and more words" {
		t.Errorf("the line: %q", got)
	}
	v.Unselect()
	if got := v.Selected(); got != "" {
		t.Errorf("nothing: %q", got)
	}
}

// A drag beyond the window scrolls, and what was selected before stays selected.
func TestSelectScrolls(t *testing.T) {
	v := NewViewer(10, 2, numbered(1, 6)...)
	v.Home()
	v.Press(0, 0)
	for range 3 {
		v.Drag(2, 2)
	}
	wantWindow(t, v, "0.3 0.4")
	if got := v.Selected(); got != "0.0\n0.1\n0.2\n0.3\n0.4" {
		t.Errorf("got %q", got)
	}
}

func BenchmarkScroll(b *testing.B) {
	var blocks []Block
	for i := range 20_000 {
		blocks = append(blocks, Wrap(text.Unstyled(fmt.Sprintf("block %d with some words in it that do not all fit into one row of eighty cells, so", i)),
			text.Unstyled("second"), text.Unstyled("third"), text.Unstyled("fourth 日本語")))
	}
	v := NewViewer(80, 24, blocks...)
	b.ReportAllocs()
	for b.Loop() {
		v.Scroll(-3)
		if len(v.Lines()) != 24 {
			b.Fatal("no full window")
		}
		if v.top == (Place{}) {
			v.End()
		}
	}
}
