package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"alisio/agent/session/codec"
	"alisio/db"
	"alisio/llm"
	"alisio/plug"
)

// SQLite is a Store that keeps everything for good, in the database of package
// db. It implements all optional interfaces of this package.
type SQLite struct {
	db     *db.DB
	notice func(text string)

	mu    sync.Mutex
	held  map[string]bool // sessions locked by this process
	owned map[string]bool // sessions whose rows may name this process
	told  map[int64]bool  // rows that could not be read, by seq
}

var (
	_ Store      = (*SQLite)(nil)
	_ RunJournal = (*SQLite)(nil)
	_ RunList    = (*SQLite)(nil)
	_ Pager      = (*SQLite)(nil)
)

// OpenSQLite opens, and unless o.ReadOnly makes, the database of a store. What a
// person should know, unreadable rows too, goes to o.Notice.
func OpenSQLite(ctx context.Context, o db.Options) (*SQLite, error) {
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	var mu sync.Mutex
	tell := o.Notice
	o.Notice = func(text string) {
		mu.Lock()
		defer mu.Unlock()
		tell(text)
	}
	d, err := db.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return &SQLite{
		db: d, notice: o.Notice, held: make(map[string]bool), owned: make(map[string]bool), told: make(map[int64]bool),
	}, nil
}

// Files are what the store keeps its things in, as absolute paths.
func (s *SQLite) Files() []string { return s.db.Files() }

// Home is the directory of what belongs to the database: blobs, locks, the index.
func (s *SQLite) Home() string { return s.db.Home() }

// Close implements Store.
func (s *SQLite) Close() error { return s.db.Close() }

// mapped turns an error of the database into one of this package.
func mapped(act string, err error) error {
	var held *db.HeldError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &held):
		return fmt.Errorf("%s: %w", act, &BusyError{Session: held.Session, PID: held.PID, Doubtful: held.Doubtful})
	case errors.Is(err, db.ErrNotFound):
		return fmt.Errorf("%s: %w", act, ErrNotFound)
	case errors.Is(err, db.ErrExists):
		return fmt.Errorf("%s: %w", act, ErrExists)
	case errors.Is(err, db.ErrEnded):
		return fmt.Errorf("%s: %w", act, ErrEnded)
	}
	return fmt.Errorf("%s: %w", act, err)
}

// millis is a time as the database keeps it: zero for none.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// toRow and fromRow turn a head into its row and back. The row has more: the
// owner, usage and options.
func toRow(s Session) db.Session {
	return db.Session{
		ID: s.ID, Workspace: s.Workspace, Provider: s.Provider, Model: s.Model, Title: s.Title, Parent: s.Parent,
		Depth: s.Depth, Agent: s.Agent, Status: s.Status, CreatedMs: millis(s.Created), UpdatedMs: millis(s.Updated),
		Pinned: s.Pinned, ArchivedMs: millis(s.Archived),
	}
}

func fromRow(r db.Session) Session {
	return Session{
		ID: r.ID, Workspace: r.Workspace, Provider: r.Provider, Model: r.Model, Title: r.Title, Parent: r.Parent,
		Depth: r.Depth, Agent: r.Agent, Status: r.Status, Created: moment(r.CreatedMs), Updated: moment(r.UpdatedMs),
		Pinned: r.Pinned, Archived: moment(r.ArchivedMs),
	}
}

// Create implements Store.
func (s *SQLite) Create(ctx context.Context, head Session) error {
	err := s.db.Write(ctx, db.Normal, func(tx *db.Tx) error { return tx.CreateSession(toRow(head)) })
	return mapped("create session "+head.ID, err)
}

// SetModel sets with which provider and model a session is continued.
func (s *SQLite) SetModel(ctx context.Context, id, provider, model string) error {
	err := s.db.Write(ctx, db.Normal, func(tx *db.Tx) error { return tx.SetModel(id, provider, model) })
	return mapped("change session "+id, err)
}

// Session implements Store.
func (s *SQLite) Session(ctx context.Context, id string) (Session, error) {
	row, err := s.db.Session(ctx, id)
	if err != nil {
		return Session{}, mapped("session "+id, err)
	}
	return fromRow(row), nil
}

// there returns ErrNotFound if there is no such session. It is asked when a
// query gave nothing, so that the common case costs one query.
func (s *SQLite) there(ctx context.Context, id string) error {
	_, err := s.db.Session(ctx, id)
	return mapped("session "+id, err)
}

// Append implements Store. A session refers to the stored blobs that its images
// are equal to, so that they are kept as long as it.
func (s *SQLite) Append(ctx context.Context, id, runID string, messages ...llm.Message) error {
	rows, err := encodeRows(id, runID, messages)
	if err == nil {
		err = s.db.Write(ctx, db.Normal, func(tx *db.Tx) error {
			if len(rows) == 0 {
				_, err := tx.Session(ctx, id)
				return err
			}
			return appendRows(ctx, tx, rows)
		})
	}
	return mapped("append to session "+id, err)
}

// row is a message ready to be stored.
type row struct {
	db.Message
	// images are the hashes of its images.
	images []string
}

// encodeRows encodes messages before the transaction begins, so that nobody waits
// for that, and a message that can not be stored stores nothing.
func encodeRows(id, runID string, messages []llm.Message) ([]row, error) {
	rows := make([]row, len(messages))
	for i, m := range messages {
		body, err := codec.Encode(m)
		if err != nil {
			return nil, err
		}
		rows[i] = row{Message: db.Message{Session: id, RunID: runID, Body: string(body)}, images: imageHashes(m)}
	}
	return rows, nil
}

// appendRows stores messages in their order, with the references of their images
// to blobs that are in the index.
func appendRows(ctx context.Context, tx *db.Tx, rows []row) error {
	for _, r := range rows {
		seq, err := tx.AppendMessage(r.Message)
		if err != nil {
			return err
		}
		for _, hash := range r.images {
			if _, err := tx.Blob(ctx, hash); errors.Is(err, db.ErrNotFound) {
				continue
			} else if err != nil {
				return err
			}
			if err := tx.AddBlobRef(r.Session, seq, hash); err != nil {
				return err
			}
		}
	}
	return nil
}

// Messages implements Store. A row that can not be read is left out, and told
// of once.
func (s *SQLite) Messages(ctx context.Context, id string) ([]llm.Message, error) {
	rows, err := s.db.ActiveMessages(ctx, id)
	if err != nil {
		return nil, mapped("read session "+id, err)
	}
	if len(rows) == 0 {
		return nil, s.there(ctx, id)
	}
	messages := make([]llm.Message, 0, len(rows))
	for _, r := range rows {
		m, err := codec.Decode([]byte(r.Body))
		if err != nil {
			s.skipped(r, err)
			continue
		}
		messages = append(messages, m)
	}
	return messages, nil
}

// skipped tells of a row that can not be read, once in the life of the store.
func (s *SQLite) skipped(r db.Message, err error) {
	s.mu.Lock()
	known := s.told[r.Seq]
	s.told[r.Seq] = true
	s.mu.Unlock()
	if !known {
		s.notice(fmt.Sprintf("session %s: message %d is left out: %v", r.Session, r.Seq, err))
	}
}

// MessagesPage implements Pager.
func (s *SQLite) MessagesPage(ctx context.Context, id string, after int64, limit int) ([]Stored, error) {
	rows, err := s.db.MessagesPage(ctx, id, after, limit)
	if err != nil {
		return nil, mapped("read session "+id, err)
	}
	if len(rows) == 0 {
		return nil, s.there(ctx, id)
	}
	page := make([]Stored, len(rows))
	for i, r := range rows {
		page[i] = Stored{Seq: r.Seq, RunID: r.RunID, Body: json.RawMessage(r.Body), Compacted: r.Compacted, CopyOf: r.CopyOf}
		page[i].Message, page[i].Err = codec.Decode(page[i].Body)
	}
	return page, nil
}

// RunMessages returns the messages that a run added, in order.
func (s *SQLite) RunMessages(ctx context.Context, id, runID string) ([]llm.Message, error) {
	var messages []llm.Message
	err := s.eachMessage(ctx, id, func(r db.Message) error {
		if r.RunID != runID {
			return nil
		}
		m, err := codec.Decode([]byte(r.Body))
		if err != nil {
			s.skipped(r, err)
			return nil
		}
		messages = append(messages, m)
		return nil
	})
	return messages, err
}

// rowsAtOnce bounds the rows of long walks that are in memory at a time. Bodies
// can hold images, so it is small.
const rowsAtOnce = 32

// eachMessage walks over all stored messages of a session.
func (s *SQLite) eachMessage(ctx context.Context, id string, do func(db.Message) error) error {
	for after := int64(0); ; {
		rows, err := s.db.MessagesPage(ctx, id, after, rowsAtOnce)
		if err != nil {
			return mapped("read session "+id, err)
		}
		for _, r := range rows {
			if err := do(r); err != nil {
				return err
			}
			after = r.Seq
		}
		if len(rows) < rowsAtOnce {
			return nil
		}
	}
}

// Lock implements Store. What a dead process left open in the session is marked
// as interrupted.
func (s *SQLite) Lock(ctx context.Context, id string) (func(), error) {
	h, err := s.hold(ctx, id)
	if err != nil {
		return nil, err
	}
	return sync.OnceFunc(func() {
		s.disown(context.WithoutCancel(ctx), id)
		s.release(h, false)
	}), nil
}

// disown takes this process's name from a session in which a run could not store
// its end: others would be refused for as long as it lives. If that can not be
// stored either, they are, with its pid.
func (s *SQLite) disown(ctx context.Context, id string) {
	if !s.owns(id, false) {
		return
	}
	if row, err := s.db.Session(ctx, id); err == nil && row.LockedPID == os.Getpid() {
		_ = s.db.Write(ctx, db.Normal, func(tx *db.Tx) error { return tx.SetOwner(id, nil) })
	}
}

// ForgetOwner lets a session go on whose row names by its pid alone a process that
// runs: a person says that it is another program. A *BusyError tells that somebody
// has the lock, or that the owner is in no doubt.
func (s *SQLite) ForgetOwner(ctx context.Context, id string) error {
	return mapped("forget who works in session "+id, s.db.ForgetOwner(ctx, id))
}

// owns notes whether the row of a session may name this process, and returns
// what was noted before.
func (s *SQLite) owns(id string, on bool) (before bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before = s.owned[id]
	if on {
		s.owned[id] = true
	} else {
		delete(s.owned, id)
	}
	return before
}

// hold is a session that this process has locked.
type hold struct {
	id   string
	lock *db.Lock
}

// hold takes a session, in this process first: a second run in it is refused at
// once, without asking the system.
func (s *SQLite) hold(ctx context.Context, id string) (hold, error) {
	s.mu.Lock()
	taken := s.held[id]
	s.held[id] = true
	s.mu.Unlock()
	if taken {
		return hold{}, &BusyError{Session: id}
	}
	h := hold{id: id}
	var err error
	if h.lock, err = s.db.Lock(ctx, id); err == nil {
		err = s.interrupt(ctx, id)
	}
	if err == nil {
		return h, nil
	}
	s.release(h, false)
	var held *db.HeldError
	if errors.As(err, &held) {
		return hold{}, &BusyError{Session: id, PID: held.PID, Doubtful: held.Doubtful}
	}
	return hold{}, mapped("lock session "+id, err)
}

// release gives a lock back; gone: the session was deleted.
func (s *SQLite) release(h hold, gone bool) {
	switch {
	case h.lock == nil:
	case gone:
		h.lock.Discard()
	default:
		h.lock.Release()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, h.id)
}

// interrupt writes only if there is something to mark: almost never. Below a child
// nothing is looked for: this process may work there, under the root's lock.
func (s *SQLite) interrupt(ctx context.Context, id string) error {
	runs, err := s.db.OpenRuns(ctx)
	if err != nil {
		return err
	}
	children, err := s.db.RunningChildren(ctx)
	if err != nil || len(runs) == 0 && len(children) == 0 {
		return err
	}
	head, err := s.db.Session(ctx, id)
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return err
	}
	below := []string{id}
	if head.Parent == "" {
		if below, err = s.db.Tree(ctx, id); err != nil {
			return err
		}
	}
	open := slices.ContainsFunc(runs, func(r db.Run) bool { return slices.Contains(below, r.Session) }) ||
		head.Parent == "" && slices.ContainsFunc(children, func(c db.Session) bool { return slices.Contains(below, c.ID) })
	if !open {
		return nil
	}
	return s.db.Write(ctx, db.Normal, func(tx *db.Tx) (err error) {
		now := time.Now().UnixMilli()
		if head.Parent != "" {
			return tx.InterruptRunsOf(id, now)
		}
		_, err = tx.InterruptSession(id, now)
		return err
	})
}

// addEvent stores the payload alone; the envelope's other fields are columns.
func (s *SQLite) addEvent(tx *db.Tx, e plug.Event) (int64, error) {
	body, err := json.Marshal(e.Data)
	if err != nil {
		return 0, fmt.Errorf("encode event %s: %w", e.Data.EventType(), err)
	}
	return tx.AddEvent(db.Event{
		Session: e.SessionID, RunID: e.RunID, Type: string(e.Data.EventType()), Body: string(body),
		CorrelationID: e.CorrelationID, CreatedMs: millis(e.Time), RunSeq: e.Seq,
	})
}
