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
	if what == "" {
		what = s.Clean(err.Error())
	}
	return &llm.Error{
		Cause:   llm.CauseUnreachable,
		Message: "connect to " + s.Host + ": " + what,
		Hint:    hint,
		Err:     err,
	}
}

// Broken makes the error of an answer whose bytes stopped with err. Something
// was received, so this is a matter of the stream and not of the connection.
func (s Server) Broken(err error) *llm.Error {
	what, _ := fault(err)
	if what == "" {
		what = s.Clean(err.Error())
	}
	return &llm.Error{
		Cause:   llm.CauseStream,
		Message: "read the answer of " + s.Host + ": " + what,
		Err:     err,
	}
}

// fault names a connection fault and what to do about it; "" when it is none
// of the known ones.
func fault(err error) (what, hint string) {
	var dns *net.DNSError
	var timeout net.Error
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return "no such host", "check the base URL and the network"
	case errors.As(err, &dns):
		return "the name lookup gave no answer", "check the network"
	case certificate(err):
		return "the server's certificate is not trusted: " + certificateReason(err),
			"check the base URL; the authority must be one that this system trusts"
	case plainHTTP(err):
		return "the server does not speak TLS", "check whether the base URL should begin with http:"
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

// is also compares texts: the error numbers of Windows sockets are not those
// that package syscall names.
func is(err error, number syscall.Errno, phrases ...string) bool {
	if errors.Is(err, number) {
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
func certificateReason(err error) string {
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &name):
		return "it is for another host"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "it is expired or not yet valid"
	}
	return "its authority is unknown"
}

// plainHTTP reports an answer that was no TLS.
func plainHTTP(err error) bool {
	var header tls.RecordHeaderError
	return errors.As(err, &header) || strings.Contains(err.Error(), "server gave HTTP response to HTTPS client")
}
