package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"

	"alisio/llm"
)

// Connect makes the error of a request that got no answer: name lookup,
// connection, TLS, time-out. Err keeps the underlying error, so that callers
// can tell a bad certificate from a server that is away.
func (s Server) Connect(err error) *llm.Error {
	// url.Error quotes the URL, whose query may hold a secret.
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	what, hint := fault(err)
	place := s.Host
	var via proxied
	if errors.As(err, &via) {
		place, hint = s.detour(via, hint)
		err = via.Unwrap() // the proxy is named by place
	}
	if what == "" {
		what = s.Clean(err.Error())
	}
	return &llm.Error{
		Cause:     llm.CauseUnreachable,
		Message:   "connect to " + place + ": " + what,
		Hint:      hint,
		Permanent: lasting(err),
		Err:       err,
	}
}

// proxied is the error of a request that was to go through a proxy: its name,
// and whether it could be reached. remedied is one that says what to do. Both
// come from whoever makes the HTTP clients.
type (
	proxied interface {
		error
		Unwrap() error
		Proxy() (name string, reached bool)
	}
	remedied interface {
		error
		Hint() string
	}
)

// detour says where a request went, and what to do if that was the fault.
func (s Server) detour(via proxied, hint string) (place, remedy string) {
	name, reached := via.Proxy()
	place = s.Clean(name) + ", for " + s.Host
	if reached {
		place = s.Host + " through " + s.Clean(name)
	}
	if hint == "" || !reached && !certificate(via) {
		hint = "check the proxy; hosts that NO_PROXY names are asked without one"
	}
	return place, hint
}

// fault names a connection fault and what to do about it; "" when it is none
// of the known ones.
func fault(err error) (what, hint string) {
	var dns *net.DNSError
	var timeout net.Error
	var told remedied
	switch {
	case errors.As(err, &told):
		return "", told.Hint()
	case errors.As(err, &dns) && dns.IsNotFound:
		return "no such host", "check the base URL and the network"
	case errors.As(err, &dns):
		return "the name lookup gave no answer", "check the network"
	case certificate(err):
		what, hint = certificateReason(err)
		return "the server's certificate is not trusted: " + what, hint
	case is(err, 0, "remote error: tls:", "selected unsupported protocol version"):
		return alert(err.Error())
	case is(err, 0, "http2: client conn could not be established"):
		return "the connection was closed by the other side", ""
	case plainHTTP(err):
		return "the server does not speak TLS", "check whether the base URL should begin with http:"
	case is(err, 0, `malformed HTTP response "\x15\x03`): // a TLS alert
		return "the server speaks TLS alone", "check whether the base URL should begin with https:"
	case is(err, 0, "server response headers exceeded", "response header list larger than"):
		return "the headers of the answer are too large", "check the base URL"
	case is(err, 0, "connection error: COMPRESSION_ERROR"): // HTTP/2: also one header that is too large
		return "the headers of the answer are too large or damaged", "check the base URL"
	case is(err, syscall.ECONNREFUSED, "connection refused", "actively refused"):
		return "connection refused", "check that the server is running and the base URL is right"
	case is(err, syscall.ENETUNREACH, "network is unreachable"), is(err, syscall.EHOSTUNREACH, "no route to host"):
		return "the network is unreachable", "check the network"
	case is(err, syscall.ECONNRESET, "connection reset", "forcibly closed"), is(err, syscall.EPIPE, "broken pipe"),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed by the other side", ""
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded),
		errors.As(err, &timeout) && timeout.Timeout():
		return "no answer in time", ""
	}
	return "", ""
}

// lasting reports a fault that the same request would meet again: a name that does
// not exist, a certificate, the wrong protocol, a limit or a rule of ours. A server
// that closes the connection may be one that is just being started again, also
// where package transport adds what the fault could be.
func lasting(err error) bool {
	var dns *net.DNSError
	var told remedied
	switch {
	case errors.As(err, &told):
		return !strings.Contains(told.Error(), "closed the connection")
	case errors.As(err, &dns):
		return dns.IsNotFound && !dns.IsTemporary && !dns.IsTimeout
	case is(err, 0, "remote error: tls:"):
		return !is(err, 0, "tls: internal error")
	}
	return certificate(err) || plainHTTP(err) || is(err, 0,
		"selected unsupported protocol version",
		`malformed HTTP response "\x15\x03`,
		"server response headers exceeded", "response header list larger than", "connection error: COMPRESSION_ERROR",
		"unsupported protocol scheme", "net/http: invalid header",
		"it answered 403 (", "it answered 407 (") // a proxy that lets nobody, or not us, through
}

// is also compares texts: the error numbers of Windows sockets are not those
// that package syscall names. Other faults have a text alone, and number 0.
func is(err error, number syscall.Errno, phrases ...string) bool {
	if number != 0 && errors.Is(err, number) {
		return true
	}
	return contains(err.Error(), phrases)
}

// certificate reports a certificate that was refused; unlike other connection
// faults it does not go away by trying again.
func certificate(err error) bool {
	var verify *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	return errors.As(err, &verify) || errors.As(err, &unknown) || errors.As(err, &name) || errors.As(err, &invalid)
}

// certificateReason leaves out the certificate's own words: they are the
// server's to choose.
func certificateReason(err error) (what, hint string) {
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.As(err, &name):
		return "it is for another host", "check the base URL"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "it is expired or not yet valid", "check this machine's clock; otherwise whoever runs the server must renew it"
	case errors.As(err, &unknown):
		return "its authority is unknown", "check the base URL; an authority of your own is named by provider.caFile"
	}
	return "this system refuses it", "check the base URL; an authority of your own is named by provider.caFile"
}

// alert tells what a server's TLS alert means (RFC 8446, 6.2). The texts are
// those of crypto/tls, which has no exported type for alerts.
func alert(text string) (what, hint string) {
	if contains(text, []string{"protocol version"}) {
		return "the server does not speak TLS 1.2 or later", ""
	}
	return "the server refused the TLS connection", "check the base URL; it may want a client certificate: provider.clientCert"
}

// plainHTTP reports an answer that was no TLS.
func plainHTTP(err error) bool {
	var header tls.RecordHeaderError
	return errors.As(err, &header) || strings.Contains(err.Error(), "server gave HTTP response to HTTPS client")
}
