package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"alisio/agent/session/codec"
	"alisio/db"
	"alisio/llm"
	"alisio/plug"
)

// tokens is a usage as it is stored, in sessions and in runs.
type tokens struct {
	Input       int `json:"input"`
	Output      int `json:"output"`
	CachedInput int `json:"cachedInput,omitempty"`
	Reasoning   int `json:"reasoning,omitempty"`
}

// encodeUsage writes the numbers that the database adds up, by their names.
func encodeUsage(u llm.Usage) (string, error) {
	b, err := json.Marshal(tokens(u))
	return string(b), err
}

// decodeUsage gives zero for what can not be read.
func decodeUsage(s string) llm.Usage {
	var t tokens
	if err := json.Unmarshal([]byte(s), &t); err != nil {
		return llm.Usage{}
	}
	return llm.Usage(t)
}

// fromRun turns a row into a run. Statuses of other programs pass as they are.
func fromRun(r db.Run) Run {
	return Run{
		ID: r.ID, Session: r.Session, Status: RunStatus(r.Status), RequestID: r.RequestID, CorrelationID: r.CorrelationID,
		OwnerPID: r.OwnerPID, Model: r.Model, Created: moment(r.CreatedMs), Started: moment(r.StartedMs),
		Ended: moment(r.EndedMs), Error: r.Error, Usage: decodeUsage(r.Usage),
	}
}

// BeginRun implements RunJournal. The transaction that looks for the request id
// is the one that stores the run, so that of concurrent callers, in other
// processes too, one wins.
func (s *SQLite) BeginRun(ctx context.Context, b Begin) (Run, []int64, error) {
	r := b.Run
	if b.Fresh != nil {
		r.Session = b.Fresh.ID
	}
	if r.Status == "" {
		r.Status = RunRunning
	}
	if r.Created.IsZero() {
		r.Created = time.Now()
	}
	act := "begin run " + r.ID + " of session " + r.Session
	rows, err := encodeRows(r.Session, r.ID, b.Messages)
	if err != nil {
		return Run{}, nil, fmt.Errorf("%s: %w", act, err)
	}
	self := db.Self()
	r.OwnerPID = self.PID
	s.owns(r.Session, true)
	// The function may run again from its start: it sets these two, and no more.
	var stored db.Run
	var numbers []int64
	err = s.db.Write(ctx, db.Normal, func(tx *db.Tx) error {
		prior, err := priorRun(ctx, tx, r, b.Fresh)
		switch {
		case err != nil:
			return err
		case prior.ID != "" && prior.ID != b.Continues:
			stored, numbers = prior, nil
			return nil
		}
		if stored, err = beginRun(ctx, tx, r, b, self, prior.ID != ""); err != nil {
			return err
		}
		if err := appendRows(ctx, tx, rows); err != nil {
			return err
		}
		numbers, err = s.addEvents(tx, b.Events)
		return err
	})
	if err != nil {
		return Run{}, nil, mapped(act, err)
	}
	return fromRun(stored), numbers, nil
}

// priorRun returns the run that has the request id of r, or one without an id.
func priorRun(ctx context.Context, tx *db.Tx, r Run, fresh *Session) (db.Run, error) {
	if r.RequestID == "" {
		return db.Run{}, nil
	}
	id, workspace := r.Session, ""
	if fresh != nil {
		id, workspace = "", fresh.Workspace
	}
	prior, err := tx.RunByRequest(ctx, id, workspace, r.RequestID)
	if errors.Is(err, db.ErrNotFound) {
		return db.Run{}, nil
	}
	return prior, err
}

// beginRun stores the run and what belongs to its begin, but for its messages.
// Moves: the run takes its request id over from the one that it continues.
func beginRun(ctx context.Context, tx *db.Tx, r Run, b Begin, self db.Owner, moves bool) (db.Run, error) {
	row := db.Run{
		ID: r.ID, Session: r.Session, Status: string(r.Status), RequestID: r.RequestID, CorrelationID: r.CorrelationID,
		OwnerPID: self.PID, Owner: self, Model: r.Model, CreatedMs: millis(r.Created), StartedMs: millis(r.Started),
	}
	head, err := beginSession(ctx, tx, r.Session, b.Fresh, self)
	if err != nil {
		return row, err
	}
	first := row
	if moves {
		first.RequestID = ""
	}
	if err := tx.BeginRun(first); err != nil {
		return row, err
	}
	if b.Continues != "" {
		if err := continues(ctx, tx, b.Continues, r, moves); err != nil {
			return row, err
		}
		if row, err = tx.Run(ctx, r.ID); err != nil {
			return row, err
		}
	}
	if head.Workspace == "" || head.Parent != "" {
		return row, nil // nobody opens where a child works: a directory made for it, perhaps
	}
	return row, tx.OpenWorkspace(head.Workspace, row.CreatedMs)
}

// beginSession returns the head of the run's session, which it makes if it is
// fresh, and makes this process its owner.
func beginSession(ctx context.Context, tx *db.Tx, id string, fresh *Session, self db.Owner) (db.Session, error) {
	if fresh != nil {
		head := toRow(*fresh)
		head.LockedPID, head.LockedBoot, head.LockedStart = self.PID, self.Boot, self.Start
		return head, tx.CreateSession(head)
	}
	head, err := tx.Session(ctx, id)
	if err == nil {
		// Here at the latest of two that could both take the lock one is refused.
		err = head.HeldElsewhere()
	}
	if err == nil {
		err = tx.SetOwner(id, &self)
	}
	return head, err
}

// continues checks that a run may be continued, and takes its request id over.
func continues(ctx context.Context, tx *db.Tx, from string, r Run, moves bool) error {
	old, err := tx.Run(ctx, from)
	if err != nil {
		return err
	}
	if old.Session != r.Session || RunStatus(old.Status) != RunInterrupted {
		return fmt.Errorf("run %s is %s in session %s: only an interrupted run of the session can be continued", from, old.Status, old.Session)
	}
	if !moves && (r.RequestID != "" || old.RequestID == "") {
		return nil
	}
	return tx.MoveRequest(from, r.ID)
}

// EndRun implements RunJournal. The session's usage grows by the run's.
func (s *SQLite) EndRun(ctx context.Context, end RunEnd, last ...plug.Event) (numbers []int64, err error) {
	act := "end run " + end.ID
	if !end.Status.Ended() {
		return nil, fmt.Errorf("%s: %q is no end", act, end.Status)
	}
	usage, err := encodeUsage(end.Usage)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", act, err)
	}
	now, id := int64(0), ""
	if n := len(last); n > 0 {
		// The event says which session it is, and need not be looked up.
		now, id = millis(last[n-1].Time), last[n-1].SessionID
	}
	if now == 0 {
		now = time.Now().UnixMilli()
	}
	rows, err := encodeRows(id, end.ID, end.Messages)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", act, err)
	}
	err = s.db.Write(ctx, db.Normal, func(tx *db.Tx) error {
		r := db.Run{ID: end.ID, Session: id}
		if r.Session == "" {
			if r, err = tx.Run(ctx, end.ID); err != nil {
				return err
			}
			id = r.Session
		}
		r.Status, r.EndedMs, r.Error, r.Usage = string(end.Status), now, end.Error, usage
		if err := tx.EndRun(r); err != nil {
			return err
		}
		for i := range rows {
			rows[i].Session = id
		}
		if err := appendRows(ctx, tx, rows); err != nil {
			return err
		}
		if numbers, err = s.addEvents(tx, last); err != nil {
			return err
		}
		return tx.LeaveSession(id, now, usage)
	})
	if err == nil {
		s.owns(id, false)
	}
	return numbers, mapped(act, err)
}

// RunByRequest implements RunJournal. In a workspace the first run of the id is
// meant.
func (s *SQLite) RunByRequest(ctx context.Context, k RequestKey) (Run, error) {
	r, err := s.db.RunByRequest(ctx, k.Session, k.Workspace, k.RequestID)
	if err != nil {
		return Run{}, mapped("request "+k.RequestID, err)
	}
	return fromRun(r), nil
}

// Runs implements RunList.
func (s *SQLite) Runs(ctx context.Context, id string, limit int) ([]Run, error) {
	rows, err := s.db.Runs(ctx, id, limit)
	if err != nil {
		return nil, mapped("read session "+id, err)
	}
	if len(rows) == 0 {
		return nil, s.there(ctx, id)
	}
	runs := make([]Run, len(rows))
	for i, r := range rows {
		runs[i] = fromRun(r)
	}
	return runs, nil
}

// RunBefore returns the run of a session that was stored before another: the one
// that it continues, if it is interrupted and the other brought no prompt. It is
// ErrNotFound if there is none.
func (s *SQLite) RunBefore(ctx context.Context, id, runID string) (Run, error) {
	r, err := s.db.RunBefore(ctx, id, runID)
	if err != nil {
		return Run{}, mapped("read run before "+runID, err)
	}
	return fromRun(r), nil
}

// chainRuns bounds how many interrupted runs of one request are followed.
const chainRuns = 1000

// EndsWith reports whether the last message of a session, results aside, is
// known to be one of a run, or of the interrupted run before it if it added none
// itself: such a run took that one to its end.
func (s *SQLite) EndsWith(ctx context.Context, id, runID string) (bool, error) {
	rows, err := s.db.ActiveMessages(ctx, id)
	if err != nil {
		return false, mapped("read session "+id, err)
	}
	last := ""
	spoke := make(map[string]bool)
	for _, r := range rows {
		switch m, err := codec.Decode([]byte(r.Body)); {
		case err != nil:
			last = ""
		case m.Role != llm.RoleTool:
			last = r.RunID
		}
		spoke[r.RunID] = spoke[r.RunID] || last == r.RunID
	}
	runs, err := s.db.Runs(ctx, id, chainRuns)
	for i, r := range runs {
		if r.ID != runID {
			continue
		}
		if spoke[runID] || i+1 == len(runs) || RunStatus(runs[i+1].Status) != RunInterrupted {
			break
		}
		runID = runs[i+1].ID
	}
	return last != "" && last == runID, mapped("read session "+id, err)
}

// InterruptRuns implements RunList. A run whose owner lives, or whose session
// somebody has locked, is left alone.
func (s *SQLite) InterruptRuns(ctx context.Context) (int, error) {
	n, err := s.db.InterruptRuns(ctx)
	return n, mapped("interrupt runs", err)
}

// Pending implements Store.
func (s *SQLite) Pending(ctx context.Context, id string) ([]Call, error) {
	rows, err := s.db.PendingCalls(ctx, id)
	if err != nil {
		return nil, mapped("read session "+id, err)
	}
	if len(rows) == 0 {
		return nil, s.there(ctx, id)
	}
	calls := make([]Call, len(rows))
	for i, r := range rows {
		calls[i] = fromCall(r)
	}
	return calls, nil
}
