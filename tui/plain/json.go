// Package plain is the surface without a screen: the answer as text, every event
// as a line of JSON, or a conversation line by line. It leaves the terminal as it is
// and draws nothing but the line that says what is waited for; nobody is asked but by
// Lines; and what it prints is safe for a terminal also when it goes into a pipe.
package plain

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"alisio/agent/text"
	"alisio/plug"
)

// JSON writes events as JSON lines (spec events.md, "JSONL"). It is not safe
// for concurrent use: a run's events come one at a time.
type JSON struct {
	w    io.Writer
	stop func()
	buf  []byte
	enc  bytes.Buffer
	err  error
}

// NewJSON writes to w. When w can not be written to, stop is called, once.
func NewJSON(w io.Writer, stop func()) *JSON { return &JSON{w: w, stop: stop} }

// Event writes one event.
func (j *JSON) Event(e plug.Event) {
	if j.err != nil {
		return
	}
	j.buf, j.err = j.append(j.buf[:0], e)
	if j.err == nil {
		_, j.err = j.w.Write(j.buf)
	}
	if j.err != nil {
		j.stop()
	}
}

// Err returns the error that ended the output, if any.
func (j *JSON) Err() error { return j.err }

// append encodes an event. Deltas come by the thousand and take the short way.
func (j *JSON) append(dst []byte, e plug.Event) ([]byte, error) {
	dst = append(dst, `{"schemaVersion":`...)
	dst = strconv.AppendInt(dst, plug.SchemaVersion, 10)
	dst = append(dst, `,"runId":`...)
	dst = appendString(dst, e.RunID)
	dst = append(dst, `,"sessionId":`...)
	dst = appendString(dst, e.SessionID)
	dst = append(dst, `,"seq":`...)
	dst = strconv.AppendInt(dst, e.Seq, 10)
	dst = append(dst, `,"type":`...)
	dst = appendString(dst, string(e.Data.EventType()))
	dst = append(dst, `,"timestamp":"`...)
	dst = e.Time.UTC().AppendFormat(dst, plug.TimeFormat)
	dst = append(dst, `","data":`...)
	var err error
	switch d := e.Data.(type) {
	case plug.Delta:
		dst = appendDelta(dst, d.Delta)
	case plug.ReasoningText:
		dst = appendDelta(dst, d.Delta)
	default:
		dst, err = j.appendPayload(dst, d)
	}
	if e.ID != 0 {
		dst = append(dst, `,"eventId":"`...)
		dst = append(strconv.AppendInt(dst, e.ID, 10), '"')
	}
	if e.CorrelationID != "" {
		dst = append(dst, `,"correlationId":`...)
		dst = appendString(dst, e.CorrelationID)
	}
	return append(dst, '}', '\n'), err
}

func appendDelta(dst []byte, s string) []byte {
	dst = append(dst, `{"delta":`...)
	return append(appendString(dst, s), '}')
}

// appendPayload lets encoding/json do the work, and escapes what it leaves.
func (j *JSON) appendPayload(dst []byte, p plug.Payload) ([]byte, error) {
	j.enc.Reset()
	e := json.NewEncoder(&j.enc)
	e.SetEscapeHTML(false)
	if err := e.Encode(p); err != nil {
		return dst, err
	}
	return appendEscaped(dst, bytes.TrimSuffix(j.enc.Bytes(), []byte("\n"))), nil
}

// appendString writes a JSON string: valid UTF-8, everything escaped that could
// move a cursor, end a line for a reader with a wide idea of lines, or turn the
// direction of text.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		b := s[i]
		if b >= 0x20 && b < 0x7f && b != '"' && b != '\\' {
			i++
			continue
		}
		r, size := rune(b), 1
		if b >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
			if !text.Acts(r) && (r != utf8.RuneError || size > 1) {
				i += size
				continue
			}
		}
		dst = append(dst, s[start:i]...)
		dst = appendRune(dst, r)
		i += size
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}

// EscapeJSON appends valid JSON to dst so that it is safe as a line of output:
// without line ends, and with every character of its strings escaped that acts
// on a screen; bytes that are no UTF-8 become U+FFFD. It says the same as
// before. What is no JSON gives an error.
func EscapeJSON(dst, src []byte) ([]byte, error) {
	var line bytes.Buffer
	if err := json.Compact(&line, src); err != nil {
		return dst, err
	}
	return appendEscaped(dst, line.Bytes()), nil
}

// appendEscaped copies compact JSON and escapes, inside its strings, the same
// characters as appendString; outside of strings JSON has none of them.
func appendEscaped(dst, src []byte) []byte {
	start := 0
	for i := 0; i < len(src); {
		if src[i] < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRune(src[i:])
		if text.Acts(r) || r == utf8.RuneError && size == 1 {
			dst = append(dst, src[start:i]...)
			dst = appendRune(dst, r)
			start = i + size
		}
		i += size
	}
	return append(dst, src[start:]...)
}

func appendRune(dst []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(dst, '\\', byte(r))
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	if r > 0xffff {
		high, low := utf16.EncodeRune(r)
		return appendRune(appendRune(dst, high), low)
	}
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', hex[r>>12&0xf], hex[r>>8&0xf], hex[r>>4&0xf], hex[r&0xf])
}
