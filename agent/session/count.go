package session

import (
	"context"

	"alisio/db"
)

// MaxCount is the most sessions that Count counts, and that a list has.
const MaxCount = 10_000

// Count returns how many sessions a list without a limit would have, at most
// MaxCount: from there on nobody needs to know.
func (s *SQLite) Count(ctx context.Context, q Query) (int, error) {
	n, err := s.db.CountSessions(ctx, db.SessionQuery{Workspace: q.Workspace, Children: q.All, Archived: q.All}, MaxCount)
	return n, mapped("count sessions", err)
}
