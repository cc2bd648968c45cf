package run

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"alisio/agent/compact"
	"alisio/agent/session"
	"alisio/agent/text"
	"alisio/llm"
	"alisio/plug"
)

const (
	// maxRecoveries is how many streams in a row may break off, maxEmpties how many
	// answers may be empty (spec runner.md, "How a stream ends").
	maxRecoveries = 2
	maxEmpties    = 1
	// maxBlinded is how often images are taken out of a turn that a server refuses.
	maxBlinded = 2
)

// What the model is told with a request that asks it to go on. No one else sees it.
const (
	noticeMark = "[note of the program] "
	noticeOn   = noticeMark + "Your last answer broke off before it was complete; what of it was received stands above. " +
		"Go on exactly where it ends, without repeating it. Tool calls of it were not run."
	noticeEmpty = noticeMark + "Your last answer was empty. Answer, or call a tool."
	noticeNone  = noticeMark + "That was no checkpoint. Answer with the JSON object alone, and call no tool."
	noticeCall  = noticeMark + "Your last answer was cut by the output limit in the middle of a tool call, which was not run. " +
		"Say less before the call, and give it smaller arguments: several small steps instead of a large one."
	noticeCut  = noticeMark + "Your last answer reached the output limit before it said anything. Think less, and answer."
	noticeMore = noticeMark + "A further tool call of your last answer was cut by the output limit and was not run. " +
		"If it is still needed, send it again, with smaller arguments."
)

// broke answers a send that failed.
func (r *request) broke(a *answer) error {
	var e *llm.Error
	switch {
	case errors.Is(a.err, errSilent) && !a.received:
		return r.silence()
	case errors.Is(a.err, errSilent): // it spoke at the very moment
		return r.goOn(a, plug.RecoveryIdle, llm.Errorf(llm.CauseStream, "the model began its answer too late (limits.firstTokenTimeoutMs)"))
	case errors.Is(a.err, errIdle):
		idle := llm.Errorf(llm.CauseStream, "the model sent nothing more for %s in the middle of its answer (limits.idleTimeoutMs)",
			text.Duration(r.o.Limits.Idle))
		return r.goOn(a, plug.RecoveryIdle, idle.WithHint("raise limits.idleTimeoutMs if the model needs longer"))
	case llm.OutputTruncated(a.err):
		return r.truncated(a, plug.CutEmpty)
	case !errors.As(a.err, &e):
		return r.giveUp(a, a.err)
	case e.RetryAfter > maxWait && (e.Retryable() || e.Cause == llm.CauseQuota || e.Cause == llm.CauseRateLimited):
		// Also where no wait of ours helps: when it may (C042).
		return r.giveUp(a, tooLong(e, r.sends))
	case e.Cause == llm.CauseContextLength && !r.shrunk && r.summary == nil && !r.o.Compaction.Off:
		return r.overflow(a)
	case e.Image && r.blinded < maxBlinded && compact.Blind(slices.Clone(r.messages), true) > 0:
		return r.blind(a)
	case !e.Retryable():
		return r.giveUp(a, a.err)
	case e.Stream == llm.StreamEmpty:
		return r.empty(a)
	case !a.received, !a.delta && e.Stream == llm.StreamFailed:
		return r.faulted(e)
	}
	return r.goOn(a, recoveryReason(e), e)
}

// overflow answers a server that says that the context is too long: one compaction and
// one request more (spec runner.md, "Transport faults"; C038, C039).
func (r *request) overflow(a *answer) error {
	r.shrunk = true
	r.refused()
	was := r.replaced
	err := r.compact(plug.CompactAuto)
	if err != nil && llm.CauseOf(err) != llm.CauseContextLength {
		return err
	}
	shorter, failed := r.shorten()
	switch {
	case failed != nil:
		return failed
	case !shorter && (err != nil || r.replaced == was): // the same once more would be refused, too
		return r.giveUp(a, r.unknown(a.err))
	}
	return r.fresh(r.notice, 0)
}

// unknown says what to do about a window that nobody has told of.
func (r *request) unknown(err error) error {
	var e *llm.Error
	if r.o.Model.ContextWindow > 0 || !errors.As(err, &e) {
		return err
	}
	return e.WithHint("set provider.contextWindow to what the server gives, in tokens: answers and results are then kept within it")
}

// refused learns from a server that says that the context is too long: it counts more
// than is estimated.
func (r *request) refused() {
	b := r.body()
	r.reported = 0 // or what came since is more than was thought
	r.refusedInput, r.refusedOutput = r.fixed()+compact.Tokens(b.Messages...), b.MaxOutputTokens
	r.density.Refused(r.o.Model.ContextWindow-b.MaxOutputTokens, r.refusedInput)
}

// blind answers a server that does not take an image: that of the last message which has
// one gives way to a note, and if that was not it, all others; else the session would be
// refused for ever (C155).
func (r *request) blind(a *answer) error {
	store, ok := r.o.Store.(session.Compactor)
	if r.summary != nil || !ok {
		return r.giveUp(a, a.err)
	}
	r.blinded++
	seen := slices.Clone(r.messages)
	n := compact.Blind(seen, r.blinded > 1)
	if err := r.replace(store, session.Compaction{RunID: r.in.RunID, Kept: seen}, seen); err != nil {
		return r.giveUp(a, err)
	}
	r.emit(plug.ContextReduced{Messages: n, Images: true})
	r.emit(plug.PrefixChanged{Cause: plug.PrefixClip})
	if err := r.storeError(); err != nil {
		return err
	}
	return r.fresh(r.notice, 0)
}

func recoveryReason(e *llm.Error) plug.RecoveryReason {
	switch {
	case e.Stream == llm.StreamIncomplete:
		return plug.RecoveryIncomplete
	case e.Stream == llm.StreamFailed, e.Stream == "" && (e.Cause == llm.CauseServer || e.Cause == llm.CauseRateLimited):
		return plug.RecoveryError
	}
	return plug.RecoveryLost
}

// goOn keeps what arrived of a stream that broke off and gets ready to ask the model
// to go on, unless that was tried too often.
func (r *request) goOn(a *answer, reason plug.RecoveryReason, e *llm.Error) error {
	if r.recoveries >= maxRecoveries {
		return r.giveUp(a, tried(e, r.recoveries+1))
	}
	r.recoveries++
	chars := utf8.RuneCountInString(a.said())
	if err := r.keep(a, false, plug.StreamRecovery{Attempt: r.recoveries, Of: maxRecoveries, Reason: reason, KeptChars: chars}); err != nil {
		return err
	}
	notice := r.notice // holds on where there is nothing more that the model could go on with
	if chars > 0 {
		notice = noticeOn
	}
	return r.fresh(notice, backoff(e, r.recoveries-1))
}

// empty answers a response with neither text nor calls: it is never a finished turn
// (C014, C015, C023).
func (r *request) empty(a *answer) error {
	switch {
	case r.empties < maxEmpties:
	case r.summary != nil:
		return unusable(false, 0)
	default:
		return r.nothing(a)
	}
	r.empties++
	r.emit(plug.StreamRecovery{Attempt: r.empties, Of: maxEmpties, Reason: plug.RecoveryEmpty})
	notice := noticeEmpty
	if r.summary != nil {
		notice = noticeNone
	} else if r.kept != "" { // it is still to go on with that
		notice = noticeOn
	}
	return r.fresh(notice, grown(firstWait, 0))
}

// nothing says why an answer without text and without calls is a failure.
func (r *request) nothing(a *answer) error {
	err := llm.Errorf(llm.CauseStream, "the model returned neither text nor a tool call")
	switch {
	case a.reasoned:
		err = llm.Errorf(llm.CauseStream, "the model ended its turn after reasoning, without any visible output")
	case a.err != nil:
		err = asError(a.err)
	}
	return tried(err, r.empties+1)
}

// truncated answers a response that the output limit cut so that it can not be used.
// The cut calls are gone, what could be read stays.
func (r *request) truncated(a *answer, reason plug.CutReason) error {
	of := r.o.Limits.TruncationRecoveries
	if r.cuts >= of {
		r.ended.truncation = &plug.Truncation{
			Attempts: r.cuts + 1, MaxOutputTokens: r.sentOutput, Source: r.outputSource, Model: r.o.Model.ID,
		}
		if err := r.keep(a, true, nil); err != nil {
			return err
		}
		return r.cutError(a, reason)
	}
	r.cuts++
	told := plug.TruncationRecovery{Attempt: r.cuts, Of: of, Reason: reason, MaxOutputTokens: r.sentOutput}
	if lower := lowerEffort(r.o.Model, r.effort); lower != r.effort {
		r.effort, told.Effort = lower, lower
	}
	if err := r.keep(a, true, told); err != nil {
		return err
	}
	notice := noticeCut
	switch {
	case reason == plug.CutCall:
		notice, r.kept = noticeCall, "" // what it said before the call is no half of an answer
	case r.kept != "": // a provider that fails with the cut, behind text
		notice = noticeOn
	}
	return r.fresh(notice, 0)
}

func (r *request) cutError(a *answer, reason plug.CutReason) *llm.Error {
	what := "before it said anything"
	if reason == plug.CutCall {
		what = "in the middle of a tool call, which was not run"
	} else if a.said() != "" {
		what = "before it was usable"
	}
	hint := "raise limits.maxOutputTokens, ask for smaller steps, or lower --effort"
	switch r.outputBound {
	case plug.BoundWindow:
		hint = "the model's window left no more: ask for smaller steps, /compact the conversation, lower --effort, or use a model with a larger window"
	case plug.BoundBudget:
		hint = "the budget left no more: raise limits.maxTokens or limits.maxCost, or go on with a new prompt, which has the whole budget again"
	}
	return llm.Errorf(llm.CauseOutputTruncated, "the answer was cut %s%s (output limit: %d tokens)", what, after(r.cuts+1), r.sentOutput).WithHint(hint)
}

// lowerEffort is one step below an effort, of the levels that a model declares. An
// effort that the server chose is taken for the middle one.
func lowerEffort(m llm.Model, effort string) string {
	at := slices.Index(m.Efforts, effort)
	if at < 0 && effort == "" {
		at = len(m.Efforts) / 2
	}
	if at < 1 {
		return effort
	}
	return m.Efforts[at-1]
}

// giveUp keeps what arrived and ends the turn with err.
func (r *request) giveUp(a *answer, err error) error {
	if e := r.keep(a, false, nil); e != nil {
		return e
	}
	return err
}

// said is the text of an answer, whole or not; blanks are none.
func (a *answer) said() string {
	text := strings.Join(a.text, "")
	if a.message != nil {
		text = a.message.Text
	}
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return text
}

// keep stores the text of an answer that is not complete, marked as cut or as
// interrupted and without any of its calls, in one commit with what is told of it, nil
// for nothing. What the provider wants back of a whole answer does not go with half of one.
func (r *request) keep(a *answer, cut bool, told plug.Payload) error {
	var kept []llm.Message
	if said := a.said(); said != "" {
		m := llm.Message{
			Role: llm.RoleAssistant, Text: said, Truncated: cut, Interrupted: !cut,
			Origin: llm.Origin{Provider: r.o.Provider.ID(), Model: r.o.Model.ID},
		}
		if a.message != nil {
			m.Origin = a.message.Origin
		}
		kept = append(kept, m)
		r.kept += said
		r.text = r.kept
	}
	if told == nil {
		return r.append(kept...)
	}
	r.messages = append(r.messages, kept...)
	r.hold(told, kept...)
	return r.flush()
}
