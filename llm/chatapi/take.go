package chatapi

import (
	"bytes"
	"encoding/json"

	"alisio/llm"
	"alisio/llm/sse"
)

// joined is about how much text that has already arrived is put into one event,
// in bytes.
const joined = 8 << 10

// take handles one event of the stream. Errors are looked for before anything
// else: an error object next to choices, or in place of them, is never an
// empty chunk.
func (t *turn) take(ev sse.Event) error {
	if ev.Type == "error" {
		return t.client.server.InBand(ev.Data)
	}
	if t.walker.walk(ev.Data) {
		t.answer.received = true
		return t.delta()
	}
	data := bytes.TrimSpace(ev.Data)
	switch {
	case len(data) == 0:
		return nil
	case string(data) == "[DONE]":
		t.done = true
		return nil
	}
	t.answer.received = true
	c, err := decode(data)
	if fault := c.fault(data); fault != nil {
		return t.client.server.InBand(fault)
	}
	if err != nil {
		return t.garbage(data)
	}
	return t.chunk(c)
}

// garbage reports data that is no chunk. Google sends errors as a list.
func (t *turn) garbage(data []byte) error {
	var one struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Valid(data) {
		if errs, _ := elements(data, 1); len(errs) > 0 && json.Unmarshal(errs[0], &one) == nil && faulty(one.Error) {
			return t.client.server.InBand(one.Error)
		}
	}
	excerpt := []rune(t.client.server.Clean(string(data[:min(len(data), maxPage)])))
	return t.fail("sent something in its stream that is not valid: " + string(excerpt[:min(len(excerpt), 100)]))
}

// delta takes what the walker found.
func (t *turn) delta() error {
	if field, s := t.walker.thought(); len(s) > 0 {
		if err := t.showReasoning(reasoningFields[field], s); err != nil {
			return err
		}
	}
	if len(t.walker.content) > 0 {
		return t.showText(t.walker.content)
	}
	return nil
}

// chunk takes a decoded chunk. Text, finish reason and usage may all stand in
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
		t.answer.report(ch.Usage.words())
	}
	if t.answer.usage == nil {
		t.answer.report(c.Timings.words())
	}
	if c.XGroq != nil {
		t.answer.report(c.XGroq.Usage.words())
	}
	t.answer.report(c.Usage.words())
	return nil
}

// finish notes a finish reason. From here on the stream has little time left:
// some servers keep the connection open for ever.
func (t *turn) finish(reason string) {
	t.answer.finish = reason
	if t.stopGrace == nil {
		t.stopGrace = after(t.client.grace, t.cancel)
	}
}

// message takes a delta, or a whole message: reasoning first, then text, then
// calls, the order in which a model makes them.
func (t *turn) message(d *delta) error {
	p, fits := content(d.Content)
	if !fits {
		return t.tooMuch(errParts)
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
	if present(d.ExtraContent) {
		t.answer.extra = kept(d.ExtraContent)
	}
	if err := t.answer.checkReasoning(); err != nil || !fits {
		return t.tooMuch(errReasoning)
	}
	if err := t.parent.Err(); err != nil {
		return err // one chunk may be work for a second
	}
	if s != "" {
		if err := t.showReasoning(field, []byte(s)); err != nil {
			return err
		}
	}
	if visible := append(p.text, text(d.Refusal)...); len(visible) > 0 {
		if err := t.showText(visible); err != nil {
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
		return t.tooMuch(errCalls)
	}
	for i, raw := range list {
		if err := t.parent.Err(); err != nil {
			return err
		}
		f, ok := readFragment(raw)
		if !ok {
			continue
		}
		f.later = i > 0
		if err := t.answer.calls.add(f); err != nil {
			return t.tooMuch(err)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return t.show(llm.Activity)
}

func (t *turn) showText(s []byte) error {
	if err := t.show(llm.TextDelta); err != nil {
		return err
	}
	if err := t.answer.addText(s); err != nil {
		return t.tooMuch(err)
	}
	return t.flushAt(joined)
}

func (t *turn) showReasoning(field string, s []byte) error {
	if err := t.show(llm.ReasoningDelta); err != nil {
		return err
	}
	if err := t.answer.addReasoning(field, s); err != nil {
		return t.tooMuch(err)
	}
	return t.flushAt(joined)
}

// tooMuch ends a turn that would not fit into memory.
func (t *turn) tooMuch(err error) error {
	return t.fail("sent " + err.Error())
}

// show makes kind the pending one; what is pending of another kind goes out
// first.
func (t *turn) show(kind llm.EventKind) error {
	if t.pending != kind {
		if err := t.flush(); err != nil {
			return err
		}
	}
	t.pending = kind
	return nil
}

// flushAt yields what is pending once it has a size, so that a server which
// sends faster than anyone reads still gives events.
func (t *turn) flushAt(size int) error {
	if t.answer.text.Len()-t.shownText+t.answer.reasoning.Len()-t.shownThought < size {
		return nil
	}
	return t.flush()
}

// flush yields what is pending. The text of an event is a piece of the answer's
// own text, which only grows behind it: it costs no copy. After a cancel nothing
// more is shown.
func (t *turn) flush() error {
	ev := llm.Event{Kind: t.pending}
	switch t.pending {
	case 0:
		return nil
	case llm.TextDelta:
		ev.Text = t.answer.text.String()[t.shownText:]
		t.shownText = t.answer.text.Len()
	case llm.ReasoningDelta:
		ev.Text = t.answer.reasoning.String()[t.shownThought:]
		t.shownThought = t.answer.reasoning.Len()
	}
	t.pending = 0
	if t.parent.Err() != nil {
		return t.parent.Err()
	}
	if !t.yield(ev) {
		return errBreak
	}
	return nil
}
