// Package chatapi is the client for servers that speak Chat Completions as
// OpenAI shaped it, with everything that such servers really send.
//
//	Stream → body (request.go, message.go) → POST → sniff
//	       → sse event → walker, else chunk → answer (assembly, details) → events
//
// It sends a request once: retries, time limits and what becomes of an answer
// that broke off are the runner's. It makes no HTTP client of its own, reads no
// environment, and never executes anything.
package chatapi

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"

	"alisio/llm"
	"alisio/llm/wire"
)

// API is the name of this protocol in llm.Origin.
const API = "chat"

// elsewhere is for a server that has no /chat/completions.
const elsewhere = `many base URLs end in /v1; a server that offers the Responses API alone wants provider.apiMode "responses"`

// Config says which server a Client talks to and how.
type Config struct {
	// ID is the provider's id; it stands in Origin.
	ID string
	// BaseURL is the URL to which /chat/completions and /models are added, as
	// it is: no /v1 is guessed.
	BaseURL string
	// Key is the secret; empty sends no Authorization.
	Key string
	// HTTP makes the requests. Its Timeout must be 0: streams are bounded by
	// their context.
	HTTP *http.Client
	// TokenParameter names the field for the output limit: "max_tokens" (also
	// when empty), "max_completion_tokens" or "omit".
	TokenParameter string
	// StreamUsage asks for a usage report in the stream.
	StreamUsage bool
	// UserAgent identifies this program.
	UserAgent string
	// Headers are sent with every request, by name. Their values are secrets like
	// Key.
	Headers map[string]string
	// ExtraBody is a JSON object whose members join each request, but those that
	// this client sets itself; see wire.AppendExtra. Empty for none.
	ExtraBody json.RawMessage
	// SessionHeader names a header that carries Request.SessionID; empty for
	// none.
	SessionHeader string
	// OmitReasoning leaves reasoning text out of what is sent back, for servers
	// that refuse it.
	OmitReasoning bool
}

// Client is a provider. It is safe for concurrent use.
type Client struct {
	cfg      Config
	endpoint *wire.Endpoint
}

var (
	_ llm.Provider    = (*Client)(nil)
	_ llm.ModelLister = (*Client)(nil)
)

// New returns a client. It contacts nobody; a wrong URL or key is an error of
// the first request.
func New(cfg Config) *Client {
	e := wire.NewEndpoint(cfg.BaseURL, cfg.Key, cfg.HTTP)
	e.UserAgent, e.SessionHeader = cfg.UserAgent, cfg.SessionHeader
	e.SetHeaders(cfg.Headers)
	return &Client{cfg: cfg, endpoint: e}
}

// ID returns the provider's id.
func (c *Client) ID() string { return c.cfg.ID }

// Close does nothing: a client holds nothing open between requests.
func (c *Client) Close() error { return nil }

// Models lists the server's catalog, as wire.Endpoint does.
func (c *Client) Models(ctx context.Context) ([]llm.Model, error) { return c.endpoint.Models(ctx) }

// Stream sends one request and yields its answer, as llm.Provider says. Nothing
// runs on when the sequence has ended.
func (c *Client) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		err := c.stream(ctx, req, func(ev llm.Event) bool { return yield(ev, nil) })
		if err != nil && !errors.Is(err, wire.ErrLeft) {
			yield(llm.Event{}, err)
		}
	}
}

func (c *Client) stream(ctx context.Context, req llm.Request, yield func(llm.Event) bool) error {
	q := wire.Question{
		Path: "/chat/completions", Model: req.Model, Session: req.SessionID,
		Elsewhere: elsewhere,
		Optional:  c.optional(),
		Sent:      req.Sent,
		Body:      func(without wire.Names) ([]byte, error) { return c.body(req, without) },
	}
	read := func(t *wire.Turn) wire.Protocol {
		return &turn{
			Turn: t, endpoint: c.endpoint,
			answer: answer{deltas: &t.Deltas, origin: c.origin(req.Model), omitReasoning: c.cfg.OmitReasoning},
		}
	}
	return c.endpoint.Ask(ctx, q, read, yield)
}

func (c *Client) origin(model string) llm.Origin {
	return llm.Origin{Provider: c.cfg.ID, API: API, Model: model, Server: c.endpoint.Host}
}
