package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"alisio/llm"
	"alisio/llm/sse"
)

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

// Endpoint is a server's HTTP side. It is safe for concurrent use. It makes no
// HTTP client of its own and reads no environment.
type Endpoint struct {
	Server
	// BaseURL is the URL to which paths are added, as it is: no /v1 is guessed.
	BaseURL string
	// HTTP makes the requests. Its Timeout must be 0: streams are bounded by
	// their context.
	HTTP *http.Client
	// UserAgent identifies this program.
	UserAgent string
	// SessionHeader names a header that carries the session id; empty for none.
	SessionHeader string
	// Headers are sent with every request, by name. Their values are secrets, and
	// stand in Server.Secrets. None replaces a header of the client's own.
	Headers map[string]string
	// Limits are constants that tests change.
	Limits Limits

	mu sync.Mutex
	// refused are the optional fields that the server does not take, by model.
	refused map[string]Names
}

// Limits bound what a server may send.
type Limits struct {
	// Line is the longest line of a stream, and the largest whole answer, in
	// bytes.
	Line int
	// Grace is how long a stream may go on behind its finish reason, Drain how
	// long the end of a body is waited for.
	Grace, Drain time.Duration
}

// SetHeaders adds headers to every request; see Endpoint.Headers. It is called
// before the first one.
func (e *Endpoint) SetHeaders(headers map[string]string) {
	e.Headers = headers
	e.Secrets = nil
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		e.Secrets = append(e.Secrets, llm.HeaderSecrets(headers[name])...)
	}
}

// NewEndpoint returns an endpoint. It contacts nobody; a wrong URL or key is an
// error of the first request.
func NewEndpoint(baseURL, key string, client *http.Client) *Endpoint {
	host := "the server"
	if u, err := url.Parse(baseURL); err == nil && u.Host != "" {
		host = u.Host
	}
	return &Endpoint{
		Server:  Server{Host: host, Key: strings.TrimSpace(key)},
		BaseURL: baseURL,
		HTTP:    client,
		Limits:  Limits{Line: sse.DefaultMax, Grace: graceTime, Drain: drainTime},
	}
}

// Question is one request for an answer.
type Question struct {
	// Path follows the base URL.
	Path string
	// Model and Session are those of the request.
	Model, Session string
	// Optional are the fields that the server may refuse.
	Optional []Field
	// Elsewhere is a part of the hint for a server that does not know the path: the
	// protocol that it may speak instead.
	Elsewhere string
	// Body makes the body without the fields given.
	Body func(without Names) ([]byte, error)
	// Sent is that of the request, see llm.Request.
	Sent func(body []byte)
}

// Ask sends a request and yields its answer, which the protocol reads. The
// error is ErrLeft when the reader of the events wants no more, and the
// context's own after a cancel. Nothing runs on when Ask has returned.
func (e *Endpoint) Ask(parent context.Context, q Question, protocol func(*Turn) Protocol, yield func(llm.Event) bool) error {
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	resp, err := e.post(ctx, q)
	if err != nil {
		return first(parent.Err(), err)
	}
	defer resp.Body.Close()
	t := &Turn{Deltas: Deltas{ctx: parent, yield: yield}, endpoint: e, cancel: cancel, body: resp.Body}
	defer t.close()
	err = t.run(resp.Header, protocol(t))
	if err != nil && parent.Err() != nil && !errors.Is(err, ErrLeft) {
		return parent.Err()
	}
	return t.counted(err)
}

// Do sends a request and returns an answer with a success status, or an error.
func (e *Endpoint) Do(ctx context.Context, method, path string, body []byte, session string) (*http.Response, error) {
	resp, err := e.send(ctx, method, path, body, session)
	if err != nil || success(resp) {
		return resp, err
	}
	defer resp.Body.Close()
	stop := After(errorTime, func() { resp.Body.Close() })
	defer stop()
	return nil, e.Status(resp)
}

func success(resp *http.Response) bool { return resp.StatusCode >= 200 && resp.StatusCode < 300 }

func (e *Endpoint) send(ctx context.Context, method, path string, body []byte, session string) (*http.Response, error) {
	if e.HTTP == nil {
		return nil, llm.Errorf(llm.CauseInternal, "send request: no HTTP client")
	}
	req, err := e.request(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	if e.SessionHeader != "" && session != "" {
		req.Header.Set(e.SessionHeader, session)
	}
	resp, err := e.HTTP.Do(req)
	if err != nil {
		return nil, e.Connect(err)
	}
	return resp, nil
}

func (e *Endpoint) request(ctx context.Context, method, path string, body []byte) (*http.Request, error) {
	if strings.ContainsFunc(e.Key, control) {
		return nil, llm.Errorf(llm.CauseAuth, "the API key holds a character that no header can carry").WithHint("check the API key")
	}
	for name, value := range e.Headers {
		if strings.ContainsFunc(value, control) {
			return nil, llm.Errorf(llm.CauseAuth, "the value of the header %s holds a character that no header can carry", name).
				WithHint("check provider.extraHeaders")
		}
	}
	base, query, hasQuery := strings.Cut(e.BaseURL, "?")
	target := strings.TrimSuffix(base, "/") + path
	if hasQuery {
		target += "?" + query
	}
	var content io.Reader
	if body != nil {
		content = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, target, content)
	if err != nil || req.URL.Host == "" || req.URL.Scheme != "http" && req.URL.Scheme != "https" {
		// The error would quote the URL, which may hold a secret.
		return nil, llm.Errorf(llm.CauseBadRequest, "the base URL is not valid").WithHint("check the base URL")
	}
	h := req.Header
	for name, value := range e.Headers {
		h.Set(name, value)
	}
	if body != nil {
		h.Set("Content-Type", "application/json")
		h.Set("Accept", "text/event-stream")
	} else {
		h.Set("Accept", "application/json")
	}
	h.Set("Accept-Encoding", "identity") // inflating would hold deltas back
	h.Set("Cache-Control", "no-store")
	if e.Key != "" {
		h.Set("Authorization", "Bearer "+e.Key)
	}
	if e.UserAgent != "" {
		h.Set("User-Agent", e.UserAgent)
	}
	return req, nil
}

func control(r rune) bool { return r < ' ' || r == 0x7F }
