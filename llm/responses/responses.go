// Package responses is the client for servers that speak the Responses API as
// OpenAI shaped it.
//
//	Stream → body (request.go, history.go) → POST → walker, else event
//	       → items by output_index (item.go) → deltas; terminal event → message
//
// It keeps no conversation on a server: each request carries the whole history,
// says store:false, and gives encrypted reasoning back as it came. It sends a
// request once, and again only without optional fields that the server refused
// by name: retries, time limits and what becomes of an answer that broke off are
// the runner's. It makes no HTTP client of its own, reads no environment, offers
// none of the server's own tools, and never executes anything.
package responses

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
const API = "responses"

// elsewhere is for a server that has no /responses.
const elsewhere = `a server that does not offer the Responses API wants provider.apiMode "chat"`

// Config says which server a Client talks to and how.
type Config struct {
	// ID is the provider's id; it stands in Origin.
	ID string
	// BaseURL is the URL to which /responses and /models are added, as it is: no
	// /v1 is guessed.
	BaseURL string
	// Key is the secret; empty sends no Authorization.
	Key string
	// HTTP makes the requests. Its Timeout must be 0: streams are bounded by
	// their context.
	HTTP *http.Client
	// TokenParameter is "omit" for a server that takes no output limit. Every
	// other value sends max_output_tokens, the only name that this protocol has.
	TokenParameter string
	// UserAgent identifies this program.
	UserAgent string
	// Headers are sent with every request, by name. Their values are secrets like
	// Key.
	Headers map[string]string
	// ExtraBody is a JSON object whose members join each request, but those that
	// this client sets itself; see wire.AppendExtra. Empty for none.
	ExtraBody json.RawMessage
	// SessionHeader names a header that carries Request.SessionID; empty for
	// none. prompt_cache_key carries it in any case.
	SessionHeader string
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
		err := advised(c.stream(ctx, req, func(ev llm.Event) bool { return yield(ev, nil) }))
		if err != nil && !errors.Is(err, wire.ErrLeft) {
			yield(llm.Event{}, err)
		}
	}
}

func (c *Client) stream(ctx context.Context, req llm.Request, yield func(llm.Event) bool) error {
	q := wire.Question{
		Path: "/responses", Model: req.Model, Session: req.SessionID,
		Elsewhere: elsewhere,
		Optional:  optional(),
		Sent:      req.Sent,
		Body:      func(without wire.Names) ([]byte, error) { return c.body(req, without) },
	}
	read := func(t *wire.Turn) wire.Protocol {
		return &turn{Turn: t, endpoint: c.endpoint, answer: answer{origin: c.origin(req.Model)}}
	}
	return c.endpoint.Ask(ctx, q, read, yield)
}

func (c *Client) origin(model string) llm.Origin {
	return llm.Origin{Provider: c.cfg.ID, API: API, Model: model, Server: c.endpoint.Host}
}

// advised adds to a refused key that the path may be what is refused: gateways
// answer 401 for what they do not offer.
func advised(err error) error {
	var e *llm.Error
	if errors.As(err, &e) && e.Cause == llm.CauseAuth && (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden) {
		return e.WithHint(e.Hint + "; " + elsewhere)
	}
	return err
}
