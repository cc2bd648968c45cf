// Package plug is the public contract of Alisio's extensions: plugins, tools,
// their calls, plans and results, run events, questions to a person, and
// provider registrations.
//
// It knows the words of package llm and nothing else of ours. It runs nothing:
// package agent/host sets plugins up, agent/run runs tools.
//
// A comment that says "spec NAME.md" gives the page of the specification that a rule
// comes from. Its maintainers keep it beside the repository and not in it: such a
// comment says enough to be read without.
package plug

import (
	"context"
	"encoding/json"

	"alisio/llm"
)

// APIVersion is the version of this contract that Plugin.APIVersion names.
const APIVersion = 1

// Plugin is one extension. The same value can be built in or, later, served
// over a pipe.
type Plugin struct {
	// ID matches ^[a-z0-9][a-z0-9.-]{0,63}$ and is unique.
	ID string
	// Name is for people.
	Name string
	// Version is a semantic version.
	Version string
	// APIVersion is the contract that the plugin was written against.
	APIVersion int
	// Setup registers what the plugin offers. If it fails, everything that it
	// registered is taken back and the application goes on without it.
	Setup func(ctx context.Context, api *API) error
	// Dispose, if set, gives back what Setup took. It is called once, after all
	// registrations are undone.
	Dispose func(ctx context.Context) error
}

// Purpose says what a connection is for; redirect, proxy and address policy
// follow from it.
type Purpose string

// The purposes of connections.
const (
	PurposeProvider Purpose = "provider"
)

// ProviderRegistration describes a kind of provider that a person can connect
// to.
type ProviderRegistration struct {
	// ID names it, in Origin too.
	ID string
	// Name is for people.
	Name string
	// Endpoint: takes a bare base URL. Exactly one registered provider may say
	// so; the provider block of the configuration, --base-url and
	// OPENAI_BASE_URL go to that one.
	Endpoint bool
	// Create makes the provider. It contacts nobody.
	Create func(ctx context.Context, s ProviderSettings) (llm.Provider, error)
}

// ProviderSettings is what a provider is created with.
type ProviderSettings struct {
	// BaseURL is an http or https URL without credentials and without a
	// trailing slash.
	BaseURL string
	// Key is the secret, empty for none. It must reach the server of BaseURL
	// and nothing else: no log, error, event or child process.
	Key string
	// APIMode is the protocol that the person chose: "chat", also when empty, or
	// "responses".
	APIMode string
	// TokenParameter names the request field for the output limit:
	// "max_tokens", "max_completion_tokens" or "omit".
	TokenParameter string
	// StreamUsage asks the server to report usage in the stream.
	StreamUsage bool
	// ExtraBody is a JSON object whose members join each request, but those that
	// the client sets itself; empty for none.
	ExtraBody json.RawMessage
	// Headers are sent with every request to the server of BaseURL, by name. Their
	// values are secrets, and what holds for Key holds for them.
	Headers map[string]string
	// UserAgent identifies this program and its version.
	UserAgent string
}
