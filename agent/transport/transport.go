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
//   - TLS is 1.2 or later, with the system's roots and those of provider.caFile.
//     They are loaded for the first request by https and not at start.
//   - A client certificate is shown to one origin, that of the configured
//     provider, and to no proxy.
//   - An answer with more than 256 KiB or 256 lines of headers is refused.
//
// It refuses every purpose that it has no row for. It adds no header, keeps no
// cookie, inflates nothing, retries nothing beyond what net/http proves to be
// safe, and has no timeout for a whole answer: streams end by their context.
package transport

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// Options shape the clients; the zero value is what a program without
// certificates of its own wants.
type Options struct {
	// CAFile names a PEM file with certificates of authorities that count beside
	// the system's (provider.caFile); empty for none.
	CAFile string
	// ClientCert names a PEM file with a certificate, its chain and its private
	// key (provider.clientCert); empty for none.
	ClientCert string
	// Origin is a URL of the one server that is shown ClientCert: the base URL
	// of the configured provider. Its path does not matter.
	Origin string
	// Proxy chooses the proxy for a request, nil for none. It is not asked for
	// loopback hosts. A nil function is ProxyFromEnvironment.
	Proxy func(*http.Request) (*url.URL, error)
}

// Clients are the application's HTTP clients. Those of one purpose share their
// connections. They are safe for concurrent use.
type Clients struct {
	routes  []*route
	clients map[string]*http.Client
}

// New makes the clients. It opens no connection and loads no certificate of the
// system. The files of the options are read and checked now: an error names the
// file and its key in the configuration, and holds nothing of a private key.
func New(o Options) (*Clients, error) { return newClients(o, purposes[:]) }

func newClients(o Options, rows []row) (*Clients, error) {
	if o.Proxy == nil {
		o.Proxy = ProxyFromEnvironment
	}
	var own certificates
	var err error
	if o.CAFile != "" {
		if own.authorities, err = readAuthorities(o.CAFile); err != nil {
			return nil, fmt.Errorf("read provider.caFile %q: %w", o.CAFile, err)
		}
	}
	if o.ClientCert != "" {
		if own.client, err = readClientCert(o.ClientCert); err != nil {
			return nil, fmt.Errorf("read provider.clientCert %q: %w", o.ClientCert, err)
		}
		if own.origin, err = originOf(o.Origin); err != nil {
			return nil, fmt.Errorf("use provider.clientCert %q: %w", o.ClientCert, err)
		}
	}
	c := &Clients{clients: make(map[string]*http.Client)}
	for _, row := range rows {
		r := &route{row: row, choose: o.Proxy}
		if row.own {
			r.certificates = own
		}
		c.routes = append(c.routes, r)
		c.clients[row.purpose] = &http.Client{Transport: r, CheckRedirect: row.checkRedirect}
	}
	return c, nil
}

// Client returns the client for a purpose, never nil: that of an unknown
// purpose fails every request.
func (c *Clients) Client(purpose string) *http.Client {
	if client := c.clients[purpose]; client != nil {
		return client
	}
	return &http.Client{Transport: refused(purpose)}
}

// Close closes the connections that are idle; those in use end with their
// requests.
func (c *Clients) Close() {
	for _, r := range c.routes {
		r.closeIdle()
	}
}

// certificates are a person's own. The zero value has none.
type certificates struct {
	authorities []*x509.Certificate
	client      *tls.Certificate
	// origin is the one that is shown client.
	origin string
}

// roots are those of the system and the person's own; nil, which crypto/tls
// takes for the system's, when there are no own ones. A system without usable
// roots leaves the own ones.
func (c *certificates) roots() *x509.CertPool {
	if len(c.authorities) == 0 {
		return nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	for _, a := range c.authorities {
		pool.AddCert(a)
	}
	return pool
}

// originOf does not quote what it can not read: a URL may hold a password.
func originOf(base string) (string, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return "", errors.New("the provider's base URL is not valid, so there is no server to show it to")
	}
	return origin(u), nil
}
