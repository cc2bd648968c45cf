package screen

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"alisio/agent/text"
	"alisio/tui/term"
	"alisio/tui/tuitest"
)

var words = []string{
	"plain", " ", "  ", "日本語", "👨\u200d👩\u200d👧", "⚠\ufe0f", "⚠", "🇩🇪", "👍🏽", "e\u0301", "─", "שלום עולם", "مرحبا", "க்ஷ", "x", "\u0301", "…", "✓", "a longer piece of a line",
}

// randomLine is a line of any words and styles.
func randomLine(r *rand.Rand) text.Styled {
	var l text.Styled
	for range r.IntN(6) {
		s := text.Span{Text: words[r.IntN(len(words))]}
		if r.IntN(2) == 0 {
			s.Role, s.On = text.Role(r.IntN(text.Roles)), []text.Role{0, 0, text.Chosen, text.Added, text.Found}[r.IntN(5)]
			s.Attr = text.Attr(r.IntN(1 << 6))
		}
		if r.IntN(8) == 0 {
			s.Link = "https://example.org/" + fmt.Sprint(r.IntN(3))
		}
		l = append(l, s)
	}
	return l
}

// change makes the next frame of one: a line more, less, other, or moved.
func change(r *rand.Rand, f Frame, columns, rows int) Frame {
	lines := append([]text.Styled(nil), f.Lines...)
	switch n := len(lines); r.IntN(7) {
	case 0:
		lines = nil
		for range r.IntN(rows + 2) {
			lines = append(lines, randomLine(r))
		}
	case 1:
		if n > 0 {
			lines = append(lines[1+r.IntN(n):], randomLine(r), randomLine(r))
		}
	case 2:
		lines = append([]text.Styled{randomLine(r)}, lines...)
	case 3, 4:
		if n > 0 {
			i := r.IntN(n)
			lines[i] = append(append(text.Styled(nil), lines[i]...), randomLine(r)...)
		}
	case 5:
		if n > 0 {
			lines[r.IntN(n)] = randomLine(r)
		}
	}
	return Frame{Lines: lines, Cursor: Cursor{Column: r.IntN(columns), Row: r.IntN(rows), Shown: r.IntN(4) > 0}}
}

// After any frames the terminal shows what it shows of the last one alone, whatever the
// terminal can do; the cursor is where it belongs; and nothing came that it does not know.
func TestDifferenceIsTheFrame(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 20))
	for round := range 150 {
		columns, rows := 1+r.IntN(40), 1+r.IntN(12)
		f := term.Features{Unicode: r.IntN(8) > 0, Colors: term.Colors(r.IntN(4)), Sync: r.IntN(2) == 0, Clusters: r.IntN(2) == 0, Links: r.IntN(2) == 0}
		o := tuitest.Modern()
		if !f.Clusters {
			o.Clusters = tuitest.Sums
		}
		vt := tuitest.New(columns, rows, o)
		if f.Clusters {
			fmt.Fprint(vt, "\x1b[?2027h")
		}
		theme, _ := Pick([]string{"dark", "light", "plain"}[r.IntN(3)], f)
		var sent bytes.Buffer // of the last frame
		s := New(io.MultiWriter(vt, &sent), f, theme, columns, rows)
		var frame Frame
		for step := range 25 {
			if r.IntN(15) == 0 {
				columns, rows = 1+r.IntN(40), 1+r.IntN(12)
				vt.Resize(columns, rows)
				s.Resize(columns, rows)
			}
			frame = change(r, frame, columns, rows)
			sent.Reset()
			if err := s.Draw(frame); err != nil {
				t.Fatal(err)
			}
			fresh := tuitest.New(columns, rows, o)
			if f.Clusters {
				fmt.Fprint(fresh, "\x1b[?2027h")
			}
			if err := New(fresh, f, theme, columns, rows).Draw(frame); err != nil {
				t.Fatal(err)
			}
			if d := tuitest.Diff(cells(fresh), cells(vt)); d != "" {
				t.Fatalf("round %d, step %d, %dx%d, %+v, %q:\n%s", round, step, columns, rows, f, sent.String(), d)
			}
			if c := vt.Screen().Cursor; c.Column != frame.Cursor.Column && frame.Cursor.Shown || c.Row != frame.Cursor.Row && frame.Cursor.Shown {
				t.Fatalf("the cursor is at %s, want %+v", c, frame.Cursor)
			}
		}
		if u := vt.Unknown(); len(u) > 0 {
			t.Fatalf("unknown to the terminal: %q", u)
		}
		before := vt.Stats().Bytes
		s.Draw(frame)
		if got := vt.Stats().Bytes; got != before {
			t.Fatalf("%d bytes for a frame that did not change", got-before)
		}
	}
}

// cells is a screen without its cursor, which is where it ended when it is hidden.
func cells(vt *tuitest.Terminal) string {
	var out []string
	for _, l := range strings.Split(vt.Screen().Dump(), "\n") {
		if !strings.HasPrefix(l, "cursor ") {
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}

// What a frame says stands on the screen: cut at the edge, never splitting a glyph.
func TestFrameIsShown(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 21))
	for range 500 {
		columns := 1 + r.IntN(30)
		o := tuitest.Modern()
		vt := tuitest.New(columns, 1, o)
		fmt.Fprint(vt, "\x1b[?2027h")
		line := randomLine(r)
		New(vt, term.Features{Unicode: true, Clusters: true}, dark(), columns, 1).Draw(Frame{Lines: []text.Styled{line}})
		want, cells := "", 0
	spans:
		for _, span := range line {
			for c := range text.Graphemes(span.Text) {
				w := text.ClusterWidth(c)
				if w == 0 {
					c, w = " "+c, 1
				}
				if cells+w > columns {
					break spans
				}
				want, cells = want+c, cells+w
			}
		}
		if got := vt.Row(0); strings.TrimRight(got, " ") != strings.TrimRight(want, " ") {
			t.Fatalf("%d columns: got %q, want %q", columns, got, want)
		}
	}
}

// Nothing that a line holds reaches the terminal raw.
func TestNothingRaw(t *testing.T) {
	vt := tuitest.New(30, 3, tuitest.Modern())
	s := New(vt, term.Features{Unicode: true, Links: true, Colors: term.TrueColor}, dark(), 30, 3)
	hostile := []string{"\x1b[2J", "\x1b]52;c;eA==\x07", "\x9b31m", "a\tb", "a\nb", "\u202eabc", "\xff\xfe", "e" + strings.Repeat("\u0301", 5000), "\x00\x07\x7f"}
	for _, h := range hostile {
		s.Draw(Frame{Lines: []text.Styled{{{Text: h, Style: text.Style{Link: "https://x/\x1b\\" + h}}}, {{Text: "x", Style: text.Style{Link: "javascript:alert(1)"}}}}})
		row := vt.Row(0)
		if strings.ContainsFunc(row, text.Acts) || len(row) > 200 {
			t.Errorf("%q is shown as %q", h, row)
		}
	}
	_, clip := vt.Clipboard("c")
	if u := vt.Unknown(); len(u) > 0 || clip || len(vt.Notices()) > 0 {
		t.Errorf("unknown %q, clipboard %v, notices %v", u, clip, vt.Notices())
	}
	for y := range 2 {
		if link := vt.Screen().Cell(0, y).Style; strings.Contains(fmt.Sprint(link), "link") {
			t.Errorf("row %d: %v", y, link)
		}
	}
}

// chat is a screen as the program shows it: a conversation, a rule, a line to type in.
func chat(columns, rows, words int) Frame {
	var body strings.Builder
	for i := range words {
		fmt.Fprintf(&body, "word%d ", i)
	}
	lines := text.Of(body.String(), text.Normal).Wrap(columns - 3)
	lines = lines[max(len(lines)-rows+2, 0):]
	f := Frame{Lines: []text.Styled{text.Of(" alisio · model", text.Accent)}}
	for _, l := range lines {
		f.Lines = append(f.Lines, append(text.Unstyled("   "), l...))
	}
	for len(f.Lines) < rows-1 {
		f.Lines = append(f.Lines, nil)
	}
	f.Lines = append(f.Lines[:rows-1], text.Of(" › ", text.Accent))
	f.Cursor = Cursor{Column: 3, Row: rows - 1, Shown: true}
	return f
}

// One more streamed word is at most 200 bytes, when it makes the conversation scroll, too.
func TestBytesOfAWord(t *testing.T) {
	counted := &counter{}
	s := New(counted, term.Features{Unicode: true, Colors: term.TrueColor, Sync: true}, dark(), 80, 24)
	s.Draw(chat(80, 24, 0))
	most, all := 0, 0
	for n := 1; n < 2000; n++ {
		counted.n = 0
		s.Draw(chat(80, 24, n))
		most, all = max(most, counted.n), all+counted.n
	}
	t.Logf("%d bytes a word, at most %d", all/2000, most)
	if most > 200 {
		t.Errorf("%d bytes for a word", most)
	}
}

type counter struct{ n int }

func (c *counter) Write(p []byte) (int, error) { c.n += len(p); return len(p), nil }

func BenchmarkWord(b *testing.B) {
	s := New(io.Discard, term.Features{Unicode: true, Colors: term.TrueColor, Sync: true}, dark(), 80, 24)
	var frames []Frame
	for n := range 200 {
		frames = append(frames, chat(80, 24, n))
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Draw(frames[i%200])
	}
}

func BenchmarkWhole(b *testing.B) {
	s := New(io.Discard, term.Features{Unicode: true, Colors: term.TrueColor, Sync: true}, dark(), 200, 60)
	f := chat(200, 60, 3000)
	b.ReportAllocs()
	for b.Loop() {
		s.Invalidate()
		s.Draw(f)
	}
}
