package run

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"alisio/agent/compact"
	"alisio/agent/ledger"
	"alisio/llm"
	"alisio/plug"
)

// completed counts an answer, stores it together with the event that reports it,
// and takes it into the transcript.
func (r *request) completed(a *answer, m llm.Message) error {
	done := plug.TurnCompleted{
		Turn: r.turn, Calls: len(m.Calls), Model: r.o.Model.ID,
		DurationMs: time.Since(a.sent).Milliseconds(),
	}
	if !a.first.IsZero() {
		ttft := a.first.Sub(a.sent).Milliseconds()
		done.TTFTMs = &ttft
	}
	u, guessed := a.usage, a.usage == nil
	if guessed {
		u = a.estimate(m)
	} else {
		done.Usage = &plug.Usage{Input: u.Input, Output: u.Output, CachedInput: u.CachedInput}
		if p := r.o.Model.Price; p != nil {
			done.Usage.Cost = ledger.Cost(*u, *p)
		}
	}
	r.count(a, plug.SpentOnTurn, u, guessed)
	done.Beside, done.Sent = r.beside(), r.o.Last.Turn(r.differs)
	done.Tokens = r.tokens
	believed := !guessed && r.believes(*u)
	if believed {
		r.learn(u.Input)
	}
	r.messages = append(r.messages, m)
	if believed {
		r.reported, r.reportedAt = u.Input+u.Output, len(r.messages)
		if window := r.o.Model.ContextWindow; window > 0 {
			r.reported = min(r.reported, window)
		}
	}
	r.hold(done, m)
	if len(m.Calls) == 0 {
		return nil // the run's end follows at once
	}
	return r.flush()
}

// estimate stands in for usage that the server did not report: what the budget took the
// request for, and the answer by the same measure.
func (a *answer) estimate(m llm.Message) *llm.Usage {
	return &llm.Usage{Input: a.input, Output: compact.Tokens(m)}
}

// settle makes the calls of an answer fit to be stored. A call whose arguments
// are cut is taken out, whatever the finish reason said, and counted: it is
// never closed by guesswork and never run (spec runner.md, "Truncation
// recovery"; C053); in a cut answer one without arguments may have been cut before
// the first byte of them. One whose arguments are broken JSON stays, with the raw text
// as a JSON string: its result tells the model. The provider's data stays as it
// is: what of it no longer agrees with the calls, its client leaves out.
func settle(m *llm.Message) (cut int) {
	kept := m.Calls[:0:0]
	for _, c := range m.Calls {
		if strings.TrimSpace(c.Arguments) == "" && !m.Truncated {
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
