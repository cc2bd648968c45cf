package transport

import (
	"crypto/tls"
	"sync/atomic"
)

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
