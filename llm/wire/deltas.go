package wire

import (
	"context"
	"errors"
	"strings"

	"alisio/llm"
)

const (
	// MaxText bounds the visible text of an answer, in bytes.
	MaxText = 16 << 20
	// MaxReasoning bounds the reasoning of an answer, in bytes.
	MaxReasoning = 16 << 20
	// Joined is about how much text that has already arrived is put into one
	// event, in bytes.
	Joined = 8 << 10
)

// TooMuch tells of an answer that does not fit into memory. Its text goes on
// behind "HOST sent".
type TooMuch string

// What an answer can have too much of.
const (
	ErrText      = TooMuch("more text than an answer may hold")
	ErrReasoning = TooMuch("more reasoning than an answer may hold")
	ErrCalls     = TooMuch("more tool calls, or arguments, than an answer may hold")
)

func (e TooMuch) Error() string { return string(e) }

// ErrLeft tells that the reader of the sequence wants no more.
var ErrLeft = errors.New("the sequence was left")

// Deltas collects the text and the reasoning of an answer and yields them in
// pieces. Pieces of one kind are held back until Flush, or until they have a
// size.
type Deltas struct {
	ctx   context.Context
	yield func(llm.Event) bool

	// Usage is the last that the server reported, nil for nothing. It goes out with
	// the completed event, or with the error that ends the answer.
	Usage *llm.Usage

	text, reasoning strings.Builder
	// pending is the kind of what is held back, 0 for nothing; shown counts the
	// bytes of text and reasoning that have been yielded.
	pending                 llm.EventKind
	shownText, shownThought int
}

// Text is all visible text so far.
func (d *Deltas) Text() string { return d.text.String() }

// Reasoning is all reasoning so far.
func (d *Deltas) Reasoning() string { return d.reasoning.String() }

// Err is the error of the caller's context.
func (d *Deltas) Err() error { return d.ctx.Err() }

// AddText takes a piece of visible text.
func (d *Deltas) AddText(s []byte) error {
	if err := d.show(llm.TextDelta); err != nil {
		return err
	}
	add(&d.text, s)
	if d.text.Len() > MaxText {
		return ErrText
	}
	return d.flushAt(Joined)
}

// AddReasoning takes a piece of reasoning.
func (d *Deltas) AddReasoning(s []byte) error {
	if err := d.show(llm.ReasoningDelta); err != nil {
		return err
	}
	add(&d.reasoning, s)
	if d.reasoning.Len() > MaxReasoning {
		return ErrReasoning
	}
	return d.flushAt(Joined)
}

// add doubles the room when it is used up: a slice of this length would grow by a
// quarter, and copy a long answer five times.
func add(b *strings.Builder, s []byte) {
	if len(s) > b.Cap()-b.Len() {
		b.Grow(len(s))
	}
	b.Write(s)
}

// AddActivity notes an event by which the model got no further.
func (d *Deltas) AddActivity() error { return d.show(llm.Activity) }

// AddHidden notes progress of the model without visible content: a piece of a call.
func (d *Deltas) AddHidden() error { return d.show(llm.CallDelta) }

// show makes kind the pending one; what is pending of another kind goes out
// first.
func (d *Deltas) show(kind llm.EventKind) error {
	if d.pending != kind {
		if err := d.Flush(); err != nil {
			return err
		}
	}
	d.pending = kind
	return nil
}

// flushAt yields what is pending once it has a size, so that a server which
// sends faster than anyone reads still gives events.
func (d *Deltas) flushAt(size int) error {
	if d.text.Len()-d.shownText+d.reasoning.Len()-d.shownThought < size {
		return nil
	}
	return d.Flush()
}

// Flush yields what is pending. The text of an event is a piece of the answer's
// own text, which only grows behind it: it costs no copy. After a cancel nothing
// more is shown.
func (d *Deltas) Flush() error {
	ev := llm.Event{Kind: d.pending}
	switch d.pending {
	case 0:
		return nil
	case llm.TextDelta:
		ev.Text = d.text.String()[d.shownText:]
		d.shownText = d.text.Len()
	case llm.ReasoningDelta:
		ev.Text = d.reasoning.String()[d.shownThought:]
		d.shownThought = d.reasoning.Len()
	}
	d.pending = 0
	if d.Err() != nil {
		return d.Err()
	}
	if !d.yield(ev) {
		return ErrLeft
	}
	return nil
}
