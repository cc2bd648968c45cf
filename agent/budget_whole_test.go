package agent

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"strings"
	"testing"

	"alisio/agent/config"
	"alisio/agent/session"
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

// interruptedRun is a store in which every run has had these events.
type interruptedRun struct {
	session.Store
	events []plug.Event
}

func (s interruptedRun) RunEvents(context.Context, string, string) ([]plug.Event, error) {
	return s.events, nil
}
