package transport

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// The limits of a connection.
const (
	dialTimeout      = 30 * time.Second
	handshakeTimeout = 15 * time.Second
	idleTimeout      = 90 * time.Second
	maxIdle          = 8
	maxIdlePerHost   = 2
	maxHeaderBytes   = 256 << 10
	maxHeaderLines   = 256
	// A connection of HTTP/2 that is silent for pingAfter is asked whether it
	// lives, and given up after pingTimeout: a laptop's sleep leaves dead ones.
	pingAfter   = 30 * time.Second
	pingTimeout = 15 * time.Second
)

// pool is a kind of connection. Kinds share none.
type pool int

const (
	plain pool = iota // no TLS: no root is ever loaded for it
	secure
	identified // TLS with the client certificate
	pools
)

// route sends the requests of one purpose.
type route struct {
	row
	certificates
	choose func(*http.Request) (*url.URL, error)

	mu     sync.Mutex
	opened [pools]*http.Transport
}

// RoundTrip implements http.RoundTripper.
func (r *route) RoundTrip(req *http.Request) (*http.Response, error) {
	proxy, err := r.proxyFor(req)
	if err != nil {
		closeBody(req)
		return nil, err
	}
	h := &handshake{}
	resp, err := r.transport(r.pool(req.URL)).RoundTrip(req.WithContext(context.WithValue(req.Context(), handshakeKey{}, h)))
	switch {
	case err != nil && req.Context().Err() != nil:
		return nil, err
	case err != nil && proxy != nil:
		return nil, viaProxy(name(proxy, req.URL.Scheme), err, h.explain(err))
	case err != nil:
		return nil, h.explain(err)
	case proxy != nil && resp.StatusCode == http.StatusProxyAuthRequired:
		resp.Body.Close()
		status := proxyStatus(resp.StatusCode)
		return nil, viaProxy(name(proxy, req.URL.Scheme), status, status)
	}
	lines := 0
	for _, values := range resp.Header {
		lines += len(values)
	}
	if lines > maxHeaderLines {
		resp.Body.Close()
		return nil, refusal{fmt.Sprintf("the answer has %d lines of headers, more than %d", lines, maxHeaderLines), "check the base URL"}
	}
	return resp, nil
}

func (r *route) pool(u *url.URL) pool {
	switch {
	case u.Scheme != "https":
		return plain
	case r.client != nil && origin(u) == r.origin:
		return identified
	}
	return secure
}

// transport opens a pool when it is first needed, and its roots with it.
func (r *route) transport(p pool) *http.Transport {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.opened[p] == nil {
		r.opened[p] = r.open(p)
	}
	return r.opened[p]
}

// open does not clone http.DefaultTransport, which any package of the process
// can change.
func (r *route) open(p pool) *http.Transport {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	switch p {
	case secure:
		c.RootCAs = r.roots()
		c.GetClientCertificate = show(&tls.Certificate{})
	case identified:
		c.RootCAs = r.roots()
		c.GetClientCertificate = show(r.client)
	}
	return &http.Transport{
		Proxy:                  r.proxyFor,
		OnProxyConnectResponse: checkConnect,
		DialContext:            r.dial,
		TLSClientConfig:        c,
		TLSHandshakeTimeout:    handshakeTimeout,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
		DisableCompression:     true, // An inflater holds events back.
		MaxIdleConns:           maxIdle,
		MaxIdleConnsPerHost:    maxIdlePerHost,
		IdleConnTimeout:        idleTimeout,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
}

func (r *route) closeIdle() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.opened {
		if t != nil {
			t.CloseIdleConnections()
		}
	}
}

// dial connects. The names of this machine are tried as 127.0.0.1, then as
// ::1; the error is that of the first.
func (r *route) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	d := &net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}
	if !r.private {
		d.Control = publicOnly
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil || !isLocalName(host) {
		return d.DialContext(ctx, network, addr)
	}
	conn, err := d.DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
	if err == nil {
		return conn, nil
	}
	if conn, err6 := d.DialContext(ctx, network, net.JoinHostPort("::1", port)); err6 == nil {
		return conn, nil
	}
	return nil, err
}

// publicOnly looks at the address that is connected to, so that no answer of a
// name server comes after the check.
func publicOnly(_, addr string, _ syscall.RawConn) error {
	a, err := netip.ParseAddrPort(addr)
	if err != nil || !isPublic(a.Addr()) {
		return refusal{"the address " + addr + " is private, nothing was sent there", ""}
	}
	return nil
}

// refused is the transport of a purpose without a row.
type refused string

func (r refused) RoundTrip(req *http.Request) (*http.Response, error) {
	closeBody(req)
	return nil, fmt.Errorf("no connection is allowed for the purpose %q", string(r))
}

// closeBody is owed by every RoundTripper, also for what it does not send.
func closeBody(req *http.Request) {
	if req.Body != nil {
		req.Body.Close()
	}
}

// refusal is why this package did not send a request or take an answer. Hint
// tells whoever shows it what a person can do.
type refusal struct{ what, hint string }

func (r refusal) Error() string { return r.what }

// Hint may be empty.
func (r refusal) Hint() string { return r.hint }

// handshake is what became of the question for a client certificate. A server
// that misses one, or refuses it, often closes a connection that TLS 1.3 has
// already opened; then the fault that net/http sees says nothing of it.
type handshake struct{ asked, shown atomic.Bool }

// handshakeKey is the key of a request's *handshake in its context. Who uses a
// connection that was opened before has no news in it.
type handshakeKey struct{}

// show answers a server that asks for a certificate: always with c, whichever
// authorities the server says to know, so that a refusal is the server's and
// is heard of. An empty c is none.
func show(c *tls.Certificate) func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	return func(info *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		if h, ok := info.Context().Value(handshakeKey{}).(*handshake); ok {
			h.asked.Store(true)
			h.shown.Store(len(c.Certificate) > 0)
		}
		return c, nil
	}
}
