package chatapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"alisio/llm"
	"alisio/llm/sse"
)

// maxPage is how much of a page that is no answer is read, in bytes.
const maxPage = 64 << 10

// turn reads the answer to one request.
//
//	read → sniff ─ JSON ──────────────→ chunk → end
//	           └── events: poll ─ none → flush, wait for the next one
//	                        └─→ take ─→ text, reasoning, activity, finish, end mark
//
// Deltas are held back only while the next event is in memory already; the turn
// never waits with something to show.
type turn struct {
	client *Client
	parent context.Context
	cancel context.CancelFunc
	body   io.ReadCloser
	yield  func(llm.Event) bool

	events *sse.Reader
	walker walker
	answer answer
	// pending is the kind of what is held back, 0 for nothing; shown counts the
	// bytes of the answer's text and reasoning that have been yielded.
	pending                 llm.EventKind
	shownText, shownThought int

	// done: the end mark came, or the body was one whole JSON text.
	done      bool
	stopGrace func()
}

// close gives back what the turn holds. After an end mark it first looks for
// the end of the body, because only then can the connection be used again.
func (t *turn) close() {
	if t.stopGrace != nil {
		t.stopGrace()
	}
	if t.done {
		stop := after(t.client.drain, t.cancel)
		io.Copy(io.Discard, io.LimitReader(t.body, joined))
		stop()
	}
}

// run reads the body to its end. Every way out is an error or one completed
// message.
func (t *turn) run(h http.Header) error {
	if coding := h.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return t.fail("compressed its answer (" + coding + ") although it was asked not to")
	}
	start, err := t.begin()
	if err != nil && len(start) == 0 {
		return t.ended(err)
	}
	// What a read error leaves comes again from the body.
	switch sniff(start, h.Get("Content-Type")) {
	case "json":
		return t.plain(io.MultiReader(bytes.NewReader(trimStart(start)), t.body))
	case "html":
		return t.page(io.MultiReader(bytes.NewReader(trimStart(start)), t.body))
	}
	t.events = sse.NewReader(io.MultiReader(bytes.NewReader(start), t.body), t.client.maxLine).Lenient()
	return t.stream()
}

// begin reads until there is a byte that sniff can judge by: servers send blank
// lines while they work on an answer. Nothing could be shown before it.
func (t *turn) begin() (start []byte, err error) {
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

// plain takes a body that is one JSON text: a whole answer, or an error. Status
// 200 proves nothing: without choices it is an error, whatever it says.
func (t *turn) plain(r io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(r, int64(t.client.maxLine)+1))
	switch {
	case err != nil:
		return t.client.server.Broken(err)
	case len(data) > t.client.maxLine:
		return t.fail("sent an answer that is too large")
	case len(bytes.TrimSpace(data)) == 0:
		return t.ended(io.EOF)
	}
	data = bytes.ToValidUTF8(data, []byte("\uFFFD")) // what is kept raw goes back to servers
	c, err := decode(data)
	if fault := c.fault(data); fault != nil {
		return t.client.server.InBand(fault)
	}
	if err != nil || len(c.Choices) == 0 {
		return t.client.server.InBand(data)
	}
	t.done, t.answer.received = true, true
	if err := t.chunk(c); err != nil {
		return err
	}
	if t.answer.finish == "" {
		t.answer.finish = "stop" // the text is whole, which is what the mark is for
	}
	return t.complete()
}

// page reports a web page in place of an answer: a proxy, a login page, or a
// base URL that names a site and not its API.
func (t *turn) page(r io.Reader) error {
	data, _ := io.ReadAll(io.LimitReader(r, maxPage))
	e := t.client.server.InBand(data)
	e.Cause = llm.CauseBadRequest
	return e.WithHint("check the base URL")
}

// stream is the loop over the events.
func (t *turn) stream() error {
	for !t.done {
		ev, ok := t.events.Poll()
		if !ok {
			if err := t.flush(); err != nil {
				return err
			}
			var err error
			if ev, err = t.events.Next(); err != nil {
				return t.ended(err)
			}
		}
		if err := t.take(ev); err != nil {
			return first(t.flush(), err)
		}
	}
	return t.complete()
}

// ended decides what the end of the bytes means.
func (t *turn) ended(err error) error {
	if t.parent.Err() != nil {
		return t.parent.Err()
	}
	// Behind a finish reason nothing is missed, however the stream ended: here
	// the grace is over too.
	if t.answer.finish == "" && !errors.Is(err, io.EOF) {
		return t.client.server.Broken(err)
	}
	return t.complete()
}

// complete yields what is left and the finished message.
func (t *turn) complete() error {
	if err := t.flush(); err != nil {
		return err
	}
	ev, err := t.answer.end(t.client.server.Host, t.done)
	if err == nil && ev.Kind == 0 {
		return t.fail("ended the answer with the unknown finish reason " + t.answer.finish)
	}
	if err != nil {
		return err
	}
	if !t.yield(ev) {
		return errBreak
	}
	return nil
}

// fail makes a stream error: the host, then text that may be the server's.
func (t *turn) fail(text string) error {
	s := t.client.server
	return &llm.Error{Cause: llm.CauseStream, Message: s.Host + " " + s.Clean(text)}
}
