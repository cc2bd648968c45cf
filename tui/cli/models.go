package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"alisio/agent"
	"alisio/agent/text"
	"alisio/llm"
	"alisio/plug"
	"alisio/tui/cli/base"
	"alisio/tui/plain"
)

// offered is a model as --json prints it. What is not known is absent.
type offered struct {
	ID              string   `json:"id"`
	ContextWindow   int      `json:"contextWindow,omitempty"`
	MaxOutputTokens int      `json:"maxOutputTokens,omitempty"`
	Efforts         []string `json:"efforts,omitempty"`
	// Price is per million tokens.
	Price   *price `json:"price,omitempty"`
	Fetched string `json:"fetched"`
	// Stale: the server could not be asked, and this is what was kept.
	Stale bool `json:"stale,omitempty"`
}

type price struct {
	Input       float64 `json:"input"`
	Output      float64 `json:"output"`
	CachedInput float64 `json:"cachedInput"`
}

// runModels asks the configured server what it offers. Where it can not be asked,
// what it said last is printed, and the code is that of the failure.
func runModels(ctx context.Context, c *call) (int, error) {
	if err := c.None(); err != nil {
		return base.ExitUsage, err
	}
	ctx, stop := base.WithSignals(ctx)
	defer stop()
	o, err := c.options()
	if err != nil {
		return base.ExitUsage, err
	}
	app, err := agent.New(ctx, o)
	if err != nil {
		return base.ExitUsage, err
	}
	defer base.CloseApp(&c.Call, app)
	list, err := app.Models(ctx, true)
	switch {
	case ctx.Err() != nil:
		return base.ExitCancelled, fmt.Errorf("alisio models was cancelled")
	case err != nil && llm.CauseOf(err) == llm.CauseBadRequest:
		return base.ExitUsage, err
	case err != nil:
		return base.ExitCode(llm.CauseOf(err)), err
	}
	if err := c.printModels(list); err != nil {
		return base.ExitFailed, err
	}
	if list.Stale != nil {
		c.Notice("this is what the server offered on %s", list.Fetched.Local().Format("2006-01-02 15:04"))
		return base.ExitCode(llm.CauseOf(list.Stale)), list.Stale
	}
	return base.ExitDone, nil
}

func (c *call) printModels(list agent.Catalog) error {
	t := plain.Table{{"MODEL", "WINDOW", "OUTPUT", "PRICE IN/OUT", "EFFORTS"}}
	for _, m := range list.Models {
		o := offered{
			ID: m.ID, ContextWindow: m.ContextWindow, MaxOutputTokens: m.MaxOutputTokens, Efforts: m.Efforts,
			Fetched: list.Fetched.UTC().Format(plug.TimeFormat), Stale: list.Stale != nil,
		}
		row := []string{text.Line(m.ID), tokens(m.ContextWindow), tokens(m.MaxOutputTokens), "", ""}
		if m.Price != nil {
			p := price(*m.Price)
			o.Price = &p
			row[3] = fmt.Sprintf("%.4g/%.4g", p.Input, p.Output)
		}
		for i, e := range m.Efforts {
			if i > 0 {
				row[4] += " "
			}
			row[4] += text.Line(e)
		}
		if c.JSON {
			if err := c.PrintJSON(json.Marshal(o)); err != nil {
				return err
			}
			continue
		}
		t = append(t, row)
	}
	switch {
	case c.JSON:
		return nil
	case len(list.Models) == 0:
		c.Notice("the server offers no model that it names")
		return nil
	}
	return c.Print(t.String())
}

// tokens is a number of tokens, empty when it is not known.
func tokens(n int) string {
	switch {
	case n == 0:
		return ""
	case n >= 10_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}
