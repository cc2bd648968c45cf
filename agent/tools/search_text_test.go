package tools

import (
	"context"
	"strings"
	"testing"

	"alisio/plug"
)

// found lets a search give these matches.
func (b *bench) found(stats plug.SearchStats, matches ...plug.Match) {
	b.files.Search = func(_ context.Context, _ plug.SearchQuery, onMatch func(plug.Match) bool) (plug.SearchStats, error) {
		for _, m := range matches {
			if !onMatch(m) {
				stats.Stopped = true
				break
			}
		}
		return stats, nil
	}
}

func TestSearchTextGroupsByFile(t *testing.T) {
	b := newBench(t)
	b.found(plug.SearchStats{Files: 9, IgnoredCount: 3},
		plug.Match{Name: "a.go", Line: 3, Text: "x := round(1)"}, plug.Match{Name: "a.go", Line: 7, Text: "round(2)"},
		plug.Match{Name: "b.go", Line: 1, Text: "round(3)"})
	r, err := b.do(searchText{}, args{"pattern": "round(", "literal": true})
	if err != nil {
		t.Fatal(err)
	}
	want := "a.go\n3: x := round(1)\n7: round(2)\nb.go\n1: round(3)\n(3 matches in 9 files searched; 3 ignored entries left out)"
	if r.PlainText() != want || r.Summary != "3 matches" {
		t.Errorf("got %q, %q", r.PlainText(), r.Summary)
	}
	b.found(plug.SearchStats{Files: 9, HiddenCount: 1, Unreadable: 2})
	if got, want := b.ok(searchText{}, args{"pattern": "x"}), "no matches in 9 files; 1 hidden entry left out; 2 files could not be read"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Context of neighbours is written once, in order, as grep does.
func TestSearchTextContext(t *testing.T) {
	b := newBench(t)
	b.found(plug.SearchStats{Files: 2},
		plug.Match{Name: "a", Line: 3, Text: "hit", Before: []string{"l1", "l2"}, After: []string{"l4", "hit"}},
		plug.Match{Name: "a", Line: 5, Text: "hit", Before: []string{"hit", "l4"}, After: []string{"l6", "l7"}},
		plug.Match{Name: "a", Line: 9, Text: "hit", Before: []string{"l7", "l8"}, After: []string{"l10"}},
		plug.Match{Name: "a", Line: 20, Text: "hit", Before: []string{"l19"}},
		plug.Match{Name: "b", Line: 1, Text: "hit", After: []string{"l2"}})
	got := b.ok(searchText{}, args{"pattern": "hit", "context": 2})
	want := "a\n1- l1\n2- l2\n3: hit\n4- l4\n5: hit\n6- l6\n7- l7\n8- l8\n9: hit\n10- l10\n--\n19- l19\n20: hit\nb\n1: hit\n2- l2\n(5 matches in 2 files searched)"
	if got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestSearchTextLimits(t *testing.T) {
	b := newBench(t)
	many := make([]plug.Match, 2000)
	for i := range many {
		many[i] = plug.Match{Name: "a", Line: i + 1, Text: "x"}
	}
	b.found(plug.SearchStats{Files: 1}, many...)
	wantIn(t, b.ok(searchText{}, args{"pattern": "x"}), "100: x\n(100+ matches in 1 file searched; stopped at limit 100: raise it (at most 1000) or narrow")
	got := b.ok(searchText{}, args{"pattern": "x", "limit": 5000})
	wantIn(t, got, "1000: x\n(1000+ matches", "stopped at the largest limit")
	b.found(plug.SearchStats{Files: 1}, many[:100]...)
	wantIn(t, b.ok(searchText{}, args{"pattern": "x"}), "(100 matches in 1 file searched)")
}

// Symptom: matches are counted but their length is not bounded: a minified file
// gives 650 KB. Trigger: a one-line file of 1 MB.
func TestC178LongMatches(t *testing.T) {
	b := newBench(t)
	b.found(plug.SearchStats{Files: 1}, plug.Match{Name: "x.min.js", Line: 1, Text: strings.Repeat("é", 200), Clipped: true})
	wantIn(t, b.ok(searchText{}, args{"pattern": "x"}), "x.min.js\n1: é", "long lines are clipped around the match")
	many := make([]plug.Match, 1000)
	for i := range many {
		many[i] = plug.Match{Name: "x.min.js", Line: i + 1, Text: strings.Repeat("w", 400), Clipped: true}
	}
	b.found(plug.SearchStats{Files: 1}, many...)
	got := b.ok(searchText{}, args{"pattern": "w", "limit": 1000})
	wantIn(t, got, "the result is full: narrow", "clipped")
	// Even if a search does not clip.
	b.found(plug.SearchStats{Files: 1}, plug.Match{Name: "x.min.js", Line: 1, Text: strings.Repeat("w", 1<<20)})
	if got := b.ok(searchText{}, args{"pattern": "w"}); len(got) > maxOutput {
		t.Errorf("%d bytes", len(got))
	}
}

// Symptom: a NUL in a source file makes the search say "no matches", or the
// notice about a binary file makes it fail. Trigger: `hello TOKEN here\x00more`
// and a .pyc beside matching sources.
func TestC179C180BinaryMatches(t *testing.T) {
	b := newBench(t)
	b.found(plug.SearchStats{Files: 3},
		plug.Match{Name: "a.py", Line: 2, Text: "TOKEN"}, plug.Match{Name: "a.pyc", Binary: true}, plug.Match{Name: "b.py", Line: 4, Text: "TOKEN"})
	got := b.ok(searchText{}, args{"pattern": "TOKEN"})
	if want := "a.py\n2: TOKEN\na.pyc: binary file matches\nb.py\n4: TOKEN\n(3 matches in 3 files searched)"; got != want {
		t.Errorf("got %q", got)
	}
}

func TestSearchTextPatterns(t *testing.T) {
	b := newBench(t)
	b.put("src/x", "")
	for pattern, want := range map[string]string{
		"":           "pattern is empty",
		"round(":     "missing closing ) \"round(\" at character 1; set literal to true",
		"é[a":        "missing closing ] \"[a\" at character 2",
		`foo(?=bar)`: "no look-around",
		"a\nb":       "one by one",
		`a\`:         "trailing backslash",
	} {
		_, err := searchText{}.Prepare(t.Context(), b.call(args{"pattern": pattern}))
		if err == nil {
			t.Errorf("%q: no error", pattern)
			continue
		}
		wantIn(t, err.Error(), want)
	}
	p, err := searchText{}.Prepare(t.Context(), b.call(args{"pattern": "round(", "literal": true, "path": "src"}))
	if err != nil || p.Title != "“round(” in src" || p.Effect != plug.EffectRead {
		t.Errorf("plan %+v, %v", p, err)
	}
}

// The same over real files: an ignored directory is searched when it is named,
// a binary file is told about beside other matches, a minified line is clipped
// around its match, and odd names can be used again.
func TestSearchRealFiles(t *testing.T) {
	b := newBench(t)
	b.put(".gitignore", "dist/\n")
	b.put("dist/a.js", "TOKEN in dist\n")
	b.put("n.ts", "hello TOKEN here\x00more\n")
	b.put("src/a.go", "one\ntwo\nTOKEN three\nfour\nTOKEN five\n")
	b.put("src/x.min.js", strings.Repeat("w", 500_000)+"TOKEN"+strings.Repeat("é", 250_000))
	for _, c := range []struct {
		args args
		want []string
	}{
		{args{}, []string{"n.ts: binary file matches\n", "src/a.go\n3: TOKEN three\n5: TOKEN five\n", "src/x.min.js\n1: ", "wTOKENé", "(4 matches in ", "ignored", "clipped around the match"}},
		{args{"path": "dist"}, []string{"dist/a.js\n1: TOKEN in dist\n(1 match in 1 file searched)"}},
		{args{"glob": "*.go", "context": 1}, []string{"src/a.go\n2- two\n3: TOKEN three\n4- four\n5: TOKEN five\n(2 matches in 1 file searched"}},
		{args{"path": "src/a.go", "ignoreCase": true, "pattern": "^token (f|t)"}, []string{"3: TOKEN three\n5: TOKEN five\n(2 matches"}},
		{args{"pattern": "nowhere"}, []string{"no matches in "}},
		{args{"limit": 1, "path": "src"}, []string{"3: TOKEN three\n(1+ matches", "stopped at limit 1"}},
	} {
		if c.args["pattern"] == nil {
			c.args["pattern"] = "TOKEN"
		}
		got := b.ok(searchText{}, c.args)
		wantIn(t, got, c.want...)
		if len(got) > 2000 {
			t.Errorf("%v: %d bytes", c.args, len(got))
		}
	}
}
