// Package account says what a session's requests took, and for what (spec runner.md,
// "Budgets are hard"). It reads what events tell and counts; nothing of it is stored,
// so that exports, imports and deletions need not know of it.
package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"alisio/agent/session"
	"alisio/agent/text"
	"alisio/llm"
	"alisio/plug"
)

// Store is what is read.
type Store interface {
	EventsPage(ctx context.Context, id string, after int64, limit int) ([]plug.Event, error)
	Children(ctx context.Context, id string) ([]session.Session, error)
}

const (
	// pageSize is how many events are held at once.
	pageSize = 500
	// maxDepth and maxSessions bound the children that are looked at: as deep as package
	// child lets them be, and no circle is followed.
	maxDepth    = 16
	maxSessions = 10_000
	// mostTurns is how many of the largest turns are told.
	mostTurns = 3
	// nameCells bounds a name of a row.
	nameCells = 40
)

// Row is what requests for one thing took.
type Row struct {
	What     string    `json:"what"`
	Requests int       `json:"requests"`
	Usage    llm.Usage `json:"-"`
	// Cost is by the prices that were known then; zero for none.
	Cost float64 `json:"cost,omitempty"`
	// Estimated: for a part of it the server reported nothing.
	Estimated bool `json:"estimated,omitempty"`
}

// Turn is one of the largest turns.
type Turn struct {
	RunID  string `json:"runId"`
	Turn   int    `json:"turn"`
	Tokens int    `json:"tokens"`
}

// Account is the table of a session and all below it.
type Account struct {
	Rows  []Row
	Turns []Turn
	Total Row
	// Bytes are those of the requests of the session's own turns of which it is known how
	// many the request before had begun with, Shared so many.
	Bytes, Shared int
}

// Of makes the account of a session.
func Of(ctx context.Context, s Store, id string) (Account, error) {
	c := counter{store: s, rows: map[string]*Row{}, left: maxSessions}
	if err := c.session(ctx, id, "", 0); err != nil {
		return Account{}, err
	}
	a := Account{Turns: c.turns, Total: Row{What: "total"}, Bytes: c.bytes, Shared: c.shared}
	for _, name := range c.order {
		r := *c.rows[name]
		a.Rows = append(a.Rows, r)
		a.Total.add(r.Requests, r.Usage, r.Cost, r.Estimated)
	}
	slices.SortStableFunc(a.Rows, func(x, y Row) int { return cmp.Compare(place(x.What), place(y.What)) })
	return a, nil
}

// place orders rows: the session's own turns come first, its children last.
func place(what string) int {
	for i, p := range []string{"turns", "retries", "compactions", "questions", "plugin "} {
		if strings.HasPrefix(what, p) {
			return i
		}
	}
	return 9
}

// counter goes through the events of a session and of those below it.
type counter struct {
	store Store
	rows  map[string]*Row
	order []string
	turns []Turn
	left  int
	// bytes and shared are those of Account.
	bytes, shared int
}

// session counts one session; child is the row of the child that it belongs to, empty
// in the root.
func (c *counter) session(ctx context.Context, id, child string, depth int) error {
	if c.left--; c.left < 0 || depth > maxDepth {
		return nil
	}
	before := map[string]int{} // the tokens that turns without usage are estimated by
	for after := int64(0); ; {
		page, err := c.store.EventsPage(ctx, id, after, pageSize)
		if err != nil {
			return err
		}
		for _, e := range page {
			after = e.ID
			c.event(e, child, before)
		}
		if len(page) < pageSize {
			break
		}
	}
	children, err := c.store.Children(ctx, id)
	if errors.Is(err, session.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, s := range children {
		row := child
		if row == "" {
			row = "child " + cmp.Or(s.Agent, s.Title, "without a name")
		}
		if err := c.session(ctx, s.ID, row, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// Used is what the events of one run say that it took, as budgets count it: input of the
// cache is no token. The cost is in the currency of prices.
func Used(events []plug.Event) (tokens int, cost float64) {
	c := counter{rows: map[string]*Row{}}
	before := map[string]int{}
	for _, e := range events {
		c.event(e, "", before)
	}
	for _, r := range c.rows {
		tokens += max(0, r.Usage.Input-r.Usage.CachedInput) + r.Usage.Output
		cost += r.Cost
	}
	return tokens, cost
}

// event counts one event. before is what turn_completed.tokens of a run has come to.
func (c *counter) event(e plug.Event, child string, before map[string]int) {
	if d, ok := e.Data.(plug.CompactionCompleted); ok && len(d.Spent) == 0 { // by a version that told it here alone
		c.add(cmp.Or(child, "compactions"), llm.Usage{Input: d.SummarizedTokens, Output: d.CheckpointTokens}, 0, false)
		before[e.RunID] += d.SummarizedTokens + d.CheckpointTokens
	}
	if d, ok := e.Data.(interface{ Requests() []plug.Spent }); ok {
		before[e.RunID] += c.spent(d.Requests(), child)
	}
	if d, ok := e.Data.(plug.TurnCompleted); ok {
		c.turn(e, d, child, before)
	}
}

func (c *counter) turn(e plug.Event, d plug.TurnCompleted, child string, before map[string]int) {
	took := d.Tokens - before[e.RunID]
	before[e.RunID] = d.Tokens
	u, estimated, cost := llm.Usage{Input: max(0, took)}, true, 0.0
	if d.Usage != nil && *d.Usage != (plug.Usage{}) {
		u, estimated, cost = usage(*d.Usage), false, d.Usage.Cost
	}
	c.add(cmp.Or(child, "turns"), u, cost, estimated)
	if child != "" {
		return
	}
	if d.Sent != nil && d.Sent.Shared != nil {
		c.bytes, c.shared = c.bytes+d.Sent.Bytes, c.shared+*d.Sent.Shared
	}
	c.turns = append(c.turns, Turn{RunID: e.RunID, Turn: d.Turn, Tokens: u.Input + u.Output})
	slices.SortStableFunc(c.turns, func(x, y Turn) int { return cmp.Compare(y.Tokens, x.Tokens) })
	c.turns = c.turns[:min(len(c.turns), mostTurns)]
}

// spent counts what was no turn's, and returns what of it is in turn_completed.tokens: not
// what others asked for.
func (c *counter) spent(all []plug.Spent, child string) (own int) {
	for _, s := range all {
		if s.For == plug.SpentOnRetry || s.For == plug.SpentOnCompaction {
			own += s.Input + s.Output
		}
		row := child
		if row == "" {
			switch s.For {
			case plug.SpentOnRetry:
				row = "retries"
			case plug.SpentOnCompaction:
				row = "compactions"
			case plug.SpentOnQuestion:
				row = "questions"
			case plug.SpentOnPlugin:
				row = "plugin " + s.By
			default:
				row = "for " + string(s.For)
			}
		}
		c.add(row, usage(s.Usage), s.Cost, s.Estimated)
	}
	return own
}

// add counts a request to a row. Names are foreign: the rows are bounded by what
// plugins and children there can be.
func (c *counter) add(what string, u llm.Usage, cost float64, estimated bool) {
	what = text.Clip(text.Line(what), nameCells)
	r := c.rows[what]
	if r == nil {
		r = &Row{What: what}
		c.rows[what] = r
		c.order = append(c.order, what)
	}
	r.add(1, u, cost, estimated)
}

func (r *Row) add(requests int, u llm.Usage, cost float64, estimated bool) {
	r.Requests += requests
	r.Usage = r.Usage.Add(u)
	r.Cost += cost
	r.Estimated = r.Estimated || estimated
}

func usage(u plug.Usage) llm.Usage {
	return llm.Usage{Input: max(0, u.Input), Output: max(0, u.Output), CachedInput: max(0, u.CachedInput)}
}

// Table is the account for people; "~" marks what is estimated.
func (a Account) Table() text.Table {
	rows := text.Table{{"", "requests", "input", "cached", "output", "cost", "share"}}
	whole := a.Total.Usage.Input + a.Total.Usage.Output
	for _, r := range append(slices.Clone(a.Rows), a.Total) {
		cost, share := "", ""
		if r.Cost > 0 {
			cost = fmt.Sprintf("%.4g", r.Cost)
		}
		if whole > 0 {
			share = fmt.Sprintf("%d %%", (100*(r.Usage.Input+r.Usage.Output)+whole/2)/whole)
		}
		input := fmt.Sprint(r.Usage.Input)
		if r.Estimated {
			input = "~" + input
		}
		rows = append(rows, []string{r.What, fmt.Sprint(r.Requests), input, fmt.Sprint(r.Usage.CachedInput), fmt.Sprint(r.Usage.Output), cost, share})
	}
	return rows
}
