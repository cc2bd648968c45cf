package responses

import (
	"encoding/json"
	"slices"
	"strings"

	"alisio/llm"
	"alisio/llm/wire"
)

// maxNesting is how deep the values of an item that is kept may lie in each
// other.
const maxNesting = 64

// answer is the message in the making.
type answer struct {
	origin llm.Origin
	items  items
	// shown is the item whose text was shown last, thought the part of reasoning.
	shown   *item
	thought thought

	// status is "completed" or "incomplete" behind a terminal event, reason why it
	// is incomplete.
	status, reason string
	// received: there was any event of an answer.
	received bool
}

// end decides what an answer is whose stream is over: complete, or an error
// (spec runner.md, "How a stream ends"). done tells that the end mark came, shown is the
// text that was shown.
func (a *answer) end(server wire.Server, done bool, shown string) (llm.Event, error) {
	a.items.sort()
	m := a.message(shown)
	switch {
	case !a.received:
		return llm.Event{}, wire.Nothing(false)
	case a.status == "incomplete":
		if !cutReason(a.reason) {
			return llm.Event{}, server.Ended(a.reason)
		}
	case a.status == "" && done && len(a.items.list) == 0:
		return llm.Event{}, wire.Nothing(true)
	case a.status == "" && !(done && a.wholeCalls(m)):
		// Calls are acted upon, so they are taken without a terminal event only
		// when everything else says that they are complete.
		return llm.Event{}, server.Incomplete("ended the stream before the answer was complete")
	case len(m.Calls) > 0 && !a.callsEnded():
		return llm.Event{}, server.Incomplete("ended the answer in the middle of a tool call")
	case m.Text == "" && !slices.ContainsFunc(a.items.list, func(it *item) bool { return it.kind != message }):
		return llm.Event{}, wire.Nothing(true)
	}
	if len(m.Text) > wire.MaxText {
		return llm.Event{}, wire.ErrText
	}
	return llm.Event{Kind: llm.Completed, Message: &m}, nil
}

// cutReason: the output limit cut the answer, which is a success with a mark.
// Without a reason it is the likely one.
func cutReason(reason string) bool {
	switch strings.ToLower(reason) {
	case "", "max_output_tokens", "max_tokens", "length":
		return true
	}
	return false
}

// callsEnded reports whether every call has come to its end: only then it may be
// run (protocol, "Consuming").
func (a *answer) callsEnded() bool {
	for _, it := range a.items.list {
		if it.isCall() && !it.whole {
			return false
		}
	}
	return true
}

// wholeCalls reports whether there are calls, and all are complete.
func (a *answer) wholeCalls(m llm.Message) bool {
	for _, c := range m.Calls {
		if c.Name == "" || !json.Valid([]byte(c.Arguments)) {
			return false
		}
	}
	return len(m.Calls) > 0 && a.callsEnded()
}

// message builds the finished message.
func (a *answer) message(shown string) llm.Message {
	m := llm.Message{
		Role: llm.RoleAssistant, Text: a.items.text(shown), Origin: a.origin,
		Truncated: a.status == "incomplete",
	}
	var own bool
	if m.Calls, own = a.items.calls(a.status == "completed"); own {
		m.ProviderData = a.items.data(m.Truncated)
	}
	return m
}

// data is the output as it goes back: all items in order, as they came. Calls that
// were cut are left out at the end, and with them the reasoning that led to them;
// in an answer that was cut also reasoning that led to nothing. Servers refuse it
// alone (C046). Where any other item is missing the pieces of the rest are worth
// nothing, and the message is rebuilt from its text and its calls.
func (l *items) data(truncated bool) []json.RawMessage {
	list, gone := l.list, truncated
	for n := len(list) - 1; n >= 0 && (list[n].cut || gone && list[n].kind == reasoning); n-- {
		gone = gone || list[n].cut
		list = list[:n]
	}
	var data []json.RawMessage
	for _, it := range list {
		if it.raw == nil || it.cut || deep(it.raw, maxNesting) {
			return nil
		}
		data = append(data, it.raw)
	}
	return data
}

// deep reports whether valid JSON is nested more than most levels deep, which
// is not stored.
func deep(raw []byte, most int) bool {
	depth := 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			i = wire.PastString(raw, i) - 1
		case '{', '[':
			if depth++; depth > most {
				return true
			}
		case '}', ']':
			depth--
		}
	}
	return false
}
