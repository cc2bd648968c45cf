package agent

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"alisio/agent/compact"
	"alisio/agent/config"
	"alisio/agent/session"
	"alisio/llm"
	"alisio/plug"
)

// Symptom: a run took more than its budget, since the server counted more than was
// estimated, and ended as if nothing had been. Trigger: the usage of its last answer.
func TestThatABudgetWasPassedIsTold(t *testing.T) {
	var told bytes.Buffer
	cfg := config.Default()
	cfg.Limits.MaxTokens = 20_000
	p := newScripts(t, map[string]string{"go": `{"text":"done","usage":{"input":23000,"output":10}}`, "small": `{"text":"done","usage":{"input":10,"output":10}}`})
	a := engine(t, "memory", realPath(t.TempDir()), Options{Provider: p, Config: cfg, Log: slog.New(slog.NewTextHandler(&told, nil))})
	went(t, a, "", "small", nil)
	if strings.Contains(told.String(), "limits.maxTokens") {
		t.Errorf("of a run that kept to its budget: %s", &told)
	}
	went(t, a, "", "go", nil)
	if !strings.Contains(told.String(), "23010 tokens were used, 3010 more than") {
		t.Errorf("got %q", &told)
	}
}

// breaking is a server whose answers break off after a word.
type breaking struct{ usage *llm.Usage }

func (breaking) ID() string   { return "breaking" }
func (breaking) Close() error { return nil }

func (p breaking) Stream(context.Context, llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		if yield(llm.Event{Kind: llm.TextDelta, Text: strings.Repeat("word", 100)}, nil) {
			yield(llm.Event{}, &llm.Error{Cause: llm.CauseServer, Message: "reset", Usage: p.usage})
		}
	}
}

// Symptom: a plugin could ask as often as it liked beside a budget. Trigger: answers
// that break off, which a server bills like others.
func TestACompletionThatBreaksOffIsSpent(t *testing.T) {
	for name, test := range map[string]struct {
		usage *llm.Usage
		least int64
	}{
		"reported":     {&llm.Usage{Input: 700, Output: 30}, 730},
		"not reported": {nil, 100},
	} {
		t.Run(name, func(t *testing.T) {
			a := engine(t, "memory", realPath(t.TempDir()), Options{Provider: breaking{test.usage}})
			c, err := a.conversation("s")
			if err != nil {
				t.Fatal(err)
			}
			book, end := a.budget(t.Context(), c, "")
			defer end()
			q := plug.Completion{SessionID: "s", Messages: []llm.Message{{Role: llm.RoleUser, Text: "x"}}}
			if _, err := a.complete(t.Context(), plug.SpentOnPlugin, "toy", q); err == nil {
				t.Error("it did not break")
			}
			if tokens, _ := book.Spent(); tokens < test.least || tokens > 2*test.least {
				t.Errorf("%d tokens are spent, want about %d", tokens, test.least)
			}
		})
	}
}

// Symptom: a run that took an interrupted one to its end met its budget at once.
// Trigger: input of the server's cache, which is no token, is part of turn_completed.tokens.
func TestWhatAnInterruptedRunUsed(t *testing.T) {
	usage := func(in, cached, out int, cost float64) plug.Usage {
		return plug.Usage{Input: in, CachedInput: cached, Output: out, Cost: cost}
	}
	first, third := usage(1_000, 900, 50, 0.1), usage(2_000, 1_500, 100, 0.2)
	events := []plug.Event{
		{Data: plug.TurnCompleted{Turn: 1, Tokens: 1_050, Usage: &first}},
		// a retry and a plugin's question, of which the run's own tokens have the first
		{Data: plug.TurnCompleted{Turn: 2, Tokens: 1_500, Beside: plug.Beside{Spent: []plug.Spent{
			{For: plug.SpentOnRetry, Usage: usage(200, 0, 10, 0.01)}, {For: plug.SpentOnPlugin, Usage: usage(400, 100, 10, 0.02)}}}}}, // itself 240, by estimate
		{Data: plug.TurnCompleted{Turn: 3, Tokens: 3_600, Usage: &third}},
		{Data: plug.CompactionFailed{Beside: plug.Beside{Spent: []plug.Spent{{For: plug.SpentOnCompaction, Usage: usage(500, 400, 20, 0.03)}}}}},
		{Data: plug.TurnCompleted{Turn: 4, Tokens: 4_220, Usage: &plug.Usage{Input: 90, Output: 10}}},
	}
	a := app(t, `{"model":"toy","turns":[{"text":"x"}]}`, Options{})
	a.store = interruptedRun{Store: a.store, events: events}
	c, err := a.conversation("s")
	if err != nil {
		t.Fatal(err)
	}
	book, end := a.budget(t.Context(), c, "dead")
	defer end()
	tokens, cost := book.Spent()
	if want := int64(150 + 210 + 310 + 240 + 600 + 120 + 100); tokens != want || math.Abs(cost-0.36) > 1e-9 {
		t.Errorf("got %d tokens and %v, want %d and 0.36", tokens, cost, want)
	}
}

// billing is a server that charges by its own count, fails, breaks off, and has runs
// of several sessions and plugins ask it at once.
type billing struct {
	mu     sync.Mutex
	rnd    *rand.Rand
	factor float64
	price  llm.Price
	billed float64   // tokens, or the cost
	errors []float64 // by how much charges passed the least that is held
}

func (*billing) ID() string   { return "billing" }
func (*billing) Close() error { return nil }

func (p *billing) amount(in, cached, out float64) float64 {
	if p.price == (llm.Price{}) {
		return in - cached + out
	}
	return ((in-cached)*p.price.Input + cached*p.price.CachedInput + out*p.price.Output) / 1e6
}

func (p *billing) Stream(_ context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		p.mu.Lock()
		n := len(r.Instructions)
		for _, t := range r.Tools {
			n += len(t.Name) + len(t.Description) + len(t.Schema)
		}
		estimate := float64(n/compact.CharsPerToken + compact.Tokens(r.Messages...))
		u := llm.Usage{Input: int(estimate * p.factor), Output: p.rnd.IntN(r.MaxOutputTokens + 1)}
		u.CachedInput = p.rnd.IntN(u.Input/2 + 1)
		kind := p.rnd.IntN(20)
		if kind > 0 {
			charge := p.amount(float64(u.Input), float64(u.CachedInput), float64(u.Output))
			p.billed += charge
			p.errors = append(p.errors, charge-p.amount(estimate*1.2, 0, float64(r.MaxOutputTokens)))
		}
		call := []string{"look", "ask", "both", "look"}[p.rnd.IntN(4)]
		p.mu.Unlock()
		m := llm.Message{Role: llm.RoleAssistant, Text: "so."}
		switch {
		case kind == 0:
			yield(llm.Event{}, llm.Errorf(llm.CauseBadRequest, "no"))
			return
		case kind == 1:
			if yield(llm.Event{Kind: llm.TextDelta, Text: "half"}, nil) {
				yield(llm.Event{}, &llm.Error{Cause: llm.CauseBadRequest, Message: "broken", Usage: &u})
			}
			return
		case kind < 18 && len(r.Tools) > 0:
			m.Calls = []llm.ToolCall{{ID: NewID()[:9], Name: call, Arguments: fmt.Sprintf(`{"n":%d}`, u.Output)}}
		}
		yield(llm.Event{Kind: llm.Completed, Message: &m, Usage: &u}, nil)
	}
}

// The promise over the whole engine: children that work side by side and questions of
// plugins count to the budget of the run that they work for, in tokens and in money. A run
// has one request at a time, or a question of its call. With at most W runs under way at
// once it is passed by no more than the W largest errors of an estimate, each beyond 1.2
// times it and the cap; what is accounted for was billed.
func TestNoBudgetIsPassedByTheWholeTree(t *testing.T) {
	met, children, asked, sideBySide := 0, 0, 0, 0
	for seed := range uint64(24) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		p := &billing{rnd: rnd, factor: 0.5 + 1.1*rnd.Float64()}
		cfg := config.Default()
		cfg.Limits.MaxTurns, cfg.Limits.MaxOutputTokens = 12, 300+rnd.IntN(1_000)
		limit := float64(10_000 + rnd.IntN(60_000))
		model := llm.Model{ID: "toy"}
		if seed%2 == 0 {
			p.price = llm.Price{Input: 2, CachedInput: 0.5, Output: 8}
			model.Price, limit = &p.price, limit*4/1e6
			cfg.Limits.MaxCost = limit
		} else {
			cfg.Limits.MaxTokens = int(limit)
		}
		var api *plug.API
		var mu sync.Mutex
		running, most := 1, 1
		runs := func(n int) {
			mu.Lock()
			defer mu.Unlock()
			running += n
			most = max(most, running)
		}
		ask := func(ctx context.Context, c *plug.Call) (plug.Result, error) {
			mu.Lock()
			asked++
			mu.Unlock()
			q := plug.Completion{SessionID: c.SessionID, MaxOutputTokens: 500, Messages: []llm.Message{{Role: llm.RoleUser, Text: strings.Repeat("why ", 200)}}}
			_, err := api.Complete(ctx, q)
			return plug.Text("asked"), err
		}
		both := func(ctx context.Context, c *plug.Call) (plug.Result, error) {
			var wg sync.WaitGroup
			for range 2 {
				child, err := api.Sessions.Spawn(ctx, plug.ChildSpec{Parent: c.SessionID, MaxTurns: 4})
				if err != nil {
					break // too deep
				}
				mu.Lock()
				children++
				mu.Unlock()
				wg.Go(func() {
					runs(1)
					defer runs(-1)
					_, _ = api.Sessions.Run(ctx, child.ID, "look") // how it ends is the model's
				})
			}
			wg.Wait()
			return plug.Text("both"), nil
		}
		look := func(context.Context, *plug.Call) (plug.Result, error) {
			return plug.Text(strings.Repeat("data ", 300)), nil
		}
		a := engine(t, "sqlite", realPath(t.TempDir()), Options{Config: cfg, Provider: p, Plugins: []plug.Plugin{plugged("toy", &api, nil)},
			Tools: []plug.Tool{toyTool{"look", plug.EffectRead, look}, toyTool{"ask", plug.EffectRead, ask}, toyTool{"both", plug.EffectRead, both}}})
		a.models.OwnModel = model
		out, err := a.Run(t.Context(), "", "go", RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if out.Code == llm.CauseBudget {
			met++
		}
		slices.SortFunc(p.errors, func(x, y float64) int { return int(math.Copysign(1, y-x)) })
		sideBySide = max(sideBySide, most)
		beyond := 0.0
		for _, e := range p.errors[:min(len(p.errors), most)] {
			beyond += max(0, e)
		}
		if p.billed > limit+beyond+1e-9 {
			t.Errorf("seed %d: %v of %v were billed, at most %v beyond estimates", seed, p.billed, limit, beyond)
		}
		s, err := a.Stats(t.Context(), out.SessionID)
		u := s.Account.Total.Usage
		got := float64(u.Input - u.CachedInput + u.Output)
		if seed%2 == 0 {
			got = s.Account.Total.Cost
		}
		if err != nil || math.Abs(got-p.billed) > 1e-6 {
			t.Errorf("seed %d: the table has %v, %v were billed (%v)\n%s", seed, got, p.billed, err, s.Account.Table())
		}
	}
	t.Logf("%d budgets met, %d children, %d runs at once, %d questions", met, children, sideBySide, asked)
	if met < 5 || children < 20 || asked < 20 || sideBySide < 3 {
		t.Errorf("%d budgets met, %d children, %d questions: too few to tell", met, children, asked)
	}
}

// interruptedRun is a store in which every run has had these events.
type interruptedRun struct {
	session.Store
	events []plug.Event
}

func (s interruptedRun) RunEvents(context.Context, string, string) ([]plug.Event, error) {
	return s.events, nil
}
