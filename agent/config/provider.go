package config

import (
	"net/textproto"
	"slices"
	"strings"
)

const (
	// maxBody bounds provider.extraBody, in bytes without white space: it goes
	// out with every request.
	maxBody = 64 << 10
	// maxHeaders and maxHeader bound provider.extraHeaders.
	maxHeaders = 32
	maxHeader  = 64

	bodyAllowed    = "an object of at most 64 KiB, without what the client sets itself"
	headersAllowed = "an object of at most 32 headers, each with the name of the environment variable that holds its value"
)

// extraBody hands an object on as plain JSON. What decides about a request, its
// text, its tools, its stream and where it is stored, stays with the client.
func extraBody(w *walker, _ string, v node) {
	if v.kind != isObject {
		w.wrong(v, bodyAllowed)
		return
	}
	for _, f := range v.fields {
		if among(bodyKeys(), f.name) {
			w.at(f.name).bad(node{src: f.value.src, start: f.start}, "found what the client sets itself")
		}
	}
	body := v.json()
	if len(body) > maxBody {
		w.bad(v, "found %d bytes, allowed: %s", len(body), bodyAllowed)
		return
	}
	w.c.Provider.ExtraBody = body
}

// among compares without case, since servers read names so.
func among(names []string, name string) bool {
	return slices.ContainsFunc(names, func(s string) bool { return strings.EqualFold(s, name) })
}

// bodyOfMode refuses what has no effect in the mode that was chosen.
func bodyOfMode(c *Config, root node) (errs []error) {
	provider, _ := root.get("provider")
	body, _ := provider.get("extraBody")
	for _, f := range body.fields {
		if c.Provider.APIMode == "responses" && among(responsesKeys(), f.name) {
			errs = append(errs, f.value.src.errorf(f.start, "%s: found what the client sets itself where provider.apiMode is \"responses\"",
				quote("provider.extraBody."+f.name)))
		}
	}
	return errs
}

// extraHeaders reads which variables hold the values of headers. A header that
// carries the key, or that the connection decides about, can not be set.
func extraHeaders(w *walker, _ string, v node) {
	if v.kind != isObject || len(v.fields) > maxHeaders {
		w.wrong(v, headersAllowed)
		return
	}
	headers := make(map[string]string, len(v.fields))
	value := variable(func(_ *Config, name, s string) { headers[name] = s })
	for _, f := range v.fields {
		sub, here := w.at(f.name), node{src: f.value.src, start: f.start}
		name := textproto.CanonicalMIMEHeaderKey(f.name)
		_, twice := headers[name]
		switch {
		case !token(f.name):
			sub.bad(here, "found no name of a header, allowed: at most %d letters, digits, - and _", maxHeader)
		case owned(f.name):
			sub.bad(here, "found a header that the client sets itself")
		case twice:
			sub.bad(here, "found a header that stands there already; case makes no other name")
		default:
			value.set(sub, name, f.value)
		}
	}
	w.c.Provider.ExtraHeaders = headers
}

// token takes less than RFC 9110 does: what is in no name of a header in use
// would only hide a slip.
func token(s string) bool {
	odd := func(r rune) bool { return r != '-' && r != '_' && (r >= 0x80 || !alphanumeric(byte(r))) }
	return s != "" && len(s) <= maxHeader && !strings.ContainsFunc(s, odd)
}

func owned(header string) bool {
	low := strings.ToLower(header)
	return slices.ContainsFunc(ownHeaders(), func(own string) bool {
		return low == own || strings.HasSuffix(own, "-") && strings.HasPrefix(low, own)
	})
}

// keyStays checks that a key goes only to a base URL set by the same or a more
// trusted layer than the one that chose the key (spec config-cli.md, "Files and
// layers"; C143). Flags, environment, --config, global file and defaults are
// one person's word, so that either may complete the other; a project is less.
// That a project chooses the variable for a person's address is harmless, the
// other way round is theft.
//
// It can not happen while projectKeys lacks provider.baseURL: the check holds
// when that list grows.
func keyStays(root node) (err error) {
	url, ok := root.find("provider.baseURL")
	if !ok || !url.src.project {
		return nil
	}
	provider, _ := root.get("provider")
	provider.leaves("", func(key string, v node) {
		name, _, _ := strings.Cut(key, ".")
		if slices.Contains([]string{"apiKeyEnv", "clientCert", "extraHeaders"}, name) && v.kind == isString && !v.src.project {
			err = url.src.errorf(url.start, "%s: found in a project, but %s is set by a more trusted layer (%s), and a key goes only where the same or a more trusted one sends it",
				quote("provider.baseURL"), quote("provider."+name), v.src.origin(v.start))
		}
	})
	return err
}
