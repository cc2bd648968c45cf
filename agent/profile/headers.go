package profile

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"alisio/agent/config"
	"alisio/llm"
)

// headers reads the values of provider.extraHeaders from the environment. They are
// secrets like the key: what is missing is an error that names the variable, and
// none goes over plain http to another machine.
func headers(p config.Provider, u *url.URL, s Selection) (map[string]string, error) {
	if len(p.ExtraHeaders) == 0 {
		return nil, nil
	}
	local := s.Loopback(u.Hostname())
	values := make(map[string]string, len(p.ExtraHeaders))
	for _, name := range slices.Sorted(maps.Keys(p.ExtraHeaders)) {
		variable := p.ExtraHeaders[name]
		value := strings.TrimSpace(s.Getenv(variable))
		switch {
		case value == "":
			return nil, llm.Errorf(llm.CauseAuth, "no value for the header %s: the variable %s is not set", name, variable).
				WithHint("export " + variable + "=…, or take the header out of provider.extraHeaders")
		case u.Scheme == "http" && !local:
			return nil, llm.Errorf(llm.CauseBadRequest, "the value of %s, for the header %s, would go over plain http to %s", variable, name, u.Host).
				WithHint("use https, or take the header out of provider.extraHeaders")
		case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }):
			return nil, llm.Errorf(llm.CauseAuth, "the value of %s, for the header %s, holds control or non-ASCII characters", variable, name).
				WithHint("set it again; a line break in the middle is the usual reason")
		}
		values[name] = value
	}
	return values, nil
}

// secrets are the values that are taken out of what tools print: what is shorter
// is a word, which stands in texts for other reasons.
func secrets(key string, headers map[string]string) []string {
	var all []string
	parts := []string{key}
	for _, value := range slices.Sorted(maps.Values(headers)) {
		parts = append(parts, llm.HeaderSecrets(value)...)
	}
	for _, value := range parts {
		if len(value) >= minSecret && !slices.Contains(all, value) {
			all = append(all, value)
		}
	}
	return all
}
