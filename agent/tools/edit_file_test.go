package tools

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"alisio/plug"
)

// edited puts content into a file, edits it and returns what it is then.
func (b *bench) edited(content, find, put string) string {
	b.t.Helper()
	b.put("f", content)
	b.ok(editFile{}, args{"path": "f", "oldText": find, "newText": put, "expectedHash": hashOf([]byte(content))})
	return b.get("f")
}

func (b *bench) refused(content, find, put string) string {
	b.t.Helper()
	b.put("f", content)
	e := b.fails(editFile{}, args{"path": "f", "oldText": find, "newText": put, "expectedHash": hashOf([]byte(content))})
	if got := b.get("f"); got != content {
		b.t.Errorf("a refused edit changed %q to %q", content, got)
	}
	return e
}

func TestEditFile(t *testing.T) {
	b := newBench(t)
	b.put("tax/total.go", "package tax\n\nfunc A() {}\nfunc B() {}\n")
	hash := b.hash("tax/total.go")
	a := args{"path": "tax/total.go", "oldText": "func A() {}\n", "newText": "func A() { x() }\n// more\n", "expectedHash": hash}
	c := b.call(a)
	p, err := editFile{}.Prepare(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	abs := filepath.Join(b.root, "tax", "total.go")
	if p.Effect != plug.EffectWrite || p.Title != "tax/total.go" || p.Key != "write "+abs ||
		len(p.Paths) != 1 || p.Paths[0] != (plug.PlanPath{Path: abs, Access: plug.AccessWrite}) {
		t.Errorf("plan %+v", p)
	}
	if p.Preview == nil || p.Preview.Kind != plug.BlockDiff || !strings.Contains(p.Preview.Patch, "+// more\n") {
		t.Errorf("preview %+v", p.Preview)
	}
	if len(p.Data) > 200 {
		t.Errorf("the plan carries %d bytes", len(p.Data))
	}
	r, err := editFile{}.Execute(t.Context(), c, p)
	if err != nil {
		t.Fatal(err)
	}
	want := "package tax\n\nfunc A() { x() }\n// more\nfunc B() {}\n"
	if got := b.get("tax/total.go"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := r.PlainText(), "tax/total.go: edited 1 place, line 3 · sha256: "+hashOf([]byte(want)); got != want || r.Summary != "+2 −1" {
		t.Errorf("got %q, %q", got, r.Summary)
	}
	var block plug.Block
	if err := json.Unmarshal(r.Parts[len(r.Parts)-1].Block, &block); err != nil || block.Path != "tax/total.go" || block.Kind != plug.BlockDiff {
		t.Errorf("block %+v, %v", block, err)
	}
}

func TestEditFileMustBeCertain(t *testing.T) {
	b := newBench(t)
	wantIn(t, b.refused("a\nb\na\n", "a", "c"), "not unique", "2 times, lines 1, 3", "replaceAll")
	wantIn(t, b.refused("aaa\n", "aa", "b"), "2 times, lines 1, 1")
	wantIn(t, b.refused("a\n", "", "b"), "oldText is empty")
	wantIn(t, b.refused("a\n", "a", "a"), "are the same")
	wantIn(t, b.refused("a\r\n", "a\r\n", "a\n"), "are the same")
	wantIn(t, b.refused(strings.Repeat("x\n", 3000), "x", "y"), "more than 1000 times", " …")
	b.put("f", "a\nb\r\na a\n")
	b.ok(editFile{}, args{"path": "f", "oldText": "a", "newText": "aa", "replaceAll": true, "expectedHash": b.hash("f")})
	if got := b.get("f"); got != "aa\nb\r\naa aa\n" {
		t.Errorf("got %q", got)
	}
	b.put("f", "aaa")
	b.ok(editFile{}, args{"path": "f", "oldText": "aa", "newText": "", "replaceAll": true, "expectedHash": b.hash("f")})
	if got := b.get("f"); got != "a" {
		t.Errorf("got %q", got)
	}
	for hash, want := range map[string]string{
		"": "expectedHash is missing", "abc": "no SHA-256", strings.Repeat("0", 64): "has changed since it was read",
	} {
		wantIn(t, b.fails(editFile{}, args{"path": "f", "oldText": "a", "newText": "b", "expectedHash": hash}), want)
	}
	b.ok(editFile{}, args{"path": "f", "oldText": "a", "newText": "b", "expectedHash": " sha256: " + strings.ToUpper(b.hash("f"))})
}

// Symptom: Japanese text is put into a Shift-JIS file, which then has two
// encodings. Trigger: bytes \x93\xfa\x96{.
func TestC057TwoEncodings(t *testing.T) {
	b := newBench(t)
	content := "\x93\xfa\x96{\nabc\n"
	wantIn(t, b.refused(content, "abc\n", "abc\n日本\n"), "not UTF-8", "two encodings")
	wantIn(t, b.refused(content, "{", "}"), "right behind a byte that is not ASCII")
	if got := b.edited(content, "abc", "abd"); got != "\x93\xfa\x96{\nabd\n" {
		t.Errorf("got %q", got)
	}
	wantIn(t, b.refused("\xff\xfe\x3d\xd8a\x00", "a", "b"), "UTF-16 LE", "not valid")
}

// What read_file does not show can not be edited either.
func TestEditRefusesBinaryFiles(t *testing.T) {
	b := newBench(t)
	for content, kind := range map[string]string{
		"a\x00b\x00": "binary data", "\x00a\x00b": "binary data", "\x7fELF\x02\x01\x01ab": "ELF executable",
		"\x89PNG\r\n\x1a\nab": "image/png", "GIF89a ab": "image/gif", "%PDF-1.7\nab\n": "PDF document",
		"\xff\xfe\x00\x00a\x00\x00\x00b\x00\x00\x00": "UTF-32 text", "\x00\x00\xfe\xff\x00\x00\x00a\x00\x00\x00b": "UTF-32 text",
	} {
		wantIn(t, b.refused(content, "a", "c"), "edit f: the file is binary ("+kind+", ", "not text")
	}
	late := strings.Repeat("text\n", headSize) + "\x00a" // shown by read_file, too
	if got := b.edited(late, "a", "b"); got != strings.TrimSuffix(late, "a")+"b" {
		t.Errorf("a NUL far below: got %d bytes", len(got))
	}
}

// Symptom: LF text goes into a CRLF file: mixed ends, an extra blank line.
// Trigger: a\r\nb\r\nc\r\n; b\n becomes B1\nB2\n.
func TestC059CRLFStaysCRLF(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct{ content, find, put, want string }{
		{"a\r\nb\r\nc\r\n", "b\n", "B1\nB2\n", "a\r\nB1\r\nB2\r\nc\r\n"},
		{"a\r\nb\r\nc\r\n", "b\r\n", "B1\r\nB2\r\n", "a\r\nB1\r\nB2\r\nc\r\n"},
		{"a\r\nb\r\nc\r\n", "b", "B1\nB2", "a\r\nB1\r\nB2\r\nc\r\n"},
		{"a\r\nb\r\nc\r\n", "a\nb\nc", "a\nc", "a\r\nc\r\n"},
		{"a\r\nb\r\nc\r\n", "\nb\n", "\n", "a\r\nc\r\n"},
		{"a\r\nb\r\nc\r\n", "c\n", "", "a\r\nb\r\n"},
		{"a\nb\n", "b\n", "B1\r\nB2\r\n", "a\nB1\nB2\n"},
	} {
		if got := b.edited(c.content, c.find, c.put); got != c.want {
			t.Errorf("%q, %q for %q: got %q, want %q", c.content, c.put, c.find, got, c.want)
		}
	}
}

// Symptom: a CRLF file with one bare LF is written back with LF alone. Trigger:
// 200 CRLF lines and an LF line; another line is edited.
func TestC060MixedLineEnds(t *testing.T) {
	b := newBench(t)
	content := strings.Repeat("line\r\n", 100) + "bare\n" + strings.Repeat("line\r\n", 99) + "last\r\n"
	got := b.edited(content, "last\n", "end 1\nend 2\n")
	if want := strings.Replace(content, "last\r\n", "end 1\r\nend 2\r\n", 1); got != want {
		t.Errorf("got %d CR of %d", strings.Count(got, "\r"), strings.Count(want, "\r"))
	}
	got = b.edited(content, "bare\n", "one\ntwo\n")
	if want := strings.Replace(content, "bare\n", "one\ntwo\n", 1); got != want {
		t.Errorf("next to LF: got %q", got[590:630])
	}
	// Lines that the edit only names to be found keep their ends, too.
	if got := b.edited("a\r\nb\nc\r\nd\n", "a\nb\nc\nd\n", "a\nb\nX\nc\nd\n"); got != "a\r\nb\nX\r\nc\r\nd\n" {
		t.Errorf("got %q", got)
	}
}

// Symptom: each edit strips the byte order mark. Trigger: \xef\xbb\xbfhello,
// edited and overwritten.
func TestC062ByteOrderMark(t *testing.T) {
	b := newBench(t)
	content := "\xef\xbb\xbfhello\n\xe4\xb8\xad\n"
	if got := b.edited(content, "hello", "hello2"); got != "\xef\xbb\xbfhello2\n\xe4\xb8\xad\n" {
		t.Errorf("edit: got %q", got)
	}
	if got := b.edited(content, "\ufeffhello\n", "first\n"); got != "\xef\xbb\xbffirst\n\xe4\xb8\xad\n" {
		t.Errorf("edit with the mark in oldText: got %q", got)
	}
	for _, text := range []string{"new\n", "\ufeffnew\n"} {
		b.put("f", content)
		wantIn(t, b.ok(writeFile{}, args{"path": "f", "content": text, "expectedHash": b.hash("f")}), "encoding is UTF-8 with BOM, as it was")
		if got := b.get("f"); got != "\xef\xbb\xbfnew\n" {
			t.Errorf("write: got %q", got)
		}
	}
	if got := b.edited("\xff\xfea\x00\r\x00\n\x00", "a\n", "\U0001F600\nb\n"); got != "\xff\xfe\x3d\xd8\x00\xde\r\x00\n\x00b\x00\r\x00\n\x00" {
		t.Errorf("UTF-16: got %q", got)
	}
}

// Symptom: a file that ends with a blank line loses one newline an edit.
// Trigger: alpha\nbeta\n\n, three edits.
func TestC064BlankLastLine(t *testing.T) {
	b := newBench(t)
	content := "alpha\nbeta\n\n"
	for _, word := range []string{"one", "two", "three"} {
		old, _, _ := strings.Cut(content, "\n")
		content = b.edited(content, old, word)
	}
	if content != "three\nbeta\n\n" {
		t.Errorf("got %q", content)
	}
}

// Symptom: adding after an unterminated last line glues two lines together.
// Trigger: hello\nworld and a line after it.
func TestC065UnterminatedLastLine(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct{ find, put, want string }{
		{"world", "world\ntail", "hello\nworld\ntail"},
		{"world\n", "world\ntail\n", "hello\nworld\ntail"},
		{"hello\nworld\n", "hello\n", "hello"},
		{"world\n", "there", "hello\nthere"},
	} {
		if got := b.edited("hello\nworld", c.find, c.put); got != c.want {
			t.Errorf("%q for %q: got %q, want %q", c.put, c.find, got, c.want)
		}
	}
}

// Symptom: temporary files have mode 0600, which the rename puts on the target.
// Trigger: files of modes 0755, 0644, 0640, each edited.
func TestC066ModeIsKept(t *testing.T) {
	b := newBench(t)
	for _, mode := range []os.FileMode{0o755, 0o644, 0o640} {
		b.put("f", "a\n")
		if err := os.Chmod(filepath.Join(b.root, "f"), mode); err != nil {
			t.Fatal(err)
		}
		b.ok(editFile{}, args{"path": "f", "oldText": "a", "newText": "b", "expectedHash": b.hash("f")})
		info, err := os.Stat(filepath.Join(b.root, "f"))
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("got %v, want %v (%v)", info.Mode(), mode, err)
		}
	}
}

// Symptom: a rename splits hard links and replaces symbolic ones. Trigger: a is
// linked as b and as c; a and c are edited.
func TestC068LinksStay(t *testing.T) {
	b := newBench(t)
	b.put("a", "one\n")
	if err := os.Link(filepath.Join(b.root, "a"), filepath.Join(b.root, "b")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a", filepath.Join(b.root, "c")); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"a", "c"} {
		b.ok(editFile{}, args{"path": name, "oldText": []string{"one", "two"}[i], "newText": "two" + name, "expectedHash": b.hash(name)})
	}
	target, err := os.Readlink(filepath.Join(b.root, "c"))
	if b.get("b") != "twoca\n" || err != nil || target != "a" {
		t.Errorf("b is %q, c points to %q (%v)", b.get("b"), target, err)
	}
}

// Symptom: staleness by time: saving the same content makes edits fail. Trigger:
// read, touch, edit; then read, change outside, edit.
func TestC069StaleByContent(t *testing.T) {
	b := newBench(t)
	b.put("f", "a\nb\n")
	hash := b.hash("f")
	then := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(b.root, "f"), then, then); err != nil {
		t.Fatal(err)
	}
	b.ok(editFile{}, args{"path": "f", "oldText": "a", "newText": "c", "expectedHash": hash})
	hash = b.hash("f")
	b.put("f", "other\n")
	e := b.fails(editFile{}, args{"path": "f", "oldText": "other", "newText": "x", "expectedHash": hash})
	wantIn(t, e, "changed since it was read", "read it again")
	if strings.Contains(e, hashOf([]byte("other\n"))) {
		t.Error("the error tells the new hash, so that nobody would read")
	}
}

// A change between the question and the answer is not overwritten.
func TestChangeBetweenPlanAndExecution(t *testing.T) {
	b := newBench(t)
	b.put("f", "a\n")
	for _, c := range []struct {
		tool plug.Tool
		args args
	}{
		{editFile{}, args{"path": "f", "oldText": "a", "newText": "b", "expectedHash": hashOf([]byte("a\n"))}},
		{writeFile{}, args{"path": "f", "content": "b", "expectedHash": hashOf([]byte("a\n"))}},
		{writeFile{}, args{"path": "new", "content": "b"}},
	} {
		call := b.call(c.args)
		p, err := c.tool.Prepare(t.Context(), call)
		if err != nil {
			t.Fatal(err)
		}
		b.put("f", "z\n")
		b.put("new", "z\n")
		if _, err := c.tool.Execute(t.Context(), call, p); err == nil {
			t.Errorf("%v was executed over another file", c.args)
		}
		if b.get("f") != "z\n" || b.get("new") != "z\n" {
			t.Errorf("%v: wrote %q, %q", c.args, b.get("f"), b.get("new"))
		}
		b.put("f", "a\n")
		os.Remove(filepath.Join(b.root, "new"))
		// Other arguments than those that were planned write nothing.
		c.args["newText"], c.args["content"] = "evil", "evil"
		if _, err := c.tool.Execute(t.Context(), b.call(c.args), p); err == nil {
			t.Errorf("%v: other bytes than the planned ones were written", c.args)
		}
	}
}

// Symptom: replacement text is taken for a template. Trigger: new text
// log("$& $1 ${x} $$ ok");.
func TestC073LiteralReplacement(t *testing.T) {
	b := newBench(t)
	put := `log("$& $1 ${x} $$ \1 \\n %s ok");`
	if got := b.edited("log(\"done\");\n", `log("done");`, put); got != put+"\n" {
		t.Errorf("got %q", got)
	}
}

func TestEditGrowthIsBounded(t *testing.T) {
	b := newBench(t)
	content := strings.Repeat("a", 1<<16)
	b.put("f", content)
	e := b.fails(editFile{}, args{"path": "f", "oldText": "a", "newText": strings.Repeat("b", 1000), "replaceAll": true, "expectedHash": hashOf([]byte(content))})
	wantIn(t, e, "grow to more than 32 MiB")
}

// Bytes outside the edit are the same, whatever the file and the edit are.
func FuzzEdit(f *testing.F) {
	f.Add([]byte("a\r\nb\nc"), "b\n", "x\ny\n", false)
	f.Add([]byte("\xef\xbb\xbfab\r\nab"), "ab", "", true)
	f.Add([]byte("\xff\xfea\x00\n\x00"), "a\n", "é", false)
	f.Add([]byte("\x93\xfa\x96{\nabc\n"), "abc", "abd", true)
	f.Add([]byte("hello\nworld"), "world\n", "tail\n", false)
	f.Fuzz(func(t *testing.T, old []byte, find, put string, all bool) {
		if !utf8.ValidString(find+put) || len(old) > 4096 {
			return // arguments come out of JSON
		}
		ch, err := edit(&plug.Call{Files: &plug.Files{}}, bytes.Clone(old), editArgs{OldText: find, NewText: put, ReplaceAll: all})
		if err != nil {
			return
		}
		// With all line ends as LF, it is plain replacement.
		flat, want := string(lf(ch.before)), ""
		from := string(lf([]byte(strings.TrimPrefix(find, "\uFEFF"))))
		to := string(lf([]byte(strings.TrimPrefix(put, "\uFEFF"))))
		switch {
		case !strings.Contains(flat, from):
			want = strings.TrimSuffix(flat, strings.TrimSuffix(from, "\n")) + strings.TrimSuffix(to, "\n")
		case all:
			want = strings.ReplaceAll(flat, from, to)
		default:
			want = strings.Replace(flat, from, to, 1)
		}
		if got := string(lf(ch.after)); got != want {
			t.Errorf("%q, %q for %q: got %q, want %q", old, put, find, got, want)
		}
		text, e, _ := decode(ch.data)
		if _, was, _ := decode(old); e == was && !bytes.Equal(text, ch.after) {
			t.Errorf("%q is stored as %q", ch.after, ch.data)
		}
		if bytes.Contains(ch.before, []byte("\r\n")) || !bytes.Contains(ch.before, []byte("\n")) {
			return
		}
		if bytes.Count(ch.after, []byte("\r\n")) > strings.Count(to, "\r\n")+bytes.Count(ch.before, []byte("\r")) {
			t.Errorf("LF file %q got CRLF: %q", ch.before, ch.after)
		}
	})
}
