package screen

import (
	"fmt"
	"net/url"
	"strings"
)

// safeURL is a URL as a terminal may be given it, or not: http and https alone, without
// a control, a space or a byte that is no ASCII, and of bounded length.
func safeURL(s string) (string, bool) {
	const most = 2000 // bytes; terminals ignore longer ones
	if s == "" || len(s) > most {
		return "", false
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", false
	}
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ' || c == 0x7F:
			return "", false
		case c == ' ' || c > 0x7F || c == '\\' || c == '"' || c == '<' || c == '>':
			fmt.Fprintf(&b, "%%%02X", c)
		default:
			b.WriteByte(c)
		}
	}
	if b.Len() > most {
		return "", false
	}
	return b.String(), true
}
