// Package transport is the one place that makes HTTP clients. What may be
// reached how is decided here by purpose, so that it is read once:
//
//   - No request follows a redirect to another origin (scheme, host, port): a
//     key belongs to its origin (C143), and a prompt too.
//   - A POST is never turned into a GET, and at most three redirects are
//     followed.
//   - Proxies are taken from the environment, never for a loopback host.
//   - "localhost" and the names below it are this machine: they are dialled as
//     loopback addresses and never looked up, so that no name server can place
//     them elsewhere.
//   - TLS is 1.2 or later, with the system's roots, which crypto/tls loads at
//     the first handshake and not at start.
//
// It refuses every purpose that it has no row for. It adds no header, keeps no
// cookie, retries nothing beyond what net/http proves to be safe, and has no
// timeout for a whole answer: streams end by their context.
package transport

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
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
	// A connection of HTTP/2 that is silent for pingAfter is asked whether it
	// lives, and given up after pingTimeout: a laptop's sleep leaves dead ones.
	pingAfter   = 30 * time.Second
	pingTimeout = 15 * time.Second
)

// purposes are the rows; all share one policy so far.
var purposes = [...]string{"provider"}

// Options shape the clients; the zero value is what a program wants.
type Options struct {
	// Proxy chooses the proxy for a request, nil for none. It is not asked for
	// loopback hosts. A nil function reads the environment as net/http does.
	Proxy func(*http.Request) (*url.URL, error)
}

// Clients are the application's HTTP clients. They share their connections
// and are safe for concurrent use.
type Clients struct {
	transport *http.Transport
	byPurpose map[string]*http.Client
}

// New makes the clients. It opens no connection and reads no certificate.
func New(o Options) *Clients {
	if o.Proxy == nil {
		o.Proxy = http.ProxyFromEnvironment
	}
	c := &Clients{transport: newTransport(o), byPurpose: make(map[string]*http.Client)}
	for _, p := range purposes {
		c.byPurpose[p] = &http.Client{Transport: c.transport, CheckRedirect: checkRedirect}
	}
	return c
}

// Client returns the client for a purpose, never nil: that of an unknown
// purpose fails every request.
func (c *Clients) Client(purpose string) *http.Client {
	if client := c.byPurpose[purpose]; client != nil {
		return client
	}
	return &http.Client{Transport: refused(purpose)}
}

// Close closes the connections that are idle; those in use end with their
// requests.
func (c *Clients) Close() { c.transport.CloseIdleConnections() }

// newTransport does not clone http.DefaultTransport, which any package of the
// process can change.
func newTransport(o Options) *http.Transport {
	return &http.Transport{
		Proxy:                  proxyPolicy(o.Proxy),
		DialContext:            dial,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
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

// refused is the transport of a purpose without a row.
type refused string

func (r refused) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		req.Body.Close()
	}
	return nil, fmt.Errorf("no connection is allowed for the purpose %q", string(r))
}

func proxyPolicy(choose func(*http.Request) (*url.URL, error)) func(*http.Request) (*url.URL, error) {
	return func(req *http.Request) (*url.URL, error) {
		if IsLoopback(req.URL.Hostname()) {
			return nil, nil
		}
		return choose(req)
	}
}

// dial connects. The names of this machine are tried as 127.0.0.1, then as
// ::1; the error is that of the first.
func dial(ctx context.Context, network, addr string) (net.Conn, error) {
	d := &net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}
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
