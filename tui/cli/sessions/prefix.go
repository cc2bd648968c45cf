package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"alisio/agent"
	"alisio/agent/text"
	"alisio/plug"
)

// maxPlace bounds the name of a place in a body, in cells: imports bring what they like.
const maxPlace = 20

// prefixRow tells of the bytes of one turn's request, as --json prints it.
type prefixRow struct {
	RunID string `json:"runId"`
	Turn  int    `json:"turn"`
	Bytes int    `json:"bytes"`
	// Shared, About and At are those of plug.Sent.
	Shared *int   `json:"shared,omitempty"`
	About  bool   `json:"about,omitempty"`
	At     string `json:"at,omitempty"`
	// Causes are those that were told since the request before.
	Causes []plug.PrefixCause `json:"causes,omitempty"`
	// Input and CachedInput are what the server reported, in tokens.
	Input       int `json:"input,omitempty"`
	CachedInput int `json:"cachedInput,omitempty"`
}

// total sums up the rows of which it is known what they share.
type total struct {
	bytes, shared int
	input, cached int
}

// showPrefix prints how much of each request the one before had begun with.
func (c *Call) showPrefix(ctx context.Context, store *agent.Store, id string) error {
	var rows text.Table
	var causes []plug.PrefixCause
	var sum total
	for after := int64(0); ; {
		page, err := store.EventsPage(ctx, id, after, 8*showPage)
		if err != nil {
			return err
		}
		for _, e := range page {
			after = e.ID
			switch d := e.Data.(type) {
			case plug.PrefixChanged:
				causes = append(causes, d.Cause)
			case plug.TurnCompleted:
				r := rowOf(e, d, causes)
				causes = nil
				sum.add(r)
				if c.JSON {
					err = c.PrintJSON(json.Marshal(r))
				} else {
					rows = append(rows, r.cells())
				}
			}
			if err != nil {
				return err
			}
		}
		if len(page) == 0 {
			break
		}
	}
	if c.JSON {
		return nil
	}
	return c.Print(sum.text(rows))
}

func rowOf(e plug.Event, d plug.TurnCompleted, causes []plug.PrefixCause) prefixRow {
	r := prefixRow{RunID: e.RunID, Turn: d.Turn, Causes: causes}
	if d.Sent != nil {
		r.Bytes, r.Shared, r.About, r.At = d.Sent.Bytes, d.Sent.Shared, d.Sent.About, d.Sent.At
	}
	if d.Usage != nil {
		r.Input, r.CachedInput = d.Usage.Input, d.Usage.CachedInput
	}
	return r
}

func (r prefixRow) cells() []string {
	shared, differs := "", ""
	if r.Shared != nil {
		about := ""
		if r.About {
			about = "~"
		}
		shared = about + share(*r.Shared, r.Bytes)
		if r.At != "" {
			differs = about + strconv.Itoa(*r.Shared) + ", " + text.Head(text.Line(r.At), maxPlace)
		}
	}
	cause := ""
	for i, c := range r.Causes {
		if i > 0 {
			cause += ", "
		}
		cause += text.Line(string(c))
	}
	return []string{shortID(r.RunID), strconv.Itoa(r.Turn), strconv.Itoa(r.Bytes), shared, differs, share(r.CachedInput, r.Input), cause}
}

func (t *total) add(r prefixRow) {
	if r.Shared != nil {
		t.bytes += r.Bytes
		t.shared += *r.Shared
	}
	t.input += r.Input
	t.cached += r.CachedInput
}

func (t total) text(rows text.Table) string {
	if len(rows) == 0 {
		return "nothing was asked of a model in this session\n"
	}
	out := append(text.Table{{"run", "turn", "bytes", "shared", "differs at", "cached", "changed by"}}, rows...).String()
	if t.bytes > 0 {
		out += fmt.Sprintf("\nof %d bytes, %s were those of the request before", t.bytes, share(t.shared, t.bytes))
	}
	if t.input > 0 {
		out += fmt.Sprintf("\nof %d tokens of input, the server had %s in its cache", t.input, share(t.cached, t.input))
	}
	return out + "\n"
}

// share is a part in per cent, empty without a whole.
func share(part, whole int) string {
	if whole <= 0 {
		return ""
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}
