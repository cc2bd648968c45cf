package transport

import (
	"fmt"
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

// name names a proxy for a person, without user and password.
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
