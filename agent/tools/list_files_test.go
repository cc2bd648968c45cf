package tools

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
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
		return plug.Listing{Total: 5, More: true, Entries: []plug.ListEntry{
			{Name: "a/", Dir: true}, {Name: "b", Dir: true}, {Name: "l", Link: "x\x1b[0m"}, {Name: "evil\x1b[31m"}, {Name: `"inv_\xfe"`},
		}}, nil
	}
	got := b.ok(listFiles{}, args{})
	want := "at least 5 entries, 1-5 shown\na/\nb/\nl -> \"x\\u001b[0m\"\n\"evil\\u001b[31m\"\n\"inv_\\xfe\"\n(more: offset: 5 reads on)"
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
	for maxChars, want := range map[int]string{6_553: "(more: offset: 27 reads on)", 100: "(more: offset: 1 reads on)"} {
		b.maxChars = maxChars
		if got = b.ok(listFiles{}, args{"limit": 2000}); !strings.Contains(got, want) || maxChars > 1_000 && len(got) > maxChars {
			t.Errorf("%d characters of %d: %.300s", len(got), maxChars, got)
		}
	}
	b.files.List = func(context.Context, plug.ListQuery) (plug.Listing, error) {
		return plug.Listing{IgnoredCount: 1}, nil
	}
	if got := b.ok(listFiles{}, args{"glob": "*.js"}); got != "no entries; 1 ignored entry left out" {
		t.Errorf("got %q", got)
	}
}

// Symptom: a glob hides ignored files even for an exact path, so that the model
// says that there is no such file. Trigger: dist/a.js is ignored; glob dist/*.js,
// glob dist/a.js.
func TestC173ExactPathsWin(t *testing.T) {
	b := newBench(t)
	b.put(".gitignore", "dist/\n")
	b.put("dist/a.js", "x\n")
	b.put("src/b.js", "x\n")
	for _, c := range []struct {
		args args
		want string
	}{
		{args{"glob": "*.js"}, "1 entry; 1 ignored and 1 hidden entries left out\nsrc/b.js"},
		{args{"glob": "dist/a.js"}, "1 entry\ndist/a.js"},
		{args{"path": "dist"}, "1 entry\ndist/a.js"},
		{args{"path": "dist/a.js"}, "1 entry\ndist/a.js"},
		{args{"glob": "*.js", "ignored": true}, "2 entries; 1 hidden entry left out\ndist/a.js\nsrc/b.js"},
	} {
		if got := b.ok(listFiles{}, c.args); got != c.want {
			t.Errorf("%v: got %q, want %q", c.args, got, c.want)
		}
	}
}

// Symptom: names that are not UTF-8 break a matcher, or can not be named again.
// Trigger: \xb4++0323\xd5\xf8\xa5\xfe\xeb\xe7 and inv_\xfe.txt; list, then read.
func TestC181NamesThatAreNotUTF8(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{"\xb4++0323\xd5\xf8\xa5\xfe\xeb\xe7", "inv_\xfe.txt"} {
		if err := os.WriteFile(filepath.Join(b.root, name), []byte("text\n"), 0o644); err != nil {
			t.Skip("this file system takes no such names: ", err)
		}
	}
	got := b.ok(listFiles{}, args{"glob": "*"})
	want := "2 entries\n\"inv_\\xfe.txt\"\n\"\\xb4++0323\\xd5\\xf8\\xa5\\xfe\\xeb\\xe7\""
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, name := range strings.Split(got, "\n")[1:] {
		wantIn(t, b.ok(readFile{}, args{"path": name}), name+" · lines 1-1 of 1", "1\ttext")
		wantIn(t, b.ok(editFile{}, args{"path": name, "oldText": "text", "newText": "more", "expectedHash": b.hash(name)}), name+": edited")
	}
	wantIn(t, b.ok(listFiles{}, args{"glob": "*.txt"}), "1 entry\n")
}
