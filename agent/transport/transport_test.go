package transport

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"alisio/llm/wire"
)

// recorder is a server that remembers what it was sent.
type recorder struct {
	*httptest.Server
	mu   sync.Mutex
	seen []string
}

func (r *recorder) note(s string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, s)
}

func (r *recorder) lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.seen)
}

func newRecorder(t *testing.T, answer http.HandlerFunc) *recorder {
	t.Helper()
	r := &recorder{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		b, _ := io.ReadAll(q.Body)
		r.note(fmt.Sprintf("%s %s auth=%s key=%s body=%s", q.Method, q.URL.Path, q.Header.Get("Authorization"), q.Header.Get("X-Api-Key"), b))
		answer(w, q)
	}))
	t.Cleanup(r.Close)
	return r
}

// newTLS is a server that notes also how many certificates a client shows.
func newTLS(t *testing.T, c *tls.Config, answer http.HandlerFunc) *recorder {
	t.Helper()
	r := &recorder{}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		b, _ := io.ReadAll(q.Body)
		r.note(fmt.Sprintf("%s %s %s from %s auth=%s body=%s certificates=%d", q.Proto, q.Method, q.URL.Path, q.RemoteAddr,
			q.Header.Get("Authorization"), b, len(q.TLS.PeerCertificates)))
		answer(w, q)
	}))
	r.TLS = c
	r.EnableHTTP2 = true
	r.Config.ErrorLog = log.New(io.Discard, "", 0)
	r.StartTLS()
	t.Cleanup(r.Close)
	return r
}

func direct(*http.Request) (*url.URL, error) { return nil, nil }

// provider returns a client that is used up with the test.
func provider(t *testing.T, o Options) *http.Client {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c.Client("provider")
}

func post(t *testing.T, c *http.Client, url string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader("prompt"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer secret")
	req.Header.Set("X-Api-Key", "secret")
	resp, err := c.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

func ok(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "fine") }

// C143: a server that may choose where a request goes next gets the user's key
// sent to a place of its choice. Trigger: the first server redirects, with
// each status, to a second one that records what it is sent.
func TestC143NoRedirectToAnotherOrigin(t *testing.T) {
	second := newRecorder(t, ok)
	for _, status := range []int{301, 302, 303, 307, 308} {
		first := newRecorder(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, second.URL+"/v1", status)
		})
		_, err := post(t, provider(t, Options{Proxy: direct}), first.URL)
		if err == nil || !strings.Contains(err.Error(), "another origin") || !strings.Contains(err.Error(), second.URL) {
			t.Errorf("%d: error %v, want one that names %s", status, err, second.URL)
		}
		if got := first.lines(); len(got) != 1 {
			t.Errorf("%d: the first server saw %q", status, got)
		}
	}
	if got := second.lines(); len(got) != 0 {
		t.Errorf("the second server was sent %q", got)
	}
}

// C143 over TLS: neither key, body nor client certificate reach a second host,
// also where it is one of the same machine, and one that asks for a certificate.
func TestC143NoRedirectFromTLS(t *testing.T) {
	a := newAuthority(t)
	ask := &tls.Config{Certificates: []tls.Certificate{a.issue(nil)}, ClientAuth: tls.RequestClientCert}
	plain := newRecorder(t, ok)
	second := newTLS(t, ask.Clone(), ok)
	for _, to := range []string{plain.URL, second.URL, "//evil.invalid/v1"} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			first := newTLS(t, ask.Clone(), func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Location", to)
				w.WriteHeader(status)
			})
			c := provider(t, Options{CAFile: a.file, ClientCert: a.clientFile(a.issue(nil)), Origin: first.URL + "/v1", Proxy: direct})
			if _, err := post(t, c, first.URL); err == nil || !strings.Contains(err.Error(), "another origin") {
				t.Errorf("%s by %d: error %v", to, status, err)
			}
			if got := first.lines(); len(got) != 1 || !strings.HasSuffix(got[0], "auth=Bearer secret body=prompt certificates=1") {
				t.Errorf("%s by %d: the first server saw %q", to, status, got)
			}
		}
	}
	if got := append(plain.lines(), second.lines()...); len(got) != 0 {
		t.Errorf("the other servers were sent %q", got)
	}
}

func TestRedirectsWithinTheOrigin(t *testing.T) {
	a := newAuthority(t)
	for _, status := range []int{307, 308} {
		// /3 leads to /2, then /1, then /0, which answers.
		s := newTLS(t, &tls.Config{Certificates: []tls.Certificate{a.issue(nil)}}, func(w http.ResponseWriter, r *http.Request) {
			if n := r.URL.Path[1] - '0'; n > 0 {
				http.Redirect(w, r, fmt.Sprintf("/%d", n-1), status)
				return
			}
			ok(w, r)
		})
		c := provider(t, Options{CAFile: a.file, Proxy: direct})
		got, err := post(t, c, s.URL+"/3")
		if got != "fine" || err != nil {
			t.Errorf("three redirects: %q, %v", got, err)
		}
		if last := s.lines()[3]; !strings.Contains(last, "POST /0 ") || !strings.Contains(last, "auth=Bearer secret body=prompt") {
			t.Errorf("last request %q", last)
		}
		if _, err = post(t, c, s.URL+"/4"); err == nil || !strings.Contains(err.Error(), "more than 3 redirects") {
			t.Errorf("four redirects: %v", err)
		}
	}
}

func TestPostIsNotTurnedIntoGet(t *testing.T) {
	for _, status := range []int{301, 302, 303} {
		s := newRecorder(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/x", status) })
		_, err := post(t, provider(t, Options{Proxy: direct}), s.URL)
		if want := fmt.Sprintf("redirect by status %d would turn the POST into a GET", status); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
		if got := s.lines(); len(got) != 1 {
			t.Errorf("server saw %q", got)
		}
	}
}

func TestUnknownPurpose(t *testing.T) {
	s := newRecorder(t, ok)
	c, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = post(t, c.Client("webb"), s.URL)
	if err == nil || !strings.Contains(err.Error(), `purpose "webb"`) || len(s.lines()) != 0 {
		t.Errorf("error %v, server saw %q", err, s.lines())
	}
}

func TestLocalNameOnIPv6Only(t *testing.T) {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skipf("this machine has no IPv6 loopback: %v", err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(ok))
	s.Listener.Close()
	s.Listener = l
	s.Start()
	defer s.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := post(t, provider(t, Options{}), "http://localhost:"+port); got != "fine" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestHTTP2AndConnectionsAreKept(t *testing.T) {
	a := newAuthority(t)
	for _, proto := range []string{"HTTP/2.0", "HTTP/1.1"} {
		s := newTLS(t, &tls.Config{Certificates: []tls.Certificate{a.issue(nil)}}, func(w http.ResponseWriter, r *http.Request) {
			http.SetCookie(w, &http.Cookie{Name: "id", Value: "1"})
			w.Header().Set("Content-Encoding", "gzip") // which it is not
			fmt.Fprintf(w, "encoding=%q cookie=%q", r.Header.Get("Accept-Encoding"), r.Header.Get("Cookie"))
		})
		if proto == "HTTP/1.1" {
			s.TLS.NextProtos = []string{"http/1.1"}
		}
		c := provider(t, Options{CAFile: a.file, ClientCert: a.clientFile(a.issue(nil)), Origin: s.URL, Proxy: direct})
		for range 3 {
			if got, err := post(t, c, s.URL); got != `encoding="" cookie=""` || err != nil {
				t.Errorf("%s: got %q, %v", proto, got, err)
			}
		}
		got := s.lines()
		for _, line := range got {
			if line != got[0] || !strings.HasPrefix(line, proto) {
				t.Errorf("got %q, want three times the same connection by %s", got, proto)
			}
		}
	}
}

func TestHugeHeadersAreRefused(t *testing.T) {
	long := func(n int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Long", strings.Repeat("a", n)) }
	}
	many := func(n int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := range n {
				w.Header().Add(fmt.Sprintf("X-%d", i/2), "a")
			}
		}
	}
	a := newAuthority(t)
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		want   string
	}{
		{"a little too long", long(maxHeaderBytes + 4096), "the headers of the answer are too large"},
		{"10 MB", long(10 << 20), "the headers of the answer are too large"},
		{"300 lines", many(300), "lines of headers, more than 256"},
		{"250 lines", many(250), ""},
		{"200 KiB", long(200 << 10), ""},
	} {
		for proto, s := range map[string]*recorder{
			"HTTP/1": newRecorder(t, c.answer), "HTTP/2": newTLS(t, &tls.Config{Certificates: []tls.Certificate{a.issue(nil)}}, c.answer),
		} {
			_, err := post(t, provider(t, Options{CAFile: a.file, Proxy: direct}), s.URL)
			switch {
			case c.want == "":
				if err != nil {
					t.Errorf("%s, %s: %v", proto, c.name, err)
				}
			case err == nil:
				t.Errorf("%s, %s: no error", proto, c.name)
			default:
				if got := (wire.Server{Host: "h"}).Connect(err); !strings.Contains(got.Message, c.want) || got.Hint == "" {
					t.Errorf("%s, %s: got %q, hint %q, want %q", proto, c.name, got.Message, got.Hint, c.want)
				}
			}
		}
	}
}

func TestNoTimeoutForStreams(t *testing.T) {
	p := provider(t, Options{})
	r := p.Transport.(*route)
	if p.Timeout != 0 || p.Jar != nil || r.transport(plain).ResponseHeaderTimeout != 0 {
		t.Errorf("client %+v", p)
	}
}

func TestRootsAreNotLoadedForPlainHTTP(t *testing.T) {
	a := newAuthority(t)
	s := newRecorder(t, ok)
	c := provider(t, Options{CAFile: a.file})
	if got, err := post(t, c, s.URL); got != "fine" || err != nil {
		t.Fatalf("got %q, %v", got, err)
	}
	r := c.Transport.(*route)
	if r.opened[plain].TLSClientConfig.RootCAs != nil || r.opened[secure] != nil || r.opened[identified] != nil {
		t.Errorf("got %+v, want one pool without roots", r.opened)
	}
}

// The environment of a process says where its roots are, so the test calls
// itself.
func TestAuthoritiesCountBesideThoseOfTheSystem(t *testing.T) {
	if targets := os.Getenv("TRANSPORT_TEST_URLS"); targets != "" {
		c := provider(t, Options{CAFile: os.Getenv("TRANSPORT_TEST_CA")})
		for _, target := range strings.Fields(targets) {
			got, err := post(t, c, target)
			fmt.Printf("answer %q, error %v\n", got, err)
		}
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("only on Linux a file of the test's choice can be the system's roots")
	}
	system, own, foreign := newAuthority(t), newAuthority(t), newAuthority(t)
	var targets []string
	for _, a := range []*authority{system, own, foreign} {
		targets = append(targets, newTLS(t, &tls.Config{Certificates: []tls.Certificate{a.issue(nil)}}, ok).URL)
	}
	got := strings.Split(again(t, "SSL_CERT_FILE="+system.file, "SSL_CERT_DIR="+t.TempDir(),
		"TRANSPORT_TEST_CA="+own.file, "TRANSPORT_TEST_URLS="+strings.Join(targets, " ")), "\n")
	for i, want := range []string{`answer "fine", error <nil>`, `answer "fine", error <nil>`, "unknown authority"} {
		if !strings.Contains(got[i], want) {
			t.Errorf("server %d: got %q, want %s", i, got[i], want)
		}
	}
}

func TestClientCertificateIsForItsOriginAlone(t *testing.T) {
	a := newAuthority(t)
	ask := &tls.Config{Certificates: []tls.Certificate{a.issue(nil)}, ClientAuth: tls.RequestClientCert}
	its, other := newTLS(t, ask.Clone(), ok), newTLS(t, ask.Clone(), ok)
	rows := []row{purposes[0], {purpose: "strange", redirects: 3, proxy: true, private: true}}
	c, err := newClients(Options{CAFile: a.file, ClientCert: a.clientFile(a.issue(nil)), Origin: its.URL + "/v1", Proxy: direct}, rows)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, s := range []*recorder{its, other, its} {
		if got, err := post(t, c.Client("provider"), s.URL); got != "fine" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	}
	// The authority is the provider's too.
	if _, err := post(t, c.Client("strange"), its.URL); err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("another purpose: %v", err)
	}
	c.routes[1].authorities = c.routes[0].authorities
	c.routes[1].opened = [pools]*http.Transport{}
	if got, err := post(t, c.Client("strange"), its.URL); got != "fine" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	for i, want := range []string{"certificates=1", "certificates=1", "certificates=0"} {
		if got := its.lines(); len(got) != 3 || !strings.HasSuffix(got[i], want) {
			t.Errorf("its origin saw %q, want request %d with %s", got, i, want)
		}
	}
	if got := other.lines(); len(got) != 1 || !strings.HasSuffix(got[0], "certificates=0") {
		t.Errorf("another origin saw %q", got)
	}
}

func TestPrivateAddressesNeedTheRow(t *testing.T) {
	s := newRecorder(t, ok)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c, err := newClients(Options{Proxy: direct}, []row{{purpose: "public"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"127.0.0.1", "localhost", "0.0.0.0", "[::ffff:127.0.0.1]"} {
		if _, err := post(t, c.Client("public"), "http://"+host+":"+port); err == nil || !strings.Contains(err.Error(), "is private, nothing was sent") {
			t.Errorf("%s: %v", host, err)
		}
	}
	if got := s.lines(); len(got) != 0 {
		t.Errorf("server saw %q", got)
	}
	for addr, want := range map[string]bool{
		"1.1.1.1": true, "2606:4700::1111": true, "::ffff:1.1.1.1": true, "100.128.0.1": true,
		"10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false, "169.254.169.254": false, "100.64.0.1": false, "0.1.2.3": false,
		"::1": false, "::": false, "fe80::1": false, "fd00::1": false, "224.0.0.1": false, "255.255.255.255": false, "::ffff:10.0.0.1": false,
	} {
		if got := isPublic(netip.MustParseAddr(addr)); got != want {
			t.Errorf("isPublic(%s) = %v, want %v", addr, got, want)
		}
	}
}

// A proxy looks names up: a row with both would have to do so first.
func TestNoRowHasAProxyAndPublicAddressesOnly(t *testing.T) {
	for _, r := range purposes {
		if r.proxy && !r.private {
			t.Errorf("%s: through a proxy, private addresses are not refused", r.purpose)
		}
	}
}

func TestIsLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"127.0.0.1": true, "127.8.9.1": true, "::1": true, "[::1]": true, "::ffff:127.0.0.1": true, "::1%lo": true,
		"localhost": true, "Localhost.": true, "a.b.localhost": true,
		"": false, "localhost.example.com": false, "notlocalhost": false, "127.0.0.1.example.com": false,
		"127.1": false, "0.0.0.0": false, "10.0.0.1": false, "::2": false, "2130706433": false, "127.0.0.1:80": false,
	} {
		if got := IsLoopback(host); got != want {
			t.Errorf("IsLoopback(%q) = %v, want %v", host, got, want)
		}
	}
}

func TestOrigin(t *testing.T) {
	for in, want := range map[string]string{
		"http://A.example/x":      "http://a.example:80",
		"https://u:p@a.example":   "https://a.example:443",
		"https://a.example:443/":  "https://a.example:443",
		"http://[::1]:8080/a?b=c": "http://[::1]:8080",
	} {
		u, err := url.Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := origin(u); got != want {
			t.Errorf("origin(%s) = %s, want %s", in, got, want)
		}
	}
}
