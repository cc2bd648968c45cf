package responses

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"alisio/llm"
	"alisio/llm/sse"
	"alisio/llm/wire"
)

// trip is a transport that answers with one body.
type trip struct{ body io.Reader }

func (f *trip) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(f.body)}, nil
}

// stream reads a body with a fresh client and returns what it yields.
func stream(body io.Reader) (events []llm.Event, err error) {
	for ev, err := range client(body).Stream(context.Background(), hello()) {
		if err != nil {
			return events, err
		}
		events = append(events, ev)
	}
	return events, nil
}

func client(body io.Reader) *Client {
	return New(Config{ID: "test", BaseURL: "http://h/v1", HTTP: &http.Client{Transport: &trip{body}}})
}

func hello() llm.Request {
	return llm.Request{Model: "m", Messages: []llm.Message{user("hi")}}
}

// complete returns the finished message of a request.
func complete(p llm.Provider, req llm.Request) (llm.Message, error) {
	for ev, err := range p.Stream(context.Background(), req) {
		if err != nil {
			return llm.Message{}, err
		}
		if ev.Kind == llm.Completed {
			return *ev.Message, nil
		}
	}
	return llm.Message{}, io.ErrUnexpectedEOF
}

const completedEvent = `{"type":"response.completed","response":{"status":"completed"}}`

// repeat gives out texts, each made from its number, for ever.
type repeat struct {
	make func(n int) string
	n    int
	rest string
}

func (r *repeat) Read(b []byte) (int, error) {
	for all := 0; ; {
		if r.rest == "" {
			r.rest = r.make(r.n)
			r.n++
		}
		n := copy(b[all:], r.rest)
		r.rest = r.rest[n:]
		if all += n; all == len(b) {
			return all, nil
		}
	}
}

// Memory is bounded whatever comes: each of these streams never ends.
func TestLimits(t *testing.T) {
	long := strings.Repeat("a", 100_000)
	format := func(s string) func(int) string {
		return func(n int) string { return strings.ReplaceAll(s, "#", fmt.Sprint(n)) }
	}
	items := func(typ, item string) string { return `{"type":"` + typ + `","output_index":#,"item":` + item + `}` }
	delta := func(typ, index string) string {
		return `{"type":"response.` + typ + `.delta","output_index":` + index + `,"content_index":0,"delta":"` + long + `"}`
	}
	for _, c := range []struct {
		name string
		make func(int) string
		want error
	}{
		{"text", format(delta("output_text", "0")), wire.ErrText},
		{"reasoning", format(delta("reasoning_text", "0")), wire.ErrReasoning},
		{"items by deltas", format(`{"type":"response.function_call_arguments.delta","output_index":#,"delta":"a"}`), errItems},
		{"items that begin", format(items("response.output_item.added", `{"type":"x"}`)), errItems},
		{"items that begin at one index", format(`{"type":"response.output_item.added","output_index":0,"item":{"type":"x#"}}`), errItems},
		{"items", format(items("response.output_item.done", `{"type":"x"}`)), errItems},
		{"large texts", format(`{"type":"response.output_text.done","output_index":#,"text":"b` + long + `"}`), wire.ErrText},
		{"parts", func(int) string {
			return `{"type":"response.output_item.done","item":{"type":"message","content":[{}` + strings.Repeat(",{}", maxParts) + `]}}`
		}, errParts},
		{"terminal output", func(int) string {
			return `{"type":"response.completed","response":{"output":[{}` + strings.Repeat(",{}", maxItems) + `]}}`
		}, errItems},
	} {
		_, err := stream(&repeat{make: func(n int) string { return events(c.make(n)) }})
		if llm.CauseOf(err) != llm.CauseStream || !strings.Contains(fmt.Sprint(err), c.want.Error()) {
			t.Errorf("%s: got %v, want a stream error with %q", c.name, err, c.want)
		}
	}
}

// What is kept beside shown text is counted, whatever it came as.
func TestKeptBytesAreCounted(t *testing.T) {
	long := strings.Repeat("a", 1000)
	for name, data := range map[string]string{
		"arguments": `{"type":"response.function_call_arguments.delta","output_index":0,"delta":"` + long + `"}`,
		"whole":     `{"type":"response.function_call_arguments.done","output_index":0,"arguments":"` + long + `"}`,
		"head":      `{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"` + long + `"}}`,
		"id":        `{"type":"response.output_item.added","output_index":0,"item":{"type":"x","id":"` + long + `"}}`,
		"text":      `{"type":"response.output_text.done","output_index":0,"text":"` + long + `"}`,
		"item":      doneEvent(0, `{"type":"x","y":"`+long+`"}`),
	} {
		for left, want := range map[int]error{10_000: nil, 900: errItems} {
			tr := &turn{Turn: &wire.Turn{}}
			tr.answer.items.size = maxKept - left
			if err := tr.Event(sse.Event{Data: []byte(data)}); !errors.Is(err, want) {
				t.Errorf("%s, %d bytes left: got %v, want %v", name, left, err, want)
			}
		}
	}
}

// A line may cost a few times its bytes, whatever stands in it.
func TestLinesCostLittleMoreThanTheirBytes(t *testing.T) {
	many := strings.TrimSuffix(strings.Repeat("{},", 1<<18), ",")
	for name, data := range map[string]string{
		"output":  `{"type":"response.completed","response":{"output":[` + many + `]}}`,
		"content": doneEvent(0, `{"type":"message","content":[`+many+`]}`),
		"summary": doneEvent(0, `{"type":"reasoning","summary":[`+many+`]}`),
		"other":   `{"type":"response.new","x":[` + many + `]}`,
		"keys":    `{"type":"response.new"` + strings.Repeat(`,"a":0`, 1<<17) + `}`,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := stream(strings.NewReader(events(data)))
		runtime.ReadMemStats(&after)
		if got := int(after.TotalAlloc-before.TotalAlloc) / len(data); got > 12 || err == nil {
			t.Errorf("%s: got %d times the bytes of the line, %v", name, got, err)
		}
	}
}

// Items that nobody could store again are left out, the answer is kept.
func TestDeepItemsAreNotKept(t *testing.T) {
	for depth, kept := range map[int]bool{maxNesting - 1: true, maxNesting: false} {
		item := `{"type":"x","y":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}`
		got, err := stream(strings.NewReader(events(doneEvent(0, item), `{"type":"response.output_item.done","output_index":1,"item":{"type":"message","role":"assistant","content":"a"}}`, completedEvent)))
		if err != nil {
			t.Fatal(err)
		}
		if m := got[len(got)-1].Message; m.Text != "a" || (len(m.ProviderData) > 0) != kept {
			t.Errorf("depth %d: got %+v", depth, m)
		}
	}
}

func TestCancelEndsPromptly(t *testing.T) {
	left := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, events(textEvent("a")))
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(left)
	}))
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for ev, err := range New(Config{BaseURL: s.URL, HTTP: s.Client()}).Stream(ctx, hello()) {
		if ev.Kind == llm.TextDelta {
			cancel()
		}
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("got %v, want the context's error", last)
	}
	<-left
}

func TestHeaders(t *testing.T) {
	var got http.Header
	var path string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, path = r.Header, r.URL.String()
		io.WriteString(w, events(textEvent("a"), completedEvent))
	}))
	defer s.Close()
	req := hello()
	req.SessionID = "s1"
	c := New(Config{ID: "x", BaseURL: s.URL + "/v1/?api-version=2", Key: " sk-1\n", HTTP: s.Client(), UserAgent: "alisio/1", SessionHeader: "X-Session"})
	if _, err := complete(c, req); err != nil || c.ID() != "x" || c.Close() != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"Authorization": "Bearer sk-1", "Accept": "text/event-stream", "Content-Type": "application/json", "User-Agent": "alisio/1", "X-Session": "s1",
	} {
		if g := got.Get(name); g != want {
			t.Errorf("%s: got %q, want %q", name, g, want)
		}
	}
	if want := "/v1/responses?api-version=2"; path != want {
		t.Errorf("path: got %s, want %s", path, want)
	}
}

func TestModels(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != "/v1/models" {
			t.Errorf("got %s %s", r.Method, r.URL)
		}
		io.WriteString(w, `{"data":[{"id":"a","context_window":8}]}`)
	}))
	defer s.Close()
	models, err := New(Config{BaseURL: s.URL + "/v1", HTTP: s.Client()}).Models(t.Context())
	if err != nil || len(models) != 1 || models[0].ID != "a" || models[0].ContextWindow != 8 {
		t.Errorf("got %v, %v", models, err)
	}
}

// Whatever a server sends, a sequence ends with one completed message or one
// error, and the message can be stored and sent back.
func FuzzStream(f *testing.F) {
	for _, c := range walked {
		f.Add(events(c.in, completedEvent))
	}
	for _, data := range []string{
		doneEvent(0, rsItem) + "\n\ndata: " + doneEvent(1, msgItem) + "\n\ndata: " + doneEvent(2, callItem),
		`{"type":"response.output_item.added","item":{"type":"function_call","call_id":"c"}}`,
		`{"type":"response.function_call_arguments.done","output_index":3,"name":"x","arguments":{"a":1}}`,
		`{"type":"response.reasoning_summary_text.done","text":"r","summary_index":-1}`,
		doneEvent(0, `{"type":"custom_tool_call","call_id":"\ud800","input":"x","name":"y"}`),
		`{"type":"response.incomplete","response":{"output":[` + callItem + `,{"type":"message","content":"x"}],"usage":{"input_tokens":1}}}`,
	} {
		f.Add(events(data, completedEvent))
	}
	f.Add(`{"object":"response","status":"completed","output":[` + msgItem + `]}`)
	f.Add("event: error\ndata: boom\n\n")
	f.Fuzz(func(t *testing.T, body string) {
		c := client(strings.NewReader(body))
		var got []llm.Event
		for ev, err := range c.Stream(t.Context(), hello()) {
			if err != nil {
				message := err.Error()
				if llm.CauseOf(err) == llm.CauseInternal || !utf8.ValidString(message) || strings.ContainsFunc(message, unicode.IsControl) || len(message) > 3000 {
					t.Errorf("%q: got %s, %q", body, llm.CauseOf(err), message)
				}
				return
			}
			got = append(got, ev)
		}
		for i, ev := range got {
			if (ev.Kind == llm.Completed) != (i == len(got)-1) || !utf8.ValidString(ev.Text) {
				t.Fatalf("%q: got %+v", body, got)
			}
		}
		m := *got[len(got)-1].Message
		if !utf8.ValidString(m.Text) {
			t.Errorf("%q: text %q", body, m.Text)
		}
		history := []llm.Message{user("x"), m}
		for _, call := range m.Calls {
			history = append(history, result(call.ID, "r"))
		}
		next, err := c.body(llm.Request{Model: "m", Messages: history}, nil)
		if err != nil || !json.Valid(next) || !utf8.Valid(next) {
			t.Errorf("%q: next request %s, %v", body, next, err)
		}
		items := stored(m, c.origin("m"))
		for _, item := range m.ProviderData {
			if items != nil && stands(items, m.Calls) && len(m.Text)+len(m.Calls) > 0 && !bytes.Contains(next, item) {
				t.Errorf("%q: item %s is not in %s", body, item, next)
			}
		}
	})
}

// bulk is a stream of n typical deltas.
func bulk(n int) io.Reader {
	one := "event: response.output_text.delta\n" + events(typical)
	return io.MultiReader(
		io.LimitReader(&repeat{make: func(int) string { return one }}, int64(n*len(one))),
		strings.NewReader(events(completedEvent)))
}

// closing are the events behind the last delta of a text, which repeat all of it.
func closing(text string) string {
	quoted := string(wire.AppendString(nil, text))
	part := `{"type":"output_text","annotations":[],"text":` + quoted + `}`
	item := `{"id":"msg_1","type":"message","status":"completed","content":[` + part + `],"role":"assistant"}`
	at := `"output_index":1,"content_index":0`
	return events(
		`{"type":"response.output_text.done",`+at+`,"text":`+quoted+`,"logprobs":[]}`,
		`{"type":"response.content_part.done",`+at+`,"part":`+part+`}`,
		doneEvent(1, item),
		`{"type":"response.completed","response":{"object":"response","status":"completed","output":[`+item+`],"usage":{"input_tokens":1}}}`)
}

// BenchmarkClosing measures an answer of 4 MB in one piece and the four events
// behind it.
func BenchmarkClosing(b *testing.B) {
	for name, line := range map[string]string{"plain": strings.Repeat("a", 64), "code": "\tfmt.Fprintln(w, \"a line of a program like many others\", n)\n"} {
		text := strings.Repeat(line, 1<<16)
		body := events(strings.Replace(typical, `" hello"`, string(wire.AppendString(nil, text)), 1)) + closing(text)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if m, err := complete(client(strings.NewReader(body)), hello()); err != nil || m.Text != text {
					b.Fatal(err)
				}
			}
		})
	}
}

// batch is how many deltas one answer of a benchmark has.
const batch = 100_000

// BenchmarkStream measures the whole client for one delta when the server sends
// in bulk, without the socket.
func BenchmarkStream(b *testing.B) {
	b.SetBytes(int64(len(typical)))
	b.ReportAllocs()
	for n := b.N; n > 0; n -= batch {
		if _, err := complete(client(bulk(min(n, batch))), hello()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStreamSocket is the same over a loopback socket and net/http.
func BenchmarkStreamSocket(b *testing.B) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.Copy(w, bulk(batch)) }))
	defer s.Close()
	b.SetBytes(int64(len(typical)))
	b.ReportAllocs()
	b.ResetTimer()
	for n := b.N; n > 0; n -= batch {
		if _, err := complete(New(Config{BaseURL: s.URL, HTTP: s.Client()}), hello()); err != nil {
			b.Fatal(err)
		}
	}
}
