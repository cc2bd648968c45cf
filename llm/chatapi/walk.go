package chatapi

import "alisio/llm/wire"

// walker reads the one shape that makes up nearly all of a stream, a chunk with
// nothing but a piece of text or reasoning, without allocation:
//
//	{…,"choices":[{"index":0,"delta":{"content":"…"},"finish_reason":null}],…}
//
// Keys come in any order. Anything that it is not sure of — an error, a usage
// report, a finish reason, calls, a second choice, a list, a key used twice,
// invalid UTF-8 — it leaves to encoding/json. Where it answers, it answers what
// encoding/json would.
type walker struct {
	wire.Scanner

	// The results; they point into the text, or into what the scanner holds.
	content   []byte
	reasoning [3][]byte // by reasoningFields
}

// walk reports whether it could read b.
func (w *walker) walk(b []byte) bool {
	w.Reset(b)
	w.content, w.reasoning = nil, [3][]byte{}
	return w.chunk() && w.End()
}

// thought returns the first reasoning that is not empty, and which field it
// came in.
func (w *walker) thought() (field int, s []byte) {
	for i, s := range w.reasoning {
		if len(s) > 0 {
			return i, s
		}
	}
	return 0, nil
}

// chunk reads the outermost object. Keys that make a chunk more than a delta
// must be null.
func (w *walker) chunk() bool {
	if !w.Take('{') {
		return false
	}
	choices := false
	for first := true; ; first = false {
		key, ok := w.Key(first)
		if !ok {
			return false
		}
		switch string(key) {
		case "":
			return choices
		case "choices":
			if choices || !w.Take('[') || !w.choice() || !w.Take(']') {
				return false
			}
			choices = true
		case "error", "usage", "x_groq", "timings", "type":
			ok = w.Null()
		case "object":
			var kind []byte
			kind, ok = w.Plain()
			ok = ok && string(kind) != "error"
		default:
			ok = w.Skip(key)
		}
		if !ok {
			return false
		}
	}
}

// choice reads the one choice, whose index is 0 or absent.
func (w *walker) choice() bool {
	if !w.Take('{') {
		return false
	}
	delta := false
	for first := true; ; first = false {
		key, ok := w.Key(first)
		if !ok {
			return false
		}
		switch string(key) {
		case "":
			return delta
		case "delta":
			if delta || !w.delta() {
				return false
			}
			delta = true
		case "index":
			ok = w.Take('0') && !w.Digit()
		case "finish_reason":
			if w.Peek() == '"' {
				var reason []byte
				reason, ok = w.Plain()
				ok = ok && len(reason) == 0
			} else {
				ok = w.Null()
			}
		case "message", "error", "usage":
			ok = w.Null()
		default:
			ok = w.Skip(key)
		}
		if !ok {
			return false
		}
	}
}

// delta reads the texts. A key used twice is left alone: encoding/json would
// take the last one, or merge.
func (w *walker) delta() bool {
	if !w.Take('{') {
		return false
	}
	var seen [4]bool
	for first := true; ; first = false {
		key, ok := w.Key(first)
		if !ok {
			return false
		}
		switch string(key) {
		case "":
			return true
		case "content":
			w.content, ok = w.Text(&seen[0])
		case "reasoning_content":
			w.reasoning[0], ok = w.Text(&seen[1])
		case "reasoning":
			w.reasoning[1], ok = w.Text(&seen[2])
		case "reasoning_text":
			w.reasoning[2], ok = w.Text(&seen[3])
		case "refusal", "tool_calls", "function_call", "reasoning_details", "extra_content":
			ok = w.Null()
		default:
			ok = w.Skip(key)
		}
		if !ok {
			return false
		}
	}
}
