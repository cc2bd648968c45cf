package tools

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"alisio/llm"
	"alisio/plug"
)

// memory is a blob of a store that says where it keeps it.
type memory struct {
	*bytes.Reader
	closed *int
}

func (m memory) Info() plug.FileInfo {
	return plug.FileInfo{Name: "stored", Abs: "/state/blobs/stored", Size: m.Size(), Mode: 0o600, ModTime: time.Unix(1, 0)}
}

func (m memory) Close() error { *m.closed++; return nil }

var errNoReference = errors.New("this session has no such blob")

// keep gives the bench a store with these blobs and returns their names, and a
// check that each opened one was closed.
func (b *bench) keep(contents ...string) (names []string, closed func()) {
	stored := map[string]string{}
	for _, s := range contents {
		hash := hashOf([]byte(s))
		stored[hash] = s
		names = append(names, "blob:"+hash)
	}
	open, shut := 0, 0
	b.files.Blob = func(_ context.Context, hash string) (plug.File, error) {
		s, ok := stored[hash]
		if !ok {
			return nil, errNoReference
		}
		open++
		return memory{bytes.NewReader([]byte(s)), &shut}, nil
	}
	return names, func() {
		b.t.Helper()
		if open == 0 || open != shut {
			b.t.Errorf("%d blobs were opened, %d closed", open, shut)
		}
	}
}

func TestReadFileShowsABlob(t *testing.T) {
	b := newBench(t)
	names, closed := b.keep("one\ntwo\nthree\n", "", "caf\xe9 \x1b[31m\r\n", "\x7fELF\x02\x01\x01\x00")
	for _, c := range []struct {
		args args
		want string
	}{
		{args{"path": names[0]}, names[0] + " · lines 1-3 of 3\n1\tone\n2\ttwo\n3\tthree"},
		{args{"path": names[0], "startLine": 2, "limit": 1}, names[0] + " · lines 2-2 of 3\n2\ttwo\n(more: startLine: 3 reads on)"},
		{args{"path": names[0], "startByte": 8}, names[0] + " · lines 3-3 of 3\n3\tthree"},
		{args{"path": names[1]}, names[1] + " · empty file"},
		{args{"path": names[2]}, names[2] + " · lines 1-1 of 1 · CRLF line ends\n1\tcaf\uFFFD <U+001B>[31m\n" +
			"(not UTF-8 throughout: other bytes are shown as U+FFFD)\n(<U+…> stands for an invisible character of the file)"},
	} {
		if got := b.ok(readFile{}, c.args); got != c.want {
			t.Errorf("%v:\ngot  %q\nwant %q", c.args, got, c.want)
		}
	}
	wantIn(t, b.fails(readFile{}, args{"path": names[0], "startLine": 4}), names[0], "startLine 4 is past its end")
	wantIn(t, b.fails(readFile{}, args{"path": names[3]}), names[3]+" is binary (ELF executable, 8 bytes)")
	closed()
}

// A blob is no file: the gate is given no path to judge, and the title is short.
func TestBlobPlans(t *testing.T) {
	b := newBench(t)
	names, _ := b.keep("x\n")
	hash := strings.TrimPrefix(names[0], "blob:")
	p, err := readFile{}.Prepare(t.Context(), b.call(args{"path": names[0], "startLine": 5, "limit": 2}))
	want := plug.Plan{Effect: plug.EffectRead, Title: "blob:" + hash[:8] + "…:5-6", Data: []byte(`{"blob":"` + hash + `"}`)}
	if err != nil || p.Effect != want.Effect || p.Title != want.Title || string(p.Data) != string(want.Data) || p.Paths != nil || p.Dir != "" || p.Key != "" {
		t.Errorf("got  %+v, %v\nwant %+v", p, err, want)
	}
	b.put("f", "x\n")
	file := []plug.PlanPath{{Path: filepath.Join(b.root, "f"), Access: plug.AccessRead}}
	for name, bad := range map[string]plug.Plan{
		"a blob and a path": {Data: p.Data, Paths: file},
		"neither":           {Data: []byte(`{}`)},
		"two paths":         {Data: []byte(`{}`), Paths: slices.Concat(file, file)},
		"no data":           {Paths: file},
	} {
		if _, err := (readFile{}).Execute(t.Context(), b.call(args{"path": names[0]}), bad); !errors.Is(err, errPlan) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	_, err = readFile{}.Execute(t.Context(), b.call(args{"path": names[0]}), plug.Plan{Data: []byte(`{"blob":"../../etc/passwd"}`)})
	if !errors.Is(err, errBlobName) {
		t.Errorf("a plan with another name: got %v", err)
	}
}

func TestBlobImage(t *testing.T) {
	b := newBench(t)
	content := picture(t, 30, 20)
	names, closed := b.keep(content, content[:len(content)-9])
	r, err := b.do(readFile{}, args{"path": names[0]})
	if err != nil {
		t.Fatal(err)
	}
	head := r.PlainText()
	wantIn(t, head, names[0]+" · image/png · 30×20 pixels · ")
	if strings.Contains(head, "sha256") {
		t.Errorf("got %q with a hash", head)
	}
	if len(r.Parts) != 2 || r.Parts[1].Type != llm.PartImage || string(r.Parts[1].Data) != content {
		t.Errorf("parts %+v", r.Parts)
	}
	wantIn(t, b.fails(readFile{}, args{"path": names[1]}), names[1]+" begins like an image (image/png), but it is cut off")
	closed()
}

func TestBadBlobNames(t *testing.T) {
	b := newBench(t)
	b.keep("x\n")
	hash := hashOf([]byte("x\n"))
	for _, name := range []string{
		"", hash[:63], hash + "0", strings.ToUpper(hash), hash[:63] + "g", hash[:63] + " ", " " + hash[:63],
		"sha256:" + hash, "//" + hash, "../" + hash[:61], hash[:62] + "\u0661",
	} {
		if got := b.fails(readFile{}, args{"path": "blob:" + name}); got != errBlobName.Error() {
			t.Errorf("%q: got %q", name, got)
		}
	}
	other := "blob:" + hashOf([]byte("of another session"))
	if got, want := b.fails(readFile{}, args{"path": other}), "open "+other+": "+errNoReference.Error(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	b.files.Blob = nil
	if got := b.fails(readFile{}, args{"path": "blob:" + hash}); got != "no blobs are kept here" {
		t.Errorf("without a store: got %q", got)
	}
}

// Only read_file knows blobs; elsewhere nothing is looked for or made under such
// a name. A file of that name has another one.
func TestBlobsCanOnlyBeRead(t *testing.T) {
	b := newBench(t)
	names, _ := b.keep("one\n")
	name, hash := names[0], hashOf([]byte("one\n"))
	calls := []struct {
		tool plug.Tool
		args args
	}{
		{writeFile{}, args{"path": name, "content": "x"}},
		{writeFile{}, args{"path": name, "content": "x", "expectedHash": hash}},
		{editFile{}, args{"path": name, "oldText": "one", "newText": "two", "expectedHash": hash}},
		{listFiles{}, args{"path": name}},
		{searchText{}, args{"path": name, "pattern": "one"}},
		{gitDiff{}, args{"path": name}},
		{shell{}, args{"command": "ls", "cwd": name}},
		{runProcess{}, args{"command": "ls", "cwd": name}},
		{writeFile{}, args{"path": "blob:short", "content": "x"}},
	}
	for _, c := range calls {
		wantIn(t, b.fails(c.tool, c.args), "blobs can only be read, with read_file", "put ./ in front")
	}
	if entries, err := os.ReadDir(b.root); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestAFileNamedLikeABlob(t *testing.T) {
	b := newBench(t)
	names, _ := b.keep("stored\n")
	path := "./" + names[0]
	wantIn(t, b.ok(writeFile{}, args{"path": path, "content": "mine\n"}), "created")
	wantIn(t, b.ok(readFile{}, args{"path": path}), "sha256: "+hashOf([]byte("mine\n")), "1\tmine")
	wantIn(t, b.ok(readFile{}, args{"path": names[0]}), "1\tstored")
	wantIn(t, b.ok(editFile{}, args{"path": path, "oldText": "mine", "newText": "ours", "expectedHash": hashOf([]byte("mine\n"))}), "sha256: ")
	if got := b.get(names[0]); got != "ours\n" {
		t.Errorf("the file is %q", got)
	}
}

// All of a stored result can be read, page by page, whatever its lines are like.
func TestBlobPages(t *testing.T) {
	b := newBench(t)
	content := strings.Repeat(strings.Repeat("y", 90)+"\n", 2000)
	names, closed := b.keep(content)
	var seen strings.Builder
	for line := 1; line <= 2000; {
		_, body, _ := strings.Cut(b.ok(readFile{}, args{"path": names[0], "startLine": line}), "\n")
		before := line
		for row := range strings.Lines(body) {
			if _, text, ok := strings.Cut(strings.TrimSuffix(row, "\n"), "\t"); ok {
				seen.WriteString(text + "\n")
				line++
			}
		}
		if line == before {
			t.Fatalf("no line from %d", line)
		}
	}
	if seen.String() != content {
		t.Errorf("the pages show %d bytes, want %d", seen.Len(), len(content))
	}
	closed()
}
