package tools

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"alisio/llm"
	"alisio/plug"
)

func TestReadFileShowsLinesAndHash(t *testing.T) {
	b := newBench(t)
	b.put("tax/total.go", "package tax\n\nfunc Total() {}\n")
	got := b.ok(readFile{}, args{"path": "tax/total.go"})
	want := "tax/total.go · lines 1-3 of 3 · sha256: " + hashOf([]byte(b.get("tax/total.go"))) +
		"\n1\tpackage tax\n2\t\n3\tfunc Total() {}"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestReadFileRanges(t *testing.T) {
	b := newBench(t)
	b.put("f", "a\nb\nc\nd\ne") // no final newline
	for _, c := range []struct {
		args        args
		want, title string
	}{
		{args{"startLine": 2, "limit": 2}, "lines 2-3 of 5|2\tb\n3\tc\n(more: startLine: 4 reads on)", "f:2-3"},
		{args{"startLine": 4}, "lines 4-5 of 5|4\td\n5\te", "f:4-"},
		{args{"limit": 1}, "lines 1-1 of 5|1\ta\n(more: startLine: 2 reads on)", "f:1-1"},
		{args{"startByte": 4}, "lines 3-5 of 5|3\tc\n4\td\n5\te", "f @4"},
		{args{"startByte": 0, "startLine": 1}, "lines 1-5 of 5|1\ta\n2\tb\n3\tc\n4\td\n5\te", "f"},
	} {
		c.args["path"] = "f"
		head, body, _ := strings.Cut(b.ok(readFile{}, c.args), "\n")
		wantHead, wantBody, _ := strings.Cut(c.want, "|")
		if !strings.Contains(head, wantHead) || body != wantBody {
			t.Errorf("%v: got %q\n%q", c.args, head, body)
		}
		p, err := readFile{}.Prepare(t.Context(), b.call(c.args))
		if err != nil || p.Title != c.title {
			t.Errorf("%v: title %q, want %q (%v)", c.args, p.Title, c.title, err)
		}
	}
	wantIn(t, b.fails(readFile{}, args{"path": "f", "startLine": 6}), "5 lines", "startLine 6 is past its end")
	wantIn(t, b.fails(readFile{}, args{"path": "f", "startByte": 9}), "9 bytes", "startByte 9 is past its end")
	b.put("empty", "")
	wantIn(t, b.ok(readFile{}, args{"path": "empty"}), "empty file", hashOf(nil))
	wantIn(t, b.fails(readFile{}, args{"path": "empty", "startLine": 2}), "0 lines")
}

// Symptom: screenshot names of macOS hold U+00A0, the model types a space and
// gets "not found". Trigger: `shot v\u00a01.png`, read as `shot v 1.png`.
func TestC070NoBreakSpace(t *testing.T) {
	b := newBench(t)
	b.put("shot v\u00a01.txt", "hello\n")
	wantIn(t, b.ok(readFile{}, args{"path": "shot v 1.txt"}), "shot v 1.txt does not exist", "1\thello")
	b.put("shot v\u202f1.txt", "other\n") // now it is not certain which one
	wantIn(t, b.fails(readFile{}, args{"path": "shot v 1.txt"}), "does not exist; similar: ", `"shot v\u00a01.txt"`, `"shot v\u202f1.txt"`)
}

// Symptom: NFD names and curly apostrophes on disk do not match NFC and straight
// quotes. Trigger: `e\u0301cran d\u2019ici.txt`, read as `écran d'ici.txt`.
func TestC071LookAlikeNamesAreReadOnly(t *testing.T) {
	b := newBench(t)
	name := "e\u0301cran d\u2019ici.txt"
	b.put(name, "bonjour\n")
	wantIn(t, b.ok(readFile{}, args{"path": "\u00e9cran d'ici.txt"}), "1\tbonjour")
	hash := hashOf([]byte("bonjour\n"))
	for _, e := range []string{
		b.fails(editFile{}, args{"path": "\u00e9cran d'ici.txt", "oldText": "bon", "newText": "mal", "expectedHash": hash}),
		b.fails(writeFile{}, args{"path": "\u00e9cran d'ici.txt", "content": "x", "expectedHash": hash}),
	} {
		wantIn(t, e, "does not exist; similar: ")
	}
	if got := b.get(name); got != "bonjour\n" {
		t.Errorf("the look-alike is now %q", got)
	}
}

func TestMissingFileNamesItsNamesakes(t *testing.T) {
	b := newBench(t)
	b.put("src/tax/total.go", "x\n")
	wantIn(t, b.fails(readFile{}, args{"path": "total.go"}), "total.go does not exist; similar: src/tax/total.go")
	wantIn(t, b.fails(readFile{}, args{"path": "src"}), "src is a directory; list_files")
}

// Symptom: a file is read whole before its size is looked at; a FIFO blocks for
// ever. Trigger: a FIFO, a sparse file of 3 GiB, /dev/zero.
func TestC074BoundedReads(t *testing.T) {
	b := newBench(t, "/dev")
	read := int64(0)
	open := b.files.Open
	b.files.Open = func(ctx context.Context, path string) (plug.File, error) {
		f, err := open(ctx, path)
		return countedFile{f, &read}, err
	}
	for name, head := range map[string]string{"sparse": "", "text": strings.Repeat("line of text\n", 1000)} {
		b.put(name, head)
		if err := os.Truncate(filepath.Join(b.root, name), 3<<30); err != nil {
			t.Fatal(err)
		}
	}
	wantIn(t, b.fails(readFile{}, args{"path": "sparse"}), "binary (binary data, 3072 MiB)")
	if read > headSize {
		t.Errorf("%d bytes of a binary file were read", read)
	}
	wantIn(t, b.ok(readFile{}, args{"path": "text", "limit": 10}), "text · lines 1-10\n", "startLine: 11 reads on", "not hashed")
	if read > 2*maxScan {
		t.Errorf("%d bytes were read to show ten lines", read)
	}
	wantIn(t, b.fails(readFile{}, args{"path": "text", "startByte": 3 << 29}), "past the first 128 MiB")
	wantIn(t, b.fails(editFile{}, args{"path": "text", "oldText": "a", "newText": "b", "expectedHash": strings.Repeat("0", 64)}), "more than the 32 MiB")
	if read > maxSurvey+3*maxScan {
		t.Errorf("%d bytes were read to find a position", read)
	}
	if err := mkfifo(filepath.Join(b.root, "pipe")); err != nil {
		t.Skip("no named pipes here: ", err)
	}
	wantIn(t, b.fails(readFile{}, args{"path": "pipe"}), "pipe is not a regular file")
	wantIn(t, b.fails(readFile{}, args{"path": "/dev/zero"}), "not a regular file")
}

// countedFile counts the bytes that are read.
type countedFile struct {
	plug.File
	read *int64
}

func (f countedFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	*f.read += int64(n)
	return n, err
}

// Symptom: a one-line file above the limit gives nothing and the advice to go on
// at line 1. Trigger: a JSON array of 32 KiB without a newline.
func TestC075OneLongLine(t *testing.T) {
	b := newBench(t)
	var json strings.Builder
	json.WriteString("[")
	for json.Len() < 32<<10 {
		json.WriteString(`{"id":12345,"name":"Grüße 世界"},`)
	}
	json.WriteString("]")
	b.put("a.json", json.String())
	got, from, steps := "", 0, 0
	next := regexp.MustCompile(`^1\t(.*?)(?: \[cut; startByte: (\d+) reads on in line 1\])?$`)
	for ; steps < 20; steps++ {
		_, body, _ := strings.Cut(b.ok(readFile{}, args{"path": "a.json", "startByte": from}), "\n")
		m := next.FindStringSubmatch(body)
		if m == nil {
			t.Fatalf("from %d: %.100q", from, body)
		}
		got += m[1]
		if m[2] == "" {
			break
		}
		n, _ := strconv.Atoi(m[2])
		if n <= from {
			t.Fatalf("from %d the next position is %d", from, n)
		}
		from = n
	}
	if got != json.String() || steps == 0 {
		t.Errorf("%d parts give %d bytes, want %d", steps+1, len(got), json.Len())
	}
}

// Whatever is in a file, following the positions shows all of it and ends, in small windows
// too: no result is longer than what the model is shown of it, which would be cut out of its
// middle.
func TestPagesCoverTheFile(t *testing.T) {
	for _, window := range []int{0, 32_768, 16_384, 8_192} {
		t.Run(fmt.Sprint(window), func(t *testing.T) { pagesCover(t, window*4/10) })
	}
}

func pagesCover(t *testing.T, maxChars int) {
	b := newBench(t)
	b.maxChars = maxChars
	for name, content := range map[string]string{
		"short lines": strings.Repeat("x\n", 5000),
		"long lines":  strings.Repeat(strings.Repeat("y", 7000)+"\n", 30),
		"cut lines":   strings.Repeat(strings.Repeat("z", 9000)+"\n", 30),
		"huge line":   "a\n" + strings.Repeat("w", 1<<20+9000) + "\nb\n",
		"controls":    strings.Repeat("\x1b", 20000) + "\nend",
	} {
		b.put(name, content)
		from, seen := int64(0), strings.Builder{}
		calls := 0
		for ; calls < 700; calls++ {
			result := b.ok(readFile{}, args{"path": name, "startByte": from})
			if n := utf8.RuneCountInString(result); maxChars > 0 && n > maxChars {
				t.Fatalf("%s: a result of %d characters, %d are shown", name, n, maxChars)
			}
			_, body, _ := strings.Cut(result, "\n")
			next := int64(0)
			for line := range strings.Lines(body) {
				_, text, isLine := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
				if !isLine {
					continue
				}
				text, note, cut := strings.Cut(text, " [cut; startByte: ")
				text = strings.ReplaceAll(text, "<U+001B>", "\x1b")
				seen.WriteString(text)
				if cut {
					fmt.Sscanf(note, "%d", &next)
					break // follow the cut line to its end
				}
				seen.WriteString("\n")
			}
			if next == 0 {
				next = int64(seen.Len())
			}
			if next <= from || next >= int64(len(content)) {
				break
			}
			from = next
		}
		if got := strings.TrimSuffix(seen.String(), "\n"); got != strings.TrimSuffix(content, "\n") {
			t.Errorf("%s: %d calls show %d bytes, want %d", name, calls, len(got), len(content))
		}
	}
}

func TestReadFileShowsWhatHides(t *testing.T) {
	b := newBench(t)
	b.put("f", "a\x1b[31m b\u202ec\u200b d\x00e \u26a0\ufe0f é\tt\r\nx\r\n")
	b.put("f", strings.ReplaceAll(b.get("f"), "\x00", ""))
	got := b.ok(readFile{}, args{"path": "f"})
	wantIn(t, got, "1\ta<U+001B>[31m b<U+202E>c<U+200B> de \u26a0\ufe0f é\tt\n2\tx\n", "CRLF line ends", "invisible character")
}

func TestReadFileEncodings(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct{ content, want, notWant string }{
		{"\xef\xbb\xbfhello\n", "· UTF-8 with BOM\n1\thello", "U+FFFD"},
		{"\xff\xfeh\x00\xe9\x00\n\x00\x3d\xd8\x00\xde", "· UTF-16 LE\n1\thé\n2\t\U0001F600", "U+FFFD"},
		{"\xfe\xff\x00h\x00\xe9\x00\r\x00\n", "· UTF-16 BE · CRLF line ends\n1\thé", "U+FFFD"},
		{"\x93\xfa\x96{\nabc\n", "1\t\uFFFD\uFFFD\uFFFD{\n2\tabc\n(not UTF-8", "BOM"},
		{"caf\xe9\n", "1\tcaf\uFFFD\n(not UTF-8", "BOM"},
		{"a\r\nb\n", "mixed line ends", "CRLF"},
		{"a\nb\n", "1\ta", "line ends"},
	} {
		b.put("f", c.content)
		got := b.ok(readFile{}, args{"path": "f"})
		wantIn(t, got, c.want, "sha256: "+hashOf([]byte(c.content)))
		if strings.Contains(got, c.notWant) {
			t.Errorf("%q: got %q with %q in it", c.content, got, c.notWant)
		}
	}
}

func TestReadFileRefusesBinary(t *testing.T) {
	b := newBench(t)
	for content, kind := range map[string]string{
		"\x7fELF\x02\x01\x01\x00": "ELF executable", "%PDF-1.7\n%...": "PDF document", "PK\x03\x04rest": "zip archive",
		"\x1f\x8b\x08\x00": "gzip data", "SQLite format 3\x00": "sqlite database", "MZ\x90\x00": "Windows executable",
		"text\x00more": "binary data", "\xff\xfe\x00\x00h\x00\x00\x00": "UTF-32 text",
	} {
		b.put("f", content)
		wantIn(t, b.fails(readFile{}, args{"path": "f"}), "f is binary ("+kind+", "+strconv.Itoa(len(content))+" bytes)")
	}
	for _, content := range []string{"MZ is how it begins\n", "BM too\n", "ID3 as well\n"} {
		b.put("f", content)
		wantIn(t, b.ok(readFile{}, args{"path": "f"}), "1\t"+strings.TrimSpace(content))
	}
}

// picture is an image file of so many pixels.
func picture(t *testing.T, w, h int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What an image is, llm.ReadImage decides.
func TestReadFileImages(t *testing.T) {
	b := newBench(t)
	content := picture(t, 30, 20)
	b.put("pic", content)
	r, err := b.do(readFile{}, args{"path": "pic"})
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, r.PlainText(), "pic · image/png · 30×20 pixels · ", "sha256: "+hashOf([]byte(content)))
	if len(r.Parts) != 2 || r.Parts[1].Type != llm.PartImage || r.Parts[1].MIMEType != "image/png" || string(r.Parts[1].Data) != content {
		t.Errorf("parts %+v", r.Parts)
	}
	b.put("pic", content[:len(content)-9])
	wantIn(t, b.fails(readFile{}, args{"path": "pic"}), "pic begins like an image (image/png), but it is cut off")
	b.put("logo.png", "<html>not found</html>\n")
	wantIn(t, b.ok(readFile{}, args{"path": "logo.png"}), "1\t<html>")
	b.put("wide.png", picture(t, 8001, 1))
	wantIn(t, b.fails(readFile{}, args{"path": "wide.png"}), "wide.png is an image of 8001×1 pixels, more than 8000")
	b.put("big.png", picture(t, 2, 2)+strings.Repeat("x", llm.MaxImageBytes))
	wantIn(t, b.fails(readFile{}, args{"path": "big.png"}), "big.png is an image (image/png) with 5120 KiB, more than 5 MiB")
}

func BenchmarkReadFile(b *testing.B) {
	bench := newBench(b)
	bench.put("f.go", strings.Repeat("	for i := range lines { total += lines[i].Amount() }\n", 900))
	c := bench.call(args{"path": "f.go"})
	p, err := readFile{}.Prepare(b.Context(), c)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (readFile{}).Execute(b.Context(), c, p); err != nil {
			b.Fatal(err)
		}
	}
}
