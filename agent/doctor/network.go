package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"alisio/agent"
	"alisio/agent/profile"
	"alisio/agent/text"
	"alisio/agent/transport"
	"alisio/llm"
)

// networkPatience bounds all that Network does.
const networkPatience = 30 * time.Second

// Network tells which hosts a default run would contact, the configured endpoint
// and a proxy if one is used, and contacts them once, by asking for the list of
// models as a run would ask for an answer:
//
//	name lookup -> connection -> TLS -> GET /models
//
// each with its time, and where it went wrong with its remedy. It sends no
// prompt, keeps nothing, and ends within 30 seconds or with ctx. Of the options
// Terminal and StorePath do not count.
func Network(ctx context.Context, o Options) []Check {
	v := newVisit(o)
	if len(v.misread) > 0 {
		v.add("configuration", agent.Problem, "alisio doctor lists what is wrong", "it has errors: nobody is contacted, since nobody knows who was meant")
		return v.checks
	}
	app, err := agent.NewSilent(ctx, v.app)
	if err != nil {
		v.fail("application", err, "alisio doctor tells more")
		return v.checks
	}
	v.network(ctx, app, transport.ProxyFromEnvironment)
	if err := app.Close(context.WithoutCancel(ctx)); err != nil {
		v.add("application", agent.Note, "report this", "%v", err)
	}
	return v.checks
}

// network does the work of Network with an application; proxy is what its
// transport goes by.
func (v *visit) network(ctx context.Context, app *agent.App, proxy func(*http.Request) (*url.URL, error)) {
	s := v.app.Selection()
	u, err := url.Parse(s.Config.Provider.BaseURL)
	if err != nil {
		v.add("endpoint", agent.Problem, "check provider.baseURL", "the base URL is not valid")
		return
	}
	if v.auth.Err != nil {
		// Whether the server can be reached is worth knowing all the same.
		v.key()
		s.Config.Provider.Auth, s.Config.Provider.ExtraHeaders = "none", nil
	}
	v.hosts(u, proxy)
	choice, err := app.ProviderOf(ctx, s)
	if err != nil {
		v.fail("endpoint", err, "alisio doctor tells more")
		return
	}
	defer choice.Provider.Close()
	ctx, cancel := context.WithTimeoutCause(ctx, networkPatience, errNoAnswer)
	defer cancel()
	var p probe
	begun := time.Now()
	list, err := profile.List(httptrace.WithClientTrace(ctx, p.trace()), choice)
	took := time.Since(begun)
	if ctx.Err() != nil && err != nil {
		err = context.Cause(ctx)
	}
	if errors.Is(err, context.Canceled) {
		err = errors.New("the check was stopped")
	}
	if v.phases(&p, err) {
		v.answer(list, err, took)
	}
}

var errNoAnswer = fmt.Errorf("no answer within %v", networkPatience)

// hosts names everybody who is contacted.
func (v *visit) hosts(u *url.URL, choose func(*http.Request) (*url.URL, error)) {
	line := "a run contacts " + hostPort(u)
	if !transport.IsLoopback(u.Hostname()) {
		proxy, err := choose(&http.Request{URL: u})
		switch {
		case err != nil: // would be quoted with a password
			v.add("hosts", agent.Problem, "give it as http://host:port in HTTPS_PROXY or HTTP_PROXY", "the proxy of the environment has no valid address")
			return
		case proxy != nil:
			line += " through the proxy " + hostPort(proxy)
		}
	}
	v.add("hosts", agent.Good, "", "%s, and nobody else", line)
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// step is one part of getting through to a server.
type step struct {
	begun time.Time
	took  time.Duration // zero until it ended
	err   error
	what  string
}

// probe takes down how a request got through. The hooks are called from the
// transport's goroutines, also after the request has ended.
type probe struct {
	mu                   sync.Mutex
	lookup, connect, tls step
	state                tls.ConnectionState
}

func (p *probe) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		DNSStart: func(i httptrace.DNSStartInfo) { p.begin(&p.lookup, i.Host) },
		DNSDone: func(i httptrace.DNSDoneInfo) {
			p.end(&p.lookup, i.Err, fmt.Sprintf("%s has %d addresses", p.what(&p.lookup), len(i.Addrs)))
		},
		ConnectStart:      func(_, addr string) { p.begin(&p.connect, addr) },
		ConnectDone:       func(_, addr string, err error) { p.end(&p.connect, err, addr) },
		TLSHandshakeStart: func() { p.begin(&p.tls, "the handshake") },
		TLSHandshakeDone: func(s tls.ConnectionState, err error) {
			p.mu.Lock()
			p.state = s
			p.mu.Unlock()
			p.end(&p.tls, err, tls.VersionName(s.Version))
		},
	}
}

func (p *probe) what(s *step) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return s.what
}

func (p *probe) begin(s *step, what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.begun.IsZero() { // of several addresses at once the first counts
		s.begun, s.what = time.Now(), what
	}
}

// end keeps the first success, else the last failure: of several addresses one
// is enough.
func (p *probe) end(s *step, err error, what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.took > 0 && s.err == nil {
		return
	}
	s.took, s.err, s.what = max(time.Since(s.begun), 1), err, what
}

// phases tells of each step that was begun, and reports whether all that were
// ended well: err is then about the answer, or about the proxy. The step that
// did not is told with err, which knows the fault and its remedy.
func (v *visit) phases(p *probe, err error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range []struct {
		name, good, remedy string
		step
	}{
		{"name lookup", "", "check the base URL and the network; behind a proxy set HTTPS_PROXY", p.lookup},
		{"connection", "to ", "check that the server is running and the base URL is right", p.connect},
		{"TLS", "", "check the base URL and the clock; an authority of your own goes into provider.caFile", p.tls},
	} {
		switch {
		case s.begun.IsZero():
		case s.took > 0 && s.err == nil:
			v.add(s.name, agent.Good, "", "%s%s, %s", s.good, s.what, milliseconds(s.took))
		case err == nil: // a second connection that was not needed
		default:
			v.fail(s.name, withCertificate(err), s.remedy)
			return false
		}
	}
	v.certificate(p.state)
	return true
}

func milliseconds(t time.Duration) string {
	return fmt.Sprintf("%.0f ms", float64(t)/float64(time.Millisecond))
}

// soon is how long before its end a certificate is worth a word.
const soon = 14 * 24 * time.Hour

func (v *visit) certificate(s tls.ConnectionState) {
	if len(s.PeerCertificates) == 0 {
		return
	}
	leaf := s.PeerCertificates[0]
	if left := leaf.NotAfter.Sub(v.o.Now); left < soon {
		v.add("certificate", agent.Note, "whoever runs the server has to renew it", "%s: it ends in %d days", issued(leaf), int(left/(24*time.Hour)))
		return
	}
	v.add("certificate", agent.Good, "", "%s", issued(leaf))
}

// issued says who vouches for a certificate. The name is the server's to choose.
func issued(c *x509.Certificate) string {
	const cells = 64
	name := c.Issuer.CommonName
	if name == "" {
		name = strings.Join(c.Issuer.Organization, " ")
	}
	return fmt.Sprintf("issued by %q until %s", text.Clip(text.Line(name), cells), c.NotAfter.UTC().Format(time.DateOnly))
}

// withCertificate adds to an error about a certificate which one it was.
func withCertificate(err error) error {
	var bad *tls.CertificateVerificationError
	if errors.As(err, &bad) && len(bad.UnverifiedCertificates) > 0 {
		return fmt.Errorf("%w (%s)", err, issued(bad.UnverifiedCertificates[0]))
	}
	return err
}

// answer judges what came for GET /models.
func (v *visit) answer(list agent.Catalog, err error, took time.Duration) {
	const name = "GET /models"
	p := v.app.Config.Provider
	var e *llm.Error
	status := 0
	if errors.As(err, &e) {
		status = e.Status
	}
	switch {
	case err == nil:
		v.offered(list, took)
	case status == http.StatusUnauthorized && v.auth.Err != nil:
		v.add(name, agent.Good, "", "the server answers, and wants a key, %s", milliseconds(took))
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		v.fail(name, err, "check the key in "+p.APIKeyEnv)
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed:
		v.add(name, agent.Note, "if runs get a "+fmt.Sprint(status)+" too, correct the base URL: most end in /v1",
			"the server has no list of models (%d), as many have none, %s", status, milliseconds(took))
	case llm.CauseOf(err) == llm.CauseRateLimited:
		v.add(name, agent.Note, "wait, and try again", "%v", err)
	case status >= http.StatusInternalServerError:
		v.fail(name, err, "try again later: the fault is the server's")
	default:
		v.fail(name, err, "check the base URL and the network")
	}
}

func (v *visit) offered(list agent.Catalog, took time.Duration) {
	model := v.app.Config.Provider.Model
	has := slices.ContainsFunc(list.Models, func(m llm.Model) bool { return m.ID == model })
	models := "models"
	if len(list.Models) == 1 {
		models = "model"
	}
	line := fmt.Sprintf("%d %s, %s", len(list.Models), models, milliseconds(took))
	if model != "" && !has && len(list.Models) > 0 {
		v.add("GET /models", agent.Note, "alisio models lists them; --model names one", "%s; %s is none of them", line, model)
		return
	}
	v.add("GET /models", agent.Good, "", "%s", line)
}
