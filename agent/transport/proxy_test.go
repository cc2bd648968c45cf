package transport

import (
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// tunnel is a proxy that takes CONNECT and plain requests, and leads both to
// one server whatever name they ask for.
func tunnel(t *testing.T, target string) *recorder {
	t.Helper()
	r := &recorder{}
	r.Server = httptest.NewServer(relay(t, r, target))
	t.Cleanup(r.Close)
	return r
}

func relay(t *testing.T, r *recorder, target string) http.HandlerFunc {
	return func(w http.ResponseWriter, q *http.Request) {
		r.note(q.Method + " " + q.Host + " auth=" + q.Header.Get("Proxy-Authorization"))
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
	}
}

// by sends everything to one proxy.
func by(t *testing.T, proxy string) func(*http.Request) (*url.URL, error) {
	t.Helper()
	u, err := url.Parse(proxy)
	if err != nil {
		t.Fatal(err)
	}
	return http.ProxyURL(u)
}

func TestProxyForOtherHosts(t *testing.T) {
	a := newAuthority(t)
	secure := newTLS(t, &tls.Config{Certificates: []tls.Certificate{a.issue(nil)}}, ok)
	p := tunnel(t, secure.Listener.Addr().String())
	proxy := strings.Replace(p.URL, "http://", "http://me:hunter2@", 1)
	c := provider(t, Options{CAFile: a.file, Proxy: by(t, proxy)})
	for url, want := range map[string]string{"https://model.invalid/v1": "fine", "http://model.invalid/v1": "by proxy"} {
		if got, err := post(t, c, url); got != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", url, got, err, want)
		}
	}
	auth := " auth=Basic " + base64.StdEncoding.EncodeToString([]byte("me:hunter2"))
	got := p.lines()
	slices.Sort(got)
	if want := []string{"CONNECT model.invalid:443" + auth, "POST model.invalid" + auth}; !slices.Equal(got, want) {
		t.Errorf("proxy saw %q, want %q", got, want)
	}
	if got := secure.lines(); len(got) != 1 || strings.Contains(got[0], "hunter2") {
		t.Errorf("server saw %q", got)
	}
}

func TestNoProxyForLoopback(t *testing.T) {
	s := newRecorder(t, ok)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	c := provider(t, Options{Proxy: func(r *http.Request) (*url.URL, error) {
		asked = append(asked, r.URL.Hostname())
		return nil, errors.New("no proxy today")
	}})
	for _, host := range []string{"127.0.0.1", "localhost", "LOCALHOST", "model.localhost", "localhost."} {
		if got, err := post(t, c, "http://"+host+":"+port); got != "fine" || err != nil {
			t.Errorf("%s: %q, %v", host, got, err)
		}
	}
	if _, err := post(t, c, "http://other.invalid:"+port); err == nil || !slices.Equal(asked, []string{"other.invalid"}) {
		t.Errorf("other host: %v; the proxy was asked for %q", err, asked)
	}
}

func TestNoProxyWhereTheRowHasNone(t *testing.T) {
	s := newRecorder(t, ok)
	c, err := newClients(Options{Proxy: by(t, s.URL)}, []row{{purpose: "x", private: true}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := post(t, c.Client("x"), "http://model.invalid"); err == nil || len(s.lines()) != 0 {
		t.Errorf("got %v, the proxy saw %q", err, s.lines())
	}
}

// The environment is read once a process, so each row needs one of its own:
// the test calls itself.
func TestProxyOfTheEnvironment(t *testing.T) {
	if target := os.Getenv("TRANSPORT_TEST_URL"); target != "" {
		got, err := post(t, provider(t, Options{CAFile: os.Getenv("TRANSPORT_TEST_CA")}), target)
		fmt.Printf("answer %q, error %v\n", got, err)
		return
	}
	a := newAuthority(t)
	s := newTLS(t, &tls.Config{Certificates: []tls.Certificate{a.issue(nil)}}, ok)
	p := tunnel(t, s.Listener.Addr().String())
	local := newRecorder(t, ok)
	for name, c := range map[string]struct {
		url  string
		env  []string
		want string
	}{
		"http":                {"http://model.invalid/", []string{"HTTP_PROXY=" + p.URL}, `answer "by proxy", error <nil>`},
		"https":               {"https://model.invalid/", []string{"HTTPS_PROXY=" + p.URL}, `answer "fine", error <nil>`},
		"small letters":       {"https://model.invalid/", []string{"https_proxy=" + p.URL}, `answer "fine", error <nil>`},
		"no scheme":           {"https://model.invalid/", []string{"https_proxy=" + p.Listener.Addr().String()}, `answer "fine", error <nil>`},
		"the other's":         {"https://model.invalid/", []string{"HTTP_PROXY=" + p.URL}, "no such host"},
		"NO_PROXY":            {"http://model.invalid/", []string{"HTTP_PROXY=" + p.URL, "NO_PROXY=other,.invalid"}, "no such host"},
		"loopback":            {local.URL, []string{"HTTP_PROXY=http://127.0.0.1:9"}, `answer "fine", error <nil>`},
		"dead":                {"https://model.invalid/", []string{"HTTPS_PROXY=http://me:hunter2@127.0.0.1:9"}, "the proxy 127.0.0.1:9 (HTTPS_PROXY): "},
		"dead, small letters": {"http://model.invalid/", []string{"http_proxy=http://me:hunter2@127.0.0.1:9"}, "the proxy 127.0.0.1:9 (http_proxy): "},
		"unknown scheme":      {"https://model.invalid/", []string{"HTTPS_PROXY=gopher://me:hunter2@127.0.0.1:9"}, "the proxy 127.0.0.1:9 (HTTPS_PROXY): "},
		"not an address":      {"https://model.invalid/", []string{"HTTPS_PROXY=%zz:hunter2@host"}, "the proxy (HTTPS_PROXY) can not be used"},
		"no port":             {"https://model.invalid/", []string{"https_proxy=http://me:hunter2@host:port"}, "the proxy (https_proxy) can not be used"},
		"no host":             {"http://model.invalid/", []string{"HTTP_PROXY=http://me:hunter2@:80"}, "the proxy (HTTP_PROXY) can not be used"},
		"not the other's":     {"http://model.invalid/", []string{"HTTPS_PROXY=%zz:hunter2@host"}, "no such host"},
		// A client of a CGI program sets this variable (golang.org/s/cgihttpproxy).
		"CGI": {"http://model.invalid/", []string{"HTTP_PROXY=http://me:hunter2@127.0.0.1:9", "REQUEST_METHOD=GET"}, "the proxy (HTTP_PROXY) can not be used"},
	} {
		got := again(t, append(c.env, "TRANSPORT_TEST_URL="+c.url, "TRANSPORT_TEST_CA="+a.file)...)
		// A machine without a network can not even ask.
		if c.want == "no such host" && strings.Contains(got, "lookup model.invalid") {
			continue
		}
		if !strings.Contains(got, c.want) || strings.Contains(got, "hunter2") {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// again runs the same test in a process without proxies, with more environment.
func again(t *testing.T, env ...string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^"+t.Name()+"$")
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return strings.HasSuffix(strings.ToUpper(name), "_PROXY")
	})
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// A proxy that is reached by TLS asks for a certificate as any server can.
func TestClientCertificateIsNotForProxies(t *testing.T) {
	a := newAuthority(t)
	ask := &tls.Config{Certificates: []tls.Certificate{a.issue(nil)}, ClientAuth: tls.RequestClientCert}
	s := newTLS(t, ask.Clone(), ok)
	p := &recorder{}
	p.Server = httptest.NewUnstartedServer(nil)
	p.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.note(fmt.Sprintf("certificates=%d", len(r.TLS.PeerCertificates)))
		relay(t, &recorder{}, s.Listener.Addr().String())(w, r)
	})
	p.TLS = ask.Clone()
	p.StartTLS()
	t.Cleanup(p.Close)

	o := Options{CAFile: a.file, ClientCert: a.clientFile(a.issue(nil)), Origin: "https://model.invalid", Proxy: by(t, p.URL)}
	if _, err := post(t, provider(t, o), "https://model.invalid/"); err == nil || !strings.Contains(err.Error(), "never shown to a proxy") {
		t.Errorf("the origin of the certificate: %v", err)
	}
	if got, err := post(t, provider(t, o), "https://model.invalid:8443/"); got != "fine" || err != nil {
		t.Errorf("another origin: %q, %v", got, err)
	}
	o.Proxy = by(t, tunnel(t, s.Listener.Addr().String()).URL)
	if got, err := post(t, provider(t, o), "https://model.invalid/"); got != "fine" || err != nil {
		t.Errorf("a proxy without TLS: %q, %v", got, err)
	}
	if got, want := p.lines(), []string{"certificates=0"}; !slices.Equal(got, want) {
		t.Errorf("proxy saw %q, want %q", got, want)
	}
	got := s.lines()
	for i, want := range []string{"certificates=0", "certificates=1"} {
		if len(got) != 2 || !strings.HasSuffix(got[i], want) {
			t.Errorf("server saw %q, want request %d with %s", got, i, want)
		}
	}
}
