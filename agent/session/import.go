package session

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"unicode"
	"unicode/utf8"

	"alisio/db"
	"alisio/llm"
)

const (
	// maxLine bounds a line of an export, in bytes.
	maxLine = 64 << 20
	// maxBlob bounds a blob, in bytes: the store takes no larger ones.
	maxBlob = 64 << 20
	// maxWord bounds the texts of an export but stored bodies, in bytes; maxID
	// the ids, in characters.
	maxWord = 1 << 20
	maxID   = 200
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

// Import stores an exported session, all or nothing; ErrExists if its id is
// taken. What it reads is foreign: every line is bounded and checked before any
// row is written. A run that was going on where the export was made is nobody's
// here.
func (s *SQLite) Import(ctx context.Context, r io.Reader) (Session, error) {
	head, err := s.importFrom(ctx, r)
	if err != nil {
		return Session{}, mapped("import session", err)
	}
	return fromRow(head), nil
}

// importFrom checks the whole export before it writes a row.
func (s *SQLite) importFrom(ctx context.Context, r io.Reader) (db.Session, error) {
	// The lines wait in a file, so that the database is not held while a slow
	// sender writes them, and so that the transaction can begin again.
	wait, err := os.CreateTemp("", "alisio-import-*")
	if err != nil {
		return db.Session{}, err
	}
	defer os.Remove(wait.Name())
	defer wait.Close()
	c := checker{s: s}
	out := bufio.NewWriterSize(wait, 64<<10)
	if err := c.all(ctx, r, out); err != nil {
		return db.Session{}, err
	}
	if err := out.Flush(); err != nil {
		return db.Session{}, err
	}
	err = s.db.Write(ctx, db.Normal, func(tx *db.Tx) error {
		if _, err := wait.Seek(0, io.SeekStart); err != nil {
			return err
		}
		return c.write(ctx, tx, wait)
	})
	return c.head, err
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

// checker reads an export twice: all checks the lines and stores the blobs,
// which nothing refers to yet; write stores the rows.
type checker struct {
	s    *SQLite
	head db.Session
	// order is the place of the last line's type among all.
	order int
	count int64 // messages so far
	// blob is the one of which pieces are still to come.
	blob   blobFields
	bytes  []byte
	hashes []string
}

// all copies the lines of rows to out. Blobs go to the store at once, a piece at a
// time is in memory beside the one that is gathered.
func (c *checker) all(ctx context.Context, r io.Reader, out io.Writer) error {
	err := eachLine(r, func(n int, raw []byte) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		l, err := parseLine(raw)
		if err != nil {
			return err
		}
		if (n == 1) != (l.Type == lineSession) {
			return errors.New("an export begins with its one line of type \"session\"")
		}
		if err := c.check(ctx, l); err != nil || l.Type == lineBlob {
			return err
		}
		_, err = out.Write(raw)
		return err
	})
	switch {
	case err != nil:
		return err
	case c.head.ID == "":
		return errors.New("there is nothing in it")
	case c.blob.Hash != "":
		return fmt.Errorf("the end of blob %s is missing", c.blob.Hash)
	}
	return nil
}

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
	if l.SchemaVersion > ExportVersion {
		return l, fmt.Errorf("schema version %d: a newer Alisio wrote this export; this one reads up to version %d", l.SchemaVersion, ExportVersion)
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
	object, _ := valueAt(raw, 0)
	for key := range fieldsOf(object) {
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
	}
	return nil
}

// check accepts a line, or says what is wrong with it.
func (c *checker) check(ctx context.Context, l line) error {
	place := slices.Index([]string{lineSession, lineRun, lineMessage, lineCall, lineEvent, lineBlob}, l.Type)
	if place < c.order {
		return fmt.Errorf("a line of type %q stands too late", l.Type)
	}
	c.order = place
	for _, word := range []string{l.Workspace, l.Provider, l.Model, l.Title, l.Parent, l.Agent, l.Status, l.Usage, l.Options,
		l.RunID, l.CorrelationID, l.RequestID, l.Error, l.Name, l.Effect, l.Event, l.MIME} {
		if len(word) > maxWord {
			return fmt.Errorf("a text is longer than %d MiB", maxWord>>20)
		}
	}
	switch l.Type {
	case lineSession:
		return c.checkHead(ctx, l)
	case lineRun:
		return checkRun(l)
	case lineMessage:
		if c.count++; l.N != c.count {
			return fmt.Errorf("message %d stands where %d is due", l.N, c.count)
		}
		if l.CopyOf < 0 || l.CopyOf >= l.N {
			return fmt.Errorf("a copy of message %d, which is not before it", l.CopyOf)
		}
		return wantBody(l.Body, l.BodyBase64)
	case lineCall:
		return checkCall(l)
	case lineEvent:
		if l.Event == "" || l.Seq < 0 {
			return errors.New("an event needs its name, and no negative number")
		}
		return nil
	}
	return c.takeBlob(ctx, l.blobFields)
}

// checkHead looks early whether the session is there, before a long export is
// read; the key of the table decides.
func (c *checker) checkHead(ctx context.Context, l line) error {
	if l.SchemaVersion < 1 {
		return errors.New("no schema version")
	}
	if err := checkID(l.ID); err != nil {
		return err
	}
	switch _, err := c.s.db.Session(ctx, l.ID); {
	case err == nil:
		return fmt.Errorf("session %s: %w", l.ID, ErrExists)
	case !errors.Is(err, db.ErrNotFound):
		return err
	}
	c.head = db.Session{
		ID: l.ID, Workspace: l.Workspace, Provider: l.Provider, Model: l.Model, Title: l.Title, Parent: l.Parent,
		Depth: l.Depth, Agent: l.Agent, Status: l.Status, Usage: l.Usage, Options: l.Options, CreatedMs: l.CreatedAt,
		UpdatedMs: l.UpdatedAt, Pinned: l.Pinned, ArchivedMs: l.ArchivedAt,
	}
	return nil
}

// checkID accepts 1 to 200 printable characters.
func checkID(id string) error {
	if id == "" || utf8.RuneCountInString(id) > maxID {
		return fmt.Errorf("an id has 1 to %d characters", maxID)
	}
	for _, r := range id {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("the id %q holds a character that can not be printed", id)
		}
	}
	return nil
}

// checkRun accepts the states that runs can have. One that has not ended names no
// owner here, so that it is marked as interrupted at the next start.
func checkRun(l line) error {
	switch RunStatus(l.Status) {
	case RunQueued, RunRunning, RunCompleted, RunTurnsExceeded, RunFailed, RunCancelled, RunInterrupted:
		return checkID(l.ID)
	}
	return fmt.Errorf("unknown status %.40q of a run", l.Status)
}

// checkCall takes any id but none: models choose them.
func checkCall(l line) error {
	switch l.Status {
	case db.Pending:
		if l.Result != nil || l.ResultBase64 != nil {
			return errors.New("a pending call has no result")
		}
	case db.Completed:
	default:
		return fmt.Errorf("unknown status %.40q of a call", l.Status)
	}
	if l.ID == "" || len(l.ID) > maxWord {
		return errors.New("a call needs an id")
	}
	return nil
}

// wantBody asks for exactly one form of a body. What is in base64 may be anything:
// the row of a damaged store, which is skipped here as it was there.
func wantBody(body json.RawMessage, raw []byte) error {
	if (body == nil) == (raw == nil) {
		return errors.New("one body is needed, as it is or in base64")
	}
	return nil
}

// takeBlob gathers the pieces of a blob, and stores it when they are complete
// and have its hash. Until the session refers to it, it is one that is collected.
func (c *checker) takeBlob(ctx context.Context, b blobFields) error {
	want := c.blob
	if want.Hash == "" {
		want = b
		want.Piece, want.Data = 1, nil
	}
	same := b
	same.Data = nil
	switch {
	case !sameBlob(same, want):
		return errors.New("the pieces of a blob do not fit together")
	case len(c.bytes)+len(b.Data) > maxBlob:
		return fmt.Errorf("a blob is larger than %d MiB", maxBlob>>20)
	}
	c.bytes = append(c.bytes, b.Data...)
	if b.Piece < b.Pieces {
		want.Piece++
		c.blob = want
		return nil
	}
	data := c.bytes
	c.blob, c.bytes = blobFields{}, nil
	if hashOf(data) != b.Hash {
		return fmt.Errorf("the bytes of blob %.64q have another hash", b.Hash)
	}
	if _, err := c.s.db.PutBlob(ctx, "", 0, data, b.MIME, b.Width, b.Height); err != nil {
		return err
	}
	c.hashes = append(c.hashes, b.Hash)
	return nil
}

// sameBlob compares all but the data.
func sameBlob(a, b blobFields) bool {
	return a.Hash == b.Hash && a.MIME == b.MIME && a.Width == b.Width && a.Height == b.Height && a.Piece == b.Piece && a.Pieces == b.Pieces
}

// write stores the rows of lines that all has checked.
func (c *checker) write(ctx context.Context, tx *db.Tx, r io.Reader) error {
	var seqs []int64
	err := eachLine(r, func(_ int, raw []byte) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var l line
		if err := json.Unmarshal(raw, &l); err != nil {
			return err
		}
		switch l.Type {
		case lineSession:
			return tx.CreateSession(c.head)
		case lineRun:
			return c.writeRun(tx, l)
		case lineMessage:
			m := db.Message{Session: c.head.ID, RunID: l.RunID, Body: either(l.Body, l.BodyBase64), Compacted: l.Compacted}
			if l.CopyOf > 0 {
				m.CopyOf = seqs[l.CopyOf-1]
			}
			seq, err := tx.AppendMessage(m)
			seqs = append(seqs, seq)
			return err
		case lineCall:
			return c.writeCall(tx, l)
		}
		_, err := tx.AddEvent(db.Event{
			Session: c.head.ID, RunID: l.RunID, Type: l.Event, Body: either(l.Body, l.BodyBase64),
			CorrelationID: l.CorrelationID, CreatedMs: l.CreatedAt, RunSeq: l.Seq,
		})
		return err
	})
	if err != nil {
		return err
	}
	for _, hash := range c.hashes {
		if _, err := tx.Blob(ctx, hash); err != nil {
			return fmt.Errorf("blob %s was collected in the meantime: %w", hash, err)
		}
		if err := tx.AddBlobRef(c.head.ID, 0, hash); err != nil {
			return err
		}
	}
	return tx.TouchSession(c.head.ID, c.head.UpdatedMs, "")
}

// writeRun adds a run; ids of runs are unique over all sessions.
func (c *checker) writeRun(tx *db.Tx, l line) error {
	err := tx.BeginRun(db.Run{
		ID: l.ID, Session: c.head.ID, Status: l.Status, RequestID: l.RequestID, CorrelationID: l.CorrelationID, Model: l.Model,
		CreatedMs: l.CreatedAt, StartedMs: l.StartedAt, EndedMs: l.EndedAt, Error: l.Error, Usage: l.Usage,
	})
	if errors.Is(err, db.ErrExists) {
		return fmt.Errorf("run %s, or its request id, is there already", l.ID)
	}
	return err
}

// writeCall keeps a pending call pending: the session is uncertain here, too.
func (c *checker) writeCall(tx *db.Tx, l line) error {
	row := db.Call{
		Session: c.head.ID, ID: l.ID, Status: l.Status, Result: either(l.Result, l.ResultBase64), RunID: l.RunID, Name: l.Name,
		Effect: l.Effect, StartedMs: l.StartedAt, EndedMs: l.EndedAt,
	}
	if l.Status == db.Pending {
		return tx.BeginCall(row)
	}
	return tx.EndCall(row)
}

// either returns the body in the form in which it was sent.
func either(body json.RawMessage, raw []byte) string {
	if body != nil {
		return string(body)
	}
	return string(raw)
}
