package tools

import (
	"strings"
	"testing"

	"alisio/plug"
)

// A search that time ended must not be taken for one that found all there is.
func TestSearchTextTellsThatTimeRanOut(t *testing.T) {
	b := newBench(t)
	const hint = "; the search took too long and was ended: name a smaller path, a glob or a simpler pattern"
	b.found(plug.SearchStats{Files: 3, TimedOut: true}, plug.Match{Name: "a", Line: 1, Text: "x"})
	r, err := b.do(searchText{}, args{"pattern": "x"})
	if err != nil || r.Summary != "1+ matches" || !strings.HasSuffix(r.PlainText(), "(1+ matches in 3 files searched"+hint+")") {
		t.Errorf("got %q, %q, %v", r.PlainText(), r.Summary, err)
	}
	b.found(plug.SearchStats{Files: 3, TimedOut: true})
	if got, want := b.ok(searchText{}, args{"pattern": "x"}), "no matches so far in 3 files"+hint; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
