package responses

import (
	"bytes"
	"encoding/json"
	"strings"

	"alisio/llm"
	"alisio/llm/sse"
	"alisio/llm/wire"
)

// turn reads the answer to one request.
type turn struct {
	*wire.Turn
	endpoint *wire.Endpoint
	walker   walker
	answer   answer
}

// Event handles one event of the stream.
func (t *turn) Event(ev sse.Event) error {
	if t.walker.walk(ev.Data) {
		t.answer.received = true
		w := &t.walker
		return t.piece(w.kind, w.index, "", w.part(), w.delta)
	}
	data := bytes.TrimSpace(ev.Data)
	if string(data) == "[DONE]" {
		t.Done()
		return nil
	}
	var e event
	if err := decode(data, &e); err != nil {
		switch {
		case ev.Type == "error":
			return t.endpoint.InBand(data)
		case len(data) == 0:
			return nil
		}
		return t.Garbage(data)
	}
	typ := wire.Text(e.Type)
	if typ == "" {
		typ = ev.Type // data.type is trusted, the event line only without it
	}
	return t.event(typ, &e, data)
}

// event handles a decoded event. An error is looked for before anything else.
// Types outside of the protocol, a gateway's ping, say nothing.
func (t *turn) event(typ string, e *event, data []byte) error {
	switch {
	case typ == "error", typ == "response.error":
		return t.endpoint.InBand(data)
	case wire.Faulty(e.Error):
		return t.endpoint.InBand(e.Error)
	case strings.HasPrefix(typ, "response."):
		return t.known(typ, e, data)
	case wire.Text(e.Object) == "response":
		return t.Whole(data)
	}
	return nil
}

// known handles an event of the protocol.
func (t *turn) known(typ string, e *event, data []byte) error {
	t.answer.received = true
	at, id := index(e.OutputIndex), wire.Text(e.ItemID)
	switch typ {
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		if !wire.Present(e.Response) {
			e.Response = data // some servers send its fields beside the type
		}
		return t.terminal(strings.TrimPrefix(typ, "response."), e.Response)
	case "response.output_item.added":
		return first(t.answer.items.added(at, e.Item), t.AddActivity)
	case "response.output_item.done":
		return t.itemDone(at, e.Item)
	case "response.output_text.done":
		return t.textDone(at, id, e.part(textDelta), e.Text)
	case "response.refusal.done":
		return t.textDone(at, id, e.part(textDelta), e.Refusal)
	case "response.reasoning_text.done":
		return t.thoughtDone(thoughtDelta, at, id, e.part(thoughtDelta), e.Text)
	case "response.reasoning_summary_text.done":
		return t.thoughtDone(summaryDelta, at, id, e.part(summaryDelta), e.Text)
	case "response.function_call_arguments.done":
		return t.argumentsDone(functionCall, at, id, e)
	case "response.custom_tool_call_input.done":
		return t.argumentsDone(customCall, at, id, e)
	}
	if kind := kindOf([]byte(typ)); kind != 0 {
		return t.piece(kind, at, id, e.part(kind), []byte(wire.Text(e.Delta)))
	}
	return t.hidden(strings.HasSuffix(typ, ".delta") && len(wire.Text(e.Delta)) > 0)
}

// part is the number of the part that an event belongs to.
func (e *event) part(kind deltaKind) int {
	if kind == summaryDelta {
		return max(index(e.SummaryIndex), 0)
	}
	return max(index(e.ContentIndex), 0)
}

// hidden notes an event without visible content: a step of the model's, or one of
// which the server alone tells.
func (t *turn) hidden(step bool) error {
	if step {
		return t.AddHidden()
	}
	return t.AddActivity()
}

// piece takes a delta.
func (t *turn) piece(kind deltaKind, at int, id string, part int, s []byte) error {
	switch kind {
	case textDelta:
		it, err := t.answer.items.find(at, id, message)
		if err != nil {
			return err
		}
		return t.text(it, part, s)
	case thoughtDelta, summaryDelta:
		it, err := t.answer.items.find(at, id, reasoning)
		if err != nil {
			return err
		}
		return t.showThought(thought{it, kind, part}, s)
	}
	call := functionCall
	if kind == inputDelta {
		call = customCall
	}
	it, err := t.answer.items.find(at, id, call)
	if err != nil || len(s) == 0 || it.raw != nil {
		return first(err, t.AddActivity)
	}
	it.text = append(it.text, s...)
	return first(t.answer.items.keep(len(s)), t.AddHidden)
}

// text takes and shows a piece of a message's text. What comes behind the whole
// item is part of that already.
func (t *turn) text(it *item, part int, s []byte) error {
	if len(s) == 0 || it.raw != nil {
		return t.AddActivity()
	}
	if part != it.part {
		it.part, it.partAt = part, it.said()
	}
	if err := t.showText(it, s); err != nil {
		return err
	}
	it.add(s, t.Text())
	return nil
}

// showText shows text of a message, with a blank line behind that of another.
func (t *turn) showText(it *item, s []byte) error {
	if len(s) == 0 {
		return t.AddActivity()
	}
	if t.answer.shown != it {
		if t.answer.shown != nil {
			if err := t.AddText([]byte(blankLine)); err != nil {
				return err
			}
		}
		t.answer.shown = it
	}
	return t.AddText(s)
}

// textDone makes the last part of a text what its done event says, which mostly
// is what its pieces gave.
func (t *turn) textDone(at int, id string, part int, raw json.RawMessage) error {
	it, err := t.answer.items.find(at, id, message)
	if err != nil || it.raw != nil {
		return first(err, t.AddActivity)
	}
	if part == it.part && it.saysPart(it.partAt, raw) {
		return t.AddActivity()
	}
	final := []byte(wire.Text(raw))
	switch {
	case len(final) == 0:
		return t.AddActivity()
	case part != it.part:
		if part < it.part {
			return t.AddActivity() // the item's own end says it again
		}
		it.part, it.partAt = part, it.said()
	}
	var rest []byte
	if bytes.HasPrefix(final, it.own()[it.partAt:]) {
		rest = final[len(it.text)-it.partAt:]
	}
	before := len(it.text)
	it.text = append(it.text[:it.partAt], final...)
	if err := t.answer.items.keep(max(0, len(it.text)-before)); err != nil {
		return err
	}
	return t.showText(it, rest)
}

// thought is a part of reasoning.
type thought struct {
	of   *item
	kind deltaKind
	part int
}

// showThought shows a piece of reasoning, with a blank line between two parts. None
// of it is kept: what goes back is the item.
func (t *turn) showThought(p thought, s []byte) error {
	if len(s) == 0 {
		return t.AddActivity()
	}
	if t.answer.thought != p {
		if t.answer.thought.of != nil {
			if err := t.AddReasoning([]byte(blankLine)); err != nil {
				return err
			}
		}
		t.answer.thought = p
	}
	return t.AddReasoning(s)
}

// thoughtDone shows a part of reasoning that came without pieces.
func (t *turn) thoughtDone(kind deltaKind, at int, id string, part int, raw json.RawMessage) error {
	it, err := t.answer.items.find(at, id, reasoning)
	if err != nil {
		return err
	}
	p := thought{it, kind, part}
	if it.raw != nil || t.answer.thought == p {
		return t.AddActivity()
	}
	return t.showThought(p, []byte(wire.Text(raw)))
}

// argumentsDone takes the whole arguments of a call.
func (t *turn) argumentsDone(kind string, at int, id string, e *event) error {
	it, err := t.answer.items.find(at, id, kind)
	if err != nil || it.raw != nil {
		return first(err, t.AddActivity)
	}
	whole, before := it.whole, len(it.text)
	o := outputItem{Arguments: e.Arguments, Input: e.Input}
	if args := o.arguments(kind, it.text); args != nil {
		it.text = args
	}
	if name := wire.Text(e.Name); name != "" {
		it.name = callName(name)
	}
	it.whole = it.name != ""
	if err := t.answer.items.keep(len(it.text) + len(it.name)); err != nil {
		return err
	}
	return t.hidden(it.whole && !whole || len(it.text) > before) // servers may repeat it
}

// itemDone takes a whole item, and shows what its pieces did not give.
func (t *turn) itemDone(at int, raw json.RawMessage) error {
	ended := t.answer.items.ended
	it, rest, err := t.answer.items.done(at, raw)
	if err != nil || it == nil {
		return first(err, t.AddActivity)
	}
	again := t.answer.items.ended == ended
	switch {
	case it.kind == message && (t.answer.shown == it || len(rest) == it.said()):
		return t.showText(it, rest)
	case again:
	case it.kind == reasoning && t.answer.thought.of != it:
		if err := t.wholeThought(it); err != nil || t.answer.thought.of == it {
			return err
		}
	}
	return t.hidden(!again && (it.isCall() || it.kind == reasoning))
}

// first returns err, or else what then returns.
func first(err error, then func() error) error {
	if err != nil {
		return err
	}
	return then()
}

// wholeThought shows the reasoning of an item that came without pieces.
func (t *turn) wholeThought(it *item) error {
	o, _ := head(it.raw)
	for i, list := range []json.RawMessage{o.Summary, o.Content} {
		s, err := texts(list, blankLine)
		if err != nil {
			return err
		}
		if len(s) == 0 {
			continue
		}
		if err := t.showThought(thought{it, summaryDelta, -1 - i}, s); err != nil {
			return err
		}
	}
	return nil
}

// Whole takes an answer that is no stream. Status 200 proves nothing: without
// output it is an error, whatever it says.
func (t *turn) Whole(data []byte) error {
	var r response
	err := decode(data, &r)
	status := wire.Text(r.Status)
	if err != nil || status == "" && !wire.Present(r.Output) {
		return t.endpoint.InBand(data)
	}
	if status == "" {
		status = "completed"
	}
	t.answer.received = true
	return t.terminal(status, data)
}

// terminal takes the end of an answer. Every field of it is optional.
func (t *turn) terminal(status string, raw json.RawMessage) error {
	var r response
	_ = decode(raw, &r) // what is no object says nothing
	if u := r.usage(); u != nil {
		t.Usage = u
	}
	if own := wire.Text(r.Status); status == "completed" && own != "" {
		status = own
	}
	switch {
	case wire.Faulty(r.Error):
		return t.endpoint.InBand(r.Error)
	case status == "completed", status == "incomplete":
	case status == "failed" && r.reason() != "":
		return t.endpoint.Ended(r.reason())
	case status == "queued", status == "in_progress":
		return t.endpoint.Incomplete("sent an answer that is not finished")
	default:
		return t.endpoint.Ended(status)
	}
	t.answer.status, t.answer.reason = status, r.reason()
	t.Done()
	return t.output(r.Output)
}

// output takes the list of a terminal event. It may be empty although items were
// streamed, and is used where it tells more than they did.
func (t *turn) output(raw json.RawMessage) error {
	list, ok := wire.Elements(raw, maxItems)
	if !ok {
		return errItems
	}
	if len(list) == 0 || t.answer.items.told(len(list)) {
		return nil
	}
	if err := t.answer.items.replace(list, t.answer.status == "incomplete"); err != nil {
		return err
	}
	if t.answer.thought.of == nil {
		for _, it := range t.answer.items.list {
			if it.kind == reasoning {
				if err := t.wholeThought(it); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// End decides what the answer is, and shows what of its text was not shown.
func (t *turn) End() (llm.Event, error) {
	ev, err := t.answer.end(t.endpoint.Server, t.IsDone(), t.Text())
	if err != nil {
		return ev, err
	}
	if rest, ok := strings.CutPrefix(ev.Message.Text, t.Text()); ok && rest != "" {
		return ev, t.AddText([]byte(rest))
	}
	return ev, nil
}
