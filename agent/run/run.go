// Package run is the loop: one prompt worked on until the model stops calling
// tools, a limit is met, or it is cancelled (spec runner.md).
//
//	prompt → append ─► request ─► answer → append ─┬─ no calls ─► run_completed
//	            ▲                                  │
//	            │                                  └─ calls ─► read batches of four,
//	            └── append results, in call order ◄── effects one after another
//
// It knows tools, a provider, a gate and a store by their contracts alone, and
// no tool, provider or plugin by name. The goroutine that called Do is the only
// one that touches the transcript.
package run

import (
	"context"
	"errors"

	"alisio/agent/gate"
	"alisio/agent/session"
	"alisio/llm"
	"alisio/plug"
)

// Options is what a run works with; it can serve many runs of a session.
type Options struct {
	Provider llm.Provider
	Model    llm.Model
	// Effort is the reasoning effort to ask for, empty for the server's.
	Effort string
	// Instructions are equal for all requests of a session.
	Instructions string
	// Tools are all tools, also those that the gate does not offer.
	Tools  []plug.Tool
	Gate   *gate.Gate
	Store  session.Store
	Files  *plug.Files
	Exec   *plug.Exec
	Limits Limits
	// Secret is the provider's key, taken out of all that tools print; empty:
	// there is none.
	Secret string
}

// Input is one run.
type Input struct {
	SessionID string
	// RunID is preassigned by the caller; empty makes a random one.
	RunID         string
	CorrelationID string
	Prompt        string
	Attachments   []llm.Attachment
	// MaxOutputTokens caps each answer of this run; zero leaves it to Limits.
	MaxOutputTokens int
	// OnEvent is called in line with every event, never by two goroutines at
	// once; it may be nil.
	OnEvent func(plug.Event)
}

// Status says how a run ended.
type Status string

// The ends of a run.
const (
	Completed     Status = "completed"
	TurnsExceeded Status = "turns_exceeded"
	Failed        Status = "failed"
	Cancelled     Status = "cancelled"
)

// Outcome is what became of a run. A run that could be started always has one.
type Outcome struct {
	RunID  string
	Status Status
	// Text is the answer.
	Text  string
	Usage llm.Usage
	Turns int
	// Denied counts the calls that were not allowed.
	Denied int
	// Code is the cause when Status is failed, "turns" when the turn limit was
	// met, "permission" when all calls of the last turn with calls were denied.
	Code llm.Cause
	// Err is set when Status is failed.
	Err *llm.Error
}

// Do works on one prompt. The caller sees to it that a session has one run at a
// time. The error tells that the run could not be started; how a started run
// ended is in the outcome.
func Do(ctx context.Context, o Options, in Input) (Outcome, error) {
	l, err := newLoop(ctx, o, in)
	if err != nil {
		return Outcome{}, err
	}
	defer l.stop()
	l.emit(plug.RunStarted{Model: o.Model.ID})
	if err := l.append(llm.Message{Role: llm.RoleUser, Text: in.Prompt, Attachments: in.Attachments}); err != nil {
		return l.finish(err), nil
	}
	return l.finish(l.turns()), nil
}

// turns runs turn after turn and returns nil when the model is done.
func (l *loop) turns() error {
	for turn := 1; ; turn++ {
		l.turn = turn
		m, err := l.request()
		if err != nil {
			return err
		}
		if len(m.Calls) == 0 {
			return l.answered(m)
		}
		if err := l.calls(m.Calls); err != nil {
			return err
		}
		if turn >= l.o.Limits.maxTurns() {
			return errTurns
		}
	}
}

// answered ends a run with the model's last message.
func (l *loop) answered(m llm.Message) error {
	l.text = m.Text
	if !m.Truncated {
		return nil
	}
	l.truncated = true
	l.emit(plug.ResponseTruncated{Turn: l.turn, MaxOutputTokens: l.maxOutput, Source: l.outputSource})
	return nil
}

var errTurns = errors.New("turn limit met")

// finish emits the one event that ends the run.
func (l *loop) finish(err error) Outcome {
	out := Outcome{RunID: l.in.RunID, Text: l.text, Usage: l.usage, Turns: l.turn, Denied: l.denied}
	// A failure of the store stopped the run by its context: it comes first.
	if broken := l.storeError(); broken != nil {
		err = broken
	}
	switch {
	case err == nil:
		out.Status = Completed
		if l.allDenied {
			out.Code = llm.CausePermission
		}
		l.emit(plug.RunCompleted{
			Tokens: l.tokens, Text: l.text, Truncated: l.truncated, Denied: l.denied, Code: out.Code,
		})
	case errors.Is(err, errTurns):
		out.Status, out.Code = TurnsExceeded, llm.CauseTurns
		l.emit(plug.RunTurnsExceeded{Turns: l.turn, MaxTurns: l.o.Limits.maxTurns()})
	case l.caller.Err() != nil && l.storeError() == nil:
		out.Status = Cancelled
		l.emit(plug.RunCancelled{Error: "the run was stopped"})
	default:
		out.Status, out.Err = Failed, asError(err)
		out.Code = out.Err.Cause
		l.emit(plug.RunFailed{Error: out.Err.Message, Code: out.Code, Hint: out.Err.Hint})
	}
	return out
}

// asError gives any error a cause.
func asError(err error) *llm.Error {
	var e *llm.Error
	if errors.As(err, &e) {
		return e
	}
	return llm.Errorf(llm.CauseInternal, "%w", err)
}
