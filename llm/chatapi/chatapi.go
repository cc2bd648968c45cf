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
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"alisio/llm"
	"alisio/llm/sse"
	"alisio/llm/wire"
)

// API is the name of this protocol in llm.Origin.
const API = "chat"

const (
	// graceTime is how long a stream may go on after its finish reason: a usage
	// report and the end mark can follow.
	graceTime = 2 * time.Second
	// drainTime is how long the end of a body is waited for, so that the
	// connection can be used again.
	drainTime = 50 * time.Millisecond
	// errorTime bounds reading the body of an error.
	errorTime = 5 * time.Second
)

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
	// SessionHeader names a header that carries Request.SessionID; empty for
	// none.
	SessionHeader string
	// OmitReasoning leaves reasoning text out of what is sent back, for servers
	// that refuse it.
	OmitReasoning bool
}

// Client is a provider. It is safe for concurrent use.
type Client struct {
	cfg    Config
	server wire.Server
	// maxLine, grace and drain are constants that tests change.
	maxLine      int
	grace, drain time.Duration
}

var (
	_ llm.Provider    = (*Client)(nil)
	_ llm.ModelLister = (*Client)(nil)
)

// New returns a client. It contacts nobody; a wrong URL or key is an error of
// the first request.
func New(cfg Config) *Client {
	cfg.Key = strings.TrimSpace(cfg.Key)
	host := "the server"
	if u, err := url.Parse(cfg.BaseURL); err == nil && u.Host != "" {
		host = u.Host
	}
	return &Client{
		cfg:     cfg,
		server:  wire.Server{Host: host, Key: cfg.Key},
		maxLine: sse.DefaultMax,
		grace:   graceTime,
		drain:   drainTime,
	}
}

// ID returns the provider's id.
func (c *Client) ID() string { return c.cfg.ID }

// Close does nothing: a client holds nothing open between requests.
func (c *Client) Close() error { return nil }

// Stream sends one request and yields its answer, as llm.Provider says. Nothing
// runs on when the sequence has ended.
func (c *Client) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		err := c.stream(ctx, req, func(ev llm.Event) bool { return yield(ev, nil) })
		if err != nil && !errors.Is(err, errBreak) {
			yield(llm.Event{}, err)
		}
	}
}

// errBreak tells that the reader of the sequence wants no more.
var errBreak = errors.New("the sequence was left")

func (c *Client) stream(parent context.Context, req llm.Request, yield func(llm.Event) bool) error {
	body, err := c.body(req)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	resp, err := c.do(ctx, http.MethodPost, "/chat/completions", body, req.SessionID)
	if err != nil {
		return first(parent.Err(), err)
	}
	defer resp.Body.Close()
	t := &turn{
		client: c, parent: parent, cancel: cancel, body: resp.Body, yield: yield,
		answer: answer{origin: c.origin(req.Model), omitReasoning: c.cfg.OmitReasoning},
	}
	defer t.close()
	err = t.run(resp.Header)
	if err != nil && parent.Err() != nil && !errors.Is(err, errBreak) {
		return parent.Err()
	}
	return err
}

func (c *Client) origin(model string) llm.Origin {
	return llm.Origin{Provider: c.cfg.ID, API: API, Model: model}
}

// do sends a request and returns an answer with a success status, or an error.
func (c *Client) do(ctx context.Context, method, path string, body []byte, session string) (*http.Response, error) {
	if c.cfg.HTTP == nil {
		return nil, llm.Errorf(llm.CauseInternal, "send request: no HTTP client")
	}
	req, err := c.request(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	if c.cfg.SessionHeader != "" && session != "" {
		req.Header.Set(c.cfg.SessionHeader, session)
	}
	resp, err := c.cfg.HTTP.Do(req)
	if err != nil {
		return nil, c.server.Connect(err)
	}
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		return resp, nil
	}
	defer resp.Body.Close()
	stop := after(errorTime, func() { resp.Body.Close() })
	defer stop()
	return nil, c.server.Status(resp)
}

func (c *Client) request(ctx context.Context, method, path string, body []byte) (*http.Request, error) {
	if strings.ContainsFunc(c.cfg.Key, func(r rune) bool { return r < ' ' || r == 0x7F }) {
		return nil, llm.Errorf(llm.CauseAuth, "the API key holds a character that no header can carry").WithHint("check the API key")
	}
	base, query, hasQuery := strings.Cut(c.cfg.BaseURL, "?")
	target := strings.TrimSuffix(base, "/") + path
	if hasQuery {
		target += "?" + query
	}
	var content io.Reader
	if body != nil {
		content = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, target, content)
	if err != nil || req.URL.Host == "" {
		// The error would quote the URL, which may hold a secret.
		return nil, llm.Errorf(llm.CauseBadRequest, "the base URL is not valid").WithHint("check the base URL")
	}
	h := req.Header
	if body != nil {
		h.Set("Content-Type", "application/json")
		h.Set("Accept", "text/event-stream")
	} else {
		h.Set("Accept", "application/json")
	}
	h.Set("Accept-Encoding", "identity") // inflating would hold deltas back
	h.Set("Cache-Control", "no-store")
	if c.cfg.Key != "" {
		h.Set("Authorization", "Bearer "+c.cfg.Key)
	}
	if c.cfg.UserAgent != "" {
		h.Set("User-Agent", c.cfg.UserAgent)
	}
	return req, nil
}

// after calls f once d has passed. The returned function takes that back or
// waits for f's end; it is called exactly once.
func after(d time.Duration, f func()) (stop func()) {
	done := make(chan struct{})
	timer := time.AfterFunc(d, func() {
		defer close(done)
		f()
	})
	return func() {
		if !timer.Stop() {
			<-done
		}
	}
}

// first returns the first error that is one.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
