package sessions

import (
	"context"
	"encoding/json"
	"strconv"

	"alisio/agent"
	"alisio/agent/account"
	"alisio/agent/text"
)

// usageRow is a row of the account as --json prints it.
type usageRow struct {
	account.Row
	Input       int `json:"input"`
	CachedInput int `json:"cachedInput"`
	Output      int `json:"output"`
}

// showUsage prints what a session's requests took, and for what.
func (c *Call) showUsage(ctx context.Context, store *agent.Store, id string) error {
	a, err := account.Of(ctx, store, id)
	if err != nil {
		return err
	}
	tools, err := account.Results(ctx, store, id)
	if err != nil {
		return err
	}
	if c.JSON {
		for _, r := range append(a.Rows, a.Total) {
			row := usageRow{Row: r, Input: r.Usage.Input, CachedInput: r.Usage.CachedInput, Output: r.Usage.Output}
			if err := c.PrintJSON(json.Marshal(row)); err != nil {
				return err
			}
		}
		for _, t := range tools {
			if err := c.PrintJSON(json.Marshal(t)); err != nil {
				return err
			}
		}
		return nil
	}
	if len(a.Rows) == 0 {
		return c.Print("nothing was asked of a model in this session\n")
	}
	out := a.Table().String()
	if len(a.Turns) > 0 {
		out += "\nthe largest turns:\n"
		var rows text.Table
		for _, t := range a.Turns {
			rows = append(rows, []string{"run " + shortID(t.RunID), "turn " + strconv.Itoa(t.Turn), strconv.Itoa(t.Tokens) + " tokens"})
		}
		out += rows.String()
	}
	if len(tools) > 0 {
		out += "\nresults of tools in the conversation, each counted once, by estimate:\n"
		var rows text.Table
		for _, t := range tools {
			rows = append(rows, []string{t.Name, strconv.Itoa(t.Calls) + " calls", "~" + strconv.Itoa(t.Tokens) + " tokens"})
		}
		out += rows.String()
	}
	return c.Print(out)
}
