package request

import (
	"context"
	"slices"

	"alisio/agent/output"
	"alisio/agent/run"
	"alisio/agent/session"
	"alisio/llm"
	"alisio/plug"
)

// replayer is what a store implements that can give back the answers of a run,
// and the run before it, or ErrNotFound.
type replayer interface {
	RunBefore(ctx context.Context, sessionID, runID string) (session.Run, error)
	RunEvents(ctx context.Context, sessionID, runID string) ([]plug.Event, error)
	RunMessages(ctx context.Context, sessionID, runID string) ([]llm.Message, error)
}

// replay shows a run that has ended again, from the store.
func (b Book) replay(ctx context.Context, r session.Run, onEvent func(plug.Event)) (Outcome, error) {
	s, ok := b.Store.(replayer)
	if !ok {
		return Outcome{}, llm.Errorf(llm.CauseBadRequest, "request %s has ended, and this store can not show it again", r.RequestID)
	}
	events, err := s.RunEvents(ctx, r.Session, r.ID)
	if err != nil {
		return Outcome{}, session.Caused(err)
	}
	messages, err := s.RunMessages(ctx, r.Session, r.ID)
	if err != nil {
		return Outcome{}, session.Caused(err)
	}
	if onEvent == nil {
		onEvent = func(plug.Event) {}
	}
	b.Log.Warn("request " + r.RequestID + " was worked on before: what came of it is shown again, and no model is asked. Another request id works anew")
	out := Outcome{SessionID: r.Session, Replayed: true, Outcome: run.Outcome{RunID: r.ID, Status: r.Status, Usage: r.Usage}}
	say := speaker(messages, onEvent)
	for _, e := range events {
		if t := e.Data.EventType(); t == plug.TypeTurnCompleted || t.Ends() {
			say(e)
		}
		onEvent(e)
		if d, ok := e.Data.(plug.TurnCompleted); ok && (d.Usage == nil || *d.Usage == plug.Usage{}) {
			out.Guessed = true
		}
		ended(&out, e.Data)
	}
	if out.Text == "" && r.Status != run.Completed {
		out.Text = unfinished(messages)
	}
	if out.Code == "" && r.Status == run.Failed {
		out.Code = llm.CauseInternal
	}
	if out.Code != "" && r.Status == run.Failed {
		out.Err = llm.Errorf(out.Code, "%s", r.Error)
	}
	return out, nil
}

// unfinished is the answer, or what there was of it, of a run that did not end
// well: its last event does not hold it.
func unfinished(messages []llm.Message) string {
	for _, m := range slices.Backward(messages) {
		if m.Role == llm.RoleAssistant && len(m.Calls) == 0 {
			return m.Text
		}
		if !output.IsRepair(m) && m.Context == "" {
			break
		}
	}
	return ""
}

// speaker returns what says, before each event that ends an answer, that answer.
// The last one may be a message of the interrupted run that this one continued;
// the event that ends the run has it.
func speaker(messages []llm.Message, onEvent func(plug.Event)) func(plug.Event) {
	var answers []string
	for _, m := range messages {
		if m.Role == llm.RoleAssistant {
			answers = append(answers, m.Text)
		}
	}
	said := ""
	say := func(e plug.Event, text string) {
		if said = text; text != "" {
			onEvent(plug.Event{RunID: e.RunID, SessionID: e.SessionID, Time: e.Time, Data: plug.Delta{Delta: text}})
		}
	}
	return func(e plug.Event) {
		if len(answers) > 0 {
			say(e, answers[0])
			answers = answers[1:]
		}
		if d, ok := e.Data.(plug.RunCompleted); ok && d.Text != said && d.Text != output.Bare(said) {
			say(e, d.Text)
		}
	}
}

// ended takes what the last event of a run tells.
func ended(out *Outcome, p plug.Payload) {
	switch d := p.(type) {
	case plug.TurnCompleted:
		out.Turns = d.Turn
	case plug.RunCompleted:
		out.Text, out.Denied, out.Code = d.Text, d.Denied, d.Code
	case plug.RunTurnsExceeded:
		out.Code = llm.CauseTurns
	case plug.RunFailed:
		out.Code = d.Code
	}
}
