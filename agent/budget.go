package agent

import (
	"cmp"
	"context"

	"alisio/agent/account"
	"alisio/agent/ledger"
	"alisio/agent/run"
	"alisio/agent/session"
	"alisio/llm"
	"alisio/plug"
)

// budget opens the account of a run: that of a child counts in the one of the run that
// it works for. A run that goes on with another begins with what that one used.
func (a *App) budget(ctx context.Context, c *conversation, continues string) (book *ledger.Ledger, end func()) {
	tokens, cost := a.usedBefore(ctx, c.id, continues)
	a.mu.Lock()
	defer a.mu.Unlock()
	below := ledger.Limits{MaxTokens: c.spec.MaxTokens}
	var whole *ledger.Ledger
	if above := cmp.Or(a.books[c.parent], a.books[c.tree.root]); c.parent != "" && above != nil {
		book = above.Below(below)
	} else { // nothing that could bound it is under way
		whole = ledger.New(a.limits())
		book = whole.Below(below)
	}
	book.Used(tokens, cost)
	a.books[c.id] = book
	return book, func() {
		a.mu.Lock()
		delete(a.books, c.id)
		a.mu.Unlock()
		for _, l := range []*ledger.Ledger{whole, book} {
			if passed := l.Passed(); passed != "" {
				a.o.Log.Warn(passed)
			}
		}
	}
}

// limits are those of one run and all below it.
func (a *App) limits() ledger.Limits {
	return ledger.Limits{MaxTokens: a.o.Config.Limits.MaxTokens, MaxCost: a.o.Config.Limits.MaxCost}
}

// bookOf is the account of the run that is under way in a session, or else a fresh one.
func (a *App) bookOf(sessionID string) (book *ledger.Ledger, running bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if book := a.books[sessionID]; book != nil {
		return book, true
	}
	return ledger.New(a.limits()), false
}

// usedBefore is what an interrupted run had used, by its events.
func (a *App) usedBefore(ctx context.Context, id, runID string) (tokens int, cost float64) {
	s, ok := a.store.(interface {
		RunEvents(ctx context.Context, id, runID string) ([]plug.Event, error)
	})
	if !ok || runID == "" {
		return 0, 0
	}
	events, err := s.RunEvents(ctx, id, runID)
	if err != nil {
		a.o.Log.Warn("what the interrupted run used is not known", "error", err)
	}
	return account.Used(events)
}

// tellUsage tells what requests of a session took that belong to no run.
func (a *App) tellUsage(ctx context.Context, sessionID string, book *ledger.Ledger) error {
	var told plug.UsageRecorded
	for _, e := range book.Take() {
		told.Spent = append(told.Spent, run.Spent(e))
	}
	return a.outside.Events(sessionID).Emit(ctx, told)
}

// addUsage adds what a request outside a run took to that of its session, although the
// person has just cancelled.
func (a *App) addUsage(ctx context.Context, sessionID string, u llm.Usage) error {
	store, ok := a.store.(session.Compactor)
	if !ok {
		return nil
	}
	return session.Caused(store.AddUsage(context.WithoutCancel(ctx), sessionID, u))
}
