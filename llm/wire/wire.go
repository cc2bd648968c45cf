// Package wire is what the wire clients share: the request, the loop over its
// answer, the text of deltas, the plain JSON of streams, the rules of a history,
// catalogs, and what goes wrong between a model server and us as llm.Error.
//
//	Ask → body without what the server refuses → POST → Turn → Protocol → events
//
// It knows no protocol. A request is sent once, and once more without optional
// fields that the server refused by name: retries, time limits and what becomes
// of an answer that broke off are the runner's. Nothing that a server says
// reaches an error text before it was made one short line without control
// characters and without the key.
package wire

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"alisio/llm"
)

// shouldRetry is the header in which a server says what it thinks of another try,
// "true" or "false".
const shouldRetry = "X-Should-Retry"

// maxBody is how much of an error body is read, in bytes.
const maxBody = 64 << 10

// Server names the server that a client talks to, for its errors.
type Server struct {
	// Host is shown in errors: host and port of the base URL, without user,
	// path and query.
	Host string
	// Key is the secret that no text may hold. Servers echo keys.
	Key string
	// Secrets are further ones: the values of headers.
	Secrets []string
}

// Status makes the error of an answer whose status is not a success. It reads
// at most 64 KiB of the body and leaves closing it, and bounding the time, to
// the caller.
func (s Server) Status(resp *http.Response) *llm.Error {
	e, _ := s.status(resp)
	return e
}

func (s Server) status(resp *http.Response) (*llm.Error, report) {
	// A body that breaks off still says something.
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	r := parse(body)
	e := s.fault(resp.StatusCode, r, resp.Header)
	e.Message = s.sentence(fmt.Sprintf("answered %d", resp.StatusCode), r)
	if contains(r.evidence, []string{"http request to an https server", "http request was sent to https port"}) {
		e.Hint = "check whether the base URL should begin with https:"
	}
	if e.Message == "" {
		e.Message = fmt.Sprintf("%s answered %d (%s) without saying why", s.Host, resp.StatusCode, statusText(resp.StatusCode))
	}
	return e, r
}

// fault decides everything but the message.
func (s Server) fault(status int, r report, h http.Header) *llm.Error {
	e := &llm.Error{Status: status}
	if status == 0 {
		e.Status = r.status
	}
	now := time.Now()
	limited := e.Status == http.StatusTooManyRequests || e.Status == 0 && r.named() == llm.CauseRateLimited
	e.RetryAfter = Wait(h, "", limited, now)
	if e.RetryAfter == 0 {
		e.RetryAfter = Wait(r.header, r.evidence, limited, now)
	}
	e.Cause = classify(e.Status, r, e.RetryAfter)
	e.Permanent = h.Get(shouldRetry) == "false" || r.header.Get(shouldRetry) == "false"
	e.Image = refusesImage(e.Cause, r)
	e.Hint = s.hint(e.Cause, e.Status)
	return e
}

// sentence is "HOST what: text", or "" when the report holds no text.
func (s Server) sentence(what string, r report) string {
	text := r.text
	if text == "" {
		text = strings.Join(r.words, ", ")
	}
	if text = s.Clean(text); text == "" {
		return ""
	}
	return s.Host + " " + what + ": " + text
}

func statusText(status int) string {
	if text := http.StatusText(status); text != "" {
		return strings.ToLower(text)
	}
	return "unknown status"
}

// hint says what a person can do about a cause; empty when there is nothing
// but trying again.
func (s Server) hint(c llm.Cause, status int) string {
	switch c {
	case llm.CauseAuth:
		if len(s.Secrets) > 0 {
			return "check the values of the headers in provider.extraHeaders, the API key, and what they may use"
		}
		if status == http.StatusForbidden {
			return "check the API key and what it may use"
		}
		if s.Key == "" {
			return "no key was sent: set the variable that provider.apiKeyEnv names, OPENAI_API_KEY by default"
		}
		return "check the API key"
	case llm.CauseQuota:
		return "the account's quota is used up: add credit, or use another provider"
	case llm.CauseRateLimited:
		return "wait, or use another model"
	case llm.CauseContextLength:
		return "give a smaller task, or use a model with a larger window"
	case llm.CauseOutputTruncated:
		return "raise limits.maxOutputTokens, or ask for less at once"
	case llm.CauseFiltered:
		return "the provider's content filter refused this: change the request"
	case llm.CauseBadRequest:
		switch {
		case status == http.StatusNotFound:
			return "check the model (--model) and the base URL"
		case status == http.StatusMethodNotAllowed, status < http.StatusBadRequest && status > 0:
			return "check the base URL"
		}
	}
	return ""
}
