package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
)

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

// checkConnect replaces what net/http makes of a refused CONNECT: only the
// words that the proxy chose.
func checkConnect(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return proxyStatus(resp.StatusCode)
}

// proxyStatus is what a proxy answered in place of the server.
type proxyStatus int

func (s proxyStatus) Error() string {
	return fmt.Sprintf("it answered %d (%s)", int(s), strings.ToLower(http.StatusText(int(s))))
}

// proxyError is a fault of a request that was to go through a proxy.
type proxyError struct {
	name    string
	reached bool
	err     error
}

// viaProxy is a fault of a request through the named proxy, and what is told of it.
func viaProxy(name string, err, told error) *proxyError {
	var op *net.OpError
	var status proxyStatus
	failed := errors.As(err, &status) ||
		errors.As(err, &op) && (op.Op == "proxyconnect" || strings.HasPrefix(op.Op, "socks"))
	return &proxyError{name, !failed, told}
}

func (e *proxyError) Error() string { return e.name + ": " + e.err.Error() }

func (e *proxyError) Unwrap() error { return e.err }

// Proxy names the proxy for a person, without user and password, and tells
// whether it could be reached: then the fault may be one of the server behind.
func (e *proxyError) Proxy() (name string, reached bool) { return e.name, e.reached }
