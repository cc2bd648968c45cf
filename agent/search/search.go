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
	"slices"
	"strings"

	"alisio/agent/session"
	"alisio/agent/text"
	"alisio/db/storage"
	"alisio/llm"
)

// Store is what is searched.
type Store interface {
	// MessagesSince returns up to limit messages of all sessions behind a number, in
	// order, those that can not be read too.
	MessagesSince(ctx context.Context, after int64, limit int) ([]session.Filed, error)
	MessagesPage(ctx context.Context, id string, after int64, limit int) ([]session.Stored, error)
	Session(ctx context.Context, id string) (session.Session, error)
	// SessionIDs are those of all sessions.
	SessionIDs(ctx context.Context) (map[string]bool, error)
}

const (
	// batch is how many messages are filed in one transaction.
	batch = 500
	// longFill is after how many messages filing takes long.
	longFill = 10 * batch
	// maxResult is how much of a tool's result is filed, in characters.
	maxResult = 2_000
	// ranked is up to how many messages hits are put in order of their worth; beyond
	// that, for words that stand nearly everywhere, the newest come first.
	ranked = 2_000
	// around is how much of a message is shown of a hit, in characters.
	around = 160
)

// layout is that of the index. The words themselves are not in it.
const layout = `
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(text, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2');
CREATE TABLE IF NOT EXISTS docs(seq INTEGER PRIMARY KEY, session TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS docs_session ON docs(session);
CREATE TABLE IF NOT EXISTS filed(session TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS mark(id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL);
INSERT OR IGNORE INTO mark VALUES (1, 0);`

// Index is the index of a session database.
type Index struct {
	store Store
	path  string
	at    *storage.Storage
	// Long, if set, is called once when filing takes long.
	Long func()
}

// Open opens the index at a path, and makes it if need be. One that can not be read is
// made anew.
func Open(ctx context.Context, store Store, path string) (*Index, error) {
	x := &Index{store: store, path: path}
	err := x.open(ctx)
	if err != nil && ctx.Err() == nil {
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
	if err = x.at.Exec(ctx, layout); err != nil {
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

// Close gives the index back.
func (x *Index) Close() error { return x.at.Close() }

// Fill files what is not filed yet, at most so many messages; zero is all. Several
// processes can do so at once.
func (x *Index) Fill(ctx context.Context, most int) error {
	for filed := 0; most == 0 || filed < most; filed += batch {
		more := false
		err := x.at.Transaction(ctx, func(ctx context.Context) (err error) {
			more, err = x.file(ctx)
			return err
		})
		if err != nil {
			return fmt.Errorf("fill the search index: %w", err)
		}
		if !more {
			break
		}
		if x.Long != nil && filed == longFill {
			x.Long()
		}
	}
	return nil
}

// file files one batch, and reports whether there may be more.
func (x *Index) file(ctx context.Context) (more bool, err error) {
	got, err := x.at.Prepare(`SELECT seq FROM mark`).Get(ctx)
	if err != nil {
		return false, err
	}
	mark := int64(0)
	if len(got.Values) == 1 {
		mark, _ = got.Values[0][0].(int64)
	}
	rows, err := x.store.MessagesSince(ctx, mark, batch)
	if err != nil || len(rows) == 0 {
		return false, err
	}
	for _, r := range rows {
		mark = r.Seq
		words := wordsOf(r)
		if words == "" {
			continue
		}
		if _, err := x.at.Prepare(`INSERT INTO words(rowid, text) VALUES (?, ?)`).Run(ctx, r.Seq, parted(words)); err != nil {
			return false, err
		}
		if _, err := x.at.Prepare(`INSERT INTO docs(seq, session) VALUES (?, ?)`).Run(ctx, r.Seq, r.Session); err != nil {
			return false, err
		}
		if _, err := x.at.Prepare(`INSERT OR IGNORE INTO filed VALUES (?)`).Run(ctx, r.Session); err != nil {
			return false, err
		}
	}
	_, err = x.at.Prepare(`UPDATE mark SET seq = ?`).Run(ctx, mark)
	return len(rows) == batch, err
}

// wordsOf is what of a message is filed: what people and models said, and the beginning
// of results. Checkpoints, copies, and what plugins told are none of it.
func wordsOf(r session.Filed) string {
	m := r.Message
	switch {
	case r.Err != nil, r.CopyOf != 0, m.Summary, m.Context != "":
		return ""
	case m.Role == llm.RoleTool:
		return text.Head(m.PlainText(), maxResult)
	case m.Display != "":
		return m.Display
	}
	return m.Text
}

// Forget takes out of the index what is of sessions that are no longer there. Which are
// there is read while nobody else files: what is filed of a session is younger than it.
func (x *Index) Forget(ctx context.Context) error {
	return x.at.Transaction(ctx, func(ctx context.Context) error {
		there, err := x.store.SessionIDs(ctx)
		if err != nil {
			return err
		}
		filed, err := x.at.Prepare(`SELECT session FROM filed`).All(ctx)
		if err != nil {
			return err
		}
		for _, row := range filed.Values {
			id, _ := row[0].(string)
			if there[id] {
				continue
			}
			if _, err := x.at.Prepare(`DELETE FROM words WHERE rowid IN (SELECT seq FROM docs WHERE session = ?)`).Run(ctx, id); err != nil {
				return err
			}
			if _, err := x.at.Prepare(`DELETE FROM docs WHERE session = ?`).Run(ctx, id); err != nil {
				return err
			}
			if _, err := x.at.Prepare(`DELETE FROM filed WHERE session = ?`).Run(ctx, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// Hit is a session in which something was found.
type Hit struct {
	Session session.Session
	// Messages is how many messages of it match, Seq the best of them, Role who said it.
	Messages int
	Seq      int64
	Role     llm.Role
	// Before, Match and After are what stands around the first word that was found.
	Before, Match, After string
}

// Found is what was found.
type Found struct {
	Hits []Hit
	// More: there are more sessions. Newest: they are in order of time, since nearly
	// every message matches.
	More, Newest bool
}

// Search files what is missing, and then looks for a query: the best sessions first.
// keep, if set, says which sessions count.
func (x *Index) Search(ctx context.Context, query string, limit int, keep func(session.Session) bool) (Found, error) {
	expr, err := match(query)
	if err != nil {
		return Found{}, err
	}
	if err := errors.Join(x.Fill(ctx, 0), x.Forget(ctx)); err != nil {
		return Found{}, err
	}
	rows, newest, err := x.rows(ctx, expr)
	if err != nil {
		return Found{}, err
	}
	found := Found{Newest: newest}
	at := map[string]int{}
	for _, r := range rows {
		if i, ok := at[r.session]; ok {
			if i >= 0 {
				found.Hits[i].Messages++
			}
			continue
		}
		at[r.session] = -1
		head, err := x.store.Session(ctx, r.session)
		if errors.Is(err, session.ErrNotFound) {
			continue // deleted meanwhile
		}
		if err != nil {
			return found, err
		}
		if keep != nil && !keep(head) {
			continue
		}
		if len(found.Hits) == limit {
			found.More = true
			break
		}
		hit := Hit{Session: head, Messages: 1, Seq: r.seq}
		if err := x.cut(ctx, &hit, query); err != nil {
			return found, err
		}
		at[r.session] = len(found.Hits)
		found.Hits = append(found.Hits, hit)
	}
	return found, nil
}

// row is a message that matches.
type row struct {
	seq     int64
	session string
}

// rows are the messages that match, best first.
func (x *Index) rows(ctx context.Context, expr string) (all []row, newest bool, err error) {
	got, err := x.at.Prepare(`SELECT d.seq, d.session FROM words w JOIN docs d ON d.seq = w.rowid WHERE words MATCH ? ORDER BY w.rowid DESC LIMIT ?`).
		All(ctx, expr, int64(ranked+1))
	if err == nil && len(got.Values) <= ranked {
		got, err = x.at.Prepare(`SELECT d.seq, d.session FROM (SELECT rowid AS seq, rank AS worth FROM words WHERE words MATCH ?) w
			JOIN docs d ON d.seq = w.seq ORDER BY w.worth, d.seq DESC`).All(ctx, expr)
	} else {
		newest = true
	}
	if err != nil {
		return nil, false, fmt.Errorf("search: %w", err)
	}
	for _, v := range got.Values {
		seq, _ := v[0].(int64)
		id, _ := v[1].(string)
		all = append(all, row{seq, id})
	}
	return all, newest, nil
}

// cut takes what stands around the first word out of the message of a hit.
func (x *Index) cut(ctx context.Context, h *Hit, query string) error {
	page, err := x.store.MessagesPage(ctx, h.Session.ID, h.Seq-1, 1)
	if err != nil || len(page) == 0 || page[0].Err != nil {
		return err
	}
	m := page[0].Message
	h.Role = m.Role
	said := wordsOf(session.Filed{Stored: page[0]})
	i, _ := place(said, query)
	near := text.Line(strings.ToValidUTF8(said[max(0, i-4*around):min(len(said), i+8*around)], ""))
	i, n := place(near, query)
	h.Before, h.Match, h.After = tail(near[:i], around/2), near[i:i+n], text.Head(near[i+n:], around)
	return nil
}

// place is where the first of the words of a query stands in a text, and how long it is
// there. Letters that differ in marks alone are not found here, and nothing is marked.
func place(said, query string) (at, length int) {
	low := strings.ToLower(said)
	if len(low) != len(said) {
		return 0, 0
	}
	found := false
	for _, w := range words(query) {
		needle := strings.ToLower(w.text)
		if w.not || needle == "" {
			continue
		}
		if i := strings.Index(low, needle); i >= 0 && (!found || i < at) {
			at, length, found = i, len(needle), true
		}
	}
	return at, length
}

// tail is the end of a line, of so many characters.
func tail(s string, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return "…" + string(slices.Clone(runes[len(runes)-n:]))
}
