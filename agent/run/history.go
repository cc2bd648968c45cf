package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"alisio/agent/callid"
	"alisio/agent/output"
	"alisio/agent/session"
	"alisio/llm"
	"alisio/plug"
)

// load reads the transcript and makes it fit for the next request: calls and
// results pair, and what a dead process left open is answered.
func (l *loop) load() error {
	if l.in.Fresh != nil {
		return nil
	}
	// What is stored here is kept, also when the person has just cancelled.
	ctx := context.WithoutCancel(l.caller)
	messages, err := l.o.Store.Messages(ctx, l.in.SessionID)
	if err != nil {
		return llm.Errorf(llm.CauseStore, "read session: %w", err)
	}
	messages, err = session.Reconcile(ctx, l.o.Store, l.in.SessionID, messages, session.Recovery{
		RunID: l.in.RunID, Effect: l.widest, Acknowledge: l.in.Acknowledge, Alive: l.o.Alive,
	})
	var uncertain *session.UncertainError
	switch {
	case errors.As(err, &uncertain):
		return llm.Errorf(llm.CauseUncertain, "%w", err)
	case err != nil:
		return llm.Errorf(llm.CauseStore, "recover session: %w", err)
	}
	l.messages = messages
	l.note(messages)
	l.recallPrefix()
	for i, m := range l.messages {
		l.messages[i].Calls = sound(m.Calls)
		for _, c := range m.Calls {
			l.usedIDs[c.ID] = true
		}
	}
	return nil
}

// sound returns calls whose arguments are JSON, as servers demand of a history:
// older programs stored what the model sent.
func sound(calls []llm.ToolCall) []llm.ToolCall {
	var own []llm.ToolCall
	for i, c := range calls {
		if json.Valid([]byte(c.Arguments)) {
			continue
		}
		if own == nil {
			own = slices.Clone(calls)
		}
		own[i].Arguments = quoted(c.Arguments)
	}
	if own == nil {
		return calls
	}
	return own
}

// start stores the run together with its prompt. From here on the run has an
// end, whatever happens.
func (l *loop) start() error {
	messages, events := l.opening()
	if l.prompted() {
		messages = append(messages, prompt(l.in))
	}
	if err := l.startWith(l.lasting(), messages, append(events, plug.RunStarted{Model: l.o.Model.ID})); err != nil {
		var exists *ExistsError
		if errors.As(err, &exists) {
			return err
		}
		return llm.Errorf(llm.CauseStore, "begin run: %w", err)
	}
	l.messages = append(l.messages, messages...)
	l.note(messages)
	for _, m := range slices.Backward(l.messages) {
		if m.Role == llm.RoleUser && m.Context == "" {
			l.repaired = output.IsRepair(m) // by the run that this one continues
			break
		}
	}
	return nil
}

// startWith stores the run with its first messages and events, and shows these.
func (l *loop) startWith(ctx context.Context, messages []llm.Message, first []plug.Payload) error {
	j, ok := l.o.Store.(session.RunJournal)
	if !ok {
		if l.in.Fresh != nil {
			if err := l.o.Store.Create(ctx, *l.in.Fresh); err != nil {
				return err
			}
		}
		if len(messages) > 0 {
			if err := l.o.Store.Append(ctx, l.in.SessionID, l.in.RunID, messages...); err != nil {
				return err
			}
		}
		for _, p := range first {
			l.emit(p) // a failure ends the run
		}
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	events := make([]plug.Event, len(first))
	for i, p := range first {
		events[i] = l.event(p)
	}
	at := events[0].Time
	r, numbers, err := j.BeginRun(ctx, session.Begin{
		Run: session.Run{
			ID: l.in.RunID, Session: l.in.SessionID, Status: session.RunRunning, RequestID: l.in.RequestID,
			CorrelationID: l.in.CorrelationID, Model: l.o.Model.ID, Created: at, Started: at,
		},
		Fresh: l.in.Fresh, Messages: messages, Events: events, Continues: l.in.Continues,
	})
	switch {
	case err != nil:
		return err
	case r.ID != l.in.RunID:
		return &ExistsError{Run: r}
	}
	l.tell(events, numbers)
	return nil
}

// said returns the answer that an interrupted run had already got and stored,
// so that nobody is asked for it again.
func (l *loop) said() (llm.Message, bool) {
	if l.in.Continues == "" || l.in.Prompt != "" || len(l.in.Attachments) > 0 || len(l.messages) == 0 {
		return llm.Message{}, false
	}
	m := l.messages[len(l.messages)-1]
	return m, m.Role == llm.RoleAssistant && len(m.Calls) == 0 && !partial(m)
}

// conclude stores the run's last event together with the run's end and what was
// held, and shows it.
func (l *loop) conclude(out Outcome, last plug.Payload) error {
	j, ok := l.o.Store.(session.RunJournal)
	if !ok {
		if err := l.emitBy(last, l.addEvent); err != nil {
			return err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.over = true
		return nil
	}
	end := session.RunEnd{ID: l.in.RunID, Status: out.Status, Usage: out.Usage}
	if out.Err != nil {
		end.Error = out.Err.Message
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = append(l.held, l.event(last))
	err := l.storeHeld(func(ctx context.Context, events []plug.Event, messages []llm.Message) ([]int64, error) {
		end.Messages = messages
		return j.EndRun(ctx, end, events...)
	})
	l.over = err == nil
	return err
}

// claim gives every call of an answer an id that the session never used.
// The transcript knows those of its own messages, the journal those that a
// compaction took out of it.
func (l *loop) claim(m *llm.Message) error {
	var ids []string
	for _, c := range m.Calls {
		if callid.Fits(c.ID) && !l.usedIDs[c.ID] {
			ids = append(ids, c.ID)
		}
	}
	if len(ids) > 0 {
		rows, err := l.o.Store.Calls(context.WithoutCancel(l.ctx), l.in.SessionID, ids...)
		if err != nil {
			return l.breakStore(fmt.Errorf("read journal: %w", err))
		}
		for _, r := range rows {
			l.usedIDs[r.ID] = true
		}
	}
	callid.Claim(m, l.usedIDs)
	return nil
}
