package codec

import (
	"errors"
	"fmt"

	"alisio/llm"
)

// What one message may hold. Two bytes of JSON can become a hundred in memory, so
// that without bounds a body of some megabytes would take gigabytes. A server's
// answer may have MaxCalls calls, which is the most that a client of one takes.
const (
	MaxCalls        = 1024
	MaxParts        = 1000
	MaxAttachments  = 100
	MaxProviderData = 1000
	// MaxNesting is how deep the values of a body may lie in each other.
	MaxNesting = 100
)

// ErrTooMuch tells of a message with more in it than is read or written.
var ErrTooMuch = errors.New("too much for one message")

func tooMany(n int, what string) error {
	return fmt.Errorf("%w: more than %d %s", ErrTooMuch, n, what)
}

// within checks the bounds of a message that is to be written, so that nothing is
// stored that is not read again.
func within(m llm.Message) error {
	switch {
	case len(m.Calls) > MaxCalls:
		return tooMany(MaxCalls, "calls")
	case len(m.Parts) > MaxParts:
		return tooMany(MaxParts, "parts of a result")
	case len(m.Attachments) > MaxAttachments:
		return tooMany(MaxAttachments, "attachments")
	case len(m.ProviderData) > MaxProviderData:
		return tooMany(MaxProviderData, "items of provider data")
	}
	return nil
}

// nested reports whether valid JSON is nested more than most levels deep.
func nested(b []byte, most int) bool {
	if Brackets(b) <= most {
		return false
	}
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = stringEnd(b, i) - 1
		case '{', '[':
			if depth++; depth > most {
				return true
			}
		case '}', ']':
			depth--
		}
	}
	return false
}
