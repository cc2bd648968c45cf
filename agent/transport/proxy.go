package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// proxyFor returns the proxy of a request, nil for none. A proxy that is itself
// reached by TLS gets no request that a client certificate belongs to: net/http
// would show it to the proxy too.
func (r *route) proxyFor(req *http.Request) (*url.URL, error) {
	if !r.proxy || IsLoopback(req.URL.Hostname()) {
		return nil, nil
	}
	proxy, err := r.choose(req)
	if err != nil {
		// The error could quote the variable, which may hold a password.
		return nil, refusal{"the proxy" + variable(req.URL.Scheme) + " can not be used", "check its address, or unset it"}
	}
	if proxy != nil && proxy.Scheme == "https" && r.pool(req.URL) == identified {
		return nil, refusal{fmt.Sprintf("provider.clientCert is never shown to a proxy, as it could be to %s", name(proxy, req.URL.Scheme)),
			"use a proxy that is reached by http, or name the host in NO_PROXY"}
	}
	return proxy, nil
}

// ProxyFromEnvironment is that of net/http, which takes a variable that it can not
// read for none: whoever set it wants no request to go without the proxy. The error
// names the variable, and nothing of its value, which may hold a password.
func ProxyFromEnvironment(req *http.Request) (*url.URL, error) {
	name, value := setting(req.URL.Scheme)
	full := value
	if !strings.Contains(value, "://") {
		full = "http://" + value // as net/http has it
	}
	u, err := url.Parse(full)
	if value != "" && (err != nil || u.Hostname() == "") {
		return nil, fmt.Errorf("%s holds no valid address", name)
	}
	return http.ProxyFromEnvironment(req)
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

func viaProxy(proxy *url.URL, scheme string, err error) *proxyError {
	var op *net.OpError
	var status proxyStatus
	failed := errors.As(err, &status) ||
		errors.As(err, &op) && (op.Op == "proxyconnect" || strings.HasPrefix(op.Op, "socks"))
	return &proxyError{name(proxy, scheme), !failed, err}
}

func (e *proxyError) Error() string { return e.name + ": " + e.err.Error() }

func (e *proxyError) Unwrap() error { return e.err }

// Proxy names the proxy for a person, without user and password, and tells
// whether it could be reached: then the fault may be one of the server behind.
func (e *proxyError) Proxy() (name string, reached bool) { return e.name, e.reached }

func name(proxy *url.URL, scheme string) string {
	return "the proxy " + proxy.Host + variable(scheme)
}

// variable names the variable that chose a proxy, in the order in which
// net/http looks; empty when it was none.
func variable(scheme string) string {
	if v, _ := setting(scheme); v != "" {
		return " (" + v + ")"
	}
	return ""
}

// setting is the variable that counts for a scheme, with its value.
func setting(scheme string) (name, value string) {
	upper := strings.ToUpper(scheme) + "_PROXY"
	for _, v := range []string{upper, strings.ToLower(upper)} {
		if value := os.Getenv(v); value != "" {
			return v, value
		}
	}
	return "", ""
}
