package run

import (
	"errors"

	"alisio/agent/compact"
	"alisio/agent/ledger"
	"alisio/llm"
	"alisio/plug"
)

// reserve takes what a request may use out of the budget, each time that it is sent.
func (r *request) reserve(a *answer) error {
	r.left = 0
	b := r.body()
	a.input = r.fixed() + compact.Tokens(b.Messages...)
	room := r.room(a.input, b.MaxOutputTokens)
	held, err := r.o.Ledger.Reserve(ledger.Ask{Model: r.o.Model, Input: a.input, Output: room})
	if err != nil {
		return err
	}
	a.held, r.left = held, held.Output
	if r.summary == nil {
		r.sentOutput, r.outputBound = held.Output, r.boundBy(held.Output, room)
	}
	return nil
}

// boundBy says what made the cap of an answer less than its limit, if something did.
func (r *request) boundBy(sent, room int) plug.OutputBound {
	boundless := r.o.Model
	boundless.ContextWindow = 0
	limit, _ := r.o.Limits.output(r.in.MaxOutputTokens, boundless)
	switch {
	case sent < room:
		return plug.BoundBudget
	case sent < limit:
		return plug.BoundWindow
	}
	return ""
}

// room is what the window leaves of the cap of an answer, but something useful (C153).
func (r *request) room(input, output int) int {
	window, used := r.o.Model.ContextWindow, r.density.Whole(input)
	if window == 0 {
		return output
	}
	if r.summary == nil && r.reported > 0 {
		used = r.used()
	}
	return min(output, max(leastCheckpoint, window-used-compact.Margin))
}

// believes reports whether a usage says how full the window is: what was answered was in
// it. Some servers report the sum of a session, or nonsense.
func (l *loop) believes(u llm.Usage) bool {
	window := l.o.Model.ContextWindow
	return window == 0 || u.Input+u.Output <= window+window/4
}

// learn notes how many tokens the server counts for what is estimated. If those of the
// request that it refused last were fewer than the window has, it is smaller than was said.
func (l *loop) learn(input int) {
	if l.reported > 0 {
		l.density.Grew(input-l.reported, compact.Tokens(l.messages[l.reportedAt:]...))
	}
	l.density.Counted(input, l.fixed()+compact.Tokens(l.messages...))
	if l.refusedInput == 0 {
		return
	}
	if sent := l.density.Whole(l.refusedInput) + l.refusedOutput; sent < l.o.Model.ContextWindow {
		l.o.Model.ContextWindow = sent
		l.maxOutput = max(1, min(l.maxOutput, sent/4))
	}
	l.refusedInput = 0
}

// count adds what an answer took, of one that is of no use too; nil: nothing.
func (l *loop) count(a *answer, reason plug.SpentOn, u *llm.Usage, estimated bool) {
	if u == nil {
		a.held.Release()
		return
	}
	a.held.Settle(string(reason), *u, estimated)
	l.usage.Usage = l.usage.Add(*u)
	l.usage.guessed = l.usage.guessed || estimated
	l.tokens += u.Input + u.Output
}

// spent counts what an answer took that is of no use: what the server reported, or an
// estimate where it has worked on it.
func (r *request) spent(a *answer) {
	u, estimated := a.usage, false
	var e *llm.Error
	if u == nil && errors.As(a.err, &e) {
		u = ledger.Sane(e.Usage)
	}
	if u == nil && a.received {
		u, estimated = a.estimate(llm.Message{Text: a.said()}), true
	}
	reason := plug.SpentOnRetry
	if r.summary != nil {
		reason = plug.SpentOnCompaction
	}
	r.count(a, reason, u, estimated)
}

// beside is what was spent beside the turns since it was last told. What others asked
// for counts for the run as well.
func (l *loop) beside() plug.Beside {
	var all []plug.Spent
	for _, e := range l.o.Ledger.Take() {
		reason := plug.SpentOn(e.For)
		if reason == plug.SpentOnTurn {
			continue
		}
		if reason == plug.SpentOnPlugin || reason == plug.SpentOnQuestion {
			l.usage.Usage = l.usage.Add(e.Usage)
		}
		all = append(all, Spent(e))
	}
	return plug.Beside{Spent: all}
}

// Spent is a request that was settled, as events tell of it.
func Spent(e ledger.Entry) plug.Spent {
	return plug.Spent{
		For: plug.SpentOn(e.For), By: e.By, Model: e.Model, Estimated: e.Estimated,
		Usage: plug.Usage{Input: e.Usage.Input, Output: e.Usage.Output, CachedInput: e.Usage.CachedInput, Cost: e.Cost},
	}
}
