package wire

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"alisio/llm"
	"alisio/llm/sse"
)

// open is a protocol whose answers are all their events, up to the event "end".
type open struct {
	t    *Turn
	some bool
}

func (o *open) Event(ev sse.Event) error {
	switch o.some = true; string(ev.Data) {
	case "end":
		o.t.Done()
	case "much":
		return ErrText
	}
	return o.t.AddText(ev.Data)
}

func (o *open) Whole(data []byte) error { return o.t.endpoint.InBand(data) }

func (o *open) End() (llm.Event, error) {
	switch {
	case !o.some:
		return llm.Event{}, Nothing(false)
	case !o.t.IsDone():
		return llm.Event{}, o.t.endpoint.Incomplete("ended the stream before the answer was complete")
	}
	return llm.Event{Kind: llm.Completed}, nil
}

// fails asks once and returns the error.
func fails(ctx context.Context, e *Endpoint) error {
	q := Question{Path: "/x", Model: "m", Body: func(Names) ([]byte, error) { return []byte("{}"), nil }}
	return e.Ask(ctx, q, func(t *Turn) Protocol { return &open{t: t} }, func(llm.Event) bool { return true })
}

// hangUp sends text and closes the connection, by RST or in good order.
func hangUp(t *testing.T, text string, reset bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, buf, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		buf.WriteString(text)
		buf.Flush()
		if tcp, ok := conn.(*net.TCPConn); ok && reset {
			tcp.SetLinger(0)
		}
		conn.Close()
	}
}

// says answers with a status, headers ("Name: value") and a body.
func says(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for _, h := range headers {
			name, value, _ := strings.Cut(h, ": ")
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// Each fault of a server behind a real socket: its cause, how the stream ended, and
// whether the same request is worth another try (protocol sse, "What to retry").
func TestFaultsOfAServer(t *testing.T) {
	const chunked = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		cause  llm.Cause
		stream llm.StreamEnd
		again  bool
	}{
		{"closed before headers", hangUp(t, "", false), llm.CauseUnreachable, "", true},
		{"reset before headers", hangUp(t, "", true), llm.CauseUnreachable, "", true},
		{"closed in headers", hangUp(t, "HTTP/1.1 200 OK\r\nA: b\r\n", false), llm.CauseUnreachable, "", true},
		{"closed behind headers", hangUp(t, chunked, false), llm.CauseStream, llm.StreamLost, true},
		{"closed in the stream", hangUp(t, chunked+"9\r\ndata: a\n\n\r\n", false), llm.CauseStream, llm.StreamLost, true},
		{"closed in a chunk", hangUp(t, chunked+"99\r\ndata: a\n\n", false), llm.CauseStream, llm.StreamLost, true},
		{"reset in a JSON text", hangUp(t, chunked+"99\r\n{\"a\":", false), llm.CauseStream, llm.StreamLost, true},
		{"no bytes", says(200, ""), llm.CauseStream, llm.StreamEmpty, true},
		{"comments alone", says(200, ": ping\n\n"), llm.CauseStream, llm.StreamEmpty, true},
		{"no end mark", says(200, "data: a\n\n"), llm.CauseStream, llm.StreamIncomplete, true},
		{"a long line", says(200, "data: "+strings.Repeat("a", 2000)+"\n\n"), llm.CauseStream, llm.StreamIncomplete, false},
		{"a large JSON text", says(200, "["+strings.Repeat(" ", 2000)+"]"), llm.CauseStream, llm.StreamIncomplete, false},
		{"too much text", says(200, "data: much\n\n"), llm.CauseStream, llm.StreamIncomplete, false},
		{"compressed", says(200, "x", "Content-Encoding: br"), llm.CauseStream, llm.StreamIncomplete, false},
		{"a web page", says(200, "<html><title>Log in</title>"), llm.CauseBadRequest, llm.StreamFailed, false},
		{"an error in place of an answer", says(200, `{"error":{"code":503,"message":"try again in 20s"}}`), llm.CauseServer, llm.StreamFailed, true},
		{"a bad request in place of an answer", says(200, `{"error":{"code":400,"message":"no"}}`), llm.CauseBadRequest, llm.StreamFailed, false},

		{"a web page of a proxy", says(502, "<html><title>Bad gateway</title>"), llm.CauseServer, "", true},
		{"408", says(408, ""), llm.CauseServer, "", true},
		{"409", says(409, ""), llm.CauseServer, "", true},
		{"421", says(421, ""), llm.CauseServer, "", true},
		{"425", says(425, ""), llm.CauseServer, "", true},
		{"429", says(429, ""), llm.CauseRateLimited, "", true},
		{"429 of a quota", says(429, `{"error":{"code":"insufficient_quota"}}`), llm.CauseQuota, "", false},
		{"500", says(500, ""), llm.CauseServer, "", true},
		{"501", says(501, ""), llm.CauseServer, "", false},
		{"524", says(524, ""), llm.CauseServer, "", true},
		{"529", says(529, "", "Retry-After: 2"), llm.CauseServer, "", true},
		{"a redirect to nowhere", says(304, ""), llm.CauseBadRequest, "", false},
		{"400", says(400, `{"error":"no"}`), llm.CauseBadRequest, "", false},
		{"401", says(401, ""), llm.CauseAuth, "", false},
		{"402", says(402, ""), llm.CauseQuota, "", false},
		{"403", says(403, ""), llm.CauseAuth, "", false},
		{"404", says(404, ""), llm.CauseBadRequest, "", false},
		{"413", says(413, ""), llm.CauseContextLength, "", false},
		{"422", says(422, ""), llm.CauseBadRequest, "", false},
		{"500 that asks for no other try", says(500, "", "x-should-retry: false"), llm.CauseServer, "", false},
		{"429 that asks for no other try", says(429, "", "x-should-retry: false"), llm.CauseRateLimited, "", false},
		{"500 that asks for another try", says(500, "", "x-should-retry: true"), llm.CauseServer, "", true},
		{"500 with a cut answer", says(500, `{"error":{"code":"output_truncated","message":"cut"}}`), llm.CauseOutputTruncated, "", false},
		{"400 with a cut answer", says(400, `{"error":{"type":"invalid_request_error","code":"output_truncated"}}`), llm.CauseOutputTruncated, "", false},
		{"a cut answer in the stream", says(200, `{"error":{"code":"output_truncated"}}`), llm.CauseOutputTruncated, llm.StreamFailed, false},
	} {
		s := httptest.NewServer(c.answer)
		e := NewEndpoint(s.URL, "", &http.Client{Transport: &http.Transport{DisableKeepAlives: true}})
		e.Limits.Line = 1000
		check(t, c.name, fails(t.Context(), e), c.cause, c.stream, c.again)
		s.Close()
	}
}

func check(t *testing.T, name string, err error, cause llm.Cause, stream llm.StreamEnd, again bool) {
	t.Helper()
	var e *llm.Error
	if !errors.As(err, &e) || e.Cause != cause || e.Stream != stream || e.Retryable() != again {
		t.Errorf("%s: got %+v\nwant %s, stream %q, tried again: %v", name, err, cause, stream, again)
	}
}

// Faults on the way to a server, and of what it was asked with.
func TestFaultsBeforeAServer(t *testing.T) {
	plain := httptest.NewServer(nil)
	defer plain.Close()
	foreign := httptest.NewUnstartedServer(nil)
	foreign.Config.ErrorLog = log.New(io.Discard, "", 0)
	foreign.StartTLS()
	defer foreign.Close()
	closed := httptest.NewServer(nil)
	closed.Close()
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // only then it is seen that the client leaves
		<-r.Context().Done()
	}))
	defer silent.Close()
	by := func(tr *http.Transport) *http.Client {
		tr.DisableKeepAlives = true
		return &http.Client{Transport: tr}
	}
	fault := func(err error) *http.Client {
		return by(&http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, err }})
	}
	usual := by(&http.Transport{})
	for _, c := range []struct {
		name, url string
		client    *http.Client
		cause     llm.Cause
		again     bool
	}{
		{"refused", closed.URL, usual, llm.CauseUnreachable, true},
		{"no headers in time", silent.URL, by(&http.Transport{ResponseHeaderTimeout: time.Millisecond}), llm.CauseUnreachable, true},
		{"TLS where there is none", strings.Replace(plain.URL, "http:", "https:", 1), usual, llm.CauseUnreachable, false},
		{"no TLS where there is", strings.Replace(foreign.URL, "https:", "http:", 1), usual, llm.CauseBadRequest, false},
		{"a certificate of nobody", foreign.URL, usual, llm.CauseUnreachable, false},
		{"no such host", plain.URL, fault(&net.DNSError{Err: "no such host", IsNotFound: true}), llm.CauseUnreachable, false},
		{"a resolver in trouble", plain.URL, fault(&net.DNSError{Err: "server misbehaving", IsTemporary: true}), llm.CauseUnreachable, true},
		{"a resolver that is not sure", plain.URL, fault(&net.DNSError{Err: "no such host", IsNotFound: true, IsTemporary: true}), llm.CauseUnreachable, true},
		{"no network", plain.URL, fault(errors.New("connect: network is unreachable")), llm.CauseUnreachable, true},
		{"an alert of TLS", plain.URL, fault(errors.New("remote error: tls: handshake failure")), llm.CauseUnreachable, false},
		{"a server whose TLS is in trouble", plain.URL, fault(errors.New("remote error: tls: internal error")), llm.CauseUnreachable, true},
		{"a rule of the transport", plain.URL, fault(advice{"more than 3 redirects"}), llm.CauseUnreachable, false},
		{"a closed connection that it explains", plain.URL, fault(advice{"the server closed the connection after it was shown the client certificate"}), llm.CauseUnreachable, true},
		{"a proxy that wants a password", plain.URL, fault(detour{errors.New("it answered 407 (proxy authentication required)"), false}), llm.CauseUnreachable, false},
		{"a proxy in trouble", plain.URL, fault(detour{errors.New("it answered 503 (service unavailable)"), false}), llm.CauseUnreachable, true},
		{"no HTTP client", plain.URL, nil, llm.CauseInternal, false},
		{"no URL", "nothing", usual, llm.CauseBadRequest, false},
		{"another scheme", "ftp://h/", usual, llm.CauseBadRequest, false},
		{"a bad URL", "http://h:x/", usual, llm.CauseBadRequest, false},
	} {
		check(t, c.name, fails(t.Context(), NewEndpoint(c.url, "", c.client)), c.cause, "", c.again)
	}
	check(t, "a bad key", fails(t.Context(), NewEndpoint(plain.URL, "sk\x00", usual)), llm.CauseAuth, "", false)
	// A limit of the caller's is the caller's to name.
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := fails(ctx, NewEndpoint(silent.URL, "", usual)); !errors.Is(err, context.DeadlineExceeded) || llm.CauseOf(err) != llm.CauseInternal {
		t.Errorf("out of time: got %v, want the context's error", err)
	}
}

func TestBroken(t *testing.T) {
	e := (Server{Host: "h"}).Broken(io.ErrUnexpectedEOF)
	if e.Cause != llm.CauseStream || e.Message != "read the answer of h: the connection was closed by the other side" {
		t.Errorf("got %+v", e)
	}
}

// Symptom: a reason that no list holds counts as success, or one that does as
// unknown. Trigger: every reason that is no success, in both protocols' words.
func TestEnded(t *testing.T) {
	for reason, want := range map[string]struct {
		cause  llm.Cause
		stream llm.StreamEnd
		again  bool
	}{
		"content_filter":                {llm.CauseFiltered, llm.StreamFailed, false},
		"model_context_window_exceeded": {llm.CauseContextLength, llm.StreamFailed, false},
		"max_output_tokens":             {llm.CauseOutputTruncated, llm.StreamFailed, false},
		"Error":                         {llm.CauseServer, llm.StreamFailed, true},
		"failed":                        {llm.CauseServer, llm.StreamFailed, true},
		"aborted":                       {llm.CauseServer, llm.StreamFailed, true},
		"insufficient_system_resource":  {llm.CauseServer, llm.StreamFailed, true},
		"solar\x1b[2J flare":            {llm.CauseStream, llm.StreamIncomplete, true},
	} {
		e := (Server{Host: "h"}).Ended(reason)
		check(t, reason, e, want.cause, want.stream, want.again)
		if e.Message == "" || strings.Contains(e.Message, "\x1b") {
			t.Errorf("%q: message %q", reason, e.Message)
		}
	}
}

// The wait that an error event names, in its text or as its upstream's header.
func TestInBandWait(t *testing.T) {
	for payload, want := range map[string]time.Duration{
		`{"code":"rate_limit_exceeded","message":"Rate limit reached. Please try again in 20s."}`:       20 * time.Second,
		`{"error":{"code":429,"message":"slow","metadata":{"headers":{"Retry-After":"7"}}}}`:            7 * time.Second,
		`{"error":{"message":"try again in 9s","code":529,"metadata":{"headers":{"retry-after":"2"}}}}`: 2 * time.Second,
		`{"message":"capacity"}`: 0,
	} {
		if e := (Server{Host: "h"}).InBand([]byte(payload)); e.RetryAfter != want || !e.Retryable() {
			t.Errorf("%s: got %v, %+v", payload, e.RetryAfter, e)
		}
	}
}

// whole is a protocol whose answers are one JSON text each.
type whole struct {
	bare
	got *string
}

func (w whole) Whole(data []byte) error { *w.got = string(data); return nil }

// Symptom: a whole answer is thrown away after the silence. Trigger: a JSON text without
// its length, on a connection that stays open, also one that goes on behind it.
func TestAWholeAnswerOnAnOpenConnection(t *testing.T) {
	for _, body := range []string{`{"a":["}\"",{}]}`, "[{}]\n", "{}{}"} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body) // only then it is seen that the client leaves
			for _, c := range body {
				io.WriteString(w, string(c))
				http.NewResponseController(w).Flush()
			}
			<-r.Context().Done()
		}))
		e := NewEndpoint(s.URL, "", s.Client())
		e.Limits.Grace = 50 * time.Millisecond
		var got string
		q := Question{Path: "/x", Model: "m", Body: func(Names) ([]byte, error) { return []byte("{}"), nil }}
		protocol := func(t *Turn) Protocol { return whole{bare{t}, &got} }
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		if err := e.Ask(ctx, q, protocol, func(llm.Event) bool { return true }); err != nil || got != body {
			t.Errorf("got %q, %v, want %q", got, err, body)
		}
		cancel()
		s.Close()
	}
}
