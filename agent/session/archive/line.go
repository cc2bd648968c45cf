package archive

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"alisio/agent/session/codec"
	"alisio/llm"
)

// line is any line of an export. Which fields may stand in it depends on Type.
type line struct {
	Type          string `json:"type"`
	SchemaVersion int    `json:"schemaVersion"`

	ID            string `json:"id"`
	Workspace     string `json:"workspace"`
	Provider      string `json:"provider"`
	Model         string `json:"model"`
	Title         string `json:"title"`
	Parent        string `json:"parent"`
	Depth         int    `json:"depth"`
	Agent         string `json:"agent"`
	Status        string `json:"status"`
	Usage         string `json:"usage"`
	CreatedAt     int64  `json:"createdAt"`
	RunID         string `json:"runId"`
	CorrelationID string `json:"correlationId"`

	headFields
	runFields
	itemFields
	blobFields
	endFields
}

// headFields are those of the session's line alone.
type headFields struct {
	Options    string `json:"options"`
	UpdatedAt  int64  `json:"updatedAt"`
	Pinned     bool   `json:"pinned"`
	ArchivedAt int64  `json:"archivedAt"`
}

// runFields are those of runs; calls have the times too.
type runFields struct {
	RequestID string `json:"requestId"`
	StartedAt int64  `json:"startedAt"`
	EndedAt   int64  `json:"endedAt"`
	Error     string `json:"error"`
}

// itemFields are those of messages, calls and events.
type itemFields struct {
	N            int64           `json:"n"`
	Compacted    bool            `json:"compacted"`
	CopyOf       int64           `json:"copyOf"`
	Body         json.RawMessage `json:"body"`
	BodyBase64   []byte          `json:"bodyBase64"`
	Name         string          `json:"name"`
	Effect       string          `json:"effect"`
	Result       json.RawMessage `json:"result"`
	ResultBase64 []byte          `json:"resultBase64"`
	Event        string          `json:"event"`
	Seq          int64           `json:"seq"`
}

// blobFields are those of a piece of a blob.
type blobFields struct {
	Hash   string `json:"hash"`
	MIME   string `json:"mime"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	Piece  int    `json:"piece"`
	Pieces int    `json:"pieces"`
	Data   []byte `json:"data"`
}

// endFields are those of the last line.
type endFields struct {
	// Lines counts the lines before this one.
	Lines int64 `json:"lines"`
}

// clampTimes brings all times between none and now: an export is made by anybody,
// and what lies further on, or back, can not be written as the protocols want it.
func (l *line) clampTimes(nowMs int64) {
	for _, ms := range []*int64{&l.CreatedAt, &l.UpdatedAt, &l.ArchivedAt, &l.StartedAt, &l.EndedAt} {
		*ms = min(max(*ms, 0), nowMs)
	}
}

// isHead reports whether a first line may be that of an export: anything else is
// another kind of file, of which no line is worth telling about.
func isHead(raw []byte) bool {
	var l struct {
		Type string `json:"type"`
	}
	if bytes.HasPrefix(raw, []byte(`{"type":"session"`)) {
		return true // also when it is cut off
	}
	return json.Unmarshal(raw, &l) == nil && l.Type == lineSession
}

// Check looks at how an export begins, without taking anything of it:
// ErrNoExport for a file of another kind. A first line that is longer than the
// reader's buffer is left to Import. A slow sender is waited for until it has said
// enough, and no longer.
func Check(r *bufio.Reader) error {
	for n := 1; n <= r.Size(); n = r.Buffered() + 1 {
		_, err := r.Peek(n)
		head, _ := r.Peek(r.Buffered()) // what has come: it can not fail
		line, _, whole := bytes.Cut(head, []byte("\n"))
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			return err
		case len(head) == 0:
			return emptyExport()
		case isHead(line):
			return nil
		case whole || err != nil:
			return ErrNoExport
		}
	}
	return nil
}

func emptyExport() error { return fmt.Errorf("%w: there is nothing in it", ErrNoExport) }

// parseLine reads one line strictly, but says of a newer format that it is one.
func parseLine(raw []byte) (line, error) {
	var l line
	if !utf8.Valid(raw) {
		return l, errors.New("the text is no valid UTF-8")
	}
	err := llm.DecodeStrict(raw, &l)
	var version struct {
		SchemaVersion int `json:"schemaVersion"`
	}
	if err != nil && json.Unmarshal(raw, &version) == nil {
		l.SchemaVersion = version.SchemaVersion
	}
	if l.SchemaVersion > Version {
		return l, fmt.Errorf("schema version %d: a newer Alisio wrote this export; this one reads up to version %d", l.SchemaVersion, Version)
	}
	if err == nil {
		err = strayField(raw, l.Type)
	}
	return l, err
}

// strayField finds a field that has no place in its line.
func strayField(raw []byte, kind string) error {
	fields := lineFields(kind)
	if fields == nil {
		return fmt.Errorf("unknown type of line %.40q", kind)
	}
	object, _ := codec.ValueAt(raw, 0)
	for key := range codec.Fields(object) {
		if key != "type" && !slices.Contains(fields, key) {
			return fmt.Errorf("unknown field %.40q in a line of type %q", key, kind)
		}
	}
	return nil
}

// lineFields lists the fields of a type of line; nil if it is none. Keys are
// compared exactly, which encoding/json does not do.
func lineFields(kind string) []string {
	switch kind {
	case lineSession:
		return []string{"schemaVersion", "id", "workspace", "provider", "model", "title", "parent", "depth", "agent", "status",
			"usage", "options", "createdAt", "updatedAt", "pinned", "archivedAt"}
	case lineRun:
		return []string{"id", "status", "requestId", "correlationId", "model", "createdAt", "startedAt", "endedAt", "error", "usage"}
	case lineMessage:
		return []string{"n", "runId", "compacted", "copyOf", "body", "bodyBase64"}
	case lineCall:
		return []string{"id", "status", "runId", "name", "effect", "startedAt", "endedAt", "result", "resultBase64"}
	case lineEvent:
		return []string{"event", "runId", "seq", "createdAt", "correlationId", "body", "bodyBase64"}
	case lineBlob:
		return []string{"hash", "mime", "width", "height", "piece", "pieces", "data"}
	case lineEnd:
		return []string{"lines"}
	}
	return nil
}

// eachLine calls do for each line of r, numbered from 1. Lines end at line feeds
// and nowhere else.
func eachLine(r io.Reader, do func(n int, raw []byte) error) error {
	in := bufio.NewReaderSize(r, 64<<10)
	var long []byte
	for n := 1; ; n++ {
		raw, err := in.ReadSlice('\n')
		if err != nil {
			long = append(long[:0], raw...)
			for errors.Is(err, bufio.ErrBufferFull) && len(long) <= maxLine {
				raw, err = in.ReadSlice('\n')
				long = append(long, raw...)
			}
			raw = long
		}
		switch {
		case len(raw) > maxLine:
			return fmt.Errorf("line %d is longer than %d MiB", n, maxLine>>20)
		case err != nil && !errors.Is(err, io.EOF):
			return err
		case len(raw) == 0:
			return nil
		}
		if err := do(n, raw); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
}
