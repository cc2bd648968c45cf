package llm

import (
	"context"
	"iter"
)

// Provider answers requests with a model. Implementations are safe for
// concurrent use.
type Provider interface {
	// ID names the provider; it stands in Origin.
	ID() string
	// Stream sends one request. The sequence yields deltas and, when the answer
	// is complete, exactly one Completed event as its last. The first error ends
	// it; it is an *Error, or ctx's error after a cancel. An early break ends
	// the request. A sequence can be ranged over once.
	Stream(ctx context.Context, req Request) iter.Seq2[Event, error]
	// Close ends what the provider holds open.
	Close() error
}

// ModelLister is implemented by providers that have a catalog.
type ModelLister interface {
	// Models lists the catalog in the server's order.
	Models(ctx context.Context) ([]Model, error)
}

// Request is everything that one answer is made from.
type Request struct {
	Model        string
	Instructions string
	Messages     []Message
	// Tools are sorted by name, so that the bytes of requests share a prefix.
	Tools []Tool
	// MaxOutputTokens caps the answer; zero leaves it to the server.
	MaxOutputTokens int
	// Effort is the reasoning effort to ask for; empty leaves it to the server.
	Effort string
	// SessionID is opaque and serves cache affinity alone.
	SessionID string
	// Sent, if set, is given the bytes of the request each time before they go out, and
	// does not change them. A provider without a wire does not call it.
	Sent func(body []byte)
}

// EventKind says what an Event carries.
type EventKind uint8

// The kinds of stream events.
const (
	// TextDelta carries new visible text in Text.
	TextDelta EventKind = iota + 1
	// ReasoningDelta carries new reasoning in Text, for display alone.
	ReasoningDelta
	// Activity tells of a typed stream event without content: the server has
	// received the request and works on it. Comments are none.
	Activity
	// CallDelta tells that a piece of a tool call arrived, or of something else that
	// the model made and nobody is shown: progress without visible content.
	CallDelta
	// Completed carries the whole answer in Message and Usage.
	Completed
)

// Event is one event of a stream.
type Event struct {
	Kind EventKind
	Text string
	// Message is set on Completed: role assistant, with Truncated set when the
	// output limit cut it.
	Message *Message
	// Usage is nil when the server reported none.
	Usage *Usage
}
