package wire

import (
	"errors"
	"strings"

	"alisio/llm"
	"alisio/llm/sse"
)

// What follows are the ends of an answer that had begun and is no success (spec
// runner.md, "How a stream ends"). Each error says in Stream which end it was; the
// runner decides by that, and by llm.Error.Retryable, what comes next.

// Broken makes the error of an answer whose bytes stopped with err. Something
// was received, so this is a matter of the stream and not of the connection. A
// line or an event beyond the limit would come again.
func (s Server) Broken(err error) *llm.Error {
	what, _ := fault(err)
	if what == "" {
		what = s.Clean(err.Error())
	}
	e := &llm.Error{
		Cause:   llm.CauseStream,
		Stream:  llm.StreamLost,
		Message: "read the answer of " + s.Host + ": " + what,
		Err:     err,
	}
	var long *sse.TooLongError
	if errors.As(err, &long) {
		e.Stream, e.Permanent = llm.StreamIncomplete, true
	}
	return e
}

// Incomplete makes the error of a stream that did not say that the answer is
// complete, or said what nobody understands: the host, then text that may be the
// server's.
func (s Server) Incomplete(text string) *llm.Error {
	return &llm.Error{Cause: llm.CauseStream, Stream: llm.StreamIncomplete, Message: s.Host + " " + s.Clean(text)}
}

// Nothing makes the error of an answer with nothing in it to show or to do.
// received tells whether there was any payload beside the end mark.
func Nothing(received bool) *llm.Error {
	what := "empty stream from provider"
	if received {
		what = "the model returned nothing"
	}
	return &llm.Error{Cause: llm.CauseStream, Stream: llm.StreamEmpty, Message: what}
}

// Ended makes the error of a reason for which a model ended its answer that is no
// success; a stream error for one that nobody knows.
func (s Server) Ended(reason string) *llm.Error {
	e := &llm.Error{Stream: llm.StreamFailed}
	switch strings.ToLower(reason) {
	case "content_filter":
		e.Cause, e.Message, e.Hint = llm.CauseFiltered, "the provider's content filter stopped the answer", "change the request"
	case "model_context_window_exceeded", "context_length_exceeded":
		e.Cause, e.Message = llm.CauseContextLength, "the conversation no longer fits into the model's window"
		e.Hint = s.hint(e.Cause, 0)
	case "max_output_tokens", "max_tokens", "length", "output_truncated":
		e.Cause, e.Message = llm.CauseOutputTruncated, "the output limit cut the answer"
		e.Hint = s.hint(e.Cause, 0)
	case "error", "failed":
		e.Cause, e.Message = llm.CauseServer, s.Host+" failed while it was answering"
	case "aborted", "cancelled", "insufficient_system_resource":
		e.Cause, e.Message = llm.CauseServer, s.Host+" broke the answer off ("+strings.ToLower(reason)+")"
	default:
		return s.Incomplete("ended the answer with the unknown finish reason " + reason)
	}
	return e
}

// InBand makes the error of an error object that came with a success status:
// an event of a stream, or a whole body. A payload that says nothing gives a
// stream error.
func (s Server) InBand(payload []byte) *llm.Error {
	const silent = " reported an error without saying which"
	r := parse(payload[:min(len(payload), maxBody)])
	if r.empty() {
		return &llm.Error{Cause: llm.CauseStream, Stream: llm.StreamFailed, Message: s.Host + silent}
	}
	e := s.fault(0, r, nil)
	e.Stream = llm.StreamFailed
	if e.Message = s.sentence("reported an error", r); e.Message == "" {
		e.Message = s.Host + silent
	}
	return e
}
