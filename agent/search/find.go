package search

import (
	"context"
	"errors"
	"fmt"
	"math"

	"alisio/agent/session"
	"alisio/db/storage"
	"alisio/llm"
)

// ranked is up to how many messages hits are put in order of their worth; beyond that,
// for words that stand nearly everywhere, the newest come first, so many at a time.
const ranked = 2_000

// Hit is a session in which something was found.
type Hit struct {
	Session session.Session
	// Messages is how many messages of it match, or, of the newest, how many were come
	// across; Seq is the best of them, Role who said it.
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
// A workspace, if one is named, is all that counts. A query that says nothing is a QueryError.
func (x *Index) Search(ctx context.Context, query string, limit int, workspace string) (found Found, err error) {
	expr, err := match(query)
	if err != nil {
		return Found{}, err
	}
	err = x.mended(ctx, func() error {
		if err := errors.Join(x.fill(ctx, 0), x.Forget(ctx)); err != nil {
			return err
		}
		g := gathering{x: x, query: query, limit: limit, at: map[string]int{}}
		if workspace != "" {
			here, err := x.store.SessionIDs(ctx, workspace)
			if err != nil || len(here) == 0 {
				found = Found{}
				return err
			}
			g.here = here
		}
		err := x.rows(ctx, expr, &g)
		found = g.found
		return err
	})
	return found, err
}

// row is a message that matches.
type row struct {
	seq     int64
	session string
}

// rows hands over the messages that match: the best first, or, if they are very many,
// the newest, until there are enough.
func (x *Index) rows(ctx context.Context, expr string, g *gathering) error {
	page, err := x.page(ctx, expr, math.MaxInt64)
	if err == nil && len(page) <= ranked {
		page, err = x.list(ctx, `SELECT d.seq, d.session FROM (SELECT rowid AS seq, rank AS worth FROM words WHERE words MATCH ?) w
			JOIN docs d ON d.seq = w.seq ORDER BY w.worth, d.seq DESC`, expr)
		if err == nil {
			err = g.take(ctx, page)
		}
		return err
	}
	g.found.Newest = true
	for err == nil && len(page) > 0 {
		if err = g.take(ctx, page); err != nil || g.enough() || len(page) <= ranked {
			break
		}
		page, err = x.page(ctx, expr, page[len(page)-1].seq)
	}
	return err
}

// page are the newest messages that match before a number.
func (x *Index) page(ctx context.Context, expr string, before int64) ([]row, error) {
	return x.list(ctx, `SELECT d.seq, d.session FROM words w JOIN docs d ON d.seq = w.rowid
		WHERE words MATCH ? AND w.rowid < ? ORDER BY w.rowid DESC LIMIT ?`, expr, before, int64(ranked+1))
}

func (x *Index) list(ctx context.Context, text string, args ...storage.Value) (all []row, err error) {
	got, err := x.at.Prepare(text).All(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	for _, v := range got.Values {
		seq, _ := v[0].(int64)
		id, _ := v[1].(string)
		all = append(all, row{seq, id})
	}
	return all, nil
}

// gathering makes sessions of messages.
type gathering struct {
	x     *Index
	query string
	limit int
	// here, if set, are the sessions that count.
	here map[string]bool
	// at is where the sessions that were come across are among the hits, -1 for those
	// that are none.
	at    map[string]int
	found Found
}

// take counts messages that match, and makes hits of their sessions up to the limit.
func (g *gathering) take(ctx context.Context, rows []row) error {
	for _, r := range rows {
		i, known := g.at[r.session]
		switch {
		case known && i >= 0:
			g.found.Hits[i].Messages++
		case known || g.found.More || g.here != nil && !g.here[r.session]:
		default:
			if err := g.add(ctx, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// enough reports whether no further session can become a hit.
func (g *gathering) enough() bool {
	return g.found.More || g.here != nil && len(g.found.Hits) == len(g.here)
}

// add makes a hit of the first message of a session.
func (g *gathering) add(ctx context.Context, r row) error {
	g.at[r.session] = -1
	head, err := g.x.store.Session(ctx, r.session)
	if errors.Is(err, session.ErrNotFound) {
		return nil // deleted meanwhile
	}
	if err != nil {
		return err
	}
	if len(g.found.Hits) == g.limit {
		g.found.More = true
		return nil
	}
	hit := Hit{Session: head, Messages: 1, Seq: r.seq}
	there, err := g.x.cut(ctx, &hit, g.query)
	if err != nil {
		return err
	}
	if !there {
		delete(g.at, r.session) // others of it may be
		return nil
	}
	g.at[r.session] = len(g.found.Hits)
	g.found.Hits = append(g.found.Hits, hit)
	return nil
}
