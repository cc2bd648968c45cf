package tools

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"alisio/plug"
)

func TestWriteFileCreates(t *testing.T) {
	b := newBench(t)
	for i, hash := range []any{nil, "", "null"} {
		name := "src/new" + string(rune('a'+i)) + ".go"
		r, err := b.do(writeFile{}, args{"path": name, "content": "package x\n\nvar y int", "expectedHash": hash})
		if err != nil {
			t.Fatal(err)
		}
		want := name + ": created, 3 lines · sha256: " + hashOf([]byte("package x\n\nvar y int"))
		if r.PlainText() != want || r.Summary != "+3 −0" || b.get(name) != "package x\n\nvar y int" {
			t.Errorf("got %q, %q, file %q", r.PlainText(), r.Summary, b.get(name))
		}
	}
	b.ok(writeFile{}, args{"path": "empty", "content": ""})
	if got := b.get("empty"); got != "" {
		t.Errorf("got %q", got)
	}
	p, err := writeFile{}.Prepare(t.Context(), b.call(args{"path": "n.txt", "content": "a\x1b[2Jb\u202e\n"}))
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, p.Preview.Patch, "/dev/null", "+a<U+001B>[2Jb<U+202E>")
}

func TestWriteFileWantsTheRightHash(t *testing.T) {
	b := newBench(t)
	b.put("f", "old\n")
	b.put("dir/x", "")
	zero := strings.Repeat("0", 64)
	for _, c := range []struct {
		args args
		want string
	}{
		{args{"path": "f", "content": "x"}, "f exists: read it with read_file and give its sha256 as expectedHash"},
		{args{"path": "f", "content": "x", "expectedHash": zero}, "changed since it was read"},
		{args{"path": "f", "content": "x", "expectedHash": "12"}, "no SHA-256"},
		{args{"path": "g", "content": "x", "expectedHash": zero}, "g does not exist; to create it set expectedHash to null"},
		{args{"path": "dir", "content": "x"}, "dir is a directory"},
		{args{"path": "big", "content": strings.Repeat("x", maxContent+1)}, "more than 10 MiB"},
	} {
		wantIn(t, b.fails(writeFile{}, c.args), c.want)
	}
	if got := b.get("f"); got != "old\n" {
		t.Errorf("got %q", got)
	}
}

// A path that ends in a slash is that of a directory: no file is made of it.
func TestWriteFileTakesNoSlash(t *testing.T) {
	b := newBench(t)
	b.put("dir/x", "")
	for _, path := range []string{"a/", "a//", "a/.", "./a/./", "dir/b/", `"a/"`, filepath.Join(b.root, "a") + "/"} {
		wantIn(t, b.fails(writeFile{}, args{"path": path, "content": "x"}), "ends in a slash")
	}
	wantIn(t, b.fails(writeFile{}, args{"path": "dir/", "content": "x"}), "dir is a directory")
	for _, name := range []string{"a", "dir/b"} {
		if _, err := os.Lstat(filepath.Join(b.root, name)); err == nil {
			t.Errorf("%s was made", name)
		}
	}
	b.ok(writeFile{}, args{"path": "a/b.", "content": "x"})
}

func TestWriteFileKeepsTheForm(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct{ old, content, want, note string }{
		{"a\nb\n", "x\ny\n", "x\ny\n", ""},
		{"a\nb\n", "x\r\ny\r\n", "x\r\ny\r\n", ""},
		{"a\r\nb\r\n", "x\ny\n", "x\r\ny\r\n", "line ends are CRLF"},
		{"a\r\nb\r\n", "x\r\ny\n", "x\r\ny\n", ""},
		{"a\r\nb\n", "x\ny\n", "x\ny\n", ""},
		{"a\r\n", "x", "x", ""},
		{"\xff\xfea\x00\r\x00\n\x00", "é\n", "\xff\xfe\xe9\x00\r\x00\n\x00", "UTF-16 LE"},
		{"caf\xe9\n", "café\n", "café\n", "not valid in any known encoding; the new one is UTF-8"},
		{"", "x\n", "x\n", ""},
	} {
		b.put("f", c.old)
		got := b.ok(writeFile{}, args{"path": "f", "content": c.content, "expectedHash": hashOf([]byte(c.old))})
		if b.get("f") != c.want {
			t.Errorf("%q over %q: got %q, want %q", c.content, c.old, b.get("f"), c.want)
		}
		wantIn(t, got, "replaced", hashOf([]byte(c.want)), c.note)
		if c.note == "" && strings.Contains(got, "\n(") {
			t.Errorf("%q over %q: note in %q", c.content, c.old, got)
		}
	}
}

func TestWriteFileOfTheSameContent(t *testing.T) {
	b := newBench(t)
	b.put("f", "a\n")
	b.files.Write = func(context.Context, plug.Write) (plug.Written, error) {
		return plug.Written{}, errors.New("written")
	}
	r, err := b.do(writeFile{}, args{"path": "f", "content": "a\n", "expectedHash": b.hash("f")})
	if err != nil || r.Summary != "unchanged" {
		t.Errorf("got %q, %v", r.PlainText(), err)
	}
}

func TestLargeChangeIsNotCompared(t *testing.T) {
	b := newBench(t)
	p, err := writeFile{}.Prepare(t.Context(), b.call(args{"path": "big", "content": strings.Repeat("line\n", 1<<20)}))
	if err != nil || p.Preview.Kind != plug.BlockCode || len(p.Data) > 200 {
		t.Fatalf("plan %+v, %v", p, err)
	}
	p, err = writeFile{}.Prepare(t.Context(), b.call(args{"path": "mid", "content": strings.Repeat("line\n", 1<<15)}))
	if err != nil || p.Preview.Kind != plug.BlockDiff || !p.Preview.Truncated || len(p.Preview.Patch) > maxPatch+1000 {
		t.Fatalf("preview of %d bytes, %v", len(p.Preview.Patch), err)
	}
}
