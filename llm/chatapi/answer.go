package chatapi

import (
	"encoding/json"
	"strings"

	"alisio/llm"
	"alisio/llm/wire"
)

const errParts = wire.TooMuch("more parts of content than a chunk may hold")

// answer is the message in the making.
type answer struct {
	deltas        *wire.Deltas
	origin        llm.Origin
	omitReasoning bool

	// field is the key that reasoning came in first; it goes back under it.
	field string
	// thinking: reasoning came as parts of content and goes back so.
	thinking bool
	details  details
	// extra is the message's own extra_content (Gemini), the last one.
	extra json.RawMessage
	calls assembly

	finish string
	// received: there was any payload beside the end mark.
	received bool
}

// checkReasoning bounds all that is kept of reasoning.
func (a *answer) checkReasoning() error {
	if len(a.deltas.Reasoning())+a.details.size+len(a.extra) > wire.MaxReasoning {
		return wire.ErrReasoning
	}
	return nil
}

// report keeps the last usage that counts anything.
func (a *answer) report(u *llm.Usage) {
	if u != nil {
		a.deltas.Usage = u
	}
}

// hasNothing reports whether neither text nor a call nor reasoning came.
func (a *answer) hasNothing() bool {
	return len(a.deltas.Text()) == 0 && len(a.calls.slots) == 0 && len(a.deltas.Reasoning()) == 0 && len(a.details.items) == 0
}

// end decides what an answer is whose stream is over: complete, or an error
// (spec runner.md, "How a stream ends"). done tells that the end mark came.
func (a *answer) end(server wire.Server, done bool) (llm.Event, error) {
	reason := strings.ToLower(a.finish)
	cut := false
	switch {
	case !a.received:
		return llm.Event{}, wire.Nothing(false)
	case reason == "" && a.hasNothing() && done:
		return llm.Event{}, wire.Nothing(true)
	case reason == "":
		// Calls are acted upon, so they are taken without a finish reason only
		// when everything else says that they are complete.
		if !done || len(a.calls.slots) == 0 || !a.calls.whole() {
			return llm.Event{}, server.Incomplete("ended the stream before the answer was complete")
		}
	case lengthReason(reason):
		cut = true
	case !stopReason(reason):
		return llm.Event{}, server.Ended(a.finish)
	case a.hasNothing():
		return llm.Event{}, wire.Nothing(true)
	}
	m := a.message(cut)
	return llm.Event{Kind: llm.Completed, Message: &m}, nil
}

// stopReason: with calls or without, the calls decide what comes next and not
// the reason's name.
func stopReason(reason string) bool {
	switch reason {
	case "stop", "tool_calls", "function_call", "end", "eos", "eos_token", "end_turn", "stop_sequence", "tool_use":
		return true
	}
	return false
}

// lengthReason: the output limit cut the answer, which is a success with a mark.
func lengthReason(reason string) bool {
	switch reason {
	case "length", "model_length", "max_tokens":
		return true
	}
	return false
}

// message builds the finished message. It settles the ids of calls, which data
// then repeats but for the calls that are cut.
func (a *answer) message(cut bool) llm.Message {
	m := llm.Message{Role: llm.RoleAssistant, Text: a.deltas.Text(), Calls: a.calls.calls(cut), Origin: a.origin, Truncated: cut}
	if a.needsData() {
		m.ProviderData = []json.RawMessage{a.data()}
	}
	return m
}

// needsData reports whether text and calls do not say everything that the
// provider wants back.
func (a *answer) needsData() bool {
	return a.sendsReasoning() || len(a.details.items) > 0 || len(a.extra) > 0 || a.calls.hasExtra()
}

// sendsReasoning: reasoning that came in details alone goes back as details.
func (a *answer) sendsReasoning() bool {
	return len(a.deltas.Reasoning()) > 0 && (a.field != "" || a.thinking) && !a.omitReasoning
}

// data is the whole assistant message as it goes back.
func (a *answer) data() json.RawMessage {
	b := []byte(`{"role":"assistant","content":`)
	if a.thinking && a.sendsReasoning() {
		b = append(b, `[{"type":"thinking","thinking":[{"type":"text","text":`...)
		b = wire.AppendString(b, a.deltas.Reasoning())
		b = append(b, `}]}`...)
		if len(a.deltas.Text()) > 0 {
			b = append(b, `,{"type":"text","text":`...)
			b = wire.AppendString(b, a.deltas.Text())
			b = append(b, '}')
		}
		b = append(b, ']')
	} else {
		b = wire.AppendString(b, a.deltas.Text())
		if a.sendsReasoning() {
			b = append(b, `,"`+a.field+`":`...)
			b = wire.AppendString(b, a.deltas.Reasoning())
		}
	}
	if len(a.details.items) > 0 {
		b = append(b, `,"reasoning_details":`...)
		b = a.details.appendTo(b)
	}
	if len(a.extra) > 0 {
		b = append(b, `,"extra_content":`...)
		b = append(b, a.extra...)
	}
	return append(a.calls.appendCalls(b), '}')
}
