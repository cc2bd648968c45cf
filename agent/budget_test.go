package agent

import (
	"context"
	"errors"
	"strings"
	"testing"

	"alisio/agent/config"
	"alisio/llm"
	"alisio/plug"
)

// What plugins and children take while a run works counts to its budget, is told by
// its events, and stands in the table; a child has a budget of its own below it.
func TestOneBudgetForAllThatRunsBelow(t *testing.T) {
	dir := realPath(t.TempDir())
	p := newScripts(t, map[string]string{
		"go":     `{"calls":[{"name":"help"}],"usage":{"input":1000,"output":10}},{"text":"done","usage":{"input":1000,"output":20}},{"text":"that","usage":{"input":50,"output":2}}`,
		"later":  `{"text":"L","usage":{"input":300,"output":5}}`,
		"beside": `{"text":"B","usage":{"input":300,"output":5}}`,
		"look":   `{"text":"seen","usage":{"input":400,"output":7}}`,
		"more":   `{"text":"seen","usage":{"input":400,"output":7}}`,
	})
	var api *plug.API
	var narrow error
	help := toyTool{name: "help", effect: plug.EffectRead, do: func(ctx context.Context, c *plug.Call) (plug.Result, error) {
		q := plug.Completion{SessionID: c.SessionID, Messages: []llm.Message{{Role: llm.RoleUser, Text: "beside"}}}
		if _, err := api.Complete(ctx, q); err != nil {
			return plug.Result{}, err
		}
		child, err := api.Sessions.Spawn(ctx, plug.ChildSpec{Parent: c.SessionID, Agent: "explore"})
		if err != nil {
			return plug.Result{}, err
		}
		if _, err := api.Sessions.Run(ctx, child.ID, "look"); err != nil {
			return plug.Result{}, err
		}
		small, err := api.Sessions.Spawn(ctx, plug.ChildSpec{Parent: c.SessionID, MaxTokens: 100})
		if err != nil {
			return plug.Result{}, err
		}
		out, err := api.Sessions.Run(ctx, small.ID, "more")
		if err == nil && out.Code != llm.CauseBudget {
			err = errors.New("a child without room ended as " + string(out.Status))
		}
		narrow = err
		return plug.Text("helped"), nil
	}}
	cfg := config.Default()
	cfg.Limits.MaxTokens = 60_000
	a := engine(t, "sqlite", dir, Options{Provider: p, Config: cfg, Plugins: []plug.Plugin{plugged("toy", &api, nil)}, Tools: []plug.Tool{help}})
	var spent []plug.Spent
	out := went(t, a, "", "go", func(e plug.Event) {
		if d, ok := e.Data.(plug.TurnCompleted); ok {
			spent = append(spent, d.Spent...)
		}
	})
	if narrow != nil || out.Usage.Input != 2_300 {
		t.Errorf("%v, %+v", narrow, out.Usage)
	}
	want := plug.Spent{For: plug.SpentOnPlugin, By: "toy", Model: "toy", Usage: plug.Usage{Input: 300, Output: 5}}
	if len(spent) != 1 || spent[0] != want {
		t.Errorf("got %+v", spent)
	}
	s, err := a.Stats(t.Context(), out.SessionID)
	table := s.Account.Table().String()
	if err != nil || s.Account.Total.Usage.Input != 2_700 || !strings.Contains(table, "plugin toy") || !strings.Contains(table, "child explore") {
		t.Errorf("%v\n%s", err, table)
	}
	if len(a.books) != 0 {
		t.Errorf("%d accounts are open", len(a.books))
	}
	// What is asked when no run is under way is in the table as well.
	if _, err := a.SideQuestion(t.Context(), out.SessionID, "what was that?"); err != nil {
		t.Fatal(err)
	}
	if _, err := api.Complete(t.Context(), plug.Completion{SessionID: out.SessionID, Messages: []llm.Message{{Role: llm.RoleUser, Text: "later"}}}); err != nil {
		t.Fatal(err)
	}
	rows := map[string]int{}
	if s, err = a.Stats(t.Context(), out.SessionID); err != nil {
		t.Fatal(err)
	}
	for _, r := range s.Account.Rows {
		rows[r.What] = r.Requests
	}
	if rows["questions"] != 1 || rows["plugin toy"] != 2 {
		t.Errorf("got %v", rows)
	}
}

// A run that goes on with an interrupted one has what that one left.
func TestABudgetHoldsOverAnInterruption(t *testing.T) {
	a := app(t, `{"model":"toy","turns":[{"text":"x"}]}`, Options{})
	ctx := t.Context()
	c, err := a.conversation("s")
	if err != nil {
		t.Fatal(err)
	}
	a.o.Config.Limits.MaxTokens = 1_000
	a.store = interruptedRun{a.store, []plug.Event{
		{Data: plug.TurnCompleted{Turn: 1, Tokens: 300}}, {Data: plug.TurnCompleted{Turn: 2, Tokens: 700, Usage: &plug.Usage{Input: 350, Output: 50, Cost: 0.25}}}}}
	book, end := a.budget(ctx, c, "dead")
	defer end()
	if tokens, cost := book.Spent(); tokens != 700 || cost != 0.25 {
		t.Errorf("%d tokens, %v", tokens, cost)
	}
}
