package markdown

import (
	"strings"
	"testing"

	"alisio/agent/text"
)

// plainRows is what a document looks like without styles.
func plainRows(d *Doc, width int) []string {
	var out []string
	for i := range d.Len(width) {
		out = append(out, strings.TrimRight(d.Line(i).String(), " "))
	}
	return out
}

// While a mark has no end yet it is shown as if it had one: nothing that stood there
// jumps when the end comes.
func TestMarksDoNotFlash(t *testing.T) {
	for _, tt := range []struct{ source, want string }{
		{"some **bold text** here", "some bold text here"},
		{"some *italic* here", "some italic here"},
		{"some `code here` and", "some code here and"},
		{"some ~~struck~~ out", "some struck out"},
		{"a ***b*** c", "a b c"},
		{"**first** word", "first word"},
		{"a [link](https://example.org/long/path) b", "a link (example.org) b"},
	} {
		d := &Doc{}
		for i := range len(tt.source) {
			d.Append(tt.source[i : i+1])
			got := strings.Join(plainRows(d, 80), "\n")
			shown := strings.TrimPrefix(got, "a [link")
			if strings.ContainsAny(shown, "*`~") || strings.Contains(shown, "](") || strings.Contains(shown, "/long") {
				t.Errorf("%q: got %q on the screen", tt.source[:i+1], got)
			}
		}
		d.Finish()
		if got := strings.Join(plainRows(d, 80), "\n"); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.source, got, tt.want)
		}
	}
}

// What ends a document without its end is text as it was written.
func TestOpenMarksAreTextAtTheEnd(t *testing.T) {
	for _, source := range []string{"a **b", "a `b", "a ~~b", "a [b](c", "a [b", "5 * 3 *4", "a **", "a &am", "a <b", `a \`, "a ![", "a $b"} {
		if got := strings.Join(plainRows(whole(source), 80), "\n"); got != source {
			t.Errorf("got %q, want %q", got, source)
		}
	}
}

func TestLinksOfTheWebAlone(t *testing.T) {
	for _, tt := range []struct{ source, link, want string }{
		{"[a](https://example.org/x)", "https://example.org/x", "a (example.org)"},
		{"[a](HTTP://example.org)", "HTTP://example.org", "a (example.org)"},
		{"[example.org](https://example.org/)", "https://example.org/", "example.org"},
		{"[https://good.org](https://evil.org)", "https://evil.org", "https://good.org (evil.org)"},
		{"[a](javascript:alert(1))", "", "a (javascript:alert(1))"},
		{"[a](file:///etc/passwd)", "", "a (file:///etc/passwd)"},
		{"[a](https://good.org@evil.org/)", "", "a (https://good.org@evil.org/)"},
		{"[a](https://аpple.com/)", "", "a (https://аpple.com/)"},
		{`[a](https://good.org\@evil.org)`, "", "a (https://good.org@evil.org)"},
		{"[a](./b.md)", "", "a (./b.md)"},
		{"<https://a.org/b>", "https://a.org/b", "https://a.org/b"},
		{"see https://a.org/b_c.", "https://a.org/b_c", "see https://a.org/b_c."},
		{"(https://a.org/x_(y))", "https://a.org/x_(y)", "(https://a.org/x_(y))"},
		{"xhttps://a.org", "", "xhttps://a.org"},
		{"![alt *x*](https://i.org/p.png)", "https://i.org/p.png", "[image: alt x] (i.org)"},
		{"[r]: https://r.org 'title'\n\n[text][R] and [r][] and [r]", "https://r.org", "text (r.org) and r (r.org) and r (r.org)"},
		{"[r]\n\n[r]: https://r.org", "", "[r]"},
		{"[a](https://x.org/\x1b]8;;https://evil.org\x07)", "https://x.org/", "a (x.org)"},
		{"[a](https://" + strings.Repeat("x", 3000) + ".org)", "", "[a](https://" + strings.Repeat("x", 3000) + ".org)"},
	} {
		d := whole(tt.source)
		link, shown := "", ""
		for i := range d.Len(4000) {
			for _, s := range d.Line(i) {
				shown += s.Text
				if s.Link != "" {
					link = s.Link
				}
			}
		}
		if link != tt.link || tt.want != "" && shown != tt.want {
			t.Errorf("%q: got %q to %q, want %q to %q", tt.source, shown, link, tt.want, tt.link)
		}
	}
}

func TestInline(t *testing.T) {
	for _, tt := range []struct{ source, want string }{
		{"snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"},
		{"`` a ` b ``", "{c a ` b}"},
		{"*a **b** c*", "{i a }{b {i b}}{i  c}"},
		{"**a*b**", "{b a*b}"},
		{"a\\\nb", "a\nb"},
		{"a  \nb", "a\nb"},
		{"a\nb", "a b"},
		{"a<br>b<BR/>c", "a\nb\nc"},
		{"a<script>b", "a<script>b"},
		{"&lt;&#x41;&nosuch;&#0;", "<A&nosuch;\uFFFD"},
		{"&#27;[31m&#x202e;x", "[31mx"},
		{"cost $5 and $10_a_", "cost $5 and $10_a_"},
		{"$a_1 * b_2$ and \\(x_1 * y_2\\)", "$a_1 * b_2$ and \\(x_1 * y_2\\)"},
		{"**注意：**请看", "{b 注意：}请看"},
		{"**foo:**请", "{b foo:}请"},
		{"~5 and ~~gone~~", "~5 and {s gone}"},
		{"שלום עולם", "שלום עולם"},
		{"e\u0301 👩‍👩‍👧 🇩🇪", "e\u0301 👩‍👩‍👧 🇩🇪"},
		{"a\x1b[31mb\u202ec\x00d\xffe", "abcd\uFFFDe"},
	} {
		d := whole(tt.source)
		var got []string
		for i := range d.Len(80) {
			got = append(got, draw(d.Line(i)))
		}
		if s := strings.Join(got, "\n"); s != tt.want {
			t.Errorf("%q: got %q, want %q", tt.source, s, tt.want)
		}
	}
}

func TestCopyGivesTheSource(t *testing.T) {
	source := "> para of some words that wrap\n\n- x\n\n```go\nfunc main() {\n\tfmt.Println(\"a long line that wraps\")\n\n}\n```\n"
	d := whole(source)
	n := d.Len(20)
	code := "func main() {\n\tfmt.Println(\"a long line that wraps\")\n\n}"
	if got, want := d.Copy(0, n), "para of some words that wrap\n\nx\n\n"+code; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	first := 0
	for !strings.Contains(d.Line(first).String(), "func") {
		first++
	}
	if got, want := d.Copy(first, n), code; got != want {
		t.Errorf("code: got %q, want %q", got, want)
	}
	if got, want := d.Source(first+2), "\tfmt.Println(\"a long line that wraps\")"; got != want {
		t.Errorf("got source %q, want %q", got, want)
	}
	if got, want := d.Source(1), "para of some words that wrap"; got != want {
		t.Errorf("got source %q, want %q", got, want)
	}
	if got := d.Source(n) + d.Source(-1) + d.Copy(n, n+5); got != "" {
		t.Errorf("behind the end: got %q", got)
	}
}

func TestDroppedRowsComeBack(t *testing.T) {
	d := whole(answer(50_000))
	want := rows(d, 50)
	d.Drop()
	got := rows(d, 50)
	if len(got) != len(want) {
		t.Fatalf("got %d rows, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("row %d: got %s, want %s", i, got[i], want[i])
		}
	}
	if d.held > 2*keep {
		t.Errorf("got %d rows in memory", d.held)
	}
}

// A resize in the middle of a stream is as if the document had been drawn at the new
// width from the start.
func TestResizeInTheStream(t *testing.T) {
	source := answer(3_000)
	d := &Doc{}
	for i, p := range deltas(source, 10_000) {
		d.Append(p)
		d.Len([]int{80, 20, 33}[i%3])
	}
	d.Finish()
	for _, width := range []int{1, 20, 80} {
		got, want := rows(d, width), rows(whole(source), width)
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("width %d: the rows differ", width)
		}
	}
}

func TestZeroDoc(t *testing.T) {
	var d Doc
	if d.Line(0) != nil || d.Len(80) != 0 || d.Closed() != 0 || d.Source(0) != "" || d.Copy(0, 9) != "" {
		t.Error("an empty document has rows")
	}
	d.Drop()
	d.Finish()
	d.Finish()
	d.Append("late")
	if got := d.Len(80); got != 0 {
		t.Errorf("got %d rows of what came after the end", got)
	}
}

// A table whose rows arrive is a table from its head on.
func TestStreamedTable(t *testing.T) {
	d := &Doc{}
	source := "| Name | Size |\n|------|-----:|\n| a | 1 |\n| bb | 22 |\n"
	for i := range len(source) {
		d.Append(source[i : i+1])
		for _, r := range plainRows(d, 40) {
			if strings.Contains(r, "|") {
				t.Errorf("%q: got the row %q", source[:i+1], r)
			}
		}
	}
	d.Finish()
	want := "Name │ Size\n─────┼─────\na    │    1\nbb   │   22"
	if got := strings.Join(plainRows(d, 40), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got, want := strings.Join(plainRows(d, 8), "\n"), "Name │\nSize\n────────\nName: a\nSize: 1\n────────\nName: bb\nSize: 22"; got != want {
		t.Errorf("as records: got\n%s\nwant\n%s", got, want)
	}
}

// The ground of code reaches over the whole width, whatever the glyphs are.
func TestCodeIsARectangle(t *testing.T) {
	d := whole("```\nab\n世界世界世界\n\tx\n```\n")
	for _, width := range []int{5, 20, 80} {
		for i := range d.Len(width) {
			if got := d.Line(i).Width(); got != width && got != width-1 {
				t.Errorf("width %d: got %d cells in row %d", width, got, i)
			}
			for _, s := range d.Line(i) {
				if s.On != text.Quiet {
					t.Errorf("got %+v without the ground", s)
				}
			}
		}
	}
}
