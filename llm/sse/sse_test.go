package sse

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// pieces gives out a text in reads of the given sizes, over and over.
type pieces struct {
	text  string
	sizes []byte
	turn  int
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.text == "" {
		return 0, io.EOF
	}
	n := 1
	if len(p.sizes) > 0 {
		n = int(p.sizes[p.turn%len(p.sizes)])
		p.turn++
	}
	n = copy(b, p.text[:min(n, len(p.text))])
	p.text = p.text[n:]
	return n, nil
}

// read returns all events as "type|id|data".
func read(r *Reader) ([]string, error) {
	var out []string
	for {
		ev, err := r.Next()
		if err != nil {
			return out, err
		}
		out = append(out, fmt.Sprintf("%s|%s|%s", ev.Type, ev.ID, ev.Data))
	}
}

func equal(a, b []string) bool { return strings.Join(a, "\x01") == strings.Join(b, "\x01") }

// reference is the algorithm of the standard in its simplest form, for a whole
// stream in memory.
func reference(stream string) []string {
	stream = strings.TrimPrefix(stream, "\uFEFF")
	stream = strings.ReplaceAll(stream, "\r\n", "\n")
	rows := strings.Split(strings.ReplaceAll(stream, "\r", "\n"), "\n")
	var out []string
	var data, typ, id, last string
	for _, row := range rows[:len(rows)-1] {
		if row == "" {
			last = id
			if data != "" {
				if typ == "" {
					typ = "message"
				}
				out = append(out, fmt.Sprintf("%s|%s|%s", typ, last, clean(strings.TrimSuffix(data, "\n"))))
			}
			data, typ = "", ""
			continue
		}
		name, value, _ := strings.Cut(row, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case name == "data":
			data += value + "\n"
		case name == "event":
			typ = strings.ToValidUTF8(value, "\uFFFD")
		case name == "id" && !strings.Contains(value, "\x00"):
			id = strings.ToValidUTF8(value, "\uFFFD")
		}
	}
	return out
}

func clean(s string) string { return string([]rune(s)) }

var grammar = []struct{ in, want string }{
	{"data\n\n", "message||"},
	{"data\ndata\n\n", "message||\n"},
	{"data:x\ndata: y\n\n", "message||x\ny"},
	{"data:  z\n\n", "message|| z"},
	{": ping\n\n", ""},
	{":\n\n", ""},
	{"id: 7\n\n", ""},
	{"id: 7\n\ndata: a\n\n", "message|7|a"},
	{"id: 7\ndata: a\n\nid\ndata: b\n\n", "message|7|a message||b"},
	{"id: 7\ndata: a\n\nid: a\x00b\ndata: b\n\n", "message|7|a message|7|b"},
	{"event: e\n\ndata: q\n\n", "message||q"},
	{"event: e\nevent: f\ndata: q\n\n", "f||q"},
	{"data: q\nevent: e\n\n", "e||q"},
	{"data: cut", ""},
	{"data: cut\n", ""},
	{"data: a\r\ndata: b\r\n\r\n", "message||a\nb"},
	{"data: a\rdata: b\r\r", "message||a\nb"},
	{"data: a\n\rdata: b\r\n\ndata: c\r\r\n", "message||a message||b message||c"},
	{"\uFEFFdata: a\n\n", "message||a"},
	{"\uFEFF\uFEFFdata: a\n\n", ""},
	{"Data: a\n\n", ""},
	{" data: a\n\n", ""},
	{"data : a\n\n", ""},
	{"data:\ta\n\n", "message||\ta"},
	{"data: \xff\xfe台\n\n", "message||\uFFFD\uFFFD台"},
	{"foo: a\nerror: {}\ndata: {}\ndata: {}\n\n", "message||{}\n{}"},
	{"event: error\nid: 1\n\n", ""},
}

func TestGrammar(t *testing.T) {
	for _, c := range grammar {
		for _, size := range []byte{1, 2, 3, 200} {
			got, err := read(NewReader(&pieces{text: c.in, sizes: []byte{size}}, 0))
			if err != io.EOF || strings.Join(got, " ") != c.want {
				t.Errorf("%q in reads of %d: got %q, %v, want %q", c.in, size, got, err, c.want)
			}
		}
		if got := reference(c.in); strings.Join(got, " ") != c.want {
			t.Errorf("reference of %q: got %q, want %q", c.in, got, c.want)
		}
	}
}

func TestRetryAndLastID(t *testing.T) {
	r := NewReader(strings.NewReader("retry: 1500\nid: 9\n\nretry: +5\nretry: 1.5\nretry: abc\nretry\nid: 10\n"), 0)
	if got, err := read(r); len(got) > 0 || err != io.EOF {
		t.Errorf("got %q, %v", got, err)
	}
	if got, want := r.Retry(), 1500*time.Millisecond; got != want {
		t.Errorf("retry: got %v, want %v", got, want)
	}
	if got, want := r.LastEventID(), "9"; got != want {
		t.Errorf("last id: got %q, want %q: an id counts from its empty line on", got, want)
	}
}

func TestLenient(t *testing.T) {
	cases := []struct{ name, in, want string }{
		{"end mark without empty line", "data: {}\n\ndata: [DONE]\n", "message||{} message||[DONE]"},
		{"end mark without line end", "data: [DONE]", "message||[DONE]"},
		{"object without line end", `data: {"a":1}`, `message||{"a":1}`},
		{"cut object", `data: {"a":1`, ""},
		{"cut number", `data: 12`, ""},
		{"pretty object", "data: {\ndata: \"a\":1\ndata: }\n\n", "message||{\n\"a\":1\n}"},
		{"single line ends", "data: {\"a\":1}\ndata: {\"a\":2}\ndata: [DONE]\n", `message||{"a":1} message||{"a":2} message||[DONE]`},
		{"single line ends with types", "event: a\ndata: {}\nevent: b\ndata: []\n\n", `a||{} b||[]`},
		{"empty data line after an object", "data: {}\ndata:\n\n", "message||{}\n"},
		{"plain lines stay together", "data: a\ndata: b\n\n", "message||a\nb"},
		{"error without data", "event: error\nid: 1\n\n", "error|1|"},
		{"error without data or end", "event: error\n", "error||"},
		{"error as field", "error: {\"code\":1}\n\n", `error||{"code":1}`},
		{"error as field after an object", "data: {}\nerror: {\"code\":1}\n\n", `message||{} error||{"code":1}`},
		{"other type without data", "event: ping\n\n", ""},
	}
	for _, c := range cases {
		for _, size := range []byte{1, 3, 200} {
			got, err := read(NewReader(&pieces{text: c.in, sizes: []byte{size}}, 0).Lenient())
			if err != io.EOF || strings.Join(got, " ") != c.want {
				t.Errorf("%s in reads of %d: got %q, %v, want %q", c.name, size, got, err, c.want)
			}
		}
	}
}

func TestCRDispatchesAtOnce(t *testing.T) {
	in, out := io.Pipe()
	defer in.Close()
	go io.WriteString(out, "data: a\r\n\r")
	// The pipe stays open: a reader that waits for the byte behind CR hangs.
	ev, err := NewReader(in, 0).Next()
	if err != nil || string(ev.Data) != "a" {
		t.Errorf("got %q, %v", ev.Data, err)
	}
}

func TestPollNeverReads(t *testing.T) {
	src := &pieces{text: "data: a\n\ndata: b\n\n: ping\n\ndata: c\ndata: d\n\n", sizes: []byte{31}}
	r := NewReader(src, 0)
	if ev, ok := r.Poll(); ok {
		t.Errorf("poll of an unread stream: got %q", ev.Data)
	}
	if ev, err := r.Next(); err != nil || string(ev.Data) != "a" {
		t.Fatalf("got %q, %v", ev.Data, err)
	}
	if ev, ok := r.Poll(); !ok || string(ev.Data) != "b" {
		t.Errorf("poll: got %q, %v, want b", ev.Data, ok)
	}
	left := len(src.text)
	if ev, ok := r.Poll(); ok || len(src.text) != left {
		t.Errorf("poll of half an event: got %q, %d bytes read", ev.Data, left-len(src.text))
	}
	if ev, err := r.Next(); err != nil || string(ev.Data) != "c\nd" {
		t.Errorf("next goes on where poll stopped: got %q, %v", ev.Data, err)
	}
}

func TestLimits(t *testing.T) {
	const limit = 100_000
	fits := strings.Repeat("a", limit-len("data: "))
	half := "data: " + strings.Repeat("b", limit/2) + "\n"
	cases := []struct {
		name, in, what string
		events         int
	}{
		{"line at the limit", "data: " + fits + "\n\n", "", 1},
		{"line over the limit", "data: a\n\ndata: " + fits + "a\n\n", "line", 1},
		{"line over the limit without end", "data: " + fits + "a", "line", 0},
		{"comment over the limit", ":" + fits + fits, "line", 0},
		{"event over the limit", half + half + half + "\n", "event", 0},
		{"many long lines", strings.Repeat("data: "+fits+"\n\n", 20), "", 20},
	}
	for _, c := range cases {
		for _, lenient := range []bool{false, true} {
			r := NewReader(iotest.HalfReader(strings.NewReader(c.in)), limit)
			r.lenient = lenient
			got, err := read(r)
			var long *TooLongError
			errors.As(err, &long)
			if len(got) != c.events || (c.what == "") != (err == io.EOF) || long != nil && long.What != c.what {
				t.Errorf("%s: got %d events, %v", c.name, len(got), err)
			}
			if size := len(r.lines.buf); size > 4*limit {
				t.Errorf("%s: the buffer grew to %d bytes", c.name, size)
			}
			if _, again := r.Next(); again != err {
				t.Errorf("%s: the error did not stay: got %v, want %v", c.name, again, err)
			}
		}
	}
}

func TestSourceErrors(t *testing.T) {
	boom := errors.New("boom")
	src := io.MultiReader(strings.NewReader("data: a\n\ndata: {}"), iotest.ErrReader(boom))
	got, err := read(NewReader(src, 0))
	if err != boom || !equal(got, []string{"message||a"}) {
		t.Errorf("got %q, %v, want one event and boom", got, err)
	}
	if _, err := NewReader(stuck{}, 0).Next(); err != io.ErrNoProgress {
		t.Errorf("source that returns nothing: got %v", err)
	}
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

// A buffer that a long line made large must not be searched again for each of
// the short lines after it.
func TestWorkIsLinear(t *testing.T) {
	in := "data: " + strings.Repeat("a", 8<<20) + "\n\n" + strings.Repeat("\r", 8<<20) + "data: z\r\r"
	start := time.Now()
	got, err := read(NewReader(strings.NewReader(in), 0))
	if len(got) != 2 || err != io.EOF {
		t.Errorf("got %d events, %v", len(got), err)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("16 MiB took %v", took)
	}
}

func FuzzReader(f *testing.F) {
	for _, c := range grammar {
		f.Add(c.in, []byte{1})
		f.Add(c.in, []byte{2, 1, 7})
	}
	f.Add("data: "+strings.Repeat("x", 40_000)+"\r\n\r\nid: 1\rdata: y\n\n", []byte{255, 3})
	f.Fuzz(func(t *testing.T, in string, sizes []byte) {
		for i := range sizes {
			sizes[i] = max(sizes[i], 1)
		}
		got, err := read(NewReader(&pieces{text: in, sizes: sizes}, 0))
		if want := reference(in); err != io.EOF || !equal(got, want) {
			t.Errorf("%q in reads of %v: got %q, %v, want %q", in, sizes, got, err, want)
		}
		split, _ := read(NewReader(&pieces{text: in, sizes: sizes}, 0).Lenient())
		at1, _ := read(NewReader(strings.NewReader(in), 0).Lenient())
		if !equal(split, at1) {
			t.Errorf("lenient, %q in reads of %v: got %q, want %q", in, sizes, split, at1)
		}
		for _, data := range split {
			if strings.ToValidUTF8(data, "") != data {
				t.Errorf("invalid UTF-8 in %q", data)
			}
		}
	})
}

func BenchmarkReader(b *testing.B) {
	event := "data: {\"id\":\"chatcmpl-1234567890\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"m\"," +
		"\"choices\":[{\"index\":0,\"delta\":{\"content\":\" hello\"},\"finish_reason\":null}]}\n\n"
	r := NewReader(&endless{text: event}, 0)
	b.SetBytes(int64(len(event)))
	b.ReportAllocs()
	for b.Loop() {
		if ev, err := r.Next(); err != nil || len(ev.Data) == 0 {
			b.Fatal(err)
		}
	}
}

// endless repeats a text for ever.
type endless struct {
	text string
	at   int
}

func (e *endless) Read(b []byte) (int, error) {
	n := 0
	for n < len(b) {
		c := copy(b[n:], e.text[e.at:])
		n, e.at = n+c, (e.at+c)%len(e.text)
	}
	return n, nil
}

// Several long lines in a row share one buffer, which goes when none came any more.
func TestLargeBufferStaysForLongLinesAlone(t *testing.T) {
	long := "data: " + strings.Repeat("a", 3*keepBuffer) + "\n\n"
	r := NewReader(io.MultiReader(strings.NewReader(long), strings.NewReader(long), strings.NewReader("data: a\n\n"), strings.NewReader("data: b\n\n")), 0)
	var sizes []int
	var first *byte
	for range 4 {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		if sizes = append(sizes, len(r.lines.buf)); first == nil {
			first = &r.lines.buf[0]
		}
		if len(sizes) == 2 && first != &r.lines.buf[0] {
			t.Error("the second long line has a buffer of its own")
		}
	}
	if sizes[0] <= keepBuffer || sizes[1] != sizes[0] || sizes[3] > keepBuffer {
		t.Errorf("got buffers of %d bytes", sizes)
	}
}
