package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"alisio/db"
)

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
		l.clampTimes(c.nowMs)
		switch l.Type {
		case lineSession:
			if err := free(ctx, tx, c.head.ID); err != nil {
				return err // somebody was faster
			}
			return tx.CreateSession(c.head)
		case lineRun:
			return c.writeRun(tx, l)
		case lineMessage:
			m := db.Message{Session: c.head.ID, RunID: l.RunID, Body: either(l.Body, l.BodyBase64), Compacted: l.Compacted}
			if l.CopyOf > 0 && l.CopyOf < l.N {
				m.CopyOf = seqs[l.CopyOf-1]
			}
			seq, err := tx.AppendMessage(m)
			seqs = append(seqs, seq)
			if err == nil && l.CopyOf == l.N { // an undone compaction had added it
				err = tx.DropMessages(c.head.ID, seq)
			}
			return err
		case lineCall:
			return c.writeCall(ctx, tx, l)
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
	return tx.TouchSession(c.head.ID, c.head.UpdatedMs)
}

// writeRun adds a run; ids of runs are unique over all sessions.
func (c *checker) writeRun(tx *db.Tx, l line) error {
	err := tx.BeginRun(db.Run{
		ID: l.ID, Session: c.head.ID, Status: ended(l.Status), RequestID: l.RequestID, CorrelationID: l.CorrelationID, Model: l.Model,
		CreatedMs: l.CreatedAt, StartedMs: l.StartedAt, EndedMs: l.EndedAt, Error: l.Error, Usage: l.Usage,
	})
	if errors.Is(err, db.ErrExists) {
		return fmt.Errorf("run %s, or its request id, is there already", l.ID)
	}
	return err
}

// writeCall keeps a pending call pending: the session is uncertain here, too.
func (c *checker) writeCall(ctx context.Context, tx *db.Tx, l line) error {
	switch twice, err := tx.Calls(ctx, c.head.ID, []string{l.ID}); {
	case err != nil:
		return err
	case len(twice) > 0:
		return fmt.Errorf("call %.80q is there twice", l.ID)
	}
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
