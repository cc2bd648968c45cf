package wire

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"alisio/llm"
)

// get asks a real server and returns the client's error.
func get(t *testing.T, target string) error {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(target)
	if err == nil {
		resp.Body.Close()
		t.Fatalf("get %s: got no error", target)
	}
	return err
}

func TestConnect(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	hangUp := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			conn.Close()
		}
	}))
	defer hangUp.Close()
	plain := httptest.NewServer(nil)
	defer plain.Close()
	foreign := httptest.NewUnstartedServer(nil)
	foreign.Config.ErrorLog = log.New(io.Discard, "", 0)
	foreign.StartTLS()
	defer foreign.Close()

	cases := []struct {
		name string
		err  error
		want string
	}{
		{"refused", get(t, closed.URL), "connection refused"},
		{"closed at once", get(t, hangUp.URL), "the connection was closed by the other side"},
		{"unknown authority", get(t, foreign.URL), "the server's certificate is not trusted: its authority is unknown"},
		{"no TLS", get(t, strings.Replace(plain.URL, "http:", "https:", 1)), "the server does not speak TLS"},
		{"no such host", &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}}, "no such host"},
		{"dead resolver", &net.DNSError{Err: "server misbehaving\x1b[2J", Name: "x"}, "the name lookup gave no answer"},
		{"time-out", context.DeadlineExceeded, "no answer in time"},
		{"an alert of TLS", &net.OpError{Op: "remote error", Err: errors.New("tls: unrecognized name")}, "the server refused the TLS connection"},
		{"an old TLS", &net.OpError{Op: "remote error", Err: errors.New("tls: protocol version not supported")}, "the server does not speak TLS 1.2 or later"},
		{"HTTP/2 that never began", errors.New("http2: client conn could not be established"), "the connection was closed by the other side"},
		{"one that knows what to do", advice{"odd\x1b[2J redirect to sk-secret"}, "odd[2J redirect to [redacted]"},
		{"unknown fault", errors.New("odd\x1b[2J thing with sk-secret"), "odd[2J thing with [redacted]"},
	}
	s := Server{Host: "h:1", Key: "sk-secret"}
	for _, c := range cases {
		wrapped := &url.Error{Op: "Post", URL: "http://h/?key=sk-secret", Err: c.err}
		e := s.Connect(wrapped)
		if got, ok := strings.CutPrefix(e.Message, "connect to h:1: "); e.Cause != llm.CauseUnreachable || !ok || got != c.want {
			t.Errorf("%s: got %s, %q, want %q", c.name, e.Cause, e.Message, c.want)
		}
		if strings.Contains(e.Message, s.Key) {
			t.Errorf("%s: the key is in %q", c.name, e.Message)
		}
	}
}

// advice is an error that says what to do.
type advice struct{ text string }

func (a advice) Error() string { return a.text }
func (advice) Hint() string    { return "do this" }

// detour is the error of a request that was to go through a proxy.
type detour struct {
	err     error
	reached bool
}

func (detour) Error() string           { return "unseen" }
func (d detour) Unwrap() error         { return d.err }
func (d detour) Proxy() (string, bool) { return "the proxy p\x1b[2J (sk-secret)", d.reached }

func TestConnectThroughAProxy(t *testing.T) {
	const around = "check the proxy; hosts that NO_PROXY names are asked without one"
	unknown := x509.UnknownAuthorityError{}
	for _, c := range []struct {
		err        error
		want, hint string
	}{
		{detour{io.EOF, false}, "connect to the proxy p[2J ([redacted]), for h: the connection was closed by the other side", around},
		{detour{io.EOF, true}, "connect to h through the proxy p[2J ([redacted]): the connection was closed by the other side", around},
		{detour{errors.New("odd\x1b[2J thing"), false}, "connect to the proxy p[2J ([redacted]), for h: odd[2J thing", around},
		{detour{advice{"more than 3 redirects"}, true}, "connect to h through the proxy p[2J ([redacted]): more than 3 redirects", "do this"},
		{detour{unknown, true}, "connect to h through the proxy p[2J ([redacted]): the server's certificate is not trusted: its authority is unknown",
			"check the base URL; an authority of your own is named by provider.caFile"},
		{detour{&net.DNSError{IsNotFound: true}, false}, "connect to the proxy p[2J ([redacted]), for h: no such host", around},
	} {
		e := (Server{Host: "h", Key: "sk-secret"}).Connect(&url.Error{Op: "Post", URL: "http://h/", Err: c.err})
		if e.Message != c.want || e.Hint != c.hint {
			t.Errorf("%v: got %q, hint %q\nwant %q, %q", c.err, e.Message, e.Hint, c.want, c.hint)
		}
	}
}

func TestConnectKeepsTheError(t *testing.T) {
	e := (Server{Host: "h"}).Connect(&url.Error{Op: "Post", URL: "http://h/", Err: context.DeadlineExceeded})
	if !errors.Is(e, context.DeadlineExceeded) {
		t.Errorf("got %v, want one that wraps the deadline", e.Err)
	}
}
