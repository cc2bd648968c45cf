package session

import (
	"context"

	"alisio/db"
)

// Contents says what a session and the children below it hold.
type Contents struct {
	Messages int
	Events   int
	Calls    int
	Runs     int
	Children int
	Blobs    int
	// Bytes is the size of the bodies and results, without blobs.
	Bytes int64
}

// Contents returns what Delete would take away.
func (s *SQLite) Contents(ctx context.Context, id string) (Contents, error) {
	ids, err := s.tree(ctx, id)
	if err != nil {
		return Contents{}, err
	}
	c := Contents{Children: len(ids) - 1}
	blobs := make(map[string]bool)
	for _, each := range ids {
		n, err := s.db.Counts(ctx, each)
		if err != nil {
			return Contents{}, mapped("read session "+each, err)
		}
		c.Messages += n.Messages
		c.Events += n.Events
		c.Calls += n.Calls
		c.Runs += n.Runs
		c.Bytes += n.Bytes
		hashes, err := s.db.BlobRefs(ctx, each)
		if err != nil {
			return Contents{}, mapped("read session "+each, err)
		}
		for _, h := range hashes {
			blobs[h] = true
		}
	}
	c.Blobs = len(blobs)
	return c, nil
}

// tree returns a session and all below it, or ErrNotFound.
func (s *SQLite) tree(ctx context.Context, id string) ([]string, error) {
	if err := s.there(ctx, id); err != nil {
		return nil, err
	}
	ids, err := s.db.Tree(ctx, id)
	return ids, mapped("session "+id, err)
}

// Delete takes a session and its children away and returns what they held. It
// is refused with a *BusyError while anybody works in one of them. Blobs that
// nothing refers to any more are collected later.
func (s *SQLite) Delete(ctx context.Context, id string) (Contents, error) {
	ids, err := s.tree(ctx, id)
	if err != nil {
		return Contents{}, err
	}
	// Children work under locks of their own, so each of them is taken.
	var locks []hold
	gone := false
	defer func() {
		for _, h := range locks {
			s.release(h, gone)
		}
	}()
	for _, each := range ids {
		h, err := s.hold(ctx, each)
		if err != nil {
			return Contents{}, err
		}
		locks = append(locks, h)
	}
	c, err := s.Contents(ctx, id)
	if err != nil {
		return Contents{}, err
	}
	if c.Children != len(ids)-1 {
		return Contents{}, &BusyError{Session: id} // a child began in between
	}
	err = s.change(ctx, "delete session "+id, func(tx *db.Tx) error { return tx.DeleteSession(id) })
	gone = err == nil
	return c, err
}
