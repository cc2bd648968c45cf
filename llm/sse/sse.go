// Package sse reads Server-Sent Events: the one reader for every model API and
// for MCP over HTTP.
//
// It follows the event stream grammar of the WHATWG HTML standard and knows
// nothing about what an event means, about HTTP, or about reconnecting. It
// never waits for more bytes than the next event needs, and its memory is
// bounded whatever a server sends.
package sse

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// DefaultMax is the limit for one line and for the data of one event, in bytes.
const DefaultMax = 64 << 20

// Event is one dispatched event.
type Event struct {
	// Type is "message" when the server gave none.
	Type string
	// ID is the last event id at the time of the event.
	ID string
	// Data is valid UTF-8 and stays valid until the next call of the reader.
	Data []byte
}

// TooLongError ends a stream that has a line, or an event, above the limit.
type TooLongError struct {
	// What is "line" or "event".
	What string
	// Max is the limit in bytes.
	Max int
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("read event stream: %s longer than %d bytes", e.What, e.Max)
}

// Reader reads events from a byte stream. It is not safe for concurrent use.
type Reader struct {
	lines   lines
	max     int
	lenient bool
	begun   bool

	// The event in the making. A single data line stays in the line buffer, as
	// hold; from the second line on the data is joined in data.
	count  int
	data   []byte
	typ    string
	typAt  string // typ as it was at the first data line
	idNext string

	id     string
	retry  time.Duration
	intern string

	ready Event // what the functions below report with true
}

// NewReader returns a strict reader of r. Lines and events over limit bytes end
// the stream with a *TooLongError; 0 is DefaultMax. The reader holds at most
// a few times limit bytes, and little while lines are short.
func NewReader(r io.Reader, limit int) *Reader {
	if limit <= 0 {
		limit = DefaultMax
	}
	return &Reader{lines: lines{src: r, max: limit}, max: limit}
}

// Lenient makes the reader accept what model servers do outside the grammar,
// and returns it:
//
//   - at the end of the bytes, an event without its empty line, and even
//     without the end of its last line, when its data is [DONE] or one whole
//     JSON object or array, or when its type is "error"
//   - data lines that single line ends separate, when the first of them is
//     whole by itself: they are events of their own
//   - an event of type "error" without data
//   - a field `error: {…}`, which becomes an event of type "error"
//
// It is not for MCP, where an event that was cut must be asked for again.
func (r *Reader) Lenient() *Reader {
	r.lenient = true
	return r
}

// Next returns the next event. It returns io.EOF at the end of the stream, and
// any other error of the source as it came.
func (r *Reader) Next() (Event, error) {
	for !r.step() {
		if r.lines.err != nil {
			return Event{}, r.lines.err
		}
		r.lines.fill()
	}
	return r.ready, nil
}

// Poll returns the next event when it is whole in memory already. It never
// reads from the source; an error waits for Next.
func (r *Reader) Poll() (Event, bool) {
	if !r.step() {
		return Event{}, false
	}
	return r.ready, true
}

// LastEventID is the id to resume after: that of the last empty line, also when
// no event was dispatched there.
func (r *Reader) LastEventID() string { return r.id }

// Retry is the reconnect delay that the server asked for, zero when it did not.
func (r *Reader) Retry() time.Duration { return r.retry }

// step works on the bytes in memory. When it reports false it needs more of
// them, or the stream is over.
func (r *Reader) step() bool {
	for {
		lo, hi, ok := r.lines.next()
		if !ok {
			break
		}
		if r.line(lo, hi) {
			return true
		}
	}
	return r.lines.err != nil && r.rest()
}

// line interprets one line, buf[lo:hi] of the line buffer.
func (r *Reader) line(lo, hi int) bool {
	line := r.lines.buf[lo:hi]
	if !r.begun {
		r.begun = true
		if bytes.HasPrefix(line, []byte("\uFEFF")) {
			lo += len("\uFEFF")
			line = line[len("\uFEFF"):]
		}
	}
	if len(line) == 0 {
		return r.dispatch()
	}
	colon := bytes.IndexByte(line, ':')
	if colon == 0 {
		return false
	}
	name, value := line, hi
	if colon > 0 {
		name, value = line[:colon], lo+colon+1
		if value < hi && r.lines.buf[value] == ' ' {
			value++
		}
	}
	return r.field(name, value, hi)
}

// field takes one field whose value is buf[lo:hi].
func (r *Reader) field(name []byte, lo, hi int) bool {
	value := r.lines.buf[lo:hi]
	switch string(name) {
	case "data":
		return r.addData(lo, hi)
	case "event":
		r.typ = r.typeName(value)
	case "id":
		if bytes.IndexByte(value, 0) < 0 {
			r.idNext = strings.ToValidUTF8(string(value), "\uFFFD")
		}
	case "retry":
		// ParseUint alone takes no sign; 32 bits of milliseconds are 49 days.
		if ms, err := strconv.ParseUint(string(value), 10, 32); err == nil {
			r.retry = time.Duration(ms) * time.Millisecond
		}
	case "error":
		if r.lenient && len(value) > 0 {
			split := r.addData(lo, hi)
			r.typ = "error"
			r.typAt = r.typ
			return split
		}
	}
	return false
}

// addData appends a line to the data of the event. A lenient reader reports the
// event before it when that was whole.
func (r *Reader) addData(lo, hi int) (split bool) {
	// An object with something behind it is never one JSON text, so this splits
	// nothing that belongs together. Only the first line is tried: the cost
	// stays linear.
	if r.lenient && r.count == 1 && lo < hi && whole(r.pending()) {
		r.event(r.typAt)
		split = true
	}
	switch r.count {
	case 0:
		r.lines.hold(lo, hi)
		r.typAt = r.typ
	case 1:
		r.data = append(r.data[:0], r.pending()...)
		r.lines.release()
		fallthrough
	default:
		if len(r.data)+1+hi-lo > r.max {
			r.lines.fail(&TooLongError{What: "event", Max: r.max})
			return false
		}
		r.data = append(r.data, '\n')
		r.data = append(r.data, r.lines.buf[lo:hi]...)
	}
	r.count++
	return split
}

// dispatch ends the event in the making (standard: "dispatch the event").
func (r *Reader) dispatch() bool {
	r.id = r.idNext
	if r.count == 0 && !(r.lenient && r.typ == "error") {
		r.typ = ""
		return false
	}
	r.event(r.typ)
	r.typ = ""
	return true
}

// event makes the pending data the ready event.
func (r *Reader) event(typ string) {
	if typ == "" {
		typ = "message"
	}
	r.ready = Event{Type: typ, ID: r.id, Data: validUTF8(r.pending())}
	r.count = 0
	r.lines.release()
	if cap(r.data) > keepBuffer {
		r.data = nil
	}
}

func (r *Reader) pending() []byte {
	switch r.count {
	case 0:
		return nil
	case 1:
		return r.lines.held()
	}
	return r.data
}

// rest looks at what the end of the stream left over. Strict readers discard
// it, as the standard says.
func (r *Reader) rest() bool {
	if _, tooLong := r.lines.err.(*TooLongError); tooLong || !r.lenient {
		return false
	}
	if lo, hi, ok := r.lines.last(); ok && r.line(lo, hi) {
		return true
	}
	if r.typ == "error" || r.count > 0 && whole(r.pending()) {
		return r.dispatch()
	}
	return false
}

// typeName makes a string of a type; the last one is remembered, because
// servers repeat the same type on each event.
func (r *Reader) typeName(b []byte) string {
	if string(b) != r.intern {
		r.intern = strings.ToValidUTF8(string(b), "\uFFFD")
	}
	return r.intern
}

// validUTF8 returns b with each invalid byte replaced by U+FFFD; b itself when
// there is none.
func validUTF8(b []byte) []byte {
	if utf8.Valid(b) {
		return b
	}
	out := make([]byte, 0, len(b)+len(b)/8)
	for len(b) > 0 {
		c, n := utf8.DecodeRune(b)
		out = utf8.AppendRune(out, c)
		b = b[n:]
	}
	return out
}
