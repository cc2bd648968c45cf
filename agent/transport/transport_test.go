package transport

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
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

func direct(*http.Request) (*url.URL, error) { return nil, nil }

// provider returns a client that is used up with the test.
func provider(t *testing.T, o Options) *http.Client {
	t.Helper()
	c := New(o)
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

func TestRedirectFromTLSToPlainIsRefused(t *testing.T) {
	plain := newRecorder(t, ok)
	secure := httptest.NewTLSServer(http.RedirectHandler(plain.URL, 307))
	defer secure.Close()
	c := New(Options{Proxy: direct})
	c.transport.TLSClientConfig.RootCAs = x509.NewCertPool()
	c.transport.TLSClientConfig.RootCAs.AddCert(secure.Certificate())
	if _, err := post(t, c.Client("provider"), secure.URL); err == nil || !strings.Contains(err.Error(), "another origin") {
		t.Errorf("error %v", err)
	}
	if got := plain.lines(); len(got) != 0 {
		t.Errorf("the plain server was sent %q", got)
	}
}

func TestRedirectsWithinTheOrigin(t *testing.T) {
	// /3 leads to /2, then /1, then /0, which answers.
	s := newRecorder(t, func(w http.ResponseWriter, r *http.Request) {
		if n := r.URL.Path[1] - '0'; n > 0 {
			http.Redirect(w, r, fmt.Sprintf("/%d", n-1), 307)
			return
		}
		ok(w, r)
	})
	c := provider(t, Options{Proxy: direct})
	got, err := post(t, c, s.URL+"/3")
	if got != "fine" || err != nil {
		t.Errorf("three redirects: %q, %v", got, err)
	}
	if last, want := s.lines()[3], "POST /0 auth=Bearer secret key=secret body=prompt"; last != want {
		t.Errorf("last request %q, want %q", last, want)
	}
	if _, err = post(t, c, s.URL+"/4"); err == nil || !strings.Contains(err.Error(), "more than 3 redirects") {
		t.Errorf("four redirects: %v", err)
	}
}

func TestPostIsNotTurnedIntoGet(t *testing.T) {
	s := newRecorder(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/x", 302) })
	_, err := post(t, provider(t, Options{Proxy: direct}), s.URL)
	if err == nil || !strings.Contains(err.Error(), "redirect by status 302 would turn the POST into a GET") {
		t.Errorf("error %v", err)
	}
	if got := s.lines(); len(got) != 1 {
		t.Errorf("server saw %q", got)
	}
}

func TestUnknownPurpose(t *testing.T) {
	s := newRecorder(t, ok)
	_, err := post(t, New(Options{}).Client("webb"), s.URL)
	if err == nil || !strings.Contains(err.Error(), `purpose "webb"`) || len(s.lines()) != 0 {
		t.Errorf("error %v, server saw %q", err, s.lines())
	}
}

// tunnel is a proxy that takes CONNECT and plain requests, and leads both to
// one server whatever name they ask for.
func tunnel(t *testing.T, target string) *recorder {
	t.Helper()
	r := &recorder{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.note(q.Method + " " + q.Host)
		if q.Method != http.MethodConnect {
			io.WriteString(w, "by proxy")
			return
		}
		far, err := net.Dial("tcp", target)
		if err != nil {
			t.Error(err)
			return
		}
		near, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		io.WriteString(near, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { io.Copy(far, near); far.Close() }()
		io.Copy(near, far)
		near.Close()
	}))
	t.Cleanup(r.Close)
	return r
}

func TestProxyForOtherHosts(t *testing.T) {
	secure := httptest.NewTLSServer(http.HandlerFunc(ok))
	defer secure.Close()
	p := tunnel(t, secure.Listener.Addr().String())
	u, err := url.Parse(p.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := New(Options{Proxy: http.ProxyURL(u)})
	defer c.Close()
	c.transport.TLSClientConfig.RootCAs = x509.NewCertPool()
	c.transport.TLSClientConfig.RootCAs.AddCert(secure.Certificate())
	c.transport.TLSClientConfig.ServerName = "example.com" // The test certificate's name.

	for url, want := range map[string]string{"https://model.invalid/v1": "fine", "http://model.invalid/v1": "by proxy"} {
		if got, err := post(t, c.Client("provider"), url); got != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", url, got, err, want)
		}
	}
	got := p.lines()
	slices.Sort(got)
	if want := []string{"CONNECT model.invalid:443", "POST model.invalid"}; !slices.Equal(got, want) {
		t.Errorf("proxy saw %q, want %q", got, want)
	}
}

func TestNoProxyForLoopback(t *testing.T) {
	s := newRecorder(t, ok)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c := provider(t, Options{Proxy: func(r *http.Request) (*url.URL, error) {
		return nil, errors.New("the proxy was asked for " + r.URL.Host)
	}})
	for _, host := range []string{"127.0.0.1", "localhost", "LOCALHOST", "model.localhost", "localhost."} {
		if got, err := post(t, c, "http://"+host+":"+port); got != "fine" || err != nil {
			t.Errorf("%s: %q, %v", host, got, err)
		}
	}
	if _, err := post(t, c, "http://other.invalid:"+port); err == nil || !strings.Contains(err.Error(), "the proxy was asked for other.invalid") {
		t.Errorf("other host: %v", err)
	}
}

// The environment is read once a process, so this test needs one of its own.
func TestProxyOfTheEnvironment(t *testing.T) {
	if target := os.Getenv("TRANSPORT_TEST_URL"); target != "" {
		got, err := post(t, provider(t, Options{}), target)
		if got != "by proxy" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		return
	}
	p := tunnel(t, "")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestProxyOfTheEnvironment$")
	cmd.Env = append(os.Environ(), "TRANSPORT_TEST_URL=http://model.invalid/", "HTTP_PROXY="+p.URL, "http_proxy="+p.URL, "NO_PROXY=", "no_proxy=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
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

func TestOldTLSIsRefused(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(ok))
	s.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	c := New(Options{Proxy: direct})
	c.transport.TLSClientConfig.RootCAs = x509.NewCertPool()
	c.transport.TLSClientConfig.RootCAs.AddCert(s.Certificate())
	if _, err := post(t, c.Client("provider"), s.URL); err == nil || !strings.Contains(err.Error(), "protocol version") {
		t.Errorf("TLS 1.1: %v", err)
	}
}

func TestHTTP2AndNoCompression(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s encoding=%q", r.Proto, r.Header.Get("Accept-Encoding"))
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	c := New(Options{Proxy: direct})
	defer c.Close()
	c.transport.TLSClientConfig.RootCAs = x509.NewCertPool()
	c.transport.TLSClientConfig.RootCAs.AddCert(s.Certificate())
	if got, err := post(t, c.Client("provider"), s.URL); got != `HTTP/2.0 encoding=""` || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestHugeHeaderIsRefused(t *testing.T) {
	s := newRecorder(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("a", maxHeaderBytes+1))
	})
	if _, err := post(t, provider(t, Options{Proxy: direct}), s.URL); err == nil || !strings.Contains(err.Error(), "headers exceeded") {
		t.Errorf("error %v", err)
	}
}

func TestNoTimeoutForStreams(t *testing.T) {
	c := New(Options{})
	if p := c.Client("provider"); p.Timeout != 0 || p.Jar != nil || c.transport.ResponseHeaderTimeout != 0 {
		t.Errorf("client %+v", p)
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
