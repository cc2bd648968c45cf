package config

import (
	"errors"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// baseURLAllowed says what to write; it stands in every error about one.
const baseURLAllowed = `an address like "https://host/v1" or "http://localhost:8080/v1"`

// BaseURL checks the address of a provider and takes trailing slashes off.
// Errors never repeat the address: a key could stand in it.
func BaseURL(s string) (string, error) {
	if s == "" {
		return "", errors.New("found nothing")
	}
	odd := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) }
	if !utf8.ValidString(s) || strings.ContainsFunc(s, odd) {
		return "", errors.New("found a space or a control character")
	}
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return "", errors.New("found no valid address")
	case u.Scheme != "http" && u.Scheme != "https":
		return "", errors.New("found an address that starts with neither http:// nor https://")
	case u.User != nil:
		return "", errors.New("found a user name or a password in the address")
	case u.Hostname() == "":
		return "", errors.New("found an address without a host")
	case u.RawQuery != "" || u.ForceQuery:
		return "", errors.New(`found "?" in the address`)
	case strings.Contains(s, "#"):
		return "", errors.New(`found "#" in the address`)
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return "", errors.New("found a port that is none of 1 to 65535")
		}
	}
	return strings.TrimRight(s, "/"), nil
}
