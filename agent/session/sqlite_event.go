package session

import (
	"context"
	"errors"
	"fmt"

	"alisio/agent/session/codec"
	"alisio/db"
	"alisio/llm"
	"alisio/plug"
)

// AddEvent implements Store.
func (s *SQLite) AddEvent(ctx context.Context, e plug.Event, messages ...llm.Message) (number int64, err error) {
	act := "add event to session " + e.SessionID
	rows, err := encodeRows(e.SessionID, e.RunID, messages)
	if err != nil {
		return 0, mapped(act, err)
	}
	err = s.db.Write(ctx, db.Normal, func(tx *db.Tx) (err error) {
		if number, err = s.addEvent(tx, e); err != nil {
			return err
		}
		return appendRows(ctx, tx, rows)
	})
	return number, mapped(act, err)
}

// Events implements Store.
func (s *SQLite) Events(ctx context.Context, id string) ([]plug.Event, error) {
	var events []plug.Event
	const atOnce = 1000
	for after := int64(0); ; {
		page, err := s.EventsPage(ctx, id, after, atOnce)
		if err != nil {
			return nil, err
		}
		events = append(events, page...)
		if len(page) < atOnce {
			return events, nil
		}
		after = page[len(page)-1].ID
	}
}

// EventsPage implements Pager. Events of old programs, which have no number in
// their run, are numbered in order.
func (s *SQLite) EventsPage(ctx context.Context, id string, after int64, limit int) ([]plug.Event, error) {
	rows, err := s.db.EventsPage(ctx, id, after, limit)
	if err != nil {
		return nil, mapped("read session "+id, err)
	}
	if len(rows) == 0 {
		return nil, s.there(ctx, id)
	}
	seqs := make(map[string]int64) // of the last event of each run
	events := make([]plug.Event, len(rows))
	for i, r := range rows {
		last, seen := seqs[r.RunID]
		if !seen && r.RunSeq == 0 && after > 0 {
			if last, err = s.seqBefore(ctx, r); err != nil {
				return nil, err
			}
		}
		events[i] = fromEvent(r, last)
		seqs[r.RunID] = events[i].Seq
	}
	return events, nil
}

// seqBefore returns the number of the last event of the same run before r. A run
// whose first event has none was stored by an older program from end to end: its
// events are counted, each page by one look at an index.
func (s *SQLite) seqBefore(ctx context.Context, r db.Event) (last int64, err error) {
	count, first, err := s.db.EventsBefore(ctx, r.Session, r.RunID, r.Seq)
	if err != nil || first == 0 {
		return count, mapped("read session "+r.Session, err)
	}
	rows, err := s.db.RunEvents(ctx, r.Session, r.RunID)
	for _, before := range rows {
		if before.Seq >= r.Seq {
			break
		}
		last = fromEvent(before, last).Seq
	}
	return last, mapped("read session "+r.Session, err)
}

// RunEvents returns the stored events of one run, in order.
func (s *SQLite) RunEvents(ctx context.Context, id, runID string) ([]plug.Event, error) {
	rows, err := s.db.RunEvents(ctx, id, runID)
	if err != nil {
		return nil, mapped("read run "+runID, err)
	}
	events := make([]plug.Event, len(rows))
	last := int64(0)
	for i, r := range rows {
		events[i] = fromEvent(r, last)
		last = events[i].Seq
	}
	return events, nil
}

// EventsOf returns the last events of a type in a session, the newest first. Those of old
// programs have no number in their run: Seq is 0.
func (s *SQLite) EventsOf(ctx context.Context, id string, t plug.EventType, limit int) ([]plug.Event, error) {
	rows, err := s.db.EventsOf(ctx, id, string(t), limit)
	events := make([]plug.Event, len(rows))
	for i, r := range rows {
		events[i] = fromEvent(r, -1)
	}
	return events, mapped("read session "+id, err)
}

// fromEvent never fails: what this program does not know comes as plug.Unknown.
func fromEvent(r db.Event, lastSeq int64) plug.Event {
	e := plug.Event{
		RunID: r.RunID, SessionID: r.Session, Seq: r.RunSeq, Time: moment(r.CreatedMs), ID: r.Seq,
		CorrelationID: r.CorrelationID, Data: plug.StoredPayload(plug.EventType(r.Type), []byte(r.Body)),
	}
	if e.Seq == 0 {
		e.Seq = lastSeq + 1
	}
	return e
}

// errBegun tells that a call's id was used before.
var errBegun = errors.New("the journal holds it already")

// BeginCall implements Store. The commit waits for the disk if the effect reaches
// beyond this program.
func (s *SQLite) BeginCall(ctx context.Context, c Call, events ...plug.Event) (numbers []int64, err error) {
	err = s.db.Write(ctx, syncOf(c.Effect), func(tx *db.Tx) (err error) {
		if numbers, err = s.addEvents(tx, events); err != nil {
			return err
		}
		return tx.BeginCall(db.Call{
			Session: c.Session, ID: c.ID, Status: db.Pending, RunID: c.RunID, Name: c.Name,
			Effect: string(c.Effect), StartedMs: millis(c.Started),
		})
	})
	if errors.Is(err, db.ErrExists) {
		err = errBegun
	}
	return numbers, mapped("begin call "+c.ID, err)
}

func (s *SQLite) addEvents(tx *db.Tx, events []plug.Event) ([]int64, error) {
	numbers := make([]int64, len(events))
	for i, e := range events {
		var err error
		if numbers[i], err = s.addEvent(tx, e); err != nil {
			return nil, err
		}
	}
	return numbers, nil
}

// syncOf says how durable the begin of a call is (spec store.md): a power cut
// must not forget one that reached beyond this program.
func syncOf(e plug.Effect) db.Sync {
	if !e.Quiet() {
		return db.Full
	}
	return db.Normal
}

// EndCall implements Store. If it is lost with the machine, the call is uncertain
// at the next use: it is not repeated.
func (s *SQLite) EndCall(ctx context.Context, c Call, e plug.Event, messages ...llm.Message) (number int64, err error) {
	result, err := codec.EncodeResult(c.Result)
	if err != nil {
		return 0, fmt.Errorf("end call %s: %w", c.ID, err)
	}
	rows, err := encodeRows(c.Session, c.RunID, messages)
	if err != nil {
		return 0, fmt.Errorf("end call %s: %w", c.ID, err)
	}
	err = s.db.Write(ctx, db.Normal, func(tx *db.Tx) (err error) {
		err = tx.EndCall(db.Call{
			Session: c.Session, ID: c.ID, Status: db.Completed, Result: result, RunID: c.RunID, Name: c.Name,
			Effect: string(c.Effect), StartedMs: millis(c.Started), EndedMs: millis(c.Ended),
		})
		if err == nil && e.Data != nil {
			number, err = s.addEvent(tx, e)
		}
		if err != nil {
			return err
		}
		return appendRows(ctx, tx, rows)
	})
	return number, mapped("end call "+c.ID, err)
}

// Calls implements Store.
func (s *SQLite) Calls(ctx context.Context, id string, callIDs ...string) ([]Call, error) {
	rows, err := s.db.Calls(ctx, id, callIDs)
	if err != nil {
		return nil, mapped("read session "+id, err)
	}
	calls := make([]Call, len(rows))
	for i, r := range rows {
		calls[i] = fromCall(r)
	}
	return calls, nil
}

// fromCall reads a row of the journal. Any state but completed counts as begun.
func fromCall(r db.Call) Call {
	c := Call{
		Session: r.Session, ID: r.ID, RunID: r.RunID, Name: r.Name, Effect: plug.Effect(r.Effect),
		Done: r.Status == db.Completed, Started: moment(r.StartedMs), Ended: moment(r.EndedMs),
	}
	if c.Done {
		c.Result = codec.DecodeResult(r.Result)
	}
	return c
}
