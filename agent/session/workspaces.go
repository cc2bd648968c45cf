package session

import (
	"context"
	"time"
)

// Workspace is what is kept of a directory that sessions work in. Label is one
// line, empty for none.
type Workspace struct {
	Path       string
	Label      string
	Pinned     bool
	LastOpened time.Time
}

// Workspaces returns all that are known, the last opened first.
func (s *SQLite) Workspaces(ctx context.Context) ([]Workspace, error) {
	rows, err := s.db.Workspaces(ctx)
	if err != nil {
		return nil, mapped("list workspaces", err)
	}
	list := make([]Workspace, len(rows))
	for i, r := range rows {
		list[i] = Workspace{Path: r.Path, Label: r.Label, Pinned: r.Pinned, LastOpened: moment(r.LastOpenedMs)}
	}
	return list, nil
}
