package run

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"alisio/llm"
	"alisio/plug"
)

// request sends the transcript, emits the deltas, and stores the answer.
func (l *loop) request() (llm.Message, error) {
	a := answer{sent: time.Now()}
	err := l.stream(&a)
	if err != nil || a.message == nil {
		return llm.Message{}, l.broke(&a, err)
	}
	m := *a.message
	m.Role = llm.RoleAssistant
	cut := settle(&m)
	if m.Text == "" && len(m.Calls) == 0 {
		return llm.Message{}, l.nothing(&a, m, cut)
	}
	if err := l.claim(&m); err != nil {
		return llm.Message{}, err
	}
	if err := l.completed(&a, m); err != nil {
		return llm.Message{}, err
	}
	if cut > 0 && len(m.Calls) == 0 {
		return llm.Message{}, cutError(l.maxOutput)
	}
	return m, nil
}

// answer collects one response.
type answer struct {
	sent  time.Time
	first time.Time
	// text is what arrived, for the case that the stream breaks; in pieces,
	// since an answer that arrives whole needs no copy of it.
	text     []string
	reasoned bool
	message  *llm.Message
	usage    *llm.Usage
}

// stream ranges over the provider's events. A panic in the provider is its
// failure and nobody else's.
func (l *loop) stream(a *answer) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = llm.Errorf(llm.CauseInternal, "provider %s: panic: %v", l.o.Provider.ID(), p)
		}
	}()
	req := llm.Request{
		Model: l.o.Model.ID, Instructions: l.now.Instructions, Messages: l.messages, Tools: l.offered,
		MaxOutputTokens: l.maxOutput, SessionID: l.in.SessionID,
	}
	if l.o.Effort != "" && l.o.Model.TakesEffort(l.o.Effort) {
		req.Effort = l.o.Effort
	}
	for ev, err := range l.o.Provider.Stream(l.ctx, req) {
		if err != nil {
			return err
		}
		l.take(a, ev)
		if l.ctx.Err() != nil {
			return context.Cause(l.ctx)
		}
	}
	return nil
}

func (l *loop) take(a *answer, ev llm.Event) {
	if a.first.IsZero() && (ev.Kind == llm.TextDelta || ev.Kind == llm.ReasoningDelta) {
		a.first = time.Now()
	}
	switch ev.Kind {
	case llm.TextDelta:
		a.text = append(a.text, ev.Text)
		l.emit(plug.Delta{Delta: ev.Text})
	case llm.ReasoningDelta:
		a.reasoned = true
		l.emit(plug.ReasoningText{Delta: ev.Text})
	case llm.Completed:
		a.message, a.usage = ev.Message, ev.Usage
	}
}

// broke keeps the text of a stream that did not reach its end, marked, without
// any of its calls, and returns why it ended.
func (l *loop) broke(a *answer, err error) error {
	if err == nil {
		err = llm.Errorf(llm.CauseStream, "the answer of %s ended without an end mark", l.o.Provider.ID())
	}
	if text := strings.Join(a.text, ""); text != "" {
		m := llm.Message{
			Role: llm.RoleAssistant, Text: text, Interrupted: true,
			Origin: llm.Origin{Provider: l.o.Provider.ID(), Model: l.o.Model.ID},
		}
		if e := l.append(m); e != nil {
			return e
		}
		l.text = text
	}
	return err
}

// completed counts an answer, stores it together with the event that reports it,
// and takes it into the transcript.
func (l *loop) completed(a *answer, m llm.Message) error {
	done := plug.TurnCompleted{
		Turn: l.turn, Calls: len(m.Calls), Model: l.o.Model.ID,
		DurationMs: time.Since(a.sent).Milliseconds(),
	}
	if !a.first.IsZero() {
		ttft := a.first.Sub(a.sent).Milliseconds()
		done.TTFTMs = &ttft
	}
	u := a.usage
	if u != nil {
		done.Usage = &plug.Usage{Input: u.Input, Output: u.Output, CachedInput: u.CachedInput}
	}
	if u == nil || *u == (llm.Usage{}) {
		u, l.usage.guessed = l.estimate(m), true
	}
	l.usage.Usage = l.usage.Add(*u)
	l.tokens += u.Input + u.Output
	done.Tokens = l.tokens
	l.messages = append(l.messages, m)
	l.hold(done, m)
	if len(m.Calls) == 0 {
		return nil // the run's end follows at once
	}
	return l.flush()
}

// estimate stands in for usage that the server did not report: four characters
// a token.
func (l *loop) estimate(answer llm.Message) *llm.Usage {
	in := len(l.now.Instructions)
	for _, t := range l.offered {
		in += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for _, m := range l.messages {
		in += size(m)
	}
	return &llm.Usage{Input: in / charsPerToken, Output: size(answer) / charsPerToken}
}

func size(m llm.Message) int {
	n := len(m.Text)
	for _, c := range m.Calls {
		n += len(c.Name) + len(c.Arguments)
	}
	for _, p := range m.Parts {
		n += len(p.Text)
	}
	return n
}

// settle makes the calls of an answer fit to be stored. A call whose arguments
// are cut is taken out, whatever the finish reason said, and counted: it is
// never closed by guesswork and never run (spec runner.md, "Truncation
// recovery"; C053). One whose arguments are broken JSON stays, with the raw text
// as a JSON string: its result tells the model. The provider's data stays as it
// is: what of it no longer agrees with the calls, its client leaves out.
func settle(m *llm.Message) (cut int) {
	kept := m.Calls[:0:0]
	for _, c := range m.Calls {
		if strings.TrimSpace(c.Arguments) == "" {
			c.Arguments = "{}"
		}
		switch err := checkJSON(c.Arguments); {
		case err == nil:
		case m.Truncated || errors.Is(err, io.ErrUnexpectedEOF):
			cut++
			continue
		default:
			c.Arguments = quoted(c.Arguments)
		}
		kept = append(kept, c)
	}
	m.Calls = kept
	return cut
}

// quoted makes JSON of arguments that are none.
func quoted(arguments string) string {
	raw, _ := json.Marshal(map[string]string{brokenKey: arguments}) // strings always marshal
	return string(raw)
}

// brokenKey marks arguments that were no JSON.
const brokenKey = "not_json"

// checkJSON tells valid JSON from cut (io.ErrUnexpectedEOF) and from broken.
func checkJSON(s string) error {
	d := json.NewDecoder(strings.NewReader(s))
	var v json.RawMessage
	if err := d.Decode(&v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON value")
	}
	return nil
}

// nothing says why an answer without text and without calls is a failure.
func (l *loop) nothing(a *answer, m llm.Message, cut int) error {
	switch {
	case cut > 0:
		return cutError(l.maxOutput)
	case m.Truncated:
		return llm.Errorf(llm.CauseOutputTruncated, "the answer was cut by the output limit before it said anything").
			WithHint("raise limits.maxOutputTokens, or lower --effort")
	case a.reasoned:
		return llm.Errorf(llm.CauseStream, "the model ended its turn after reasoning, without any visible output")
	}
	return llm.Errorf(llm.CauseStream, "the model returned nothing: no text and no tool call")
}

func cutError(limit int) *llm.Error {
	return llm.Errorf(llm.CauseOutputTruncated,
		"the answer was cut in the middle of a tool call, which was not run (output limit: %d tokens)", limit).
		WithHint("raise limits.maxOutputTokens, or ask for smaller steps")
}
