package transport

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// maxRedirects is how many redirects of one request are followed.
const maxRedirects = 3

// IsLoopback reports whether host, without a port, can only mean this machine:
// a loopback address as it is usually written, "localhost" or a name below it.
// Other spellings of such addresses (127.1) and names that happen to resolve
// to one are none.
func IsLoopback(host string) bool {
	if isLocalName(host) {
		return true
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}

// isLocalName follows RFC 6761, 6.3.
func isLocalName(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// checkRedirect decides whether the request that net/http wants to send after
// a redirect is sent; via are those before it.
func checkRedirect(next *http.Request, via []*http.Request) error {
	first := via[0]
	from, to := origin(first.URL), origin(next.URL)
	switch {
	case from != to:
		// Only the origin: the *url.Error that net/http puts around this names
		// the whole address, and whoever shows it takes it apart first.
		return fmt.Errorf("redirect to another origin refused: %q, nothing was sent there", to)
	case next.Method != first.Method:
		return fmt.Errorf("redirect by status %d would turn the %s into a %s",
			next.Response.StatusCode, first.Method, next.Method)
	case len(via) > maxRedirects:
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	return nil
}

// origin is the scheme, host and port of a URL; the default port is written
// out.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	host := strings.ToLower(u.Hostname())
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return u.Scheme + "://" + host + ":" + port
}
