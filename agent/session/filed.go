package session

import (
	"context"
	"encoding/json"

	"alisio/agent/session/codec"
)

// Filed is a stored message with its session, for an index over all of them.
type Filed struct {
	Stored
	Session string
}

// MessagesSince returns up to limit messages of all sessions behind a number, in order,
// and about so many bytes, but one at least; Err tells of one that can not be read.
func (s *SQLite) MessagesSince(ctx context.Context, after int64, limit int, bytes int64) ([]Filed, error) {
	rows, err := s.db.MessagesSince(ctx, after, limit, bytes)
	if err != nil {
		return nil, mapped("read messages", err)
	}
	page := make([]Filed, len(rows))
	for i, r := range rows {
		f := Filed{Session: r.Session, Stored: Stored{Seq: r.Seq, RunID: r.RunID, Compacted: r.Compacted, CopyOf: r.CopyOf}}
		f.Message, f.Err = codec.Decode(json.RawMessage(r.Body))
		page[i] = f
	}
	return page, nil
}

// LastMessage is the highest number that a message ever had, also one that is gone.
func (s *SQLite) LastMessage(ctx context.Context) (int64, error) {
	n, err := s.db.LastMessage(ctx)
	return n, mapped("read messages", err)
}

// SessionIDs are those of all sessions, or of those of a workspace.
func (s *SQLite) SessionIDs(ctx context.Context, workspace string) (map[string]bool, error) {
	list, err := s.db.SessionIDs(ctx, workspace)
	ids := make(map[string]bool, len(list))
	for _, id := range list {
		ids[id] = true
	}
	return ids, mapped("list sessions", err)
}
