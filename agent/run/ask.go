package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"

	"alisio/agent/text"
	"alisio/plug"
)

// Plans numbers the plans of one session that a person is asked to review. It is
// safe for concurrent use, and its zero value is ready.
type Plans struct {
	mu       sync.Mutex
	id       string
	revision int
	hash     string
}

// number gives a plan its id, which the session's plans share, its revision and its
// hash. A text that was reviewed last is the same revision.
func (p *Plans) number(r plug.Review) plug.Review {
	sum := sha256.Sum256([]byte(r.Text))
	r.Hash = hex.EncodeToString(sum[:])
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.id == "" {
		p.id = NewID()
	}
	if r.Hash != p.hash {
		p.hash = r.Hash
		p.revision++
	}
	r.PlanID, r.Revision = p.id, p.revision
	return r
}

// callOf is what a tool is called with.
func (l *loop) callOf(w *work, args []byte) plug.Call {
	ctx, end := context.WithCancel(l.ctx)
	w.release = append(w.release, end)
	c := plug.Call{
		SessionID: l.in.SessionID, CallID: w.ID, Args: args, Files: l.o.Files, Exec: l.o.Exec,
		MaxChars: resultChars(l.o.Model.ContextWindow),
		Progress: func(string) {}, // until it is executed
	}
	c.Ask = func(asking context.Context, q plug.Question) (plug.Answer, error) {
		// The question is withdrawn when the call has ended, whatever its tool does.
		asking, stop := context.WithCancel(asking)
		defer stop()
		defer context.AfterFunc(ctx, stop)()
		if err := ctx.Err(); err != nil {
			return plug.Answer{Decision: plug.Deny}, err
		}
		q.SessionID, q.CallID, q.Tool = l.in.SessionID, w.ID, w.Name
		w.took.Pause()
		defer w.took.Resume()
		return l.ask(asking, q)
	}
	if l.o.Call != nil {
		l.o.Call(&c)
	}
	return c
}

// ask puts a tool's question into the queue of the session's tree. What a call may
// do is the gate's to ask.
func (l *loop) ask(ctx context.Context, q plug.Question) (plug.Answer, error) {
	switch q.Kind {
	case plug.AskQuestions:
		return l.now.Gate.Ask(ctx, q)
	case plug.AskPlan:
		return l.review(ctx, q)
	}
	return plug.Answer{Decision: plug.Deny}, fmt.Errorf("ask: a tool can not ask a question of kind %q", q.Kind)
}

// review has a person review a plan.
func (l *loop) review(ctx context.Context, q plug.Question) (plug.Answer, error) {
	q.Review.Title = text.OneLine(q.Review.Title, maxTitle)
	q.Review = l.plans.number(q.Review)
	r := q.Review
	l.emit(plug.PlanProposed{CallID: q.CallID, PlanID: r.PlanID, Revision: r.Revision, Hash: r.Hash, Title: r.Title})
	a, err := l.now.Gate.Ask(ctx, q)
	if err != nil {
		return a, err
	}
	l.emit(plug.PlanDecided{CallID: q.CallID, PlanID: r.PlanID, Hash: r.Hash, Decision: planDecision(a.Decision)})
	if l.o.Decided != nil {
		l.o.Decided(r, a)
	}
	return a, nil
}

// planDecision is an answer in the words of events.
func planDecision(d plug.Decision) plug.PlanDecision {
	switch d {
	case plug.Once, plug.Session:
		return plug.PlanApprove
	case plug.Feedback:
		return plug.PlanContext
	}
	return plug.PlanSkip
}
