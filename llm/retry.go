package llm

import (
	"errors"
	"strings"
)

// StreamEnd says how an answer ended that had begun and is not complete (spec
// runner.md, "How a stream ends").
type StreamEnd string

// The ends of streams that are no success. Lost: the connection broke. Incomplete:
// the bytes or the end mark came without a finish mark, or the finish reason is
// unknown. Empty: there was nothing in it to show or to do. Failed: the server
// reported an error in the stream.
const (
	StreamLost       StreamEnd = "lost"
	StreamIncomplete StreamEnd = "incomplete"
	StreamEmpty      StreamEnd = "empty"
	StreamFailed     StreamEnd = "error"
)

// Retryable reports whether the same request may succeed a little later: faults of
// the transport, rate limits and servers in trouble, never what the account or the
// request itself is refused for (spec runner.md, "Transport faults").
func (e *Error) Retryable() bool {
	if e.Permanent {
		return false
	}
	switch e.Cause {
	case CauseUnreachable, CauseRateLimited, CauseStream:
		return true
	case CauseServer:
		return e.Status == 0 || temporary(e.Status)
	}
	return false
}

// temporary knows the statuses of requests that are worth another try; 520 to 524
// are those of a proxy whose server does not answer.
func temporary(status int) bool {
	switch status {
	case 408, 409, 421, 425, 429, 500, 502, 503, 504, 529:
		return true
	}
	return status >= 520 && status <= 524
}

// OutputTruncatedError is the failure of a provider whose answer was cut by the
// output limit before there was anything usable in it, where its API reports that as
// an error.
type OutputTruncatedError struct {
	// Message is a readable English sentence; may be empty.
	Message string
}

func (e *OutputTruncatedError) Error() string {
	if e.Message == "" {
		return "the answer was " + cutWords
	}
	return e.Message
}

// cutWords are how older plugins report a cut answer.
const cutWords = "cut off by max output tokens before any usable content"

// OutputTruncated reports whether err says in any of the three forms that the output
// limit cut an answer: its cause, OutputTruncatedError, the words of older plugins
// (spec runner.md, "Truncation recovery").
func OutputTruncated(err error) bool {
	if err == nil {
		return false
	}
	var typed *OutputTruncatedError
	return CauseOf(err) == CauseOutputTruncated || errors.As(err, &typed) || strings.Contains(err.Error(), cutWords)
}
