package plain

import (
	"fmt"
	"time"

	"alisio/llm"
	"alisio/plug"
)

// retried says that a request is sent again, in so many milliseconds.
func retried(d plug.RequestRetry, ms int64) string {
	why := "the request failed"
	switch d.Reason {
	case plug.RetryFirstToken:
		why = "the server said nothing in time"
	case plug.RetryRateLimited:
		why = "the server asks to wait"
	case plug.RetryServerError:
		why = "the server is in trouble"
	case plug.RetryConnection:
		why = "the connection failed"
	}
	in := ""
	if ms > 0 { // a part of a second is one
		in = " in " + spell(time.Duration((ms+999)/1000)*time.Second)
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
	why := fmt.Sprintf("the answer was cut at %d output tokens, before there was any", d.MaxOutputTokens)
	if d.Reason == plug.CutCall {
		why = fmt.Sprintf("a call was cut at %d output tokens, and did not run", d.MaxOutputTokens)
	}
	if d.Effort != "" {
		why += "; with effort " + one(d.Effort) + " now"
	}
	return fmt.Sprintf("%s: asking again (%d of %d)", why, d.Attempt, d.Of)
}

// Advised adds to the error of a run that failed which key to raise, unless it has
// advice already.
func Advised(err *llm.Error, d plug.RunFailed) *llm.Error {
	hint := ""
	switch {
	case err == nil || err.Hint != "":
		return err
	case d.Timeout != nil && d.Timeout.Kind == plug.TimeoutFirstToken:
		hint = "limits.firstTokenTimeoutMs says how long a server may be silent, firstTokenRetries how often it is asked again; 0 is no limit"
	case d.Timeout != nil:
		hint = "--timeout or limits.timeoutMs gives it more, 0 sets no limit; what was done so far is kept"
	case d.Truncation != nil && d.Truncation.Source == plug.SourceModel:
		hint = "limits.maxOutputTokens sets a cap in place of the model's; a lower --effort leaves more of it for the answer"
	case d.Truncation != nil:
		hint = "raise limits.maxOutputTokens; a lower --effort leaves more of it for the answer"
	default:
		return err
	}
	told := *err
	told.Hint = hint
	return &told
}
