// Package run is the loop: one prompt worked on until the model stops calling
// tools, a limit is met, or it is cancelled (spec runner.md).
//
//	prompt → append ─► open ─► request ─► answer → append ─┬─ no calls ─► run_completed,
//	                    ▲                                  │     unless something is queued
//	                    │                                  └─ calls ─► read batches of four,
//	                    └── append results, in call order ◄── effects one after another
//
// To open a turn is to append what was queued and what of the context has changed.
// It knows tools, a provider, a gate and a store by their contracts alone, and
// no tool, provider or plugin by name. The goroutine that called Do is the only
// one that touches the transcript.
package run

import (
	"context"
	"errors"
	"fmt"

	"alisio/agent/clock"
	"alisio/agent/ledger"
	"alisio/agent/output"
	"alisio/agent/prefix"
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
	// Turn says what a turn works with; it is asked at the start of each.
	Turn func(ctx context.Context) (Turn, error)
	// Start, if set, is asked once, before anything else of a fresh session: the
	// texts are stored with its first prompt, all or none.
	Start func(ctx context.Context) ([]Injected, []HookFailure)
	// Nested, if set, finds the instruction files below the working directory that
	// hold for absolute paths, the farthest first.
	Nested func(ctx context.Context, paths []string) ([]Instruction, error)
	// Call, if set, completes what a call may use: resources, state, network.
	Call func(c *plug.Call)
	// Plans numbers the session's plans; nil: those of one run.
	Plans *Plans
	// Decided, if set, is told what a person said of a plan.
	Decided func(plug.Review, plug.Answer)
	Store   session.Store
	// Keep stores the whole of a result that is too long for a message and
	// returns the name under which read_file opens it; nil: it is lost.
	Keep   func(ctx context.Context, sessionID, text string) (name string, err error)
	Files  *plug.Files
	Exec   *plug.Exec
	Limits Limits
	// Last is what is known of the session's last request; nil: nothing is.
	Last *prefix.Last
	// Ledger is the budget of the run; nil: there is none.
	Ledger *ledger.Ledger
	// Compaction says when the conversation is compacted.
	Compaction Compaction
	// Clock is the run's active time, which Limits.Timeout bounds; nil: one that
	// nothing pauses.
	Clock *clock.Active
	// Server names the provider's server for people, host and port; empty for its id.
	Server string
	// Alive, if set, reports whether a call of the journal is under way in this
	// process, outside the run: it is no dead one's.
	Alive func(callID string) bool
	// Secrets are the provider's key and the like, taken out of all that tools
	// print.
	Secrets []string
}

// Input is one run.
type Input struct {
	// SessionID is a session that the caller has locked.
	SessionID string
	// Fresh, if set, is the session of that id, which does not exist yet.
	Fresh *session.Session
	// RunID is preassigned by the caller; empty makes a random one.
	RunID         string
	CorrelationID string
	// RequestID makes the run unique in its session, or workspace.
	RequestID string
	// Continues is an interrupted run that this one takes to its end. Without
	// Prompt and Attachments its own prompt stands: the caller, which has the
	// lock, has seen that the history ends with what that run was told or said.
	Continues string
	// Acknowledge: the person knows that calls of the session are uncertain.
	Acknowledge bool
	Prompt      string
	// Display is what the person typed, where Prompt is what was made of it.
	Display     string
	Attachments []llm.Attachment
	// Output is the form of the final answer; nil: any text.
	Output *output.Schema
	// MaxOutputTokens caps each answer of this run; zero leaves it to Limits.
	MaxOutputTokens int
	// OnEvent is called in line with every event, never by two goroutines at
	// once; it may be nil.
	OnEvent func(plug.Event)
}

// Status says how a run ended.
type Status = session.RunStatus

// Stopped is what a run that was cancelled tells of itself.
const Stopped = "the run was stopped"

// The ends of a run.
const (
	Completed     = session.RunCompleted
	TurnsExceeded = session.RunTurnsExceeded
	Failed        = session.RunFailed
	Cancelled     = session.RunCancelled
)

// Outcome is what became of a run. A run that could be started always has one.
type Outcome struct {
	RunID  string
	Status Status
	// Text is the answer, or what there is of it. With an Output, that of a
	// completed run is the JSON alone.
	Text  string
	Usage llm.Usage
	// Guessed: for some answer the provider reported no usage, so that Usage counts
	// its length.
	Guessed bool
	Turns   int
	// Denied counts the calls that were not allowed.
	Denied int
	// Code is the cause when Status is failed, "turns" when the turn limit was
	// met, "permission" when all calls of the last turn with calls were denied.
	Code llm.Cause
	// Err is set when Status is failed.
	Err *llm.Error
}

// ExistsError tells that a run with the request id is there already; nothing
// was changed.
type ExistsError struct{ Run session.Run }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("request %s is run %s already", e.Run.RequestID, e.Run.ID)
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
	if err := l.start(); err != nil {
		return Outcome{}, err
	}
	return l.finish(l.turns()), nil
}

// turns runs turn after turn and returns nil when the model is done.
func (l *loop) turns() error {
	if m, ok := l.said(); ok {
		if m.Text != "" {
			l.emit(plug.Delta{Delta: m.Text})
		}
		if again, err := l.answered(m); !again || err != nil {
			return err
		}
	}
	for turn := 1; ; turn++ {
		l.turn = turn
		if err := l.open(); err != nil {
			return err
		}
		if err := l.fitContext(); err != nil {
			return err
		}
		m, err := l.request()
		if err != nil {
			return err
		}
		if len(m.Calls) == 0 {
			if again, err := l.answered(m); !again || err != nil {
				return err
			}
			continue
		}
		if err := l.calls(m.Calls); err != nil {
			return err
		}
		if turn >= l.o.Limits.maxTurns() {
			return errTurns
		}
	}
}

// answered ends a run with the model's last message, unless it was asked for
// another one, or more was queued for it.
func (l *loop) answered(m llm.Message) (again bool, err error) {
	l.text = l.kept + m.Text
	if again, err = l.fit(m); again || err != nil {
		return again, err
	}
	if m.Truncated {
		l.truncated = true
		l.emit(plug.ResponseTruncated{Turn: l.turn, MaxOutputTokens: l.sentOutput, Source: l.outputSource, Bound: l.outputBound})
	}
	return l.more()
}

var errTurns = errors.New("turn limit met")

// finish emits the one event that ends the run. When it can not be stored, the
// run has failed, whatever it would have been: what is not kept did not happen.
func (l *loop) finish(err error) Outcome {
	// A failure of the store stopped the run by its context: it comes first.
	if broken := l.storeError(); broken != nil {
		err = broken
	}
	out, last := l.ending(err)
	if err := l.conclude(out, last); err != nil {
		out, last = l.ending(err)
		l.show(last)
		l.mu.Lock()
		l.over = true
		l.mu.Unlock()
	}
	return out
}

// ending is what becomes of the run, with the event that tells of it.
func (l *loop) ending(err error) (Outcome, plug.Payload) {
	beside := l.beside() // first: what others asked for is used by the run as well
	out := Outcome{RunID: l.in.RunID, Text: l.text, Usage: l.usage.Usage, Guessed: l.usage.guessed, Turns: l.turn, Denied: l.denied}
	switch {
	case err == nil:
		out.Status = Completed
		if l.allDenied {
			out.Code = llm.CausePermission
		}
		return out, plug.RunCompleted{
			Beside: beside, Tokens: l.tokens, Text: l.text, Truncated: l.truncated, Denied: l.denied, Code: out.Code,
		}
	case errors.Is(err, errTurns):
		out.Status, out.Code = TurnsExceeded, llm.CauseTurns
		return out, plug.RunTurnsExceeded{Beside: beside, Turns: l.turn, MaxTurns: l.o.Limits.maxTurns()}
	case l.caller.Err() != nil && l.storeError() == nil:
		out.Status = Cancelled
		return out, plug.RunCancelled{Beside: beside, Error: Stopped}
	case l.storeError() == nil && errors.Is(context.Cause(l.ctx), clock.ErrLimit):
		err = l.timeUsedUp()
	}
	out.Status, out.Err = Failed, asError(err)
	out.Code = out.Err.Cause
	failed := plug.RunFailed{Beside: beside, Error: out.Err.Message, Code: out.Code, Hint: out.Err.Hint}
	switch out.Code {
	case llm.CauseTimeout:
		failed.Timeout = l.ended.timeout
	case llm.CauseOutputTruncated:
		failed.Truncation = l.ended.truncation
	}
	return out, failed
}

// asError gives any error a cause.
func asError(err error) *llm.Error {
	var e *llm.Error
	if errors.As(err, &e) {
		return e
	}
	return llm.Errorf(llm.CauseInternal, "%w", err)
}
