package host

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"alisio/plug"
)

var update = flag.Bool("update", false, "rewrite the expected screens below testdata")

// TestStartupScreen compares the default screen with testdata/startup, in which
// ESC is written as "^[" and the end of a line as "$".
func TestStartupScreen(t *testing.T) {
	h := toyHost(t, Options{})
	plugin(t, h, "memory", func(api *plug.API) error {
		_, err := api.Extend.Facts(plug.Facts{ID: "notes", List: func(context.Context) ([]plug.Fact, error) {
			return []plug.Fact{{Label: "memory", Text: "12 notes on this project"}}, nil
		}})
		return err
	})
	plugin(t, h, "subagents", nil)
	for _, columns := range []int{30, 60, 80, 120} {
		for _, unicode := range []bool{true, false} {
			for _, color := range []bool{true, false} {
				name := fmt.Sprint("startup/", columns)
				for _, w := range []struct {
					on      bool
					yes, no string
				}{{unicode, "-unicode", "-ascii"}, {color, "-color", "-plain"}} {
					if w.on {
						name += w.yes
					} else {
						name += w.no
					}
				}
				got := h.Startup(t.Context(), plug.ScreenContext{
					Terminal: plug.Terminal{Color: color, Unicode: unicode, Columns: columns, Interactive: true},
					Version:  "0.3.0", Directory: "~/src/ledger", Model: "qwen3-coder", Server: "127.0.0.1:8080", User: "mara",
					Access: "write asks · commands ask, sandboxed · network asks",
					Tips:   []string{"@file attaches a file", "Shift+Tab plans before it changes", "a third that is not shown"},
				})
				for l := range strings.SplitSeq(got, "\n") {
					if n := cells(l); n > columns {
						t.Errorf("%s: %q takes %d cells", name, l, n)
					}
				}
				golden(t, name+".txt", got)
			}
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	got = strings.ReplaceAll(strings.ReplaceAll(got, "\x1b", "^["), "\n", "$\n") + "$\n"
	file := filepath.Join("testdata", filepath.FromSlash(name))
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if w := strings.ReplaceAll(string(want), "\r\n", "\n"); got != w {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, w)
	}
}

// A mascot of a plugin that leaves no room is put above, and without one the text
// stands alone.
func TestScreenWithOtherMascots(t *testing.T) {
	for name, c := range map[string]struct {
		mascot string
		want   []string
	}{
		"wide":  {strings.Repeat("#", 75), []string{strings.Repeat("#", 75), "", greeting}},
		"none":  {"", []string{greeting}},
		"small": {"\x1b[31m##\n\x1b[1m日", []string{"\x1b[31m##\x1b[0m   " + greeting, "\x1b[31m\x1b[1m日\x1b[0m", "     \x1b[2malisio\x1b[0m     1"}},
		"tall":  {strings.Repeat("|\n", 20), []string{"|   " + greeting, "|"}},
	} {
		h := toyHost(t, Options{})
		plugin(t, h, "p", func(api *plug.API) error {
			_, err := api.Extend.Mascot(plug.Mascot{ID: "m", Render: func(context.Context, plug.MascotContext) (string, error) { return c.mascot, nil }})
			return err
		})
		got := h.Startup(t.Context(), plug.ScreenContext{Terminal: plug.Terminal{Columns: 80, Color: true, Unicode: true}, Version: "1"})
		if want := strings.Join(c.want, "\n"); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
		if n := strings.Count(got, "|"); name == "tall" && n != maxMascotLines {
			t.Errorf("%d lines of the mascot", n)
		}
	}
}

func TestNarrowestTerminal(t *testing.T) {
	h := toyHost(t, Options{})
	for _, columns := range []int{-1, 0, 1, 9, 10, 11, 12, 20, 39, 40, 59} {
		got := h.Startup(t.Context(), plug.ScreenContext{Terminal: plug.Terminal{Columns: columns}, Version: "1", Directory: strings.Repeat("d", 300)})
		limit := columns
		if columns <= 0 {
			limit = 80
		}
		for l := range strings.SplitSeq(got, "\n") {
			if cells(l) > max(limit, 10) {
				t.Errorf("%d columns: %q", columns, l)
			}
		}
	}
}
