package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"alisio/agent/text"
	"alisio/plug"
)

// permutations calls do with every order of n things.
func permutations(n int, do func(order []int)) {
	var step func(order []int)
	step = func(order []int) {
		if len(order) == n {
			do(order)
			return
		}
		for i := range n {
			if !slices.Contains(order, i) {
				step(append(slices.Clone(order), i))
			}
		}
	}
	step(nil)
}

// provider is one provider of an extension point in a test.
type provider struct {
	id       string
	priority int
}

func TestExtensionWinnerUnderEveryLoadOrder(t *testing.T) {
	for name, c := range map[string]struct {
		plugins  map[string][]provider
		winner   string
		conflict string
	}{
		"highest priority": {
			plugins: map[string][]provider{"a": {{"x", 1}}, "b": {{"x", 5}, {"y", 4}}, "c": {{"x", -3}}, "d": {{"z", 4}}},
			winner:  "b/x",
		},
		"then the plugin's id": {
			plugins:  map[string][]provider{"d": {{"x", 5}}, "b": {{"z", 5}, {"y", 1}}, "c": {{"x", 5}}, "a": {{"x", 4}}},
			winner:   "b/z",
			conflict: "extension point %s: b/z is used; c/x, d/x has the same priority",
		},
		"then the order of registration": {
			plugins:  map[string][]provider{"b": {{"x", 0}}, "a": {{"z", -1}, {"y", 0}, {"x", 0}}, "c": {{"y", -1}}},
			winner:   "a/y",
			conflict: "extension point %s: a/y is used; a/x, b/x has the same priority",
		},
	} {
		ids := []string{}
		for id := range c.plugins {
			ids = append(ids, id)
		}
		orders := 0
		permutations(len(ids), func(order []int) {
			orders++
			h := toyHost(t, Options{})
			for _, i := range order {
				id := ids[i]
				plugin(t, h, id, func(api *plug.API) error {
					for _, p := range c.plugins[id] {
						title := id + "/" + p.id
						_, err := api.Extend.Mascot(plug.Mascot{ID: p.id, Priority: p.priority,
							Render: func(context.Context, plug.MascotContext) (string, error) { return title, nil }})
						_, err2 := api.Extend.StartupScreen(plug.StartupScreen{ID: p.id, Priority: p.priority,
							Render: func(_ context.Context, c plug.ScreenContext) (string, error) { return c.Mascot + " on " + title, nil }})
						_, err3 := api.Extend.WebSearch(plug.WebSearch{ID: p.id, Priority: p.priority,
							Search: func(context.Context, string) ([]plug.SearchHit, error) {
								return []plug.SearchHit{{Title: title, URL: "https://x"}}, nil
							}})
						if err := errors.Join(err, err2, err3); err != nil {
							return err
						}
					}
					return nil
				})
			}
			if got, want := h.Startup(t.Context(), plug.ScreenContext{}), c.winner+" on "+c.winner; got != want {
				t.Errorf("%s, %v: got %q, want %q", name, order, got, want)
			}
			if hits, err := h.WebSearch(t.Context(), "q"); err != nil || hits[0].Title != c.winner {
				t.Errorf("%s, %v: got %v, %v", name, order, hits, err)
			}
			var want, got []string
			for _, point := range []string{"mascot", "startup-screen", "websearch"} {
				if c.conflict != "" {
					want = append(want, fmt.Sprintf(c.conflict, point))
				}
			}
			for _, d := range h.Diagnostics() {
				var conflict *Conflict
				if d.Code != ExtensionConflict || !errors.As(d.Err, &conflict) || conflict.Winner != c.winner {
					t.Errorf("got %+v", d)
				}
				got = append(got, d.Err.Error())
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, %v: got %q, want %q", name, order, got, want)
			}
		})
		if orders < 6 {
			t.Errorf("%d orders", orders)
		}
	}
}

func TestConflictGoesWithTheProvider(t *testing.T) {
	h := toyHost(t, Options{})
	draw := func(context.Context, plug.MascotContext) (string, error) { return "m", nil }
	a, b := plugin(t, h, "a", nil), plugin(t, h, "b", nil)
	if _, err := a.Extend.Mascot(plug.Mascot{ID: "m", Render: draw}); err != nil {
		t.Fatal(err)
	}
	undo, err := b.Extend.Mascot(plug.Mascot{ID: "m", Render: draw})
	if err != nil || len(h.Diagnostics()) != 1 {
		t.Errorf("got %v, %v", h.Diagnostics(), err)
	}
	undo()
	if d := h.Diagnostics(); len(d) != 0 {
		t.Errorf("got %v", d)
	}
}

// A mascot, a screen or facts that fail in any way give the default, within their
// time, and one diagnostic however often the screen is shown.
func TestFailingProvidersFallBack(t *testing.T) {
	want := New(Options{}).Startup(t.Context(), plug.ScreenContext{Version: "1", Model: "m"})
	if !strings.Contains(want, greeting) || !strings.Contains(want, "~~~~") {
		t.Fatalf("the default is %q", want)
	}
	for name, way := range ways("250ms") {
		for _, point := range []string{"mascot", "startup-screen", "facts"} {
			t.Run(point+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := toyHost(t, Options{})
					plugin(t, h, "bad", func(api *plug.API) (err error) {
						switch point {
						case "mascot":
							_, err = api.Extend.Mascot(plug.Mascot{ID: "x", Render: func(ctx context.Context, _ plug.MascotContext) (string, error) { return "half", way.do(ctx) }})
						case "startup-screen":
							_, err = api.Extend.StartupScreen(plug.StartupScreen{ID: "x", Render: func(ctx context.Context, c plug.ScreenContext) (string, error) {
								c.Tips[0] = "changed"
								return "half", way.do(ctx)
							}})
						case "facts":
							_, err = api.Extend.Facts(plug.Facts{ID: "x", List: func(ctx context.Context) ([]plug.Fact, error) {
								return []plug.Fact{{Label: "half", Text: "half"}}, way.do(ctx)
							}})
						}
						return err
					})
					for range 3 {
						begin := time.Now()
						got := h.Startup(t.Context(), plug.ScreenContext{Version: "1", Model: "m"})
						got = strings.Replace(got, line(got, "plugins"), "", 1)
						if strings.TrimSpace(strip(got)) != strings.TrimSpace(strip(want)) {
							t.Errorf("got:\n%s\nwant:\n%s", got, want)
						}
						if took := time.Since(begin); took > extensionLimit {
							t.Errorf("it took %s", took)
						}
					}
					d := h.Diagnostics()
					if len(d) != 1 || d[0].Code != ExtensionFailed || d[0].Plugin != "bad" || !strings.HasPrefix(d[0].Err.Error(), point+" bad/x: "+way.want) {
						t.Errorf("got %v", d)
					}
					time.Sleep(time.Hour)
				})
			})
		}
	}
}

// line is the line of a screen that has a word in it.
func line(screen, word string) string {
	for l := range strings.Lines(screen) {
		if strings.Contains(l, word) {
			return l
		}
	}
	return ""
}

// strip leaves what has letters: the plugins' line may stand beside a piece of the
// mascot.
func strip(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return !('a' <= r && r <= 'z') }), " ")
}

func TestFactsAreSortedAndBounded(t *testing.T) {
	h := toyHost(t, Options{})
	list := func(facts ...plug.Fact) func(context.Context) ([]plug.Fact, error) {
		return func(context.Context) ([]plug.Fact, error) { return facts, nil }
	}
	plugin(t, h, "z", func(api *plug.API) error {
		_, err := api.Extend.Facts(plug.Facts{ID: "a", List: list(plug.Fact{Label: "last", Text: "6"})})
		return err
	})
	plugin(t, h, "a", func(api *plug.API) error {
		_, err := api.Extend.Facts(plug.Facts{ID: "two", List: list(plug.Fact{Label: "a label that is long", Text: "5"})})
		_, err2 := api.Extend.Facts(plug.Facts{ID: "one", List: list(
			plug.Fact{Label: "a", Text: "1\x1b[31m\n2"}, plug.Fact{Label: "empty", Text: "\x00"}, plug.Fact{Label: "c", Text: strings.Repeat("x", 1000)}, plug.Fact{Label: "d", Text: "4"},
			plug.Fact{Label: "fifth", Text: "5"})})
		return errors.Join(err, err2)
	})
	want := []plug.Fact{{Label: "a", Text: "1 2"}, {Label: "c", Text: strings.Repeat("x", maxFactText-1) + "…"}, {Label: "d", Text: "4"}, {Label: "a label t…", Text: "5"}, {Label: "last", Text: "6"}}
	if got := h.facts(t.Context()); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestScreenIsToldWhatItMayKnow(t *testing.T) {
	h := toyHost(t, Options{})
	var got plug.ScreenContext
	plugin(t, h, "one", nil)
	plugin(t, h, "two", func(api *plug.API) error {
		_, err := api.Extend.StartupScreen(plug.StartupScreen{ID: "s", Render: func(_ context.Context, c plug.ScreenContext) (string, error) {
			got = c
			return "", nil
		}})
		return err
	})
	drawn := h.Startup(t.Context(), plug.ScreenContext{
		Terminal: plug.Terminal{Columns: 1 << 30}, Version: "1\x1b[31m", Directory: "~/a\nb", Model: "m\x07", Server: "s", Access: "all", User: "u\u202e",
		Plugins: []string{"made up"}, Mascot: "made up", Facts: []plug.Fact{{Label: "made", Text: "up"}}, Tips: []string{"t\n1"},
	})
	want := fmt.Sprint(plug.ScreenContext{
		Terminal: plug.Terminal{Columns: maxColumns}, Version: "1", Directory: "~/a b", Model: "m", Server: "s", Access: "all", User: "u",
		Plugins: []string{"one", "two"}, Mascot: got.Mascot, Tips: []string{"t 1"},
	})
	if fmt.Sprint(got) != want || !strings.Contains(got.Mascot, ".-~~-.") || drawn != "" {
		t.Errorf("got %v\nwant %v\ndrawn %q", got, want, drawn)
	}
}

func TestWebSearch(t *testing.T) {
	h := toyHost(t, Options{})
	if _, err := h.WebSearch(t.Context(), "q"); !errors.Is(err, ErrNoSearch) || h.Searches() {
		t.Errorf("got %v", err)
	}
	do := func(string) ([]plug.SearchHit, error) { return nil, nil }
	plugin(t, h, "p", func(api *plug.API) error {
		_, err := api.Extend.WebSearch(plug.WebSearch{ID: "w", Search: func(_ context.Context, q string) ([]plug.SearchHit, error) { return do(q) }})
		return err
	})
	do = func(q string) ([]plug.SearchHit, error) {
		hits := []plug.SearchHit{
			{Title: "a\x1b[31m\n" + q, URL: "https://a/b?c=d", Snippet: strings.Repeat("é", maxHitText)},
			{URL: "javascript:alert(1)"}, {URL: "file:///etc/passwd"}, {URL: "https://u:p@a"}, {URL: "https://a/\x1b"}, {URL: "//a"}, {URL: "http://"},
			{URL: "https://a/" + strings.Repeat("x", maxHitURL)},
		}
		for range 2 * maxHits {
			hits = append(hits, plug.SearchHit{URL: "http://b"})
		}
		return hits, nil
	}
	hits, err := h.WebSearch(t.Context(), "q")
	if err != nil || !h.Searches() || len(hits) != maxHits || hits[0].Title != "a q" || len(hits[0].Snippet) != maxHitText || hits[1].URL != "http://b" {
		t.Errorf("got %d hits, %+v, %v", len(hits), hits, err)
	}
	do = func(string) ([]plug.SearchHit, error) { panic("x") }
	if _, err := h.WebSearch(t.Context(), "q"); err == nil || err.Error() != "search with p/w: panic: x" || len(h.Diagnostics()) != 1 {
		t.Errorf("got %v, %v", err, h.Diagnostics())
	}
}

// What extensions draw is safe and fits, whatever it is.
func TestPaint(t *testing.T) {
	full := plug.Terminal{Color: true, Unicode: true, Columns: 10}
	plain := plug.Terminal{Columns: 10}
	long := strings.Repeat("x\n", 100)
	for _, c := range []struct {
		name string
		t    plug.Terminal
		in   string
		want string
	}{
		{"text", plain, "ab\ncd\n", "ab|cd"},
		{"too wide", plain, "0123456789abc\nx", "0123456789|x"},
		{"wide characters", full, "日本語日本語", "日本語日本"},
		{"a wide one at the edge", full, "123456789日x", "123456789"},
		{"no unicode", plain, "é日a\u0301→\U0001F600", "??a??"},
		{"invalid", plain, "a\xffb", "a?b"},
		{"tabs", plain, "a\tb\t\tc", "a       b "},
		{"controls", full, "a\x00\x07\x08\x7f\u0085\u202eb", "b"},
		{"redraw", full, "abc\rx", "x"},
		{"color", full, "\x1b[31mred\x1b[0m no", "\x1b[31mred\x1b[0m no"},
		{"color without color", plain, "\x1b[31mred\x1b[0m no", "red no"},
		{"color that is not ended", full, "a\x1b[1;38;5;3mb\nc", "a\x1b[1;38;5;3mb\x1b[0m|\x1b[1;38;5;3mc\x1b[0m"},
		{"color that is cut", full, "0123456789\x1b[31mx", "0123456789"},
		{"color of nothing", full, "\x1b[31m\x1b[32m\n\nx\x1b[m", "||\x1b[31m\x1b[32mx\x1b[0m"},
		{"other sequences", full, "a\x1b[2Jb\x1b[10;10Hc\x1b]0;title\x07d\x1bPq\x1b\\e\x1b[?25lf\x1b(0g\x9b31mh", "abcdefgh"},
		{"sequence in a title", full, "a\x1b]0;\x1b[31mb\x07c", "a\x1b[31mbc\x1b[0m"},
		{"color with a private mark", full, "\x1b[>4;1mx\x1b[1$mx\x1b[1 mx", "xxx"},
		{"half a color", full, "ab\x1b[31", "ab"},
		{"a long color", full, "\x1b[" + strings.Repeat("1;", 40) + "mx", "x"},
		{"hyperlink", full, "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"},
		{"a tower", full, "a" + strings.Repeat("\u0301", 100) + "b", "?b"},
		{"marks alone", full, "\u200b\u200b\ufeffx", "x"},
		{"lines", plain, long, strings.TrimSuffix(strings.Repeat("x|", 12), "|")},
		{"empty lines at the end", plain, "\n x\n \n\n", "| x"},
		{"nothing", plain, "", ""},
	} {
		if got := strings.Join(paint(c.in, c.t, 12), "|"); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestPaintIsBounded(t *testing.T) {
	term := plug.Terminal{Color: true, Unicode: true, Columns: 80}
	for name, in := range map[string]string{
		"colors": strings.Repeat("\x1b[31m", 100_000) + "x" + strings.Repeat("\x1b[1mx", 100_000),
		"towers": strings.Repeat("a"+strings.Repeat("\u0301", 20), 20_000),
		"marks":  strings.Repeat("\u200b", 300_000),
	} {
		out := strings.Join(paint(in, term, 60), "\n")
		if len(out) > 60*80*(maxCluster+maxStyles*8) {
			t.Errorf("%s: %d bytes", name, len(out))
		}
	}
}

func FuzzPaint(f *testing.F) {
	f.Add("a\x1b[31mb\n\tc日\u0301", 7, true, true)
	f.Add("\x1b[1m\x1b]0;x\x1b[2mk\x9b0m", 3, true, false)
	f.Fuzz(func(t *testing.T, s string, columns int, color, unicode bool) {
		term := plug.Terminal{Color: color, Unicode: unicode, Columns: 1 + columns&0x7F}
		lines := paint(s, term, 5)
		if len(lines) > 5 {
			t.Errorf("%d lines", len(lines))
		}
		for _, l := range lines {
			if n := cells(l); n > term.Columns {
				t.Errorf("%q takes %d of %d cells", l, n, term.Columns)
			}
			bare := ""
			for rest := l; rest != ""; {
				at, n := nextSGR(rest)
				bare += rest[:at]
				if n > 0 && !color {
					t.Errorf("color in %q", l)
				}
				rest = rest[at+n:]
			}
			if text.Plain(bare) != bare || strings.ContainsAny(bare, "\t\n") || !strings.HasPrefix(l[max(strings.LastIndex(l, "\x1b"), 0):]+reset, reset) && strings.Contains(l, "\x1b") {
				t.Errorf("got %q", l)
			}
			if !unicode && strings.ContainsFunc(l, func(r rune) bool { return r >= 0x80 }) {
				t.Errorf("got %q", l)
			}
		}
		if again := paint(strings.Join(lines, "\n"), term, 5); !slices.Equal(again, lines) {
			t.Errorf("painted again: %q, was %q", again, lines)
		}
	})
}
