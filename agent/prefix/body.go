package prefix

import (
	"bytes"
	"iter"
	"strconv"
)

// walker goes through the JSON of a body that a wire client made. It reads no further
// than it has to, and of what is no JSON it says nothing.
type walker struct {
	b  []byte
	at int
}

// layout says where the parts of a body begin that stand before its messages, the first
// message last, and where its last message ends that was not told with that request
// alone. The end is 0 where there is none.
func layout(body []byte, alone int) (parts []int, end int) {
	w := walker{b: body}
	ends := make([]int, alone+1) // of the last messages
	n := 0
	for name, at := range w.members() {
		if name == "tools" || name == "instructions" {
			parts = append(parts[:min(len(parts), mostParts-2)], at)
		}
		if !holdsMessages(name) {
			continue
		}
		parts = append(parts, at)
		for start := range w.elements() {
			if w.system(n, start) {
				parts = append(parts, w.at)
			}
			ends[n%len(ends)] = w.at
			n++
		}
		break
	}
	if n <= alone {
		return parts, 0
	}
	return parts, ends[n%len(ends)]
}

func holdsMessages(name string) bool { return name == "messages" || name == "input" }

// system reports whether the n-th element of the messages, from 0, is the instructions,
// which some protocols send as a message.
func (w *walker) system(n, start int) bool {
	return n == 0 && bytes.HasPrefix(w.b[start:], []byte(`{"role":"system"`))
}

// placeOf names what stands at a byte of a body: "head", "tools", "instructions" or
// "message N", from 1; "end" is all behind the messages.
func placeOf(body []byte, at int) string {
	w := walker{b: body}
	for name, start := range w.members() {
		if start > at {
			return "head"
		}
		if holdsMessages(name) {
			return w.message(at)
		}
		switch w.skip(); {
		case at >= w.at:
		case name == "tools", name == "instructions":
			return name
		default:
			return "head"
		}
	}
	return "head"
}

// message is the place of a byte among the messages.
func (w *walker) message(at int) string {
	n := 1
	for start := range w.elements() {
		system := w.system(n-1, start)
		switch {
		case at >= w.at:
		case system:
			return "instructions"
		default:
			return "message " + strconv.Itoa(n)
		}
		if !system {
			n++
		}
	}
	return "end"
}

// members ranges over the names of an object's members and where each value begins. A
// value that nobody has read is passed over.
func (w *walker) members() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for w.next('{') {
			from := w.at
			w.skip()
			name := bytes.Trim(w.b[from:w.at], `"`)
			if w.at >= len(w.b) || w.b[w.at] != ':' {
				return
			}
			w.at++
			value := w.at
			if !yield(string(name), value) {
				return
			}
			if w.at == value {
				w.skip()
			}
		}
	}
}

// elements ranges over the elements of a list: where each begins, when it was read.
func (w *walker) elements() iter.Seq[int] {
	return func(yield func(int) bool) {
		for w.next('[') {
			start := w.at
			if w.at < len(w.b) && w.b[w.at] == ']' {
				return
			}
			if w.skip(); w.at == start || !yield(start) {
				return
			}
		}
	}
}

// next passes the byte that opens a list or an object, or the comma before more of it.
func (w *walker) next(opens byte) bool {
	if w.at >= len(w.b) || w.b[w.at] != opens && w.b[w.at] != ',' {
		return false
	}
	w.at++
	return true
}

// skip passes one value.
func (w *walker) skip() {
	depth := 0
	for w.at < len(w.b) {
		switch w.b[w.at] {
		case '"':
			w.text()
			if depth == 0 {
				return
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return
			}
			if depth--; depth == 0 {
				w.at++
				return
			}
		case ',':
			if depth == 0 {
				return
			}
		}
		w.at++
	}
}

// text passes a string, in which nothing but its end is looked for.
func (w *walker) text() {
	for w.at++; w.at < len(w.b); {
		n := bytes.IndexByte(w.b[w.at:], '"')
		if n < 0 {
			w.at = len(w.b)
			return
		}
		quote := w.at + n
		slashes := 0
		for quote-slashes > w.at && w.b[quote-1-slashes] == '\\' {
			slashes++
		}
		if w.at = quote + 1; slashes%2 == 0 {
			return
		}
	}
}
