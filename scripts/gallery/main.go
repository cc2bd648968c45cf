// Gallery shows the pieces that the screens are made of, on the terminal that it is
// started on, and says which keys it gets: to look at them, and to try a terminal.
//
//	go run ./scripts/gallery [-safe]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"alisio/agent/diff"
	"alisio/agent/text"
	"alisio/tui"
	"alisio/tui/lex"
	"alisio/tui/markdown"
	"alisio/tui/screen"
	"alisio/tui/term"
)

const prose = "# Gallery\n\nSome *prose* with **weight**, `code` and a [link](https://example.org/path), 日本語, " +
	family + " and שלום.\n\n- one\n- two\n  - three\n\n> quoted\n\n```go\nfunc Total(lines []Line) int { return len(lines) } // all of them\n```\n\n" +
	"| file | lines |\n| --- | ---: |\n| total.go | 12 |\n| tax.go | 345 |\n"

// family is one glyph of five characters. Some terminals do not say how wide it is to
// them, and then tell others another width than they draw it in.
const family = "👨\u200d👩\u200d👧"

const before, after = "package tax\n\nfunc Sum() int {\n\treturn round(1)\n}\n", "package tax\n\nfunc Sum() int {\n\treturn round(2) + 1\n}\n"

func main() { os.Exit(run()) }

func run() int {
	safe := flag.Bool("safe", false, "leave out what terminals differ on")
	flag.Parse()
	t, err := term.Open(term.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return 1
	}
	defer t.Close()
	defer t.Guard()
	shown := prose
	if *safe {
		shown = strings.ReplaceAll(prose, family, "…")
	}
	g := newGallery(t, shown)
	if err := tui.NewLoop(t.Events(), g).Run(context.Background()); err != nil {
		t.Close()
		fmt.Fprintln(os.Stderr, "error:", err)
		return 1
	}
	return 0
}

// gallery is the state of the screen.
type gallery struct {
	term   *term.Terminal
	screen *screen.Screen
	viewer *tui.Viewer
	last   string // what was told last
	begun  time.Time
	works  bool // a spinner turns
}

func newGallery(t *term.Terminal, prose string) *gallery {
	columns, rows := t.Size()
	theme, _ := screen.Pick("auto", t.Features())
	g := &gallery{term: t, screen: screen.New(t, t.Features(), theme, columns, rows), viewer: tui.NewViewer(columns, rows-2), begun: time.Now()}
	doc := &markdown.Doc{}
	doc.Append(prose)
	doc.Finish()
	colours := func(path string) tui.Lexer {
		l, ok := lex.Lookup(path)
		if !ok {
			return nil
		}
		var state lex.State
		return func(line string) (styled text.Styled) {
			state, styled = l.Line(state, line)
			return styled
		}
	}
	changed, err := tui.NewDiff(diff.Unified("tax.go", []byte(before), []byte(after), 3), colours)
	if err != nil {
		g.last = err.Error()
	}
	table := &tui.Table{Columns: []tui.Column{{Title: "piece", Weight: 1}, {Title: "cells", Align: tui.Right}}, Rows: [][]text.Styled{
		{text.Unstyled("bar"), tui.Bar(10, 6, 10, 0.8)}, {text.Unstyled("bar that is full"), tui.Bar(10, 9, 10, 0.8)},
	}}
	g.viewer.Add(doc, tui.Lines{tui.Rule(40)}, changed, tui.Lines{nil}, table, tui.Lines(tui.Box(text.Of("a box", text.Accent), []text.Styled{text.Unstyled("of two"), text.Unstyled("rows")}, 30)))
	for i := range 200 {
		g.viewer.Add(tui.Foreign(fmt.Sprintf("line %d of a long history", i), text.Dim))
	}
	g.viewer.Home()
	return g
}

// Handle scrolls, searches, and ends with q.
func (g *gallery) Handle(event any) (changed, more bool) {
	switch e := event.(type) {
	case term.Resize:
		g.screen.Resize(e.Columns, e.Rows)
		g.viewer.Resize(e.Columns, e.Rows-2)
		g.last = fmt.Sprintf("%d×%d", e.Columns, e.Rows)
	case term.Resumed:
		g.screen.Invalidate()
		g.last = "resumed"
	case term.Changed:
		g.screen.SetFeatures(e.Features)
		theme, _ := screen.Pick("auto", e.Features)
		g.screen.SetTheme(theme)
		return true, true
	case term.Paste:
		g.last = fmt.Sprintf("pasted %d bytes", len(e.Text))
	case term.Closed:
		return false, false
	case term.Key:
		g.last = e.String()
		return true, g.key(e)
	default:
		g.last = fmt.Sprintf("%T", e)
	}
	return true, true
}

func (g *gallery) key(k term.Key) (more bool) {
	switch k.String() {
	case "q", "ctrl+c", "ctrl+d":
		return false
	case "up":
		g.viewer.Scroll(-1)
	case "down":
		g.viewer.Scroll(1)
	case "pageup":
		g.viewer.Page(-1)
	case "pagedown":
		g.viewer.Page(1)
	case "home":
		g.viewer.Home()
	case "end":
		g.viewer.End()
	case "f":
		g.viewer.Find("line 1")
	case "n":
		g.viewer.Next()
	case "w":
		g.works = !g.works
	case "ctrl+l":
		g.screen.Invalidate()
	case "ctrl+z":
		if err := g.term.Suspend(); err != nil {
			g.last = err.Error()
		}
	}
	return true
}

// Tick is when the spinner turns.
func (g *gallery) Tick() time.Duration {
	if g.works {
		return tui.SpinnerStep
	}
	return 0
}

// Draw draws the frame. A terminal that is not ours now gets it later.
func (g *gallery) Draw() error {
	columns, rows := g.screen.Size()
	lines := g.viewer.Lines()
	for len(lines) < rows-2 {
		lines = append(lines, nil)
	}
	status := text.Of(" › ", text.Accent).With(g.last, text.Normal)
	if g.works {
		status = text.Of(" "+tui.Spinner(time.Since(g.begun))+" ", text.Accent).With(g.last, text.Normal)
	}
	keys := text.Of("↑ ↓ PgUp PgDn · f n find · w work · q quit ", text.Dim)
	if status.Width()+keys.Width() < columns {
		status = tui.Sides(status, keys, columns)
	}
	lines = append(lines, tui.Rule(columns), status)
	err := g.screen.Draw(screen.Frame{Lines: lines, Cursor: screen.Cursor{Column: min(3+text.Width(g.last), columns-1), Row: rows - 1, Shown: true}})
	if errors.Is(err, term.ErrBusy) || errors.Is(err, term.ErrClosed) {
		return nil
	}
	return err
}
