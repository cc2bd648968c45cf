package markdown

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"alisio/agent/text"
)

var rounds = flag.Int("rounds", 400, "random documents to try")

var update = flag.Bool("update", false, "rewrite the expected parts of the files below testdata")

// whole is a finished document in one piece.
func whole(s string) *Doc {
	d := &Doc{}
	d.Append(s)
	d.Finish()
	return d
}

// draw writes rows with the styles that a reader of the file can see: *bold*, /italic/,
// -struck-, `code`, link text as <text|url>.
func draw(l text.Styled) string {
	var b strings.Builder
	for _, s := range l {
		open, end := "", ""
		wrap := func(o, e string) { open, end = open+o, e+end }
		if s.Attr&text.Bold != 0 {
			wrap("{b ", "}")
		}
		if s.Attr&text.Italic != 0 {
			wrap("{i ", "}")
		}
		if s.Attr&text.Strike != 0 {
			wrap("{s ", "}")
		}
		if s.Role == text.Code {
			wrap("{c ", "}")
		}
		if s.Role == text.Link {
			wrap("{"+s.Link+" ", "}")
		}
		t := s.Text
		if s.On == text.Quiet {
			t = strings.ReplaceAll(t, " ", "·")
		}
		b.WriteString(open + t + end)
	}
	return b.String()
}

// Each file of testdata is Markdown, and behind a line "=== WIDTH" what it looks like.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %d files, error %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			source, _, _ := strings.Cut(string(data), "=== 20\n")
			var b strings.Builder
			b.WriteString(source)
			d := whole(source)
			for _, width := range []int{20, 40, 80, 200} {
				fmt.Fprintf(&b, "=== %d\n", width)
				for i := range d.Len(width) {
					line := d.Line(i)
					if got := line.Width(); got > width {
						t.Errorf("width %d: got %d cells in %q", width, got, line)
					}
					b.WriteString(strings.TrimRight(draw(line), " ") + "\n")
				}
			}
			if *update {
				if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got, want := b.String(), string(data); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// pieces are put together at random, so that what opens meets what closes and what
// should not be there.
var pieces = []string{
	"word ", "word", " ", "  ", "\n", "\n", "\n\n", "  \n", "*", "**", "***", "_", "__", "~~", "~", "`", "``", "```", "```go\n", "~~~\n",
	"- ", "* ", "1. ", "2) ", "10. ", "> ", ">", "# ", "## ", "---", "===", "|", " | ", "|---|---|\n", "| a | b |\n", "[", "]", "](", ")",
	"](https://example.org/x)", "[a]: https://a.org\n", "[a]", "[^1]", "[^1]: ", "![", "<", ">", "<br>", "<div>", "https://x.org/a_b", "&amp;", "&",
	"&#27;", "\\", "\\*", "\t", "    ", "   ", "é", "e\u0301", "界", "世界", "👩‍👩‍👧", "🇩🇪", "\u202e", "\x1b[31m", "\x00", "\xff", "\xe4\xb8", "\r\n", "\r",
	"$x_1$", "$$\n", "\\[", "- [ ] ", "- [x] ", "func main() {", "a long sentence that has to be wrapped somewhere ", "!", ":", ".", "(", "שלום ",
	"averylongwordwithoutanyblankinitthatgoesonandon", "{", "\"", "/*", "*/",
}

func random(r *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

func rows(d *Doc, width int) []string {
	out := make([]string, d.Len(width))
	for i := range out {
		out[i] = fmt.Sprintf("%+v", []text.Span(d.Line(i)))
	}
	return out
}

// check feeds a document in pieces, looking at it in between, and complains unless closed
// rows stay what they are and the end is that of the document in one piece.
func check(t *testing.T, source string, width int, cut func() int) {
	t.Helper()
	want := rows(whole(source), width)
	d := &Doc{}
	var closed []string
	for rest := source; rest != ""; {
		n := min(max(cut(), 1), len(rest))
		d.Append(rest[:n])
		rest = rest[n:]
		if n%3 == 0 {
			continue
		}
		total := d.Len(width)
		if d.Closed() < len(closed) || d.Closed() > total {
			t.Fatalf("%q: got %d closed rows of %d after %d", source[:len(source)-len(rest)], d.Closed(), total, len(closed))
		}
		for i := len(closed); i < d.Closed(); i++ {
			closed = append(closed, fmt.Sprintf("%+v", []text.Span(d.Line(i))))
		}
		for i := d.Closed(); i < total; i++ {
			valid(t, source, d.Line(i), width)
		}
		if d.Line(total) != nil {
			t.Fatalf("got a row behind the last one")
		}
	}
	d.Finish()
	got := rows(d, width)
	for i := range d.Len(width) {
		valid(t, source, d.Line(i), width)
	}
	for i, c := range closed {
		if i >= len(got) || got[i] != c {
			t.Fatalf("%q at %d: closed row %d was %s, is %s", source, width, i, c, at(got, i))
		}
	}
	for i := range max(len(got), len(want)) {
		if at(got, i) != at(want, i) {
			t.Fatalf("%q at %d: row %d\ngot  %s\nwant %s", source, width, i, at(got, i), at(want, i))
		}
	}
	if d.Closed() != len(got) {
		t.Fatalf("got %d closed rows of %d at the end", d.Closed(), len(got))
	}
}

func at(rows []string, i int) string {
	if i < len(rows) {
		return rows[i]
	}
	return "(none)"
}

// valid complains about a row that is too wide or could act on a screen.
func valid(t *testing.T, source string, l text.Styled, width int) {
	t.Helper()
	if l.Width() > width {
		t.Fatalf("%q: got %d cells of %d in %+v", source, l.Width(), width, []text.Span(l))
	}
	for _, s := range l {
		if !utf8.ValidString(s.Text) || strings.ContainsFunc(s.Text, text.Acts) {
			t.Fatalf("%q: got unsafe text %q", source, s.Text)
		}
		if s.Link != "" && !strings.HasPrefix(strings.ToLower(s.Link), "http") {
			t.Fatalf("%q: got a link to %q", source, s.Link)
		}
	}
}

func TestAnyCutsGiveTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(8, uint64(*rounds)))
	for range *rounds {
		source := random(r, 5+r.IntN(60))
		width := []int{1, 3, 8, 20, 41, 80}[r.IntN(6)]
		most := 1 + r.IntN(12)
		check(t, source, width, func() int { return 1 + r.IntN(most) })
	}
}

func FuzzCuts(f *testing.F) {
	f.Add("# a\n\n- b **c**\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", uint8(20), uint8(3))
	f.Fuzz(func(t *testing.T, source string, width, step uint8) {
		source = source[:min(len(source), 2000)] // every row is looked at after each piece
		check(t, source, int(width)+1, func() int { return int(step) + 1 })
	})
}

func TestMegabyteInOneLine(t *testing.T) {
	for _, piece := range []string{"word ", "世", "**b** "} {
		for _, front := range []string{"", "> - ", "```\n"} {
			start := time.Now()
			d := whole(front + strings.Repeat(piece, 1<<20/len(piece)))
			if n := d.Len(80); n < 1000 {
				t.Errorf("%q and %q: got %d rows", front, piece, n)
			}
			if took := time.Since(start); took > 4*time.Second {
				t.Errorf("%q and %q took %v", front, piece, took)
			}
		}
	}
}

// Long texts of one mark, or of a few in turn: whatever they are, the time is linear and
// so far below the bound. A quadratic parser takes minutes.
func TestHostileTexts(t *testing.T) {
	const size = 30_000
	for _, piece := range []string{
		">", "> ", "*", "* ", "*a ", "**a ", "a*", "_a_", "[", "[a", "[a](", "[a](b) ", "![", "]", "`", "` ", "`a ``b ", "```\n", "- ", "-", "- - a\n",
		"1. ", "1. a\n", "#", "# a\n", "|", "| a ", "|-", "a|b\n-|-\n", "| a | b |\n", "<", "<br>", "<a", "&", "&amp;", "&#", "\\", "\\(", "$", "$a ", "~~", "~~a ",
		":", "http://", "https://a.b ", "(https://a.b/c", " ", "\t", "    a\n", "\n", "a", "a ", "界", "a\n", "e\u0301", "\u0301", "\u200b", "👩‍", "🇩", "\x1b[", "\x1b]", "\r", "\b",
		"a**b", "***a** b* ", "[a]: b\n", "[^a] ", "[^a]: b\n", "- [ ] a\n", "  ", "a  \n", "=\n", "a\n=\n", "`a` ", "*a_b* ", "\xff", "$$\n",
	} {
		source := strings.Repeat(piece, size/len(piece))
		start := time.Now()
		d := whole(source)
		d.Len(80)
		if took := time.Since(start); took > time.Second {
			t.Errorf("%q repeated took %v", piece, took)
		}
		start = time.Now()
		d = &Doc{}
		for i := 0; i < len(source); i += 250 {
			d.Append(source[i:min(i+250, len(source))])
			d.Len(80)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("%q repeated, in 200 pieces, took %v", piece, took)
		}
	}
}
