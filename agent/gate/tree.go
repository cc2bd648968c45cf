package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"alisio/agent/clock"
	"alisio/plug"
)

// Tree is what a root session and all below it share: the one queue through which
// every question to the person goes, and what was granted for the session. It
// implements plug.Asker, and it alone begins and ends human waits. It is safe for
// concurrent use.
type Tree struct {
	asker plug.Asker
	waits *clock.HumanWaits
	// queue lets one question at a time through, in the order of arrival.
	queue chan struct{}

	mu     sync.Mutex
	grants map[string]bool
}

// NewTree makes the tree of a root session. Without an asker there is no person:
// calls are denied with the remedy, questions answer plug.ErrNoSurface.
func NewTree(asker plug.Asker, waits *clock.HumanWaits) *Tree {
	return &Tree{
		asker: asker, waits: waits, grants: make(map[string]bool),
		queue: make(chan struct{}, 1), // the one ticket to ask; nothing is dropped
	}
}

// Ask implements plug.Asker: it waits for its turn, stops the clocks of the
// session and of its ancestors while the person is waited for, and takes nothing
// but a well-formed answer for a yes. When ctx ends, the question is withdrawn. Who
// asked can use the answer as it is: to AskQuestions there is one Chosen each, its
// indexes sorted, within the options, and only one where only one may be chosen.
func (t *Tree) Ask(ctx context.Context, q plug.Question) (plug.Answer, error) {
	no := plug.Answer{Decision: plug.Deny}
	if t.asker == nil {
		return byNobody(q, q.Remedy)
	}
	defer t.waits.Begin(q.SessionID)()
	select {
	case t.queue <- struct{}{}:
		defer func() { <-t.queue }()
	case <-ctx.Done():
		return no, ctx.Err()
	}
	if err := ctx.Err(); err != nil { // it ended while both were ready
		return no, err
	}
	a, err := t.asker.Ask(ctx, q)
	switch {
	case ctx.Err() != nil:
		return no, ctx.Err()
	case err != nil:
		return no, fmt.Errorf("ask about %s: %w", q.Tool, err)
	case a.By == plug.ByHeadless:
		return byNobody(q, a.Reason)
	}
	if q.Kind == plug.AskQuestions && a.Decision == plug.Deny && len(a.Chosen) == 0 {
		a.Chosen = make([]plug.Chosen, len(q.Questions)) // all of them skipped
	}
	if err := check(q, a); err != nil {
		return no, fmt.Errorf("ask about %s: %w", q.Tool, err)
	}
	for i, c := range a.Chosen {
		a.Chosen[i].Options = slices.Compact(slices.Sorted(slices.Values(c.Options)))
	}
	a.By = cmp.Or(a.By, plug.ByUser)
	return a, nil
}

// byNobody is the answer where no person gave one: a no to what a call may do, and
// none at all to what only a person can answer.
func byNobody(q plug.Question, reason string) (plug.Answer, error) {
	if isQuestion(q) {
		return plug.Answer{Decision: plug.Deny}, plug.ErrNoSurface
	}
	if len(reason) > maxWritten {
		reason = ""
	}
	return plug.Answer{Decision: plug.Deny, Reason: reason, By: plug.ByHeadless}, nil
}

// isQuestion tells what a call or a plugin asks from what is asked about a call.
func isQuestion(q plug.Question) bool { return q.Kind == plug.AskQuestions || q.Kind == plug.AskPlan }

// maxWritten bounds what a person writes in an answer, in bytes.
const maxWritten = 50_000

// check says what is wrong with an answer. A surface is no part of the trusted
// code: what it gives is taken for nothing that it does not say.
func check(q plug.Question, a plug.Answer) error {
	if len(a.Reason) > maxWritten {
		return errors.New("the surface gave a reason that is too long")
	}
	switch q.Kind {
	case plug.AskQuestions:
		return checkChosen(q.Questions, a.Chosen)
	case plug.AskPlan:
		if a.Decision == plug.Once || a.Decision == plug.Deny || a.Decision == plug.Feedback {
			return nil
		}
		return errors.New("the surface gave an answer to a plan that is none of once, deny, feedback")
	}
	if a.Decision == plug.Once || a.Decision == plug.Session || a.Decision == plug.Deny {
		return nil
	}
	return errors.New("the surface gave an answer that is none of once, session, deny")
}

func checkChosen(questions []plug.Choice, chosen []plug.Chosen) error {
	if len(chosen) != len(questions) {
		return fmt.Errorf("the surface answered %d of %d questions", len(chosen), len(questions))
	}
	for i, c := range chosen {
		outside := slices.ContainsFunc(c.Options, func(n int) bool { return n < 0 || n >= len(questions[i].Options) })
		switch {
		case outside, len(c.Options) > 1 && !questions[i].Multiple, len(c.Options) > len(questions[i].Options):
			return fmt.Errorf("the surface chose what question %d does not offer", i+1)
		case len(c.Text) > maxWritten, c.Text != strings.ToValidUTF8(c.Text, ""):
			return fmt.Errorf("the surface gave a text for question %d that is too long or no text", i+1)
		}
	}
	return nil
}

func (t *Tree) granted(key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return key != "" && t.grants[key]
}

func (t *Tree) grant(key string) {
	if key == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.grants[key] = true
}

// Grants are the keys that a person granted for the session, sorted.
func (t *Tree) Grants() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(maps.Keys(t.grants))
}
