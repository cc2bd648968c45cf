package text

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// QuoteName writes a file name for a model so that it can name the file again
// (C181): as it is when every character of it can be seen, else as a Go string
// in double quotes with \xNN for bytes that are no UTF-8 and \u for what can
// not be seen. UnquoteName takes it back, byte for byte.
func QuoteName(name string) string {
	if IsPlain(name) && !strings.HasPrefix(name, `"`) && strings.Trim(name, " ") == name {
		return name
	}
	b := []byte{'"'}
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b = fmt.Appendf(b, `\x%02x`, name[i])
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case isHidden(r) && r > 0xFFFF:
			b = fmt.Appendf(b, `\U%08x`, r)
		case isHidden(r):
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = append(b, name[i:i+n]...)
		}
		i += n
	}
	return string(append(b, '"'))
}

// UnquoteName gives the name that s stands for and whether s was quoted. Text
// without a quote in front is the name itself. With an error, a quoted text
// that is not well formed, the name is s as it is.
func UnquoteName(s string) (name string, quoted bool, err error) {
	if !strings.HasPrefix(s, `"`) {
		return s, false, nil
	}
	name, err = strconv.Unquote(s)
	if err != nil {
		return s, false, fmt.Errorf("unquote name %.80q: %w", s, err)
	}
	return name, true, nil
}
