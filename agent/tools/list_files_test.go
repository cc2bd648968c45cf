package tools

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"alisio/plug"
)

func TestListFilesPages(t *testing.T) {
	b := newBench(t)
	b.put("src/x", "")
	var asked plug.ListQuery
	b.files.List = func(_ context.Context, q plug.ListQuery) (plug.Listing, error) {
		asked = q
		l := plug.Listing{Total: 5, IgnoredCount: 2, HiddenCount: 1}
		for i := q.Offset; i < min(q.Offset+q.Limit, 5); i++ {
			l.Entries = append(l.Entries, plug.ListEntry{Name: fmt.Sprintf("src/f%d", i)})
		}
		return l, nil
	}
	got := b.ok(listFiles{}, args{"path": "src", "limit": 2, "glob": "f*", "depth": 3, "hidden": true, "ignored": true})
	want := "5 entries, 1-2 shown; 2 ignored and 1 hidden entries left out\nsrc/f0\nsrc/f1\n(more: offset: 2 reads on)"
	if got != want {
		t.Errorf("got %q", got)
	}
	if q := (plug.ListQuery{Path: b.root + "/src", Glob: "f*", Depth: 3, Limit: 2, Hidden: true, Ignored: true}); asked != q {
		t.Errorf("asked %+v", asked)
	}
	if got := b.ok(listFiles{}, args{"offset": 4}); got != "5 entries, 5-5 shown; 2 ignored and 1 hidden entries left out\nsrc/f4" {
		t.Errorf("got %q", got)
	}
	if asked.Path != b.root || asked.Limit != defaultEntries {
		t.Errorf("asked %+v", asked)
	}
	wantIn(t, b.ok(listFiles{}, args{"offset": 9}), "5 entries; offset 9 is past the last one")
	b.ok(listFiles{}, args{"limit": 1 << 40})
	if asked.Limit != maxEntries {
		t.Errorf("limit %d", asked.Limit)
	}
	for title, a := range map[string]args{
		".": {}, "src": {"path": "src"}, "*.go": {"glob": "*.go"}, "*.go in src": {"path": "src", "glob": "*.go"},
	} {
		if p, err := (listFiles{}).Prepare(t.Context(), b.call(a)); err != nil || p.Title != title || p.Dir != p.Paths[0].Path {
			t.Errorf("got %q, want %q (%v)", p.Title, title, err)
		}
	}
	wantIn(t, b.fails(listFiles{}, args{"path": "nowhere"}), "nowhere does not exist")
}

func TestListFilesEntries(t *testing.T) {
	b := newBench(t)
	b.files.List = func(context.Context, plug.ListQuery) (plug.Listing, error) {
		return plug.Listing{Total: 4, More: true, Entries: []plug.ListEntry{
			{Name: "a/", Dir: true}, {Name: "b", Dir: true}, {Name: "l", Link: "x\x1b[0m"}, {Name: "evil\x1b[31m"},
		}}, nil
	}
	got := b.ok(listFiles{}, args{})
	want := "at least 4 entries, 1-4 shown\na/\nb/\nl -> \"x\\u001b[0m\"\nevil\n(more: offset: 4 reads on)"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	b.files.List = func(_ context.Context, q plug.ListQuery) (plug.Listing, error) {
		l := plug.Listing{Total: 2000}
		for range q.Limit {
			l.Entries = append(l.Entries, plug.ListEntry{Name: strings.Repeat("n", 200)})
		}
		return l, nil
	}
	got = b.ok(listFiles{}, args{"limit": 2000})
	wantIn(t, got, "2000 entries, 1-228 shown", "(more: offset: 228 reads on)")
	b.files.List = func(context.Context, plug.ListQuery) (plug.Listing, error) {
		return plug.Listing{IgnoredCount: 1}, nil
	}
	if got := b.ok(listFiles{}, args{"glob": "*.js"}); got != "no entries; 1 ignored entry left out" {
		t.Errorf("got %q", got)
	}
}
