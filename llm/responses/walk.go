package responses

import "alisio/llm/wire"

// walker reads the one shape that makes up nearly all of a stream, an event with
// a piece of text, of reasoning or of arguments, without allocation:
//
//	{"type":"response.output_text.delta","item_id":"…","output_index":0,
//	 "content_index":0,"delta":"…","logprobs":[],"sequence_number":9}
//
// Keys come in any order. Anything that it is not sure of — another type, an
// error, a list with something in it, a key used twice, invalid UTF-8 — it
// leaves to encoding/json. Where it answers, it answers what encoding/json would.
type walker struct {
	wire.Scanner

	// The results; delta points into the text, or into what the scanner holds.
	kind             deltaKind
	delta            []byte
	index            int // output_index
	content, summary int // content_index and summary_index, -1 for none
}

// walk reports whether it could read b.
func (w *walker) walk(b []byte) bool {
	w.Reset(b)
	w.kind, w.delta, w.index, w.content, w.summary = 0, nil, -1, -1, -1
	if !w.Take('{') {
		return false
	}
	seen := false
	for first := true; ; first = false {
		key, ok := w.Key(first)
		if !ok {
			return false
		}
		switch string(key) {
		case "":
			return w.kind != 0 && seen && w.index >= 0 && w.End()
		case "type":
			ok = w.kind == 0 && w.typ()
		case "delta":
			ok = w.Peek() == '"'
			if ok {
				w.delta, ok = w.Text(&seen)
			}
		case "output_index":
			ok = w.number(&w.index)
		case "content_index":
			ok = w.number(&w.content)
		case "summary_index":
			ok = w.number(&w.summary)
		case "logprobs":
			ok = w.Null() || w.Take('[') && w.Take(']')
		case "error":
			ok = w.Null()
		default:
			ok = w.Skip(key)
		}
		if !ok {
			return false
		}
	}
}

// typ reads a type, which must be that of a piece.
func (w *walker) typ() bool {
	s, ok := w.Plain()
	if !ok {
		return false
	}
	w.kind = kindOf(s)
	return w.kind != 0
}

// number reads an index, once.
func (w *walker) number(n *int) bool {
	if *n >= 0 {
		return false
	}
	var ok bool
	*n, ok = w.Small()
	return ok
}

// part is the number of the part that the piece belongs to.
func (w *walker) part() int {
	if w.kind == summaryDelta {
		return max(w.summary, 0)
	}
	return max(w.content, 0)
}

// deltaKind says what a piece is a piece of.
type deltaKind uint8

const (
	textDelta deltaKind = iota + 1
	thoughtDelta
	summaryDelta
	argumentsDelta
	inputDelta
)

// kindOf knows the types of pieces that are kept, 0 for every other one.
func kindOf(typ []byte) deltaKind {
	switch string(typ) {
	case "response.output_text.delta", "response.refusal.delta":
		return textDelta
	case "response.reasoning_text.delta":
		return thoughtDelta
	case "response.reasoning_summary_text.delta":
		return summaryDelta
	case "response.function_call_arguments.delta":
		return argumentsDelta
	case "response.custom_tool_call_input.delta":
		return inputDelta
	}
	return 0
}
