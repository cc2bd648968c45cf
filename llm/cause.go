package llm

import (
	"errors"
	"fmt"
	"time"
)

// Cause is the one closed list of reasons for which work ends, from the wire
// to run_failed.code and the exit code (spec events.md, "Causes").
type Cause string

// The causes.
const (
	CauseTimeout         Cause = "timeout"
	CauseBudget          Cause = "budget"
	CauseTurns           Cause = "turns"
	CausePermission      Cause = "permission"
	CauseAuth            Cause = "auth"
	CauseQuota           Cause = "quota"
	CauseRateLimited     Cause = "rate_limited"
	CauseUnreachable     Cause = "unreachable"
	CauseServer          Cause = "server"
	CauseBadRequest      Cause = "bad_request"
	CauseStream          Cause = "stream"
	CauseSandbox         Cause = "sandbox"
	CauseUncertain       Cause = "uncertain"
	CauseContextLength   Cause = "context_length"
	CauseOutputTruncated Cause = "output_truncated"
	CauseFiltered        Cause = "filtered"
	CauseOutputSchema    Cause = "output_schema"
	CauseDoomLoop        Cause = "doom_loop"
	CauseStore           Cause = "store"
	CauseInternal        Cause = "internal"
)

// Error is a failure with its cause. It is what ends a provider's stream and
// what a run fails with.
type Error struct {
	Cause Cause
	// Status is the HTTP status, zero when there was none.
	Status int
	// Message is a readable English sentence without a final full stop. It
	// holds no key and no control character.
	Message string
	// Hint says what a person can do next; may be empty.
	Hint string
	// RetryAfter is how long the server asked to wait, zero when it did not.
	RetryAfter time.Duration
	// Stream says how an answer ended that had begun; empty when the request got none.
	Stream StreamEnd
	// Usage is what the server reported of an answer that is not complete; nil when it
	// reported nothing.
	Usage *Usage
	// Permanent: the same request again can not help, where the cause alone would
	// not say so (a certificate that is refused, an answer beyond our limits, a
	// server that says so).
	Permanent bool
	// Image: the server does not take an image of the request.
	Image bool
	// Err is the underlying error, if any.
	Err error
}

// Errorf makes an Error of a cause. A %w in format is kept for errors.Is.
func Errorf(c Cause, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Cause: c, Message: err.Error(), Err: errors.Unwrap(err)}
}

// WithHint returns a copy of e that tells what to do next.
func (e *Error) WithHint(hint string) *Error {
	f := *e
	f.Hint = hint
	return &f
}

func (e *Error) Error() string { return e.Message }

func (e *Error) Unwrap() error { return e.Err }

// CauseOf returns the cause of err: that of the first *Error in its tree,
// CauseInternal for any other error and "" for nil.
func CauseOf(err error) Cause {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Cause
	}
	return CauseInternal
}
