package chatapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"alisio/llm"
	"alisio/llm/wire"
)

// trip is a transport that answers with one body.
type trip struct {
	body io.ReadCloser
	ctx  context.Context
}

func (f *trip) RoundTrip(r *http.Request) (*http.Response, error) {
	f.ctx = r.Context()
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: f.body}, nil
}

// stream reads a body with a fresh client and returns what it yields.
func stream(c *Client, body io.Reader) (events []llm.Event, err error) {
	c.endpoint.HTTP = &http.Client{Transport: &trip{body: io.NopCloser(body)}}
	for ev, err := range c.Stream(context.Background(), hello()) {
		if err != nil {
			return events, err
		}
		events = append(events, ev)
	}
	return events, nil
}

func hello() llm.Request {
	return llm.Request{Model: "m", Messages: []llm.Message{{Role: llm.RoleUser, Text: "hi"}}}
}

func client() *Client { return New(Config{ID: "test", BaseURL: "http://h/v1"}) }

func text1(s string) string {
	return `data: {"choices":[{"index":0,"delta":{"content":"` + s + `"}}]}` + "\n\n"
}

const stop = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"

func TestDeltasInMemoryAreJoined(t *testing.T) {
	events, err := stream(client(), strings.NewReader(strings.Repeat(text1("ab"), 50)+stop+"data: [DONE]\n\n"))
	if err != nil || len(events) > 3 {
		t.Errorf("got %d events, %v, want few", len(events), err)
	}
	// A piece that has not arrived is never waited for.
	in, out := io.Pipe()
	defer in.Close()
	go io.WriteString(out, text1("a")+text1("b")) // and then nothing
	c := client()
	c.endpoint.HTTP = &http.Client{Transport: &trip{body: in}}
	for ev, err := range c.Stream(context.Background(), hello()) {
		if err != nil || ev.Text == "" {
			t.Errorf("got %+v, %v", ev, err)
		}
		break
	}
}

func TestJoinedDeltasAreBounded(t *testing.T) {
	piece := strings.Repeat("x", 1000)
	events, err := stream(client(), strings.NewReader(strings.Repeat(text1(piece), 100)+stop))
	if err != nil {
		t.Fatal(err)
	}
	all := 0
	for _, ev := range events[:len(events)-1] {
		all += len(ev.Text)
		if len(ev.Text) > wire.Joined+len(piece) {
			t.Errorf("an event of %d bytes", len(ev.Text))
		}
	}
	if m := events[len(events)-1].Message; all != 100_000 || len(m.Text) != all {
		t.Errorf("got %d bytes in deltas, %d in the message", all, len(m.Text))
	}
}

// Symptom: the server keeps the connection open without an end mark. The finish
// reason and a short grace end the turn, with a report that comes in between.
func TestC016GraceBehindTheFinishReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, out := io.Pipe()
		f := &trip{body: in}
		go func() {
			io.WriteString(out, text1("Hello")+stop)
			io.WriteString(out, `data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}`+"\n\n")
			for f.ctx.Err() == nil { // heartbeats do not keep it alive
				io.WriteString(out, ": ping\n\n")
				time.Sleep(100 * time.Millisecond)
			}
			out.CloseWithError(f.ctx.Err())
		}()
		c := client()
		c.endpoint.HTTP = &http.Client{Transport: f}
		start := time.Now()
		var last llm.Event
		for ev, err := range c.Stream(t.Context(), hello()) {
			if err != nil {
				t.Error(err)
			}
			last = ev
		}
		if took := time.Since(start); took < c.endpoint.Limits.Grace || took > c.endpoint.Limits.Grace+time.Second {
			t.Errorf("took %v, want about %v", took, c.endpoint.Limits.Grace)
		}
		if last.Kind != llm.Completed || last.Message.Text != "Hello" || last.Usage == nil || last.Usage.Input != 3 {
			t.Errorf("got %+v", last)
		}
	})
}

func TestLimits(t *testing.T) {
	c := client()
	c.endpoint.Limits.Line = 100_000
	long := strings.Repeat("a", c.endpoint.Limits.Line+1)
	thought := func(s string) string { return `data: {"choices":[{"delta":{"reasoning":"` + s + `"}}]}` + "\n\n" }
	cases := []struct {
		name string
		body io.Reader
		want string
	}{
		{"line", strings.NewReader(text1(long)), "line longer than 100000 bytes"},
		{"whole answer", strings.NewReader(`{"choices":[{"message":{"content":"` + long + `"}}]}`), "too large"},
		{"reasoning", io.LimitReader(&repeat{text: thought(strings.Repeat("r", 50_000))}, 20<<20), wire.ErrReasoning.Error()},
		{"details", io.LimitReader(&repeat{text: `data: {"choices":[{"delta":{"reasoning_details":[{"type":"a"},{"type":"b"}]}}]}` + "\n\n"}, 20<<20), wire.ErrReasoning.Error()},
	}
	for _, tc := range cases {
		_, err := stream(c, tc.body)
		if llm.CauseOf(err) != llm.CauseStream || !strings.Contains(fmt.Sprint(err), tc.want) {
			t.Errorf("%s: got %v, want a stream error with %q", tc.name, err, tc.want)
		}
	}
}

// A body is what its first visible byte says, also when that byte comes late.
func TestStartBehindBlanks(t *testing.T) {
	fault := `{"error":{"message":"no capacity","code":503}}`
	for name, before := range map[string]string{
		"blank lines": "\n\r\n \t\n", "mark": "\uFEFF", "both": "\n" + "\uFEFF" + "\n", "many blank lines": strings.Repeat("\n", 5000),
	} {
		for way, wrap := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader,
		} {
			_, err := stream(client(), wrap(strings.NewReader(before+fault)))
			if llm.CauseOf(err) != llm.CauseServer || !strings.Contains(fmt.Sprint(err), "no capacity") {
				t.Errorf("%s, %s: error: got %v", name, way, err)
			}
			_, err = stream(client(), wrap(strings.NewReader(before+"<html><title>Log in</title>")))
			if !strings.Contains(fmt.Sprint(err), "Log in") {
				t.Errorf("%s, %s: page: got %v", name, way, err)
			}
			events, err := stream(client(), wrap(strings.NewReader(before+`{"choices":[{"message":{"content":"a"}}]}`)))
			if err != nil || events[len(events)-1].Message.Text != "a" {
				t.Errorf("%s, %s: answer: got %v, %v", name, way, events, err)
			}
		}
	}
	events, err := stream(client(), iotest.OneByteReader(strings.NewReader("\uFEFF"+"\n\n"+text1("a")+stop)))
	if err != nil || events[len(events)-1].Message.Text != "a" {
		t.Errorf("events: got %v, %v", events, err)
	}
}

// repeat gives out a text for ever.
type repeat struct {
	text string
	at   int
}

func (r *repeat) Read(b []byte) (int, error) {
	for all := 0; ; {
		n := copy(b[all:], r.text[r.at:])
		r.at = (r.at + n) % len(r.text)
		if all += n; all == len(b) {
			return all, nil
		}
	}
}

// hanging is a real server that sends two deltas and then nothing.
func hanging(t *testing.T) (*httptest.Server, <-chan struct{}) {
	t.Helper()
	left := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, text1("a"))
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(left)
	}))
	t.Cleanup(s.Close)
	return s, left
}

func TestCancelEndsPromptly(t *testing.T) {
	s, left := hanging(t)
	c := New(Config{BaseURL: s.URL, HTTP: s.Client()})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for ev, err := range c.Stream(ctx, hello()) {
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

func TestDeadlineIsTheContextsError(t *testing.T) {
	s, _ := hanging(t)
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	for _, err := range New(Config{BaseURL: s.URL, HTTP: s.Client()}).Stream(ctx, hello()) {
		if !errors.Is(err, context.DeadlineExceeded) || llm.CauseOf(err) != llm.CauseInternal {
			t.Errorf("got %v, want the context's error", err)
		}
	}
	for ev, err := range New(Config{BaseURL: s.URL, HTTP: s.Client()}).Stream(t.Context(), hello()) {
		if ev.Kind != llm.TextDelta {
			t.Errorf("got %+v, %v", ev, err)
		}
		break
	}
}

func TestBreakEndsTheRequest(t *testing.T) {
	s, left := hanging(t)
	for range New(Config{BaseURL: s.URL, HTTP: s.Client()}).Stream(t.Context(), hello()) {
		break
	}
	<-left // the server saw the client go
}

func TestNothingRunsOn(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, text1("a")+stop+"data: [DONE]\n\n")
	}))
	defer s.Close()
	c := New(Config{BaseURL: s.URL, HTTP: s.Client()})
	if _, err := complete(c, hello()); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 1<<20)
	if stacks := buf[:runtime.Stack(buf, true)]; bytes.Contains(stacks, []byte("wire.After")) {
		t.Errorf("a timer's goroutine is left:\n%s", stacks)
	}
}

func TestConnectionIsUsedAgain(t *testing.T) {
	conns := map[string]bool{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conns[r.RemoteAddr] = true
		io.WriteString(w, text1("a")+stop+"data: [DONE]\n\n")
	}))
	defer s.Close()
	c := New(Config{BaseURL: s.URL, HTTP: s.Client()})
	c.endpoint.Limits.Drain = time.Minute // the end always comes here
	for range 3 {
		if _, err := complete(c, hello()); err != nil {
			t.Fatal(err)
		}
	}
	if len(conns) != 1 {
		t.Errorf("three requests used %d connections", len(conns))
	}
}

func TestHeaders(t *testing.T) {
	var got http.Header
	var path string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, path = r.Header, r.URL.String()
		io.WriteString(w, text1("a")+stop)
	}))
	defer s.Close()
	cfg := Config{BaseURL: s.URL + "/v1//?api-version=2", Key: " sk-1\n", HTTP: s.Client(), UserAgent: "alisio/1", SessionHeader: "X-Session"}
	req := hello()
	req.SessionID = "s1"
	if _, err := complete(New(cfg), req); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"Authorization": "Bearer sk-1", "Accept": "text/event-stream", "Accept-Encoding": "identity", "Cache-Control": "no-store",
		"Content-Type": "application/json", "User-Agent": "alisio/1", "X-Session": "s1",
	} {
		if g := got.Get(name); g != want {
			t.Errorf("%s: got %q, want %q", name, g, want)
		}
	}
	if want := "/v1//chat/completions?api-version=2"; path != want {
		t.Errorf("path: got %s, want %s: one slash is taken away and nothing added", path, want)
	}
	cfg.Key = ""
	if _, err := complete(New(cfg), hello()); err != nil {
		t.Fatal(err)
	}
	if _, sent := got["Authorization"]; sent {
		t.Error("authorization was sent without a key")
	}
}

func TestWrongConfig(t *testing.T) {
	for _, c := range []struct {
		cfg   Config
		cause llm.Cause
	}{
		{Config{BaseURL: "http://h", Key: "sk-12\x00secret", HTTP: http.DefaultClient}, llm.CauseAuth},
		{Config{BaseURL: "http://user:sk-secret@ho st/", HTTP: http.DefaultClient}, llm.CauseBadRequest},
		{Config{BaseURL: "nothing", HTTP: http.DefaultClient}, llm.CauseBadRequest},
		{Config{BaseURL: "http://h"}, llm.CauseInternal},
	} {
		_, err := complete(New(c.cfg), hello())
		if llm.CauseOf(err) != c.cause || strings.Contains(fmt.Sprint(err), "secret") {
			t.Errorf("%+v: got %v, %s, want %s", c.cfg, err, llm.CauseOf(err), c.cause)
		}
	}
}

func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host := l.Addr().String()
	l.Close()
	_, err = complete(New(Config{BaseURL: "http://user:pw@" + host + "/?key=sk-secret", Key: "sk-secret", HTTP: http.DefaultClient}), hello())
	if want := "connect to " + host + ": connection refused"; llm.CauseOf(err) != llm.CauseUnreachable || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A reset behind the first delta is a broken stream, not a success; behind the
// finish reason nothing is missing.
func TestC050ResetInTheStream(t *testing.T) {
	reset := errors.New("read tcp 127.0.0.1:1->127.0.0.1:2: read: connection reset by peer")
	call := `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"x","arguments":"{}"}}]}}]}` + "\n\n"
	_, err := stream(client(), io.MultiReader(strings.NewReader(call), &failing{reset}))
	if want := "read the answer of h: the connection was closed by the other side"; llm.CauseOf(err) != llm.CauseStream || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	events, err := stream(client(), io.MultiReader(strings.NewReader(text1("a")+stop), &failing{reset}))
	if err != nil || events[len(events)-1].Kind != llm.Completed {
		t.Errorf("behind the finish reason: got %v, %v", events, err)
	}
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

// bulk is a stream of n typical deltas.
func bulk(n int) io.Reader {
	return io.MultiReader(
		io.LimitReader(&repeat{text: "data: " + typical + "\n\n"}, int64(n*(len(typical)+8))),
		strings.NewReader(stop+"data: [DONE]\n\n"))
}

// BenchmarkStream measures the whole client for one delta of 190 bytes when the
// server sends in bulk, without the socket.
func BenchmarkStream(b *testing.B) {
	b.SetBytes(int64(len(typical) + 8))
	b.ReportAllocs()
	c := client()
	c.endpoint.HTTP = &http.Client{Transport: &trip{body: io.NopCloser(bulk(b.N))}}
	if _, err := complete(c, hello()); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkStreamSocket is the same over a loopback socket and net/http, which
// cost more than the client.
func BenchmarkStreamSocket(b *testing.B) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.Copy(w, bulk(b.N)) }))
	defer s.Close()
	b.SetBytes(int64(len(typical) + 8))
	b.ReportAllocs()
	b.ResetTimer()
	if _, err := complete(New(Config{BaseURL: s.URL, HTTP: s.Client()}), hello()); err != nil {
		b.Fatal(err)
	}
}
