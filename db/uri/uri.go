// Package uri names files as SQLite's URIs do (uri.html).
package uri

import (
	"fmt"
	"strings"
)

// File returns the file: URI of an absolute path, in which the path's own
// "?", "#" and "%" mean nothing. The authority is always there and empty, so
// that the name of a Windows share is not taken for it.
func File(path string, windows bool) string {
	if windows {
		path = strings.ReplaceAll(path, `\`, "/")
		if !strings.HasPrefix(path, "/") {
			path = "/" + path
		}
	}
	var b strings.Builder
	b.WriteString("file://")
	for i := range len(path) {
		if c := path[i]; plain(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func plain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("/-_.~:", c) >= 0
}
