package search

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"

	"alisio/agent/session"
	"alisio/agent/text"
	"alisio/llm"
)

// part is what is filed in one transaction, at most: the store's lock is not held for
// it, that of the index is.
type part struct {
	messages int
	bytes    int64
}

// whole is for who waits for all, small for who stops soon.
func whole() part { return part{500, 4 << 20} }
func small() part { return part{50, 256 << 10} }

const (
	// longFill is after what time filing takes long.
	longFill = time.Second
	// maxResult is how much of a tool's result is filed, in characters.
	maxResult = 2_000
)

// Fill files what is not filed yet; with a patience, one part, and no further one once
// that is over. Several processes can do so at once.
func (x *Index) Fill(ctx context.Context, patience time.Duration) error {
	return x.mended(ctx, func() error { return x.fill(ctx, patience) })
}

func (x *Index) fill(ctx context.Context, patience time.Duration) error {
	p, begun, told := whole(), time.Now(), false
	if patience > 0 {
		p = small()
	}
	for more := true; more; {
		err := x.at.Transaction(ctx, func(ctx context.Context) (err error) {
			more, err = x.file(ctx, p)
			return err
		})
		if err != nil {
			return fmt.Errorf("fill the search index: %w", err)
		}
		if patience > 0 && time.Since(begun) >= patience {
			return nil
		}
		if more && !told && x.Long != nil && time.Since(begun) > longFill {
			told = true
			x.Long()
		}
	}
	return nil
}

// file files one part, and reports whether there may be more.
func (x *Index) file(ctx context.Context, p part) (more bool, err error) {
	mark, rows, err := x.next(ctx, p)
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
	_, err = x.at.Prepare(`UPDATE mark SET seq = ?, sum = ?`).Run(ctx, mark, sum(rows[len(rows)-1]))
	return true, err
}

// next are the mark and what is behind it. An index that is of another database, of one
// that was put back, say, is emptied first, so that all of it is filed again: the message
// at the mark is another one then, or no message had its number yet.
func (x *Index) next(ctx context.Context, p part) (mark int64, rows []session.Filed, err error) {
	got, err := x.at.Prepare(`SELECT seq, sum FROM mark`).Get(ctx)
	if err != nil {
		return 0, nil, err
	}
	var was int64
	if len(got.Values) == 1 {
		mark, _ = got.Values[0][0].(int64)
		was, _ = got.Values[0][1].(int64)
	}
	if mark == 0 {
		rows, err = x.store.MessagesSince(ctx, 0, p.messages, p.bytes)
		return 0, rows, err
	}
	at, err := x.store.MessagesSince(ctx, mark-1, 1, 1)
	if err != nil {
		return 0, nil, err
	}
	other := len(at) == 1 && at[0].Seq == mark && sum(at[0]) != was
	if len(at) == 0 || at[0].Seq != mark { // deleted, or never there
		last, err := x.store.LastMessage(ctx)
		if err != nil {
			return 0, nil, err
		}
		other = last < mark
	}
	if other {
		if err := x.empty(ctx); err != nil {
			return 0, nil, err
		}
		mark = 0
	}
	rows, err = x.store.MessagesSince(ctx, mark, p.messages, p.bytes)
	return mark, rows, err
}

// empty takes all out of the index.
func (x *Index) empty(ctx context.Context) error {
	for _, text := range []string{`INSERT INTO words(words) VALUES ('delete-all')`, `DELETE FROM docs`, `DELETE FROM filed`, `UPDATE mark SET seq = 0, sum = 0`} {
		if _, err := x.at.Prepare(text).Run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// sum tells messages of one number apart.
func sum(r session.Filed) int64 {
	h := fnv.New64a()
	for _, s := range []string{r.Session, string(r.Message.Role), r.Message.PlainText()} {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	return int64(h.Sum64())
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
		there, err := x.store.SessionIDs(ctx, "")
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
