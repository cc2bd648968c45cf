package agent

import (
	"context"
	"errors"

	"alisio/agent/run"
	"alisio/llm"
	"alisio/plug"
)

// Final is the one object that --json=final prints (spec events.md, "JSONL").
// Errors are for people and stand elsewhere; Code is for programs. Its JSON is no
// line for a terminal yet: who prints it escapes what acts there.
type Final struct {
	// SessionID and RunID are empty when no run was started.
	SessionID string `json:"sessionId"`
	RunID     string `json:"runId"`
	// Status is one of the four ends of a run.
	Status run.Status `json:"status"`
	Code   llm.Cause  `json:"code,omitempty"`
	// Text is the answer, or what there was of it.
	Text string `json:"text"`
	// Usage is nil when the provider did not report all of it.
	Usage  *plug.Usage `json:"usage,omitempty"`
	Denied int         `json:"denied"`
	// Fingerprint is that of a hermetic run, empty for others: whoever made it puts
	// it in.
	Fingerprint string `json:"fingerprint,omitempty"`
}

// Final is what programs are told of an outcome.
func (o Outcome) Final() Final {
	f := Final{SessionID: o.SessionID, RunID: o.RunID, Status: o.Status, Code: o.Code, Text: o.Text, Denied: o.Denied}
	if !o.Guessed {
		f.Usage = &plug.Usage{Input: o.Usage.Input, Output: o.Usage.Output, CachedInput: o.Usage.CachedInput}
	}
	return f
}

// NotStarted is what programs are told of an error that Run returned: it failed,
// or was stopped, before there was a run. The session is the one that was asked
// for, empty for a new one.
func NotStarted(sessionID string, err error) Final {
	f := Final{SessionID: sessionID, Status: Failed, Usage: &plug.Usage{}}
	if errors.Is(err, context.Canceled) {
		f.Status = Cancelled
	} else {
		f.Code = llm.CauseOf(err)
	}
	return f
}
