// Package search finds messages of all sessions by their words (spec store.md, "Kept,
// found, small").
//
// The index is a file of its own beside the session database: what is in it can be made
// again from there, so that a damaged one is thrown away, and who never searches pays
// nothing for it. It begins with the first search; from then on it is filled behind each
// run, and before each search, from a high-water mark on: other programs, older ones too,
// may have written in between.
//
//	messages of the store ─ behind the mark ─► words(rowid = seq) + docs ─► mark
package search

import (
	"context"
	"errors"
	"fmt"
	"os"

	"alisio/agent/session"
	"alisio/db/storage"
)

// Store is what is searched.
type Store interface {
	// MessagesSince returns up to limit messages of all sessions behind a number, in
	// order, and about so many bytes, but one at least; those that can not be read too.
	MessagesSince(ctx context.Context, after int64, limit int, bytes int64) ([]session.Filed, error)
	// LastMessage is the highest number that a message ever had.
	LastMessage(ctx context.Context) (int64, error)
	MessagesPage(ctx context.Context, id string, after int64, limit int) ([]session.Stored, error)
	Session(ctx context.Context, id string) (session.Session, error)
	// SessionIDs are those of all sessions, or of those of a workspace.
	SessionIDs(ctx context.Context, workspace string) (map[string]bool, error)
}

// layout is that of the index. The texts themselves are not in it. Of beginnings, those of
// one letter alone are in it (a third of its size): they stand for most words.
const layout = `
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(text, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2', prefix='1');
CREATE TABLE IF NOT EXISTS docs(seq INTEGER PRIMARY KEY, session TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS docs_session ON docs(session);
CREATE TABLE IF NOT EXISTS filed(session TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS mark(id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL, sum INTEGER NOT NULL);
INSERT OR IGNORE INTO mark VALUES (1, 0, 0);`

// Index is the index of a session database.
type Index struct {
	store Store
	path  string
	at    *storage.Storage
	// Long, if set, is called once when filing takes long.
	Long func()
}

// Open opens the index at a path, and makes it if need be. A damaged one is made anew.
func Open(ctx context.Context, store Store, path string) (*Index, error) {
	x := &Index{store: store, path: path}
	err := x.open(ctx)
	if unreadable(err) {
		err = x.renew(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("open the search index %q: %w", path, err)
	}
	return x, nil
}

func (x *Index) open(ctx context.Context) (err error) {
	if x.at, err = storage.OpenStorage(ctx, x.path); err != nil {
		return err
	}
	if err = x.at.Exec(ctx, layout); err == nil {
		// An index of another layout has these tables, and not their columns.
		_, err = x.at.Prepare(`SELECT m.seq, m.sum FROM mark m LEFT JOIN docs d ON d.seq = m.seq AND d.session = ''`).Get(ctx)
	}
	if err != nil {
		err = errors.Join(err, x.at.Close())
	}
	return err
}

// renew throws the index away and begins another.
func (x *Index) renew(ctx context.Context) error {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(x.path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return x.open(ctx)
}

// Result codes of SQLite (rescode.html).
const codeError, codeCorrupt, codeConstraint, codeNotADatabase = 1, 11, 19, 26

// damaged reports whether an error tells that the file is damaged, or that what is in it
// does not agree: its mark is not where its messages end. One that is in use, may not be
// read, or has no room on its disk, is not.
func damaged(err error) bool {
	var coded interface{ Code() int }
	if !errors.As(err, &coded) {
		return false
	}
	code := coded.Code() & 0xff
	return code == codeCorrupt || code == codeNotADatabase || code == codeConstraint
}

// unreadable reports whether an error of opening tells of damage, or of other tables.
func unreadable(err error) bool {
	var coded interface{ Code() int }
	return damaged(err) || errors.As(err, &coded) && coded.Code() == codeError
}

// mended does what reads and fills the index, and once more if it was damaged, with a
// new one.
func (x *Index) mended(ctx context.Context, do func() error) error {
	err := do()
	if !damaged(err) {
		return err
	}
	_ = x.at.Close() // of a file that goes
	if err := x.renew(ctx); err != nil {
		return fmt.Errorf("make the search index again: %w", err)
	}
	return do()
}

// Close gives the index back.
func (x *Index) Close() error { return x.at.Close() }
