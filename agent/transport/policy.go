package transport

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// row is a purpose and what holds for its requests. Nothing is allowed that it
// does not say.
type row struct {
	purpose string
	// redirects is how many redirects of one request are followed, all of them
	// within its origin.
	redirects int
	// proxy: the proxies of the environment are used. A proxy looks names up
	// itself, where private can not be checked.
	proxy bool
	// private: addresses of this machine and of private networks may be dialled.
	private bool
	// own: provider.caFile and provider.clientCert count.
	own bool
}

// purposes is the table of all connections that this program makes.
var purposes = [...]row{
	// A person's own choice of a server, which often is the machine beside them.
	{purpose: "provider", redirects: 3, proxy: true, private: true, own: true},
}

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

// isPublic reports whether an address is none of this machine or of a private
// network; 100.64.0.0/10 (RFC 6598) is such a network, 0.0.0.0/8 this machine.
func isPublic(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsGlobalUnicast() && !a.IsPrivate() &&
		!netip.PrefixFrom(netip.AddrFrom4([4]byte{100, 64}), 10).Contains(a) &&
		!netip.PrefixFrom(netip.AddrFrom4([4]byte{}), 8).Contains(a)
}

// checkRedirect decides whether the request that net/http wants to send after
// a redirect is sent; via are those before it.
func (r row) checkRedirect(next *http.Request, via []*http.Request) error {
	first := via[0]
	from, to := origin(first.URL), origin(next.URL)
	switch {
	case from != to:
		// Only the origin: the *url.Error that net/http puts around this names
		// the whole address, and whoever shows it takes it apart first.
		return refusal{fmt.Sprintf("redirect to another origin refused: %q, nothing was sent there", to), "check the base URL"}
	case next.Method != first.Method:
		return refusal{fmt.Sprintf("redirect by status %d would turn the %s into a %s",
			next.Response.StatusCode, first.Method, next.Method), "check the base URL"}
	case len(via) > r.redirects:
		return refusal{fmt.Sprintf("more than %d redirects", r.redirects), "check the base URL"}
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
