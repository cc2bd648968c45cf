// Package archive writes sessions as lines of JSON and takes them in again: from the
// database of one store into that of another.
//
// It carries stored bodies and understands as much of them as it must to bound what
// it takes in. An import is foreign: it is checked whole before a row of it is
// written, it overwrites nothing, and is marked for what it is (mark.go). What an
// imported session may do is not decided here.
package archive

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"alisio/agent/session/codec"
	"alisio/db"
)

// Version is the version of the export's format; it stays while changes
// are additive.
const Version = 1

// The types of lines of an export, in their order in it.
const (
	lineSession = "session"
	lineRun     = "run"
	lineMessage = "message"
	lineCall    = "call"
	lineEvent   = "event"
	lineBlob    = "blob"
	lineEnd     = "end"
)

const (
	// blobPiece is how many bytes of a blob stand in one line.
	blobPiece = 1 << 20
	// maxRuns is the most runs that are read.
	maxRuns = 10_000
	// callsAtOnce is how many calls with their results are in memory at a time.
	callsAtOnce = 128
	// messagesAtOnce is small, since bodies can hold images; events are small.
	messagesAtOnce = 32
	eventsAtOnce   = 256
)

// Export writes a session as lines of JSON, each ended by one line feed: the
// head, then runs, messages, calls, events and blobs, and the end, which tells how
// many lines stand before it: what was cut off anywhere can not pass for whole. It
// is complete but for what belongs to this machine, which is who works in the
// session, the texts that wait for its next turn and that it was imported, and to
// the store: numbers are those within the session. Children are sessions of their
// own.
//
// Stored JSON is written byte for byte as "body", "result" or, where that would
// not be one line of valid text, as base64 in "bodyBase64" or "resultBase64".
//
// What is left out of it is told to notice.
func Export(ctx context.Context, d *db.DB, id string, w io.Writer, notice func(text string)) error {
	head, err := d.Session(ctx, id)
	if err != nil {
		return err
	}
	x := exporter{db: d, id: id, w: bufio.NewWriterSize(w, 64<<10), notice: notice}
	x.head(head)
	for _, part := range []func(context.Context) error{x.runs, x.messages, x.calls, x.events, x.blobs, x.end} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return x.w.Flush()
}

// exporter holds in memory one line, one page of rows, the runs, the numbers of the
// messages, and one blob of at most 64 MiB: no more, however long the session is.
type exporter struct {
	db     *db.DB
	id     string
	w      *bufio.Writer
	notice func(text string)
	// b is the line at work; lines counts those that are done.
	b     []byte
	lines int64
	// seqs are the store's numbers of the messages; the index is the message's
	// number in the session, less one.
	seqs []int64
}

// open begins a line.
func (x *exporter) open(kind string) {
	x.b = append(x.b[:0], `{"type":`...)
	x.b = codec.AppendString(x.b, kind)
}

// text adds a field, if it is not empty.
func (x *exporter) text(key, value string) {
	if value != "" {
		x.key(key)
		x.b = codec.AppendString(x.b, value)
	}
}

// number adds a field, if it is not zero.
func (x *exporter) number(key string, n int64) {
	if n != 0 {
		x.key(key)
		x.b = strconv.AppendInt(x.b, n, 10)
	}
}

func (x *exporter) flag(key string, on bool) {
	if on {
		x.key(key)
		x.b = append(x.b, "true"...)
	}
}

// base64 adds bytes of any kind.
func (x *exporter) base64(key string, data []byte) {
	x.key(key)
	x.b = append(x.b, '"')
	x.b = base64.StdEncoding.AppendEncode(x.b, data)
	x.b = append(x.b, '"')
}

// json adds stored JSON as it is.
func (x *exporter) json(key, value string) {
	switch raw := []byte(value); {
	case value == "":
	case oneLineJSON(raw):
		x.key(key)
		x.b = append(x.b, raw...)
	default:
		x.base64(key+"Base64", raw)
	}
}

// oneLineJSON reports whether a text can stand in a line: valid JSON in valid
// UTF-8, nothing around it, and nothing in it that any reader takes for the end
// of a line.
func oneLineJSON(raw []byte) bool {
	return json.Valid(raw) && utf8.Valid(raw) && !bytes.ContainsAny(raw, "\n\r\u0085\u2028\u2029") &&
		len(bytes.Trim(raw, " \t")) == len(raw) && string(raw) != "null" && codec.Brackets(raw) <= codec.ManyBrackets
}

// key begins a field; a line always has its type before it.
func (x *exporter) key(key string) {
	x.b = append(x.b, ',')
	x.b = append(codec.AppendString(x.b, key), ':')
}

// close ends a line. An error of the writer stays until Flush.
func (x *exporter) close() error {
	x.b = append(x.b, '}', '\n')
	x.lines++
	_, err := x.w.Write(x.b)
	return err
}

// end writes the last line.
func (x *exporter) end(context.Context) error {
	n := x.lines
	x.open(lineEnd)
	x.number("lines", n)
	return x.close()
}

// head writes the session's row, but for its owner: a process of this machine.
func (x *exporter) head(h db.Session) {
	x.open(lineSession)
	x.number("schemaVersion", Version)
	x.text("id", h.ID)
	x.text("workspace", h.Workspace)
	x.text("provider", h.Provider)
	x.text("model", h.Model)
	x.text("title", h.Title)
	x.text("parent", h.Parent)
	x.number("depth", int64(h.Depth))
	x.text("agent", h.Agent)
	x.text("status", h.Status)
	x.text("usage", h.Usage)
	x.text("options", Unmark(h.Options))
	x.number("createdAt", h.CreatedMs)
	x.number("updatedAt", h.UpdatedMs)
	x.flag("pinned", h.Pinned)
	x.number("archivedAt", h.ArchivedMs)
	_ = x.close() // Flush gives the error again
}

// runs writes the oldest first. A list that may have been cut is refused: an
// export that is not whole must not look like one.
func (x *exporter) runs(ctx context.Context) error {
	runs, err := x.db.Runs(ctx, x.id, maxRuns)
	if err != nil {
		return err
	}
	if len(runs) == maxRuns {
		return fmt.Errorf("the session has %d runs or more, too many for an export", maxRuns)
	}
	slices.Reverse(runs)
	for _, r := range runs {
		x.open(lineRun)
		x.text("id", r.ID)
		x.text("status", r.Status)
		x.text("requestId", r.RequestID)
		x.text("correlationId", r.CorrelationID)
		x.text("model", r.Model)
		x.number("createdAt", r.CreatedMs)
		x.number("startedAt", r.StartedMs)
		x.number("endedAt", r.EndedMs)
		x.text("error", r.Error)
		x.text("usage", r.Usage)
		if err := x.close(); err != nil {
			return err
		}
	}
	return nil
}

// messages writes bodies as they are stored, unreadable ones too. A copy names
// the number of its original within the session.
func (x *exporter) messages(ctx context.Context) error {
	return each(ctx, x.db.MessagesPage, func(m db.Message) int64 { return m.Seq }, x.id, messagesAtOnce, func(m db.Message) error {
		x.seqs = append(x.seqs, m.Seq)
		x.open(lineMessage)
		x.number("n", int64(len(x.seqs)))
		x.text("runId", m.RunID)
		x.flag("compacted", m.Compacted)
		if i, ok := slices.BinarySearch(x.seqs, m.CopyOf); ok {
			x.number("copyOf", int64(i)+1)
		}
		x.json("body", m.Body)
		return x.close()
	})
}

// calls writes the journal in the order in which it was written.
func (x *exporter) calls(ctx context.Context) error {
	for after := int64(0); ; {
		calls, last, err := x.db.CallsPage(ctx, x.id, after, callsAtOnce)
		if err != nil {
			return err
		}
		for _, c := range calls {
			if err := x.call(c); err != nil {
				return err
			}
		}
		if after = last; len(calls) == 0 {
			return nil
		}
	}
}

func (x *exporter) call(c db.Call) error {
	x.open(lineCall)
	x.text("id", c.ID)
	x.text("status", c.Status)
	x.text("runId", c.RunID)
	x.text("name", c.Name)
	x.text("effect", c.Effect)
	x.number("startedAt", c.StartedMs)
	x.number("endedAt", c.EndedMs)
	x.json("result", c.Result)
	return x.close()
}

// events leaves the numbers of the store out: another store gives its own.
func (x *exporter) events(ctx context.Context) error {
	return each(ctx, x.db.EventsPage, func(e db.Event) int64 { return e.Seq }, x.id, eventsAtOnce, func(e db.Event) error {
		x.open(lineEvent)
		x.text("event", e.Type)
		x.text("runId", e.RunID)
		x.number("seq", e.RunSeq)
		x.number("createdAt", e.CreatedMs)
		x.text("correlationId", e.CorrelationID)
		x.json("body", e.Body)
		return x.close()
	})
}

// blobs writes each blob in pieces. One whose bytes are gone or damaged is told
// of and left out: the rest is worth more than the refusal.
func (x *exporter) blobs(ctx context.Context) error {
	hashes, err := x.db.BlobRefs(ctx, x.id)
	if err != nil {
		return err
	}
	for _, hash := range hashes {
		data, b, err := x.db.OpenBlob(ctx, hash)
		if err != nil {
			x.notice(fmt.Sprintf("session %s: blob %s is left out: %v", x.id, hash, err))
			continue
		}
		pieces := max(1, (len(data)+blobPiece-1)/blobPiece)
		for i := range pieces {
			x.open(lineBlob)
			x.text("hash", hash)
			x.text("mime", b.MIME)
			x.number("width", int64(b.Width))
			x.number("height", int64(b.Height))
			x.number("piece", int64(i)+1)
			x.number("pieces", int64(pieces))
			x.base64("data", data[i*blobPiece:min((i+1)*blobPiece, len(data))])
			if err := x.close(); err != nil {
				return err
			}
		}
	}
	return nil
}

// each walks over all rows of a session, some at a time: a page holds those behind a
// number.
func each[T any](ctx context.Context, page func(ctx context.Context, id string, after int64, limit int) ([]T, error), seq func(T) int64, id string, atOnce int, do func(T) error) error {
	for after := int64(0); ; {
		rows, err := page(ctx, id, after, atOnce)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if err := do(r); err != nil {
				return err
			}
			after = seq(r)
		}
		if len(rows) < atOnce {
			return nil
		}
	}
}
