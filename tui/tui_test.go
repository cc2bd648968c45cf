package tui

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"alisio/agent/text"
)

// shown is rows without their styles, spaces at the ends left out.
func shown(lines []text.Styled) []string {
	out := []string{}
	for _, l := range lines {
		out = append(out, strings.TrimRight(l.String(), " "))
	}
	return out
}

// all is every row of a block.
func all(b Block, width int) []text.Styled {
	var lines []text.Styled
	for i := range b.Len(width) {
		lines = append(lines, b.Line(i))
	}
	return lines
}

func wantLines(t *testing.T, got []text.Styled, want ...string) {
	t.Helper()
	if want == nil {
		want = []string{}
	}
	if g := shown(got); !reflect.DeepEqual(g, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(g, "\n"), strings.Join(want, "\n"))
	}
}

func TestWrappedGrows(t *testing.T) {
	w := Wrap(text.Unstyled("one two three"))
	wantLines(t, all(w, 8), "one two", "three")
	w.Add(text.Unstyled("four five"), nil)
	wantLines(t, all(w, 8), "one two", "three", "four", "five", "")
	wantLines(t, all(w, 20), "one two three", "four five", "")
}

func TestForeignTextIsClean(t *testing.T) {
	w := Foreign("a\x1b[31mb\tc\r\nd\u202ee\n", text.Dim)
	wantLines(t, all(w, 40), "ab      c", "de")
}

// A line that was broken is one line for who copies it.
func TestWrappedContinues(t *testing.T) {
	for _, line := range []string{"one two   three four", "日本語日本語", "aaaaaaaaaaaa", "x  "} {
		for width := 1; width < 15; width++ {
			w := Wrap(text.Unstyled("before"), text.Unstyled(line))
			var b strings.Builder
			for i := range w.Len(width) {
				gap, yes := w.Continues(i)
				switch {
				case yes:
					b.WriteString(gap)
				case i > 0:
					b.WriteByte('\n')
				}
				b.WriteString(w.Line(i).String())
			}
			want := "before\n" + line
			if width == 1 && strings.Contains(line, "日") {
				want = "before\n……………" + "…"
			}
			if got := b.String(); strings.TrimRight(got, " ") != strings.TrimRight(want, " ") {
				t.Errorf("width %d: got %q, want %q", width, got, want)
			}
		}
	}
}

func TestIndented(t *testing.T) {
	b := Indented{Wrap(text.Unstyled("one two three")), text.Of("› ", text.Accent), text.Unstyled("  ")}
	wantLines(t, all(b, 10), "› one two", "  three")
	wantLines(t, all(b, 1), "› o", "  n", "  e", "  t", "  w", "  o", "  t", "  h", "  r", "  e", "  e")
}

func TestBar(t *testing.T) {
	for _, c := range []struct {
		part, whole int64
		want        string
		role        text.Role
	}{
		{0, 100, "░░░░░░░░░░", text.Dim}, {1, 100, "▓░░░░░░░░░", text.Accent}, {99, 100, "▓▓▓▓▓▓▓▓▓░", text.Bad},
		{100, 100, "▓▓▓▓▓▓▓▓▓▓", text.Bad}, {1000, 100, "▓▓▓▓▓▓▓▓▓▓", text.Bad}, {70, 100, "▓▓▓▓▓▓▓░░░", text.Warn},
		{5, 0, "░░░░░░░░░░", text.Dim}, {-5, 10, "░░░░░░░░░░", text.Dim},
	} {
		got := Bar(10, c.part, c.whole, 0.8)
		if got.String() != c.want || got.Clip(1)[0].Role != c.role && got.Clip(1)[0].Text != "" {
			t.Errorf("%d of %d: got %q in %v, want %q in %v", c.part, c.whole, got, got[0].Role, c.want, c.role)
		}
	}
	if got := Bar(0, 1, 2, 0); got != nil {
		t.Errorf("no cells: got %v", got)
	}
}

func TestTable(t *testing.T) {
	table := &Table{
		Columns: []Column{{Title: "name", Least: 4, Weight: 1}, {Title: "size", Align: Right}, {Title: "what", Weight: 2, Least: 3}},
		Rows: [][]text.Styled{
			{text.Unstyled("total.go"), text.Unstyled("12"), text.Unstyled("adds the lines up")},
			{text.Unstyled("日本語.go"), text.Unstyled("3456")},
		},
	}
	wantLines(t, all(table, 60), "name       size  what", "total.go     12  adds the lines up", "日本語.go  3456")
	wantLines(t, all(table, 26), "name       size  what", "total.go     12  adds the…", "日本語.go  3456")
	wantLines(t, all(table, 16), "name   size  wh…", "tota…    12  ad…", "日本…  3456")
	wantLines(t, all(table, 10), "name  size", "tot…    12", "日…   3456")
	wantLines(t, all(table, 3), "na…", "to…", "日…")
}

func TestSides(t *testing.T) {
	left, right := text.Unstyled("left side"), text.Unstyled("right")
	for cells, want := range map[int]string{
		20: "left side      right", 15: "left side right", 12: "left … right", 7: "… right", 6: " right", 5: "right", 3: "ri…",
	} {
		if got := Sides(left, right, cells); got.String() != want {
			t.Errorf("%d: got %q, want %q", cells, got, want)
		}
	}
}

func TestBox(t *testing.T) {
	wantLines(t, Box(text.Unstyled("a title"), []text.Styled{text.Unstyled("日本語"), text.Unstyled("too long for it")}, 16),
		"┌ a title ─────┐", "│ 日本語       │", "│ too long fo… │", "└──────────────┘")
	wantLines(t, Box(text.Unstyled("a title"), []text.Styled{text.Unstyled("x")}, 4), "x")
	for columns := range 30 {
		for _, l := range Box(text.Unstyled("日本語 title"), []text.Styled{text.Unstyled("x")}, columns) {
			if columns > 4 && l.Width() != columns {
				t.Errorf("%d columns: %q is %d wide", columns, l, l.Width())
			}
		}
	}
	wantLines(t, []text.Styled{Rule(5), RuleWith(20, text.Unstyled("3 more")), RuleWith(8, text.Unstyled("3 more"))},
		"─────", "────────── 3 more ──", "────────")
}

func TestListScrolls(t *testing.T) {
	l := NewList(3)
	for i := range 9 {
		l.Rows = append(l.Rows, text.Unstyled(fmt.Sprint("row ", i)))
	}
	l.Labels = []text.Styled{nil, text.Of("x", text.Dim)}
	wantLines(t, l.Lines(12), "› row 0", "  row 1    x", "  row 2")
	l.Move(4)
	wantLines(t, l.Lines(12), "  row 2", "  row 3", "› row 4")
	l.Move(-1)
	wantLines(t, l.Lines(12), "  row 2", "› row 3", "  row 4")
	l.Page(9)
	wantLines(t, l.Lines(12), "  row 6", "  row 7", "› row 8")
	if above, below := l.Hidden(); above != 6 || below != 0 {
		t.Errorf("hidden: %d and %d", above, below)
	}
	l.Rows = l.Rows[:2]
	wantLines(t, l.Lines(12), "  row 0", "› row 1    x")
	l.Rows = nil
	l.Move(1)
	wantLines(t, l.Lines(12))
}

func node(id, parent string) Node { return Node{ID: id, Parent: parent, Label: text.Unstyled(id)} }

func TestTree(t *testing.T) {
	tree := &Tree{Window: Window{Height: 10}}
	tree.Set([]Node{node("a", ""), node("b", "a"), node("c", "b"), node("d", ""), node("e", "gone"), node("f", "a")})
	wantLines(t, tree.Lines(20), "› ▾ a", "    ▾ b", "        c", "      f", "    d", "    e")
	tree.Find("b")
	tree.Fold()
	wantLines(t, tree.Lines(20), "  ▾ a", "›   ▸ b", "      f", "    d", "    e")
	tree.Fold() // to its parent
	if tree.ID() != "a" {
		t.Errorf("chosen: %s", tree.ID())
	}
	tree.Find("b")
	tree.Unfold()
	tree.Unfold() // to its child
	if tree.ID() != "c" {
		t.Errorf("chosen: %s", tree.ID())
	}
	// What is chosen stays, though nodes come and go before it.
	tree.Set([]Node{node("x", ""), node("a", ""), node("b", "a"), node("c", "b")})
	if tree.ID() != "c" {
		t.Errorf("chosen: %s", tree.ID())
	}
	tree.Set(nil)
	tree.Fold()
	tree.Unfold()
	tree.Toggle()
	if tree.ID() != "" {
		t.Errorf("chosen of nothing: %s", tree.ID())
	}
}

// What a plugin says of parents may be anything; each node is shown once.
func TestTreeOfHostileNodes(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	for range 2000 {
		nodes := make([]Node, r.IntN(12))
		for i := range nodes {
			nodes[i] = node(fmt.Sprint(r.IntN(10)), fmt.Sprint(r.IntN(10)))
		}
		tree := &Tree{Window: Window{Height: 20}}
		tree.Set(nodes)
		if got := len(tree.Lines(10)); got != len(nodes) {
			t.Fatalf("%d of %d nodes are shown: %v", got, len(nodes), nodes)
		}
	}
	var chain []Node
	for i := range 3000 {
		chain = append(chain, node(fmt.Sprint(i), fmt.Sprint(i-1)))
	}
	tree := &Tree{Window: Window{Height: 3000}}
	tree.Set(chain)
	if got := len(tree.Lines(40)); got != 3000 {
		t.Errorf("%d rows of a deep chain", got)
	}
}
