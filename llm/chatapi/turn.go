package chatapi

import (
	"bytes"

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

// Whole takes a whole answer. Status 200 proves nothing: without choices it is
// an error, whatever it says.
func (t *turn) Whole(data []byte) error {
	c, err := decode(data)
	t.usage(c)
	if fault := c.fault(data); fault != nil {
		return t.endpoint.InBand(fault)
	}
	if err != nil || len(c.Choices) == 0 {
		return t.endpoint.InBand(data)
	}
	t.answer.received = true
	if err := t.chunk(c); err != nil {
		return err
	}
	if t.answer.finish == "" {
		t.answer.finish = "stop" // the text is whole, which is what the mark is for
	}
	return nil
}

// End decides what the answer is.
func (t *turn) End() (llm.Event, error) { return t.answer.end(t.endpoint.Server, t.IsDone()) }

// Event handles one event of the stream. Errors are looked for before anything
// else: an error object next to choices, or in place of them, is never an
// empty chunk.
func (t *turn) Event(ev sse.Event) error {
	if ev.Type == "error" {
		return t.endpoint.InBand(ev.Data)
	}
	if t.walker.walk(ev.Data) {
		return t.begin(t.delta())
	}
	data := bytes.TrimSpace(ev.Data)
	switch {
	case len(data) == 0:
		return nil
	case string(data) == "[DONE]":
		t.Done()
		return nil
	}
	c, err := decode(data)
	t.usage(c)
	if fault := c.fault(data); fault != nil {
		return t.endpoint.InBand(fault)
	}
	if err != nil {
		return t.Garbage(data)
	}
	return t.begin(t.chunk(c))
}

// begin takes what a chunk gave. The first one tells that the server works on an
// answer, although most have nothing in them but the role.
func (t *turn) begin(err error) error {
	if err != nil || t.answer.received {
		return err
	}
	if t.answer.received = true; t.answer.hasNothing() {
		return t.AddActivity()
	}
	return nil
}

// delta takes what the walker found.
func (t *turn) delta() error {
	if field, s := t.walker.thought(); len(s) > 0 {
		if err := t.showReasoning(reasoningFields[field], s); err != nil {
			return err
		}
	}
	if len(t.walker.content) > 0 {
		return t.AddText(t.walker.content)
	}
	return nil
}

// chunk takes a decoded chunk. Text and a finish reason may both stand in
// one; a later chunk without a finish reason does not take it back.
func (t *turn) chunk(c chunk) error {
	for i := range c.Choices {
		ch := &c.Choices[i]
		if ch.Index != nil && *ch.Index != 0 {
			continue // one answer was asked for
		}
		d := ch.Delta
		if d == nil && t.answer.hasNothing() {
			d = ch.Message // a whole message counts unless it repeats the deltas
		}
		if d != nil {
			if err := t.message(d); err != nil {
				return err
			}
		}
		if ch.FinishReason != "" {
			t.finish(ch.FinishReason)
		}
	}
	return nil
}

// usage notes what a chunk says of it, in all the places where servers say it; also
// one that tells of an error.
func (t *turn) usage(c chunk) {
	for i := range c.Choices {
		if ch := &c.Choices[i]; ch.Index == nil || *ch.Index == 0 {
			t.answer.report(ch.Usage.words())
		}
	}
	if t.Usage == nil {
		t.answer.report(c.Timings.words())
	}
	if c.XGroq != nil {
		t.answer.report(c.XGroq.Usage.words())
	}
	t.answer.report(c.Usage.words())
}

// finish notes a finish reason.
func (t *turn) finish(reason string) {
	t.answer.finish = reason
	t.Finish()
}

// message takes a delta, or a whole message: reasoning first, then text, then
// calls, the order in which a model makes them.
func (t *turn) message(d *delta) error {
	p, fits := content(d.Content)
	if !fits {
		return errParts
	}
	if p.thinking {
		t.answer.thinking = true
	}
	field, s := d.reasoning()
	if s == "" {
		s = string(p.reasoning)
	}
	shown, fits := t.answer.details.add(d.ReasoningDetails)
	if s == "" && field == "" {
		field, s = "", shown
	}
	if wire.Present(d.ExtraContent) {
		t.answer.extra = wire.Kept(d.ExtraContent)
	}
	if err := t.answer.checkReasoning(); err != nil || !fits {
		return wire.ErrReasoning
	}
	if err := t.Err(); err != nil {
		return err // one chunk may be work for a second
	}
	if s != "" {
		if err := t.showReasoning(field, []byte(s)); err != nil {
			return err
		}
	}
	if visible := append(p.text, wire.Text(d.Refusal)...); len(visible) > 0 {
		if err := t.AddText(visible); err != nil {
			return err
		}
	}
	return t.calls(d)
}

// calls hands fragments to the assembly. What is no object at all is skipped:
// a call without a name could not run anyway.
func (t *turn) calls(d *delta) error {
	list, ok := d.fragments()
	if !ok {
		return wire.ErrCalls
	}
	progress := false
	for i, raw := range list {
		if err := t.Err(); err != nil {
			return err
		}
		f, ok := readFragment(raw)
		if !ok {
			continue
		}
		f.later = i > 0
		grown, err := t.answer.calls.add(f)
		if err != nil {
			return err
		}
		progress = progress || grown
	}
	switch {
	case progress:
		return t.AddHidden()
	case len(list) > 0:
		return t.AddActivity()
	}
	return nil
}

func (t *turn) showReasoning(field string, s []byte) error {
	if t.answer.field == "" && !t.answer.thinking {
		t.answer.field = field
	}
	if err := t.AddReasoning(s); err != nil {
		return err
	}
	return t.answer.checkReasoning()
}
