package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"alisio/agent"
	"alisio/agent/config"
	"alisio/agent/text"
	"alisio/llm"
	"alisio/plug"
	"alisio/tui/cli/base"
)

// offered is a model as --json prints it. What is not known is absent.
type offered struct {
	ID              string   `json:"id"`
	ContextWindow   int      `json:"contextWindow,omitempty"`
	MaxOutputTokens int      `json:"maxOutputTokens,omitempty"`
	Efforts         []string `json:"efforts,omitempty"`
	// Price is per million tokens.
	Price   *price `json:"price,omitempty"`
	Fetched string `json:"fetched,omitempty"`
	// Configured: the configuration describes it, and the server did not name it.
	Configured bool `json:"configured,omitempty"`
	// Stale: the server could not be asked, and this is what was kept.
	Stale bool `json:"stale,omitempty"`
}

type price struct {
	Input       float64 `json:"input"`
	Output      float64 `json:"output"`
	CachedInput float64 `json:"cachedInput"`
}

// runModels asks the configured server what it offers, and adds what the
// configuration describes besides. Where it can not be asked,
// what it said last is printed, and the code is that of the failure.
func runModels(ctx context.Context, c *call) (int, error) {
	if err := c.None(); err != nil {
		return base.ExitUsage, err
	}
	return c.InOrder(ctx, c.listModels)
}

func (c *call) listModels(ctx context.Context) (int, error) {
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
	if ctx.Err() != nil {
		return base.ExitCancelled, ctx.Err()
	}
	if e := c.printModels(list, own(o.Config.Models, list.Models), err == nil); e != nil {
		return base.ExitFailed, e
	}
	switch {
	case err != nil && llm.CauseOf(err) == llm.CauseBadRequest:
		return base.ExitUsage, err
	case err != nil:
		return base.ExitCode(llm.CauseOf(err)), err
	}
	if list.Stale != nil {
		c.Notice("this is what the server offered on %s", list.Fetched.Local().Format("2006-01-02 15:04"))
		return base.ExitCode(llm.CauseOf(list.Stale)), list.Stale
	}
	return base.ExitDone, nil
}

// own are the models that only the configuration knows, by name.
func own(described map[string]config.Model, offers []llm.Model) []llm.Model {
	var list []llm.Model
	for _, id := range slices.Sorted(maps.Keys(described)) {
		if slices.ContainsFunc(offers, func(m llm.Model) bool { return m.ID == id }) {
			continue
		}
		d := described[id]
		m := llm.Model{ID: id, ContextWindow: d.ContextWindow, MaxOutputTokens: d.MaxOutputTokens, Efforts: d.Effort}
		if d.Price != nil {
			m.Price = &llm.Price{Input: d.Price.Input, Output: d.Price.Output, CachedInput: d.Price.CachedInput}
		}
		list = append(list, m)
	}
	return list
}

// printModels prints a line a model; asked tells that the server answered.
func (c *call) printModels(list agent.Catalog, own []llm.Model, asked bool) error {
	t := text.Table{{"MODEL", "WINDOW", "OUTPUT", "PRICE IN/OUT", "EFFORTS"}}
	for i, m := range slices.Concat(list.Models, own) {
		o := offered{
			ID: m.ID, ContextWindow: m.ContextWindow, MaxOutputTokens: m.MaxOutputTokens, Efforts: m.Efforts,
			Configured: i >= len(list.Models),
		}
		if !o.Configured {
			o.Fetched, o.Stale = list.Fetched.UTC().Format(plug.TimeFormat), list.Stale != nil
		}
		if m.Price != nil {
			p := price(*m.Price)
			o.Price = &p
		}
		if !c.JSON {
			t = append(t, o.row())
			continue
		}
		if err := c.PrintJSON(json.Marshal(o)); err != nil {
			return err
		}
	}
	if asked && len(list.Models) == 0 {
		c.Notice("the server offers no model that it names")
	}
	if len(t) == 1 {
		return nil
	}
	return c.Print(t.String())
}

// row is a model in the list for people.
func (o offered) row() []string {
	row := []string{text.Line(o.ID), tokens(o.ContextWindow), tokens(o.MaxOutputTokens), "", text.Line(strings.Join(o.Efforts, " "))}
	if o.Price != nil {
		row[3] = fmt.Sprintf("%.4g/%.4g", o.Price.Input, o.Price.Output)
	}
	if o.Configured {
		row = append(row, "of the configuration")
	}
	return row
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
