package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"alisio/llm"
	"alisio/llm/sse"
)

// maxPage is how much of a page that is no answer is read, in bytes.
const maxPage = 64 << 10

// Protocol is what tells one protocol's answers from another's.
type Protocol interface {
	// Event takes one event of the stream. It says with Turn.Finish and Turn.Done
	// how far the answer is.
	Event(ev sse.Event) error
	// Whole takes a body that is one JSON text in place of a stream. It is valid
	// UTF-8.
	Whole(data []byte) error
	// End decides what an answer is whose bytes are over: the completed event, or
	// an error.
	End() (llm.Event, error)
}

// Turn reads the answer to one request.
//
//	read → sniff ─ JSON ──────────────→ Whole → End
//	           └── events: poll ─ none → flush, wait for the next one
//	                        └─→ Event ─→ deltas, finish, done
//
// Deltas are held back only while the next event is in memory already; the turn
// never waits with something to show.
type Turn struct {
	Deltas
	endpoint *Endpoint
	cancel   context.CancelFunc
	body     io.ReadCloser

	// done: nothing more is to come.
	done      bool
	stopGrace func()
}

// Finish tells that the answer is complete. From here on the stream has little
// time left for reports: some servers keep the connection open for ever. A
// stream that breaks off has missed nothing.
func (t *Turn) Finish() {
	if t.stopGrace == nil {
		t.stopGrace = After(t.endpoint.Limits.Grace, t.cancel)
	}
}

// Done tells that the end mark came.
func (t *Turn) Done() { t.done = true }

// IsDone reports whether the end mark came.
func (t *Turn) IsDone() bool { return t.done }

// close gives back what the turn holds. After an end mark it first looks for
// the end of the body, because only then can the connection be used again.
func (t *Turn) close() {
	if t.stopGrace != nil {
		t.stopGrace()
	}
	if t.done {
		stop := After(t.endpoint.Limits.Drain, t.cancel)
		io.Copy(io.Discard, io.LimitReader(t.body, Joined))
		stop()
	}
}

// run reads the body to its end. Every way out is an error or one completed
// message.
func (t *Turn) run(h http.Header, p Protocol) error {
	if coding := h.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return t.refuse("compressed its answer (" + coding + ") although it was asked not to")
	}
	start, err := t.begin()
	if err != nil && len(start) == 0 {
		return t.ended(p, err)
	}
	// What a read error leaves comes again from the body.
	switch sniff(start, h.Get("Content-Type")) {
	case "json":
		return t.plain(p, io.MultiReader(bytes.NewReader(trimStart(start)), t.body))
	case "html":
		return t.page(io.MultiReader(bytes.NewReader(trimStart(start)), t.body))
	}
	events := sse.NewReader(io.MultiReader(bytes.NewReader(start), t.body), t.endpoint.Limits.Line).Lenient()
	return t.stream(p, events)
}

// begin reads until there is a byte that sniff can judge by: servers send blank
// lines while they work on an answer. Nothing could be shown before it.
func (t *Turn) begin() (start []byte, err error) {
	rest := start // what stands behind the blanks
	for err == nil && len(start) < maxPage && strings.HasPrefix(bom, string(rest)) {
		blank := len(start) - len(rest)
		start = slices.Grow(start, 512)
		var n int
		n, err = t.body.Read(start[len(start):cap(start)])
		start = start[:len(start)+n]
		rest = trimStart(start[blank:])
	}
	return start, err
}

const bom = "\uFEFF"

// trimStart is what stands behind blanks and byte order marks.
func trimStart(start []byte) []byte { return bytes.TrimLeft(start, " \t\r\n\f\v"+bom) }

// sniff decides what a body is. Its first byte says more than the media type,
// which many servers have wrong; the type decides where the byte leaves it open.
func sniff(start []byte, contentType string) string {
	switch start = trimStart(start); {
	case len(start) == 0:
	case start[0] == '{' || start[0] == '[':
		return "json"
	case start[0] == '<':
		return "html"
	default:
		return "events"
	}
	if media, _, err := mime.ParseMediaType(contentType); err == nil && media == "application/json" {
		return "json"
	}
	return "events"
}

// plain takes a body that is one JSON text: a whole answer, or an error.
func (t *Turn) plain(p Protocol, r io.Reader) error {
	most := t.endpoint.Limits.Line
	data, err := t.text(io.LimitReader(r, int64(most)+1))
	switch {
	case t.Err() != nil:
		return t.Err()
	case err != nil:
		return t.endpoint.Broken(err)
	case len(data) > most:
		return t.refuse("sent an answer that is too large")
	case len(bytes.TrimSpace(data)) == 0:
		return t.ended(p, io.EOF)
	}
	// What is kept raw goes back to servers.
	if err := p.Whole(bytes.ToValidUTF8(data, []byte("\uFFFD"))); err != nil {
		return t.limited(err)
	}
	t.done = true
	return t.complete(p)
}

// text reads a JSON text. Some servers send one without its length and keep the
// connection open, so behind the end of its value there is as little time left as
// behind a finish reason, and nothing is missed however the body ends.
func (t *Turn) text(r io.Reader) (data []byte, err error) {
	var end Ending
	for err == nil {
		data = slices.Grow(data, 512)
		var n int
		n, err = r.Read(data[len(data):cap(data)])
		end.Feed(data[len(data) : len(data)+n])
		if data = data[:len(data)+n]; end.Closed() {
			t.Finish()
		}
	}
	if end.Closed() || errors.Is(err, io.EOF) {
		err = nil
	}
	return data, err
}

// page reports a web page in place of an answer: a proxy, a login page, or a
// base URL that names a site and not its API.
func (t *Turn) page(r io.Reader) error {
	data, _ := io.ReadAll(io.LimitReader(r, maxPage))
	e := t.endpoint.InBand(data)
	e.Cause, e.Permanent = llm.CauseBadRequest, true
	return e.WithHint("check the base URL")
}

// stream is the loop over the events.
func (t *Turn) stream(p Protocol, events *sse.Reader) error {
	for !t.done {
		ev, ok := events.Poll()
		if !ok {
			if err := t.Flush(); err != nil {
				return err
			}
			var err error
			if ev, err = events.Next(); err != nil {
				return t.ended(p, err)
			}
		}
		if err := p.Event(ev); err != nil {
			return first(t.Flush(), t.limited(err))
		}
	}
	return t.complete(p)
}

// limited makes the turn's error of a limit that was passed.
func (t *Turn) limited(err error) error {
	var limit TooMuch
	if errors.As(err, &limit) {
		return t.refuse("sent " + limit.Error())
	}
	return err
}

// ended decides what the end of the bytes means.
func (t *Turn) ended(p Protocol, err error) error {
	if t.Err() != nil {
		return t.Err()
	}
	// Behind a finish reason nothing is missed, however the stream ended: here
	// the grace is over too.
	if t.stopGrace == nil && !errors.Is(err, io.EOF) {
		return t.endpoint.Broken(err)
	}
	return t.complete(p)
}

// complete yields what is left and the finished message.
func (t *Turn) complete(p Protocol) error {
	ev, err := p.End()
	if err = first(t.Flush(), t.limited(err)); err != nil {
		return err
	}
	ev.Usage = t.Usage
	if !t.yield(ev) {
		return ErrLeft
	}
	return nil
}

// counted adds the usage to the error of an answer that is not complete: it costs
// as much as any other.
func (t *Turn) counted(err error) error {
	var e *llm.Error
	if t.Usage != nil && errors.As(err, &e) {
		e.Usage = t.Usage
	}
	return err
}

// refuse makes the error of an answer that is not read, and would not be another
// time: the host, then text that may be the server's.
func (t *Turn) refuse(text string) error {
	e := t.endpoint.Incomplete(text)
	e.Permanent = true
	return e
}

// Garbage reports data in the stream that is not what the protocol sends. Google
// sends errors as a list.
func (t *Turn) Garbage(data []byte) error {
	var one struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Valid(data) {
		if errs, _ := Elements(data, 1); len(errs) > 0 && json.Unmarshal(errs[0], &one) == nil && Faulty(one.Error) {
			return t.endpoint.InBand(one.Error)
		}
	}
	excerpt := []rune(t.endpoint.Clean(string(data[:min(len(data), maxPage)])))
	return t.endpoint.Incomplete("sent something in its stream that is not valid: " + string(excerpt[:min(len(excerpt), 100)]))
}

// Faulty reports whether an error field tells of one: some servers send an empty
// one with each event.
func Faulty(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", "false", `""`, "{}", "[]":
		return false
	}
	return true
}

// After calls f once d has passed. The returned function takes that back or
// waits for f's end; it is called exactly once.
func After(d time.Duration, f func()) (stop func()) {
	done := make(chan struct{})
	timer := time.AfterFunc(d, func() {
		defer close(done)
		f()
	})
	return func() {
		if !timer.Stop() {
			<-done
		}
	}
}

// first returns the first error that is one.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
