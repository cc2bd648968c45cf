package run

import (
	"context"
	"slices"
	"strings"
	"time"

	"alisio/agent/ledger"
	"alisio/agent/prefix"
	"alisio/llm"
	"alisio/plug"
)

// A turn's answer can take more than one request, and a request more than one send:
//
//	send ─┬─ usable ──────────────────────────────────────────► answer
//	 ▲ ▲  ├─ nothing received ──► request_retry ──► wait ─┐
//	 │ └──┼───────────── the same request ◄───────────────┘
//	 │    ├─ broke off, empty ──► keep the text ─► stream_recovery ─────┐
//	 │    ├─ cut and unusable ──► keep the text ─► truncation_recovery ─┤
//	 │    └─ anything else, or once too often ─► the run fails          │
//	 └──────────────── a fresh request, with a notice ◄─────────────────┘
//
// Each way back is bounded for the turn, none is taken without an event, and nothing
// that was shown is taken back (spec runner.md, "Limits" to "Truncation recovery").
type request struct {
	*loop
	// first is when the request at hand was first sent, sends how often; silent and
	// faults count what it was sent again for.
	first  time.Time
	sends  int
	silent int
	faults int
	// recoveries, empties and cuts count the fresh requests of the turn by reason.
	recoveries int
	empties    int
	cuts       int
	// notice is told with the request alone; it is stored nowhere.
	notice string
	// effort is the reasoning effort asked for; it sinks when answers are cut.
	effort string
	// blinded is how often images gave way to notes, of at most maxBlinded.
	blinded int
	// shrunk: the server has said that the context is too long.
	shrunk bool
	// summary is set in a request for a checkpoint.
	summary *summary
	// prior was the last request before this one, compared: it was asked for the
	// difference, and differs is that of what was sent last.
	prior    prefix.Last
	compared bool
	differs  prefix.Difference
	// left is what the budget leaves for the answer, zero before it was asked.
	left int
}

// request gets the answer of a turn, emits its deltas, and stores it.
func (l *loop) request() (llm.Message, error) {
	r := request{loop: l, notice: l.notice}
	if l.o.Effort != "" && l.o.Model.TakesEffort(l.o.Effort) {
		r.effort = l.o.Effort
	}
	l.notice, l.kept = "", l.brokenOff()
	if l.kept != "" { // by the run that this one continues
		l.emit(plug.Delta{Delta: l.kept})
	}
	if n := len(l.messages); n > 0 && partial(l.messages[n-1]) {
		r.notice = noticeOn
	}
	for {
		a := r.send()
		m, done, err := r.judge(a)
		if done || err != nil {
			r.at(where{stage: plug.StageOther})
			return m, err
		}
	}
}

// partial reports whether a message is what there was of an answer when it broke off,
// or was cut. One with calls was of use as it was.
func partial(m llm.Message) bool {
	return m.Role == llm.RoleAssistant && len(m.Calls) == 0 && (m.Interrupted || m.Truncated)
}

// brokenOff is the text at the end of the transcript that the model is to go on with.
func (l *loop) brokenOff() (text string) {
	for _, m := range slices.Backward(l.messages) {
		if m.Role != llm.RoleAssistant || len(m.Calls) > 0 || !m.Interrupted {
			break
		}
		text = m.Text + text
	}
	return text
}

// fresh waits, and then the next send is of another request.
func (r *request) fresh(notice string, wait time.Duration) error {
	err := r.pause(wait)
	r.sends, r.silent, r.faults, r.notice, r.compared = 0, 0, 0, notice, false
	return err
}

// send sends the request once.
func (r *request) send() *answer {
	if r.sends == 0 {
		r.first = time.Now()
		r.requests++
	}
	r.sends++
	a := &answer{sent: time.Now()}
	if a.err = r.reserve(a); a.err != nil {
		return a
	}
	r.during(plug.StageWaiting)
	a.err = r.stream(a)
	if a.err == nil && a.message == nil {
		a.err = unended(a, r.o.Provider.ID())
	}
	return a
}

// during notes what becomes of the request at hand.
func (r *request) during(s plug.Stage) {
	r.at(where{stage: s, attempts: r.sends, first: r.requests == 1})
}

// unended is the failure of an answer without an end mark.
func unended(a *answer, provider string) *llm.Error {
	e := llm.Errorf(llm.CauseStream, "the answer of %s ended without an end mark", provider)
	e.Stream = llm.StreamIncomplete
	if !a.delta {
		e.Stream = llm.StreamEmpty
	}
	return e
}

// judge makes of what was received the turn's answer, or gets ready to ask again.
func (r *request) judge(a *answer) (m llm.Message, done bool, err error) {
	switch {
	case r.ctx.Err() != nil: // whatever else: the run is to end
		r.spent(a)
		if err := r.keep(a, false, nil); err != nil {
			return m, false, err
		}
		return m, false, context.Cause(r.ctx)
	case a.err != nil:
		r.spent(a)
		return m, false, r.broke(a)
	}
	m = *a.message
	m.Role = llm.RoleAssistant
	cut, says := settle(&m), strings.TrimSpace(m.Text) != ""
	if len(m.Calls) == 0 && (cut > 0 || !says) {
		r.spent(a)
		switch {
		case cut > 0:
			return m, false, r.truncated(a, plug.CutCall)
		case m.Truncated:
			return m, false, r.truncated(a, plug.CutEmpty)
		}
		return m, false, r.empty(a)
	}
	if cut > 0 {
		r.loop.notice = noticeMore
	}
	if err := r.claim(&m); err != nil {
		r.spent(a)
		return m, false, err
	}
	return m, true, r.completed(a, m)
}

// answer is what was received for one send.
type answer struct {
	sent time.Time
	// first is when the first text or reasoning came.
	first time.Time
	// received: anything came, typed events too; delta: something of the model did.
	received, delta bool
	// text is what arrived, for the case that the stream breaks; in pieces, since an
	// answer that arrives whole needs no copy of it.
	text     []string
	reasoned bool
	message  *llm.Message
	usage    *llm.Usage // nil where the server reported nothing
	err      error
	// input is what the request is estimated at, in tokens.
	input int
	// held is what the budget holds for it until it is counted.
	held *ledger.Reservation
}

// stream ranges over the provider's events. A panic in the provider is its
// failure and nobody else's.
func (r *request) stream(a *answer) (err error) {
	w := watching(r.ctx, r.o.Limits)
	defer w.end()
	defer func() {
		if p := recover(); p != nil {
			err = llm.Errorf(llm.CauseInternal, "provider %s: panic: %v", r.o.Provider.ID(), p)
		}
	}()
	for ev, err := range r.o.Provider.Stream(w.ctx, r.body()) {
		if err != nil {
			return w.reason(err)
		}
		w.received(ev.Kind)
		r.take(a, ev)
		if r.ctx.Err() != nil {
			return context.Cause(r.ctx)
		}
		w.wait(ev.Kind)
	}
	if a.message != nil {
		return nil
	}
	return w.reason(nil)
}

// body is the request as it is sent. All that is told with it alone stands behind
// the transcript, whose bytes stay.
func (r *request) body() llm.Request {
	messages, output := r.messages, r.maxOutput
	if r.summary != nil {
		messages, output = r.summary.messages, r.summary.output
	}
	if r.left > 0 {
		output = r.left
	}
	if r.notice != "" {
		messages = append(messages[:len(messages):len(messages)], llm.Message{Role: llm.RoleUser, Text: r.notice})
	}
	req := llm.Request{
		Model: r.o.Model.ID, Instructions: r.now.Instructions, Messages: messages, Tools: r.offered,
		MaxOutputTokens: output, SessionID: r.in.SessionID, Effort: r.effort,
	}
	if r.summary == nil {
		req.Sent = r.sentBody
	}
	return req
}

func (r *request) take(a *answer, ev llm.Event) {
	if !a.received {
		a.received = true
		r.during(plug.StageStreaming)
		if r.summary == nil && !r.compared { // nothing went over a wire
			r.compare(nil, false)
		}
	}
	if a.first.IsZero() && (ev.Kind == llm.TextDelta || ev.Kind == llm.ReasoningDelta) {
		a.first = time.Now()
	}
	switch ev.Kind {
	case llm.TextDelta:
		a.delta = true
		a.text = append(a.text, ev.Text)
		r.tellDelta(plug.Delta{Delta: ev.Text})
	case llm.ReasoningDelta:
		a.delta, a.reasoned = true, true
		r.tellDelta(plug.ReasoningText{Delta: ev.Text})
	case llm.CallDelta:
		a.delta = true
	case llm.Completed:
		a.message, a.usage = ev.Message, ledger.Sane(ev.Usage)
	}
}

// tellDelta shows a piece of an answer, unless nobody is to see it.
func (r *request) tellDelta(p plug.Payload) {
	if r.summary == nil {
		r.emit(p)
	}
}
