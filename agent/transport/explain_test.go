package transport

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"alisio/llm"
	"alisio/llm/wire"
)

// raw is a server that answers every connection with the same bytes.
func raw(t *testing.T, answer string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			// The request is read first: a close with unread bytes would be a reset.
			_, _ = conn.Read(make([]byte, 16<<10))
			_, _ = io.WriteString(conn, answer)
			conn.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l
}

// What a person reads of each fault of TLS and of proxies, over real sockets.
// The messages begin with "connect to h"; the proxies' address is P.
func TestFaultsAreTold(t *testing.T) {
	a, foreign := newAuthority(t), newAuthority(t)
	good := a.issue(nil)
	with := func(c tls.Certificate) *tls.Config { return &tls.Config{Certificates: []tls.Certificate{c}} }
	wants := func(version uint16) *tls.Config {
		return &tls.Config{Certificates: []tls.Certificate{good}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: a.pool(),
			MinVersion: version, MaxVersion: version}
	}
	own, others := a.clientFile(a.issue(nil)), a.clientFile(foreign.issue(nil))
	past := func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Hour) }
	old := with(good)
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	serve := func(c *tls.Config) string { return newTLS(t, c, ok).URL }
	plainServer := newRecorder(t, ok)
	toPlain := tunnel(t, plainServer.Listener.Addr().String())
	toForeign := tunnel(t, newTLS(t, with(foreign.issue(nil)), ok).Listener.Addr().String())
	answers := func(status int) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		t.Cleanup(s.Close)
		return s.URL
	}
	secret := func(proxy string) string { return strings.Replace(proxy, "://", "://me:hunter2@", 1) }
	const noCert = ": the server asked for a client certificate and closed the connection"
	const badCert = ": the server closed the connection after it was shown the client certificate"
	const caFile, clientCert, aside = "provider.caFile", "provider.clientCert", "NO_PROXY"

	for _, c := range []struct {
		name, url          string
		clientCert, proxy  string
		want, hint, unlike string
	}{
		{name: "unknown authority", url: serve(with(foreign.issue(nil))), want: ": the server's certificate is not trusted: its authority is unknown", hint: caFile},
		{name: "expired", url: serve(with(a.issue(past))), want: ": the server's certificate is not trusted: it is expired", hint: "clock"},
		{name: "another host", url: serve(with(a.issue(func(c *x509.Certificate) { c.IPAddresses = nil }))),
			want: ": the server's certificate is not trusted: it is for another host", hint: "check the base URL", unlike: "model.invalid"},
		{name: "not for servers", url: serve(with(a.issue(func(c *x509.Certificate) { c.ExtKeyUsage = c.ExtKeyUsage[1:] }))),
			want: ": the server's certificate is not trusted: this system refuses it", hint: "check the base URL"},
		{name: "old TLS", url: serve(old), want: ": the server does not speak TLS 1.2 or later"},
		{name: "client certificate wanted", url: serve(wants(tls.VersionTLS13)), want: noCert, hint: clientCert},
		{name: "client certificate wanted, 1.2", url: serve(wants(tls.VersionTLS12)), want: noCert + " (handshake failure)", hint: clientCert},
		{name: "wrong client certificate", url: serve(wants(tls.VersionTLS13)), clientCert: others, want: badCert, hint: clientCert},
		{name: "wrong client certificate, 1.2", url: serve(wants(tls.VersionTLS12)), clientCert: others, want: badCert + " (", hint: clientCert},
		{name: "right client certificate", url: serve(wants(tls.VersionTLS13)), clientCert: own},
		{name: "plain http at https", url: strings.Replace(plainServer.URL, "http:", "https:", 1), want: ": the server does not speak TLS", hint: "http:"},
		{name: "no http at https", url: "https://" + raw(t, "SSH-2.0-toy\r\n").Addr().String(), want: ": the server does not speak TLS", hint: "http:"},
		{name: "an alert at http", url: "http://" + raw(t, "\x15\x03\x01\x00\x02\x02\x16").Addr().String(), want: ": the server speaks TLS alone", hint: "https:"},

		{name: "dead proxy", url: "https://model.invalid", proxy: "http://127.0.0.1:9", want: "the proxy P, for h: connection refused", hint: aside},
		{name: "dead proxy, http", url: "http://model.invalid", proxy: "http://127.0.0.1:9", want: "the proxy P, for h: connection refused", hint: aside},
		{name: "dead proxy, socks", url: "https://model.invalid", proxy: "socks5://127.0.0.1:9", want: "the proxy P, for h: connection refused", hint: aside},
		{name: "proxy wants a password", url: "https://model.invalid", proxy: answers(407),
			want: "the proxy P, for h: it answered 407 (proxy authentication required)", hint: "check the proxy"},
		{name: "proxy wants a password, http", url: "http://model.invalid", proxy: answers(407),
			want: "the proxy P, for h: it answered 407 (proxy authentication required)", hint: "check the proxy"},
		{name: "proxy refuses", url: "https://model.invalid", proxy: answers(503), want: "the proxy P, for h: it answered 503 (service unavailable)", hint: aside},
		{name: "proxy hangs up", url: "https://model.invalid", proxy: "http://" + raw(t, "").Addr().String(),
			want: " through the proxy P: the connection was closed by the other side", hint: aside},
		{name: "proxy of a foreign authority", url: "https://model.invalid", proxy: serve(with(foreign.issue(nil))),
			want: "the proxy P, for h: the server's certificate is not trusted: its authority is unknown", hint: caFile},
		{name: "server of a foreign authority behind", url: "https://model.invalid", proxy: toForeign.URL,
			want: " through the proxy P: the server's certificate is not trusted: its authority is unknown", hint: caFile},
		{name: "plain server behind", url: "https://model.invalid", proxy: toPlain.URL,
			want: " through the proxy P: the server does not speak TLS", hint: "http:"},
	} {
		o := Options{CAFile: a.file, Proxy: direct}
		if c.clientCert != "" {
			o.ClientCert, o.Origin = c.clientCert, c.url
		}
		if c.proxy != "" {
			o.Proxy = by(t, secret(c.proxy))
		}
		_, err := post(t, provider(t, o), c.url)
		if c.want == "" || err == nil {
			if err != nil || c.want != "" {
				t.Errorf("%s: %v, want %q", c.name, err, c.want)
			}
			continue
		}
		e := (wire.Server{Host: "h"}).Connect(err)
		_, host, _ := strings.Cut(c.proxy, "//")
		got := strings.Replace(strings.TrimPrefix(e.Message, "connect to "), "proxy "+host, "proxy P", 1)
		if !strings.HasPrefix(strings.TrimPrefix(got, "h"), c.want) || !strings.Contains(e.Hint, c.hint) {
			t.Errorf("%s: got %q, hint %q, want %q, %q", c.name, got, e.Hint, c.want, c.hint)
		}
		if strings.Contains(err.Error(), "hunter2") || c.unlike != "" && strings.Contains(e.Message, c.unlike) {
			t.Errorf("%s: got %q, which says too much", c.name, e.Message)
		}
	}
}

// A server of TLS tells so to who asks it by plain http.
func TestHTTPServerThatWantsTLS(t *testing.T) {
	a := newAuthority(t)
	s := newTLS(t, &tls.Config{Certificates: []tls.Certificate{a.issue(nil)}}, ok)
	e := &wire.Endpoint{Server: wire.Server{Host: "h"}, BaseURL: strings.Replace(s.URL, "https:", "http:", 1), HTTP: provider(t, Options{Proxy: direct})}
	_, err := e.Do(t.Context(), "POST", "/v1", []byte("{}"), "")
	if err == nil || !strings.Contains(err.Error(), "answered 400") {
		t.Fatalf("got %v", err)
	}
	if hint := hintOf(err); !strings.Contains(hint, "https:") {
		t.Errorf("got hint %q of %v", hint, err)
	}
}

func hintOf(err error) string {
	var e *llm.Error
	if !errors.As(err, &e) {
		return ""
	}
	return e.Hint
}
