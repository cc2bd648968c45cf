package doctor

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"alisio/agent"
	"alisio/agent/transport"
	"alisio/plug"
)

func TestNetworkTellsEachStep(t *testing.T) {
	s := serve(t)
	host := strings.TrimPrefix(s.URL, "http://")
	p := sound(t, s.URL)
	checks := Network(t.Context(), p.o)
	keyless(t, checks)
	for _, want := range []Check{
		{"hosts", agent.Good, "a run contacts " + host + ", and nobody else", ""},
		{"connection", agent.Good, "to " + host + ", ", ""},
		{"GET /models", agent.Good, "1 model, ", ""},
	} {
		if !found(checks, want.Name, want.Level, want.Text, want.Remedy) {
			t.Errorf("no %+v in:\n%s", want, listing(checks))
		}
	}
	if len(checks) != 3 || s.seen() != "models" {
		t.Errorf("asked %q, got:\n%s", s.seen(), listing(checks))
	}
}

func TestNetworkRemedies(t *testing.T) {
	status := func(code int, body string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			io.WriteString(w, body)
		}
	}
	for _, c := range []struct {
		name   string
		models func(http.ResponseWriter, *http.Request)
		level  agent.Level
		words  string
		remedy string
	}{
		{"other models", status(200, `{"data":[{"id":"x"}]}`), agent.Note, "m is none of them", "--model"},
		{"no models", status(200, `{"data":[]}`), agent.Good, "0 models", ""},
		{"wrong key", status(401, `{"error":{"message":"bad key `+secretKey+`"}}`), agent.Problem, "bad key", "check the API key"},
		{"key that may not", status(403, "{}"), agent.Problem, "403", "what it may use"},
		{"no catalog", status(404, "no"), agent.Note, "no list of models (404)", "most end in /v1"},
		{"no GET", status(405, ""), agent.Note, "no list of models (405)", "most end in /v1"},
		{"too often", status(429, "{}"), agent.Note, "429", "wait"},
		{"server's fault", status(500, "{}"), agent.Problem, "500", "try again later"},
		{"a web page", status(200, "<html>Welcome</html>"), agent.Problem, "", "check the base URL"},
		{"elsewhere", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		},
			agent.Problem, "another origin", "check the base URL"},
		{"cut off", func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) }, agent.Problem, "closed by the other side", "check the base URL and the network"},
	} {
		s := serve(t)
		s.models = c.models
		checks := Network(t.Context(), sound(t, s.URL).o)
		keyless(t, checks)
		if !found(checks, "GET /models", c.level, c.words, c.remedy) {
			t.Errorf("%s: no %s that says %q with the remedy %q in:\n%s", c.name, c.level, c.words, c.remedy, listing(checks))
		}
	}
}

// closed returns the address of a port where nobody listens.
func closed(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestNetworkWithNobodyThere(t *testing.T) {
	checks := Network(t.Context(), sound(t, "http://"+closed(t)).o)
	if !found(checks, "connection", agent.Problem, "connection refused", "the server is running") || len(checks) != 2 {
		t.Errorf("got:\n%s", listing(checks))
	}
}

// The top-level domain invalid has no names (RFC 6761, 6.4), and a machine
// without a network none at all.
func TestNetworkWithoutSuchAName(t *testing.T) {
	p := sound(t, "https://model.invalid")
	checks := Network(t.Context(), p.o)
	if !found(checks, "name lookup", agent.Problem, "model.invalid", "check") || !found(checks, "hosts", agent.Good, "model.invalid:443, and nobody else", "") {
		t.Errorf("got:\n%s", listing(checks))
	}
}

// Without a key the server is asked without one: whether it can be reached is
// worth knowing.
func TestNetworkWithoutAKey(t *testing.T) {
	s := serve(t)
	s.models = func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Errorf("got a key: %q", r.Header)
		}
		w.WriteHeader(http.StatusUnauthorized)
	}
	p := sound(t, s.URL)
	p.env["OPENAI_API_KEY"] = "sk-…" // no header can carry it
	checks := Network(t.Context(), p.o)
	if !found(checks, "key", agent.Problem, "non-ASCII", "set it again") || !found(checks, "GET /models", agent.Good, "wants a key", "") {
		t.Errorf("got:\n%s", listing(checks))
	}
}

func TestNetworkContactsNobodyForAWrongConfiguration(t *testing.T) {
	s := serve(t)
	p := sound(t, s.URL)
	p.write(t, `{"provider":{"baseURL":"`+s.URL+`/v1","modle":"m"}}`)
	checks := Network(t.Context(), p.o)
	if !found(checks, "configuration", agent.Problem, "has errors", "alisio doctor lists") || len(checks) != 1 || s.seen() != "" {
		t.Errorf("asked %q, got:\n%s", s.seen(), listing(checks))
	}
}

func TestNetworkCanBeStopped(t *testing.T) {
	s := serve(t)
	ctx, cancel := context.WithCancel(t.Context())
	s.models = func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}
	checks := Network(ctx, sound(t, s.URL).o)
	if !found(checks, "GET /models", agent.Problem, "the check was stopped", "check") {
		t.Errorf("got:\n%s", listing(checks))
	}
}

func TestNetworkThroughAProxy(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.String() != "http://model.invalid/v1/models" {
			t.Errorf("got %s", r.URL)
		}
		io.WriteString(w, `{"data":[{"id":"m"}]}`)
	}))
	defer proxy.Close()
	u, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("me", "hidden")
	p := sound(t, "http://model.invalid")
	p.write(t, `{"provider":{"model":"m","baseURL":"http://model.invalid/v1","auth":"none"}}`)
	clients, err := transport.New(transport.Options{Proxy: http.ProxyURL(u)})
	if err != nil {
		t.Fatal(err)
	}
	defer clients.Close()
	p.with(clients.Client(string(plug.PurposeProvider)))
	v := newVisit(p.o)
	app, err := agent.NewSilent(t.Context(), v.app)
	if err != nil {
		t.Fatal(err)
	}
	defer app.Close(t.Context())
	v.network(t.Context(), app, http.ProxyURL(u))
	if !found(v.checks, "hosts", agent.Good, "model.invalid:80 through the proxy "+u.Host+", and nobody else", "") ||
		!found(v.checks, "connection", agent.Good, "to "+u.Host, "") || !found(v.checks, "GET /models", agent.Good, "1 model", "") || len(v.checks) != 3 {
		t.Errorf("got:\n%s", listing(v.checks))
	}
	if strings.Contains(listing(v.checks), "hidden") {
		t.Errorf("the password of the proxy is shown:\n%s", listing(v.checks))
	}

	v = newVisit(p.o)
	v.network(t.Context(), app, func(*http.Request) (*url.URL, error) { return nil, io.EOF })
	if !found(v.checks, "hosts", agent.Problem, "no valid address", "HTTPS_PROXY") || found(v.checks, "hosts", agent.Good, "", "") {
		t.Errorf("got:\n%s", listing(v.checks))
	}
}

// The variable is read anew, so that doctor and requests say the same of it.
func TestNetworkTellsOfAProxyVariable(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://me:hunter2@host:port")
	var v visit
	v.auth.Hide = func(s string) string { return s }
	v.hosts(&url.URL{Scheme: "https", Host: "model.invalid"}, transport.ProxyFromEnvironment)
	if !found(v.checks, "hosts", agent.Problem, "no valid address", "HTTPS_PROXY") || strings.Contains(listing(v.checks), "hunter2") {
		t.Errorf("got:\n%s", listing(v.checks))
	}
}

// certified is a TLS server with a certificate until a time, and a client that
// trusts it.
func certified(t *testing.T, until time.Time) (*httptest.Server, *http.Client) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Authority\x1b[2J of Tests"},
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: until, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"data":[{"id":"m"}]}`) }))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s, s.Client()
}

func TestNetworkCertificates(t *testing.T) {
	day := 24 * time.Hour
	for _, c := range []struct {
		name   string
		left   time.Duration
		known  bool
		check  string
		level  agent.Level
		words  string
		remedy string
	}{
		{"good", 90 * day, true, "certificate", agent.Good, `issued by "Authority of Tests" until 20`, ""},
		{"good, its version", 90 * day, true, "TLS", agent.Good, "TLS 1.3, ", ""},
		{"ends soon", 5*day + time.Hour, true, "certificate", agent.Note, "it ends in 5 days", "renew"},
		{"ended", -day, true, "TLS", agent.Problem, "expired", "check"},
		{"unknown authority", 90 * day, false, "TLS", agent.Problem, `(issued by "Authority of Tests" until 20`, "authority"},
	} {
		s, client := certified(t, time.Now().Add(c.left))
		p := sound(t, s.URL)
		if c.known {
			p.with(client)
		}
		checks := Network(t.Context(), p.o)
		keyless(t, checks)
		if !found(checks, c.check, c.level, c.words, c.remedy) {
			t.Errorf("%s: no %s of %s that says %q with the remedy %q in:\n%s", c.name, c.level, c.check, c.words, c.remedy, listing(checks))
		}
		if answered := found(checks, "GET /models", agent.Good, "1 model", ""); answered != (c.level != agent.Problem) {
			t.Errorf("%s: got:\n%s", c.name, listing(checks))
		}
	}
}

func TestNetworkWithoutTLSThere(t *testing.T) {
	s := serve(t)
	checks := Network(t.Context(), sound(t, strings.Replace(s.URL, "http:", "https:", 1)).o)
	if !found(checks, "TLS", agent.Problem, "does not speak TLS", "http:") {
		t.Errorf("got:\n%s", listing(checks))
	}
}
