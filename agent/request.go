package agent

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"alisio/agent/run"
	"alisio/agent/session"
	"alisio/llm"
	"alisio/plug"
)

// admission says where a prompt belongs.
type admission struct {
	// session is empty for a new one.
	session string
	// prior is the run that has the request id, zero if none has, or if it is
	// under way.
	prior session.Run
}

// continues is the interrupted run that is to be taken to its end, if there is one.
func (a admission) continues() string {
	if a.prior.Status == session.RunInterrupted {
		return a.prior.ID
	}
	return ""
}

// admit looks a request id up.
func (a *App) admit(ctx context.Context, sessionID, requestID string) (admission, error) {
	none := admission{session: sessionID}
	if requestID == "" {
		return none, nil
	}
	j, ok := a.store.(session.RunJournal)
	if !ok {
		return none, llm.Errorf(llm.CauseBadRequest, "a request id needs a store that keeps runs")
	}
	r, err := j.RunByRequest(ctx, session.RequestKey{Session: sessionID, Workspace: a.root, RequestID: requestID})
	switch {
	case errors.Is(err, session.ErrNotFound):
		return none, nil
	case err != nil:
		return none, session.Caused(err)
	}
	if !r.Status.Ended() {
		// Whose owner is dead is marked when its session is locked; whose is
		// alive refuses the lock.
		unlock, err := a.store.Lock(ctx, r.Session)
		var busy *session.BusyError
		switch {
		case errors.As(err, &busy):
			return admission{session: r.Session}, nil
		case err != nil:
			return none, session.Caused(err)
		}
		unlock()
		if r, err = j.RunByRequest(ctx, session.RequestKey{Session: r.Session, RequestID: requestID}); err != nil {
			return none, session.Caused(err)
		}
	}
	return admission{session: r.Session, prior: r}, nil
}

// samePrompt refuses a request id that was used for something else: the answer
// to it would be given for an answer to this.
func (a *App) samePrompt(ctx context.Context, r session.Run, prompt string, output *run.Output, images []llm.Attachment) error {
	s, ok := a.store.(replayer)
	if !ok {
		return nil
	}
	m, err := asked(ctx, s, r)
	if err != nil {
		return session.Caused(err)
	}
	prompt = strings.ToValidUTF8(prompt, "\uFFFD")
	other := ""
	switch {
	case m.Role == "": // an older program's: its messages name no run
		return nil
	case m.Text != output.Prompt(prompt) && m.Shown() == prompt:
		other = "another output schema, or with none"
	case m.Text != output.Prompt(prompt):
		other = "another prompt"
	case !slices.EqualFunc(m.Attachments, images, sameImage):
		other = "other images"
	default:
		return nil
	}
	return llm.Errorf(llm.CauseBadRequest, "request %s was made with %s, in session %s", r.RequestID, other, r.Session).
		WithHint("a request id stands for one task: take another one")
}

// asked returns the prompt of a run, or one without a role if nobody knows it. A
// run that went on where an interrupted one stood has none of its own: the prompt
// is that one's, or of the one before it. Of a chain without any, the first thing
// that looks like a question for a better answer was typed.
func asked(ctx context.Context, s replayer, r session.Run) (prompt llm.Message, err error) {
	for {
		messages, err := s.RunMessages(ctx, r.Session, r.ID)
		if err != nil {
			return llm.Message{}, err
		}
		// What comes behind an answer was said while the run was under way.
		if i := slices.IndexFunc(messages, func(m llm.Message) bool { return m.Role == llm.RoleAssistant }); i >= 0 {
			messages = messages[:i]
		}
		users := slices.DeleteFunc(messages, func(m llm.Message) bool { return m.Role != llm.RoleUser || m.Context != "" })
		if i := slices.IndexFunc(users, func(m llm.Message) bool { return !run.IsRepair(m) }); i >= 0 {
			return users[i], nil
		}
		if len(users) > 0 {
			prompt = users[0]
		}
		before, err := s.RunBefore(ctx, r.Session, r.ID)
		switch {
		case errors.Is(err, session.ErrNotFound), err == nil && before.Status != session.RunInterrupted:
			return prompt, nil
		case err != nil:
			return llm.Message{}, err
		}
		r = before
	}
}

func sameImage(a, b llm.Attachment) bool {
	return a.MIMEType == b.MIMEType && bytes.Equal(a.Data, b.Data)
}

// stands reports whether an interrupted run can go on where it stood: nothing
// came after it, and the session ends with its own messages. Else its prompt is
// given again: what another run was told, or said, is not for it. The session is
// locked.
func (a *App) stands(ctx context.Context, sessionID, runID string) (bool, error) {
	s, ok := a.store.(interface {
		session.RunList
		EndsWith(ctx context.Context, id, runID string) (bool, error)
	})
	if !ok || runID == "" {
		return false, nil
	}
	runs, err := s.Runs(ctx, sessionID, 1)
	if err != nil || len(runs) != 1 || runs[0].ID != runID {
		return false, session.Caused(err)
	}
	ends, err := s.EndsWith(ctx, sessionID, runID)
	return ends, session.Caused(err)
}

// patience bounds how long a run that somebody else works on is waited for: two
// callers at the same moment get one answer, and nobody hangs behind a long run.
type patience struct{ end time.Time }

const (
	requestPatience = 5 * time.Second
	requestPoll     = 50 * time.Millisecond
)

func newPatience() patience { return patience{end: time.Now().Add(requestPatience)} }

// more waits a little and reports whether to look again.
func (p patience) more(ctx context.Context) bool {
	if time.Now().After(p.end) {
		return false
	}
	t := time.NewTimer(requestPoll)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func inProgress(ctx context.Context, requestID string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return llm.Errorf(llm.CauseStore, "request %s is being worked on: %w", requestID, err).
		WithHint("ask again when it has ended: the same answer is then printed, and nothing runs twice")
}

// replayer is what a store implements that can give back the answers of a run,
// and the run before it, or ErrNotFound.
type replayer interface {
	RunBefore(ctx context.Context, sessionID, runID string) (session.Run, error)
	RunEvents(ctx context.Context, sessionID, runID string) ([]plug.Event, error)
	RunMessages(ctx context.Context, sessionID, runID string) ([]llm.Message, error)
}

// replay shows a run that has ended again, from the store.
func (a *App) replay(ctx context.Context, r session.Run, onEvent func(plug.Event)) (Outcome, error) {
	s, ok := a.store.(replayer)
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
	a.o.Log.Warn("request " + r.RequestID + " was worked on before: what came of it is shown again, and no model is asked. Another request id works anew")
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
	if out.Text == "" && r.Status != Completed {
		out.Text = unfinished(messages)
	}
	if out.Code == "" && r.Status == Failed {
		out.Code = llm.CauseInternal
	}
	if out.Code != "" && r.Status == Failed {
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
		if !run.IsRepair(m) && m.Context == "" {
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
		if d, ok := e.Data.(plug.RunCompleted); ok && d.Text != said && d.Text != run.Bare(said) {
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
