package plain

import (
	"fmt"
	"time"

	"alisio/agent/text"
	"alisio/plug"
)

// retried says that a request is sent again, in so many milliseconds.
func retried(d plug.RequestRetry, ms int64) string {
	why := "the request failed"
	switch d.Reason {
	case plug.RetryFirstToken:
		why = "the server said nothing in time"
	case plug.RetryRateLimited:
		why = "too many requests"
	case plug.RetryServerError:
		why = "the server is in trouble"
	case plug.RetryConnection:
		why = "the connection failed"
	}
	in := ""
	if ms > 0 { // a part of a second is one
		in = " in " + text.Duration(time.Duration((ms+999)/1000)*time.Second)
	}
	return fmt.Sprintf("%s: trying again%s (%d of %d)", why, in, d.Attempt, d.Of)
}

// recovered says that an answer broke off, and what becomes of it.
func recovered(d plug.StreamRecovery) string {
	why := "the answer broke off"
	switch d.Reason {
	case plug.RecoveryLost:
		why = "the connection broke off"
	case plug.RecoveryIdle:
		why = "the answer came to a halt"
	case plug.RecoveryIncomplete:
		why = "the answer ended before it was whole"
	case plug.RecoveryEmpty:
		why = "the answer was empty"
	case plug.RecoveryError:
		why = "the server broke the answer off with an error"
	}
	if d.KeptChars > 0 {
		return fmt.Sprintf("%s: %s kept, and the model is asked to go on (%d of %d)",
			why, Count(d.KeptChars, "character is", "characters are"), d.Attempt, d.Of)
	}
	return fmt.Sprintf("%s: asking again (%d of %d)", why, d.Attempt, d.Of)
}

// recut says that an answer was cut so that it can not be used.
func recut(d plug.TruncationRecovery) string {
	why := fmt.Sprintf("the answer was cut at %d output tokens", d.MaxOutputTokens)
	if d.Reason == plug.CutCall {
		why = fmt.Sprintf("a call was cut at %d output tokens, and did not run", d.MaxOutputTokens)
	}
	if d.Effort != "" {
		why += "; with effort " + one(d.Effort) + " now"
	}
	return fmt.Sprintf("%s: asking again (%d of %d)", why, d.Attempt, d.Of)
}
