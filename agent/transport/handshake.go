package transport

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
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

// explain adds to a connection that the server closed what it had asked for.
// The server's own certificate was checked before.
func (h *handshake) explain(err error) error {
	alert := ""
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "remote error" {
		alert = " (" + strings.TrimPrefix(op.Err.Error(), "tls: ") + ")"
	}
	closed := alert != "" || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		// What is left of any fault before the first request by HTTP/2.
		strings.Contains(err.Error(), "http2: client conn could not be established")
	switch {
	case !closed || !h.asked.Load():
		return err
	case h.shown.Load():
		return refusal{"the server closed the connection after it was shown the client certificate" + alert, "check provider.clientCert"}
	}
	return refusal{"the server asked for a client certificate and closed the connection" + alert, "name its file in provider.clientCert"}
}
