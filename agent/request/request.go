// Package request makes what was asked with a request id happen once, whoever asks
// again: Book.Once looks for the run that has the id, and shows it again, has it taken
// to its end, or waits for it. How a run is made is not its affair.
package request

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"alisio/agent/output"
	"alisio/agent/run"
	"alisio/agent/session"
	"alisio/llm"
)

// Book knows the requests of a workspace that a store keeps. One that keeps no runs
// refuses requests with an id.
type Book struct {
	Store     session.Store
	Workspace string
	Log       *slog.Logger
}

// Outcome is what became of a run.
type Outcome struct {
	run.Outcome
	SessionID string
	// Replayed: the run had ended earlier, and its stored events were shown
	// again.
	Replayed bool
}

// Once makes an attempt unless a run has the input's request id already: one that ended
// is shown again from the store, and one that somebody else works on is waited for, for
// a short while, and then refused. The attempt is given the session where the request
// belongs, empty for a new one, and, in Continues, the interrupted run of it that is to
// be taken to its end.
func (b Book) Once(ctx context.Context, in run.Input, attempt func(run.Input) (Outcome, error)) (Outcome, error) {
	for wait := newPatience(); ; {
		ad, err := b.admit(ctx, in)
		if err != nil {
			return Outcome{}, err
		}
		if ad.prior.ID != "" {
			if err := b.same(ctx, ad.prior, in); err != nil {
				return Outcome{}, err
			}
			if ad.continues() == "" {
				return b.replay(ctx, ad.prior, in.OnEvent)
			}
		}
		this := in
		this.SessionID, this.Continues = ad.session, ad.continues()
		out, err := attempt(this)
		var busy *session.BusyError
		var exists *run.ExistsError
		// Who is in doubt may never end: no waiting helps.
		ends := errors.As(err, &exists) || errors.As(err, &busy) && !busy.Doubtful
		if in.RequestID == "" || !ends {
			return out, err
		}
		if !wait.more(ctx) {
			return Outcome{}, inProgress(ctx, in.RequestID, err)
		}
	}
}

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
func (b Book) admit(ctx context.Context, in run.Input) (admission, error) {
	none := admission{session: in.SessionID}
	if in.RequestID == "" {
		return none, nil
	}
	j, ok := b.Store.(session.RunJournal)
	if !ok {
		return none, llm.Errorf(llm.CauseBadRequest, "a request id needs a store that keeps runs")
	}
	r, err := j.RunByRequest(ctx, session.RequestKey{Session: in.SessionID, Workspace: b.Workspace, RequestID: in.RequestID})
	switch {
	case errors.Is(err, session.ErrNotFound):
		return none, nil
	case err != nil:
		return none, session.Caused(err)
	}
	if !r.Status.Ended() {
		// Whose owner is dead is marked when its session is locked; whose is
		// alive refuses the lock.
		unlock, err := b.Store.Lock(ctx, r.Session)
		var busy *session.BusyError
		switch {
		case errors.As(err, &busy):
			return admission{session: r.Session}, nil
		case err != nil:
			return none, session.Caused(err)
		}
		unlock()
		if r, err = j.RunByRequest(ctx, session.RequestKey{Session: r.Session, RequestID: in.RequestID}); err != nil {
			return none, session.Caused(err)
		}
	}
	return admission{session: r.Session, prior: r}, nil
}

// same refuses a request id that was used for something else: the answer
// to it would be given for an answer to this.
func (b Book) same(ctx context.Context, r session.Run, in run.Input) error {
	s, ok := b.Store.(replayer)
	if !ok {
		return nil
	}
	m, err := asked(ctx, s, r)
	if err != nil {
		return session.Caused(err)
	}
	prompt := strings.ToValidUTF8(in.Prompt, "\uFFFD")
	other := ""
	switch {
	case m.Role == "": // an older program's: its messages name no run
		return nil
	case m.Text != in.Output.Prompt(prompt) && m.Shown() == prompt:
		other = "another output schema, or with none"
	case m.Text != in.Output.Prompt(prompt):
		other = "another prompt"
	case !slices.EqualFunc(m.Attachments, in.Attachments, sameImage):
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
		if i := slices.IndexFunc(users, func(m llm.Message) bool { return !output.IsRepair(m) }); i >= 0 {
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

// Stands reports whether an interrupted run can go on where it stood: nothing
// came after it, and the session ends with its own messages. Else its prompt is
// given again: what another run was told, or said, is not for it. The session is
// locked.
func (b Book) Stands(ctx context.Context, sessionID, runID string) (bool, error) {
	s, ok := b.Store.(interface {
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
