package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"alisio/agent/session/archive"
	"alisio/db"
)

// Export writes a session as lines of JSON (archive.Export).
func (s *SQLite) Export(ctx context.Context, id string, w io.Writer) error {
	return mapped("export session "+id, archive.Export(ctx, s.db, id, w, s.notice))
}

// Imported is a session that was taken in, and how much came with it.
type Imported struct {
	Session
	Messages int
	Events   int
}

// Import stores an exported session (archive.Import), all or nothing; ErrExists if its
// id is taken, an *archive.AlikeError if it can be taken for another,
// archive.ErrNoExport for a file of another kind. The session answers no request of its
// workspace (RunByRequest), and works in none before Adopt.
func (s *SQLite) Import(ctx context.Context, r io.Reader) (Imported, error) {
	got, err := archive.Import(ctx, s.db, r)
	var taken *archive.TakenError
	var alike *archive.AlikeError
	switch {
	case errors.As(err, &taken): // says it all, wherever it was seen
		return Imported{}, fmt.Errorf("session %s %w", taken.ID, ErrExists)
	case errors.As(err, &alike):
		return Imported{}, alike
	case errors.Is(err, archive.ErrNoExport):
		return Imported{}, err
	case err != nil:
		return Imported{}, mapped("import session", err)
	}
	return Imported{Session: fromRow(got.Head), Messages: got.Messages, Events: got.Events}, nil
}

// Adopted reports whether a session may work in the workspace that it names: it
// was made here, or a person has said where it works since it was imported.
func (s *SQLite) Adopted(ctx context.Context, id string) (bool, error) {
	row, err := s.db.Session(ctx, id)
	if err != nil {
		return false, mapped("session "+id, err)
	}
	return !row.Imported() || archive.Adopted(row.Options), nil
}

// Adopt notes where an imported session works from now on, and reports whether it
// did. It does nothing to one that is adopted, or was made here.
func (s *SQLite) Adopt(ctx context.Context, id, workspace string) (done bool, err error) {
	if had, err := s.Adopted(ctx, id); had || err != nil {
		return false, err // nearly always, and nothing is written
	}
	err = s.change(ctx, "adopt session "+id, func(tx *db.Tx) error {
		done = false
		row, err := tx.Session(ctx, id)
		if err != nil || !row.Imported() || archive.Adopted(row.Options) {
			return err
		}
		done = true
		return tx.SetWorkspace(id, workspace, archive.Adopt(row.Options, time.Now().UnixMilli()))
	})
	return done && err == nil, err
}
