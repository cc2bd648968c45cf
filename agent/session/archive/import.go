package archive

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"alisio/agent/session/codec"
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
	// maxRows and maxWaiting bound what one transaction stores, in rows and in
	// bytes of them: all who write wait for it, and give up after a minute. It
	// takes some fifteen seconds on a busy machine of two cores.
	maxRows    = 400_000
	maxWaiting = 512 << 20
	// maxArguments bounds the arguments of a call, in bytes.
	maxArguments = 8 << 20
)

var (
	// ErrNoExport tells that a file is none that Export wrote.
	ErrNoExport = errors.New("not an exported session")
	errCutOff   = errors.New("cut off: its last line is missing")
)

// Imported is a session that was taken in, and how much came with it.
type Imported struct {
	Head     db.Session
	Messages int
	Events   int
}

// Import stores an exported session, all or nothing; a *TakenError if its id is
// there, an *AlikeError if it can be taken for another, ErrNoExport for a file of
// another kind. What it reads is foreign: every line is bounded and checked before
// any row is written, and the session is marked as imported: it answers no request
// of its workspace, and works in none before it is adopted. Times in the
// future, in any line, become now, those before 1970 none; open runs become
// interrupted ones.
func Import(ctx context.Context, d *db.DB, r io.Reader) (Imported, error) {
	c := checker{db: d, nowMs: time.Now().UnixMilli()}
	if err := c.take(ctx, r); err != nil {
		return Imported{}, err
	}
	return Imported{Head: c.head, Messages: int(c.messages), Events: int(c.events)}, nil
}

// take checks the whole export before it writes a row.
func (c *checker) take(ctx context.Context, r io.Reader) error {
	// The lines wait in a file, so that the database is not held while a slow
	// sender writes them, and so that the transaction can begin again. It lies
	// beside the database, where nobody else looks, and has no name where the
	// system allows that, so that not even a kill leaves it behind.
	if err := os.MkdirAll(c.db.Home(), 0o700); err != nil {
		return err
	}
	wait, err := os.CreateTemp(c.db.Home(), "import-*.tmp")
	if err != nil {
		return err
	}
	defer wait.Close()
	if os.Remove(wait.Name()) != nil {
		defer func() {
			wait.Close()
			os.Remove(wait.Name())
		}()
	}
	out := bufio.NewWriterSize(wait, 64<<10)
	if err := c.all(ctx, r, out); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return c.db.Write(ctx, db.Normal, func(tx *db.Tx) error {
		if _, err := wait.Seek(0, io.SeekStart); err != nil {
			return err
		}
		return c.write(ctx, tx, wait)
	})
}

// checker reads an export twice: all checks the lines and stores the blobs,
// which nothing refers to yet; write stores the rows.
type checker struct {
	db    *db.DB
	nowMs int64 // when the import began
	head  db.Session
	// order is the place of the last line's type among all.
	order    int
	messages int64 // so far, as the other two
	events   int64
	lines    int64
	ended    bool
	waiting  int64 // bytes of rows
	// blob is the one of which pieces are still to come.
	blob   blobFields
	bytes  []byte
	hashes []string
	kinds  []kind // of the messages so far
}

// all copies the lines of rows to out. Blobs go to the store at once, a piece at a
// time is in memory beside the one that is gathered.
func (c *checker) all(ctx context.Context, r io.Reader, out io.Writer) error {
	err := eachLine(r, func(n int, raw []byte) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case n == 1 && !isHead(raw):
			return ErrNoExport
		case c.ended:
			return errors.New("nothing may stand behind the line of type \"end\"")
		}
		l, err := parseLine(raw)
		switch {
		case err != nil && raw[len(raw)-1] != '\n':
			return fmt.Errorf("%w (%w)", errCutOff, err)
		case err != nil:
			return err
		case n > 1 && l.Type == lineSession:
			return errors.New("an export has one line of type \"session\", its first")
		}
		if err := c.check(ctx, l); err != nil || l.Type == lineBlob || l.Type == lineEnd {
			return err
		}
		if c.waiting += int64(len(raw)); c.waiting > maxWaiting {
			return fmt.Errorf("the rows of an import have at most %d MiB, blobs apart: other processes wait while they are stored", maxWaiting>>20)
		}
		_, err = out.Write(raw)
		return err
	})
	switch {
	case errors.Is(err, ErrNoExport):
		return ErrNoExport
	case err != nil:
		return err
	case c.head.ID == "":
		return emptyExport()
	case c.blob.Hash != "":
		return fmt.Errorf("cut off: the end of blob %s is missing", c.blob.Hash)
	case !c.ended:
		return errCutOff
	}
	return nil
}

// check accepts a line, or says what is wrong with it.
func (c *checker) check(ctx context.Context, l line) error {
	place := slices.Index([]string{lineSession, lineRun, lineMessage, lineCall, lineEvent, lineBlob, lineEnd}, l.Type)
	if place < c.order {
		return fmt.Errorf("a line of type %q stands too late", l.Type)
	}
	c.order = place
	if l.Type != lineEnd {
		c.lines++
	}
	if l.Type != lineBlob && c.lines > maxRows {
		return fmt.Errorf("an import has at most %d rows: other processes wait while it is stored", maxRows)
	}
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
		if c.messages++; l.N != c.messages {
			return fmt.Errorf("message %d stands where %d is due", l.N, c.messages)
		}
		if l.CopyOf < 0 || l.CopyOf > l.N {
			return fmt.Errorf("a copy of message %d, which is behind it", l.CopyOf)
		}
		return c.checkBody(l)
	case lineCall:
		return checkCall(l)
	case lineEvent:
		if l.Event == "" || l.Seq < 0 {
			return errors.New("an event needs its name, and no negative number")
		}
		c.events++
		return nil
	case lineEnd:
		if c.ended = true; l.Lines != c.lines {
			return fmt.Errorf("lines before the end: found %d, due %d", c.lines, l.Lines)
		}
		return nil
	}
	return c.takeBlob(ctx, l.blobFields)
}

// checkHead looks early whether the id is free, before a long export is read; the
// transaction looks again.
func (c *checker) checkHead(ctx context.Context, l line) error {
	if l.SchemaVersion < 1 {
		return errors.New("no schema version")
	}
	if err := checkID(l.ID); err != nil {
		return err
	}
	if l.Parent != "" {
		if err := checkID(l.Parent); err != nil {
			return fmt.Errorf("parent: %w", err)
		}
	}
	options, err := marked(l.Options, c.nowMs)
	if err != nil {
		return err
	}
	if err := free(ctx, c.db, l.ID); err != nil {
		return err
	}
	// Who lies about the time does not come first in lists for ever.
	l.clampTimes(c.nowMs)
	c.head = db.Session{
		ID: l.ID, Workspace: l.Workspace, Provider: l.Provider, Model: l.Model, Title: l.Title, Parent: l.Parent,
		Depth: l.Depth, Agent: l.Agent, Status: ended(l.Status), Usage: l.Usage, Options: options,
		CreatedMs: l.CreatedAt, UpdatedMs: l.UpdatedAt, Pinned: l.Pinned, ArchivedMs: l.ArchivedAt,
	}
	return nil
}

// ended is where a run or a child stands here: what was going on where the export
// was made goes on for nobody here.
func ended(status string) string {
	if status == "queued" || status == "running" {
		return "interrupted"
	}
	return status
}

// checkRun accepts the states that runs can have.
func checkRun(l line) error {
	switch ended(l.Status) {
	case "completed", "turns_exceeded", "failed", "cancelled", "interrupted":
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

// checkBody bounds what a message holds, and takes for a copy only what stands for
// a message of the same role that models are no longer sent. A body that can not be
// read may be anything: it is skipped here as it was there.
func (c *checker) checkBody(l line) error {
	if err := wantBody(l.Body, l.BodyBase64); err != nil {
		return err
	}
	m, err := codec.Decode([]byte(either(l.Body, l.BodyBase64)))
	if errors.Is(err, codec.ErrTooMuch) {
		return err
	}
	for _, call := range m.Calls {
		if len(call.Arguments) > maxArguments {
			return fmt.Errorf("the arguments of a call are longer than %d MiB", maxArguments>>20)
		}
	}
	own := kind{role: m.Role, compacted: l.Compacted}
	c.kinds = append(c.kinds, own)
	if l.CopyOf == 0 {
		return nil
	}
	switch first := c.kinds[l.CopyOf-1]; {
	case !first.compacted:
		return fmt.Errorf("a copy of message %d, which is not compacted", l.CopyOf)
	case first.role != own.role:
		return fmt.Errorf("a copy of message %d, which has another role", l.CopyOf)
	}
	return nil
}

// kind is what a copy of a message is checked by.
type kind struct {
	role      llm.Role
	compacted bool
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
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != b.Hash {
		return fmt.Errorf("the bytes of blob %.64q have another hash", b.Hash)
	}
	if _, err := c.db.PutBlob(ctx, "", 0, data, b.MIME, b.Width, b.Height); err != nil {
		return err
	}
	c.hashes = append(c.hashes, b.Hash)
	return nil
}

// sameBlob compares all but the data.
func sameBlob(a, b blobFields) bool {
	return a.Hash == b.Hash && a.MIME == b.MIME && a.Width == b.Width && a.Height == b.Height && a.Piece == b.Piece && a.Pieces == b.Pieces
}
