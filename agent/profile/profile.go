// Package profile chooses the model that a run talks to: it keeps the
// registered kinds of providers and makes the one that flags, environment and
// the provider block of the configuration ask for, when it is first needed. It keeps the catalogs of
// servers on disk, for what the configuration does not say of a model.
//
// It alone reads a key, and the values of headers, from the environment, and hands
// them to the provider that they were set for and to nobody else; none stands in a
// catalog's file. Only Models and List contact a server.
package profile

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"alisio/agent/config"
	"alisio/llm"
	"alisio/plug"
)

// Registry holds the registered kinds of providers. It is safe for concurrent
// use.
type Registry struct {
	mu   sync.Mutex
	list []*plug.ProviderRegistration
}

// Register adds a kind of provider. Two of one id, or two that take a bare
// endpoint, are an error.
func (r *Registry) Register(p plug.ProviderRegistration) (undo func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("register provider %q: %w", p.ID, err)
	}
	for _, q := range r.list {
		switch {
		case q.ID == p.ID:
			return nil, fmt.Errorf("register provider %s: the id is taken", p.ID)
		case q.Endpoint && p.Endpoint:
			return nil, fmt.Errorf("register provider %s: %s takes bare endpoints already", p.ID, q.ID)
		}
	}
	entry := &p
	r.list = append(r.list, entry)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.list = slices.DeleteFunc(r.list, func(q *plug.ProviderRegistration) bool { return q == entry })
	}, nil
}

// endpoint returns the one that takes a bare base URL.
func (r *Registry) endpoint() *plug.ProviderRegistration {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.list {
		if p.Endpoint {
			return p
		}
	}
	return nil
}

// Selection is what a model is chosen by.
type Selection struct {
	Config config.Config
	// Getenv reads the environment as it was at the program's start.
	Getenv func(string) string
	// Loopback reports whether a host name is this machine.
	Loopback  func(host string) bool
	UserAgent string
	// Cache is the absolute directory of kept catalogs; empty reads and keeps
	// none.
	Cache string
}

// Choice is a chosen model and its provider.
type Choice struct {
	Provider llm.Provider
	Model    llm.Model
	// Host is the server's name and port, for display.
	Host string
	// Local: the server is on this machine.
	Local bool
	// Secrets are the key and the values of extra headers, to be taken out of what
	// tools print; without those that are so short that they are words ("ollama",
	// "lm-studio").
	Secrets []string
	// Kept is when the catalog was fetched that filled the gaps in Model; zero
	// when none is kept.
	Kept time.Time
}

// minSecret is the length in bytes from which a value is taken for a secret.
const minSecret = 16

// Known says what is known of the chosen model without asking anybody, and when
// the catalog was fetched that says a part of it; zero when none is kept.
func Known(s Selection) (llm.Model, time.Time) {
	m := model(s.Config, s.Config.Provider.Model)
	kept := keptOf(s, m.ID)
	kept.fill(&m)
	return m, kept.Fetched
}

// Connect makes the provider of the configured endpoint, whichever the model. It
// contacts nobody.
func (r *Registry) Connect(ctx context.Context, s Selection) (Choice, error) {
	p := s.Config.Provider
	reg := r.endpoint()
	if reg == nil {
		return Choice{}, llm.Errorf(llm.CauseBadRequest, "no provider takes %s", p.BaseURL).
			WithHint("the plugin that takes bare endpoints is switched off: see builtinPlugins and --disable-plugin")
	}
	u, err := url.Parse(p.BaseURL)
	if err != nil {
		return Choice{}, llm.Errorf(llm.CauseBadRequest, "base URL %q: %w", p.BaseURL, err)
	}
	key, err := secret(p, u, s)
	if err != nil {
		return Choice{}, err
	}
	headers, err := headers(p, u, s)
	if err != nil {
		return Choice{}, err
	}
	provider, err := reg.Create(ctx, plug.ProviderSettings{
		BaseURL: p.BaseURL, Key: key, APIMode: p.APIMode, TokenParameter: p.TokenParameter, StreamUsage: p.StreamUsage,
		ExtraBody: p.ExtraBody, Headers: headers, UserAgent: s.UserAgent,
	})
	if err != nil {
		return Choice{}, fmt.Errorf("create provider %s: %w", reg.ID, err)
	}
	return Choice{Provider: provider, Host: u.Host, Local: s.Loopback(u.Hostname()), Secrets: secrets(key, headers)}, nil
}

// model says what the configuration tells about a model.
func model(c config.Config, id string) llm.Model {
	known := c.Models[id]
	m := llm.Model{
		ID: id, ContextWindow: known.ContextWindow, MaxOutputTokens: known.MaxOutputTokens, Efforts: known.Effort,
	}
	if c.Provider.ContextWindow > 0 {
		m.ContextWindow = c.Provider.ContextWindow
	}
	if known.Price != nil {
		price := llm.Price(*known.Price)
		m.Price = &price
	}
	return m
}

// KeyReport is what can be told of the key without showing a bit of it.
type KeyReport struct {
	// Sent: requests carry it.
	Sent bool
	// Odd says what is strange about the variable's value; empty for nothing.
	Odd string
	// Err is why no request is made, with what to do; nil when requests are made.
	Err error
	// Hide takes the key, and the values of extra headers, out of a text where they
	// are secrets.
	Hide func(text string) string
}

// InspectKey looks at the key, and at the values of extra headers, as a request
// would, and contacts nobody.
func InspectKey(s Selection) KeyReport {
	value := s.Getenv(s.Config.Provider.APIKeyEnv)
	key := strings.TrimSpace(value)
	values := make(map[string]string)
	for name, variable := range s.Config.Provider.ExtraHeaders {
		values[name] = strings.TrimSpace(s.Getenv(variable))
	}
	hidden := secrets(key, values)
	k := KeyReport{Hide: func(text string) string { return llm.Redact(text, hidden...) }}
	u, err := url.Parse(s.Config.Provider.BaseURL)
	if err != nil {
		k.Err = llm.Errorf(llm.CauseBadRequest, "the base URL is not valid").WithHint("check the base URL")
		return k
	}
	var sent string
	sent, k.Err = secret(s.Config.Provider, u, s)
	k.Sent = sent != ""
	if k.Err == nil {
		_, k.Err = headers(s.Config.Provider, u, s)
	}
	switch first, last := key[:min(1, len(key))], key[max(0, len(key)-1):]; {
	case !k.Sent:
	case len(key) > 1 && first == last && (first == `"` || first == "'"):
		k.Odd = "its value stands in quotes, which are sent as a part of it"
	case first == "$" || first == "%" && last == "%":
		k.Odd = "its value looks like the name of a variable that was not replaced"
	case key != value:
		k.Odd = "its value has white space around it, which is not sent"
	}
	return k
}

// secret finds the key for an endpoint (spec config-cli.md, "Files and
// layers"). A server of this machine is asked without one when none is set; a
// key never goes over plain http to another machine.
func secret(p config.Provider, u *url.URL, s Selection) (string, error) {
	if p.Auth == "none" {
		return "", nil
	}
	key := strings.TrimSpace(s.Getenv(p.APIKeyEnv))
	local := s.Loopback(u.Hostname())
	switch {
	case key == "" && local:
		return "", nil
	case key == "":
		return "", llm.Errorf(llm.CauseAuth, "no key for %s: the variable %s is not set", u.Host, p.APIKeyEnv).
			WithHint(keyHint(u.Scheme, p.APIKeyEnv))
	case u.Scheme == "http" && !local:
		return "", llm.Errorf(llm.CauseBadRequest, "the key in %s would go over plain http to %s", p.APIKeyEnv, u.Host).
			WithHint("use https, or set provider.auth to \"none\" for a server that takes no key")
	case strings.ContainsFunc(key, func(r rune) bool { return r < 0x21 || r > 0x7e }):
		return "", llm.Errorf(llm.CauseAuth, "the key in %s holds spaces, control or non-ASCII characters", p.APIKeyEnv).
			WithHint("set it again; a line break in the middle is the usual reason")
	}
	return key, nil
}

func keyHint(scheme, variable string) string {
	if scheme == "http" {
		return "a server that takes no key wants provider.auth set to \"none\" (alisio help config); a key would need https"
	}
	return fmt.Sprintf("export %s=…, name another variable in provider.apiKeyEnv, or set provider.auth to \"none\"", variable)
}
