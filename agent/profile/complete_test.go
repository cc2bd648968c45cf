package profile

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"alisio/llm"
	"alisio/plug"
)

// odd is a provider of one function.
type odd func(ctx context.Context, req llm.Request, yield func(llm.Event, error) bool)

func (odd) ID() string   { return "odd" }
func (odd) Close() error { return nil }
func (f odd) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) { f(ctx, req, yield) }
}

func TestComplete(t *testing.T) {
	var asked llm.Request
	c := Choice{
		Model: llm.Model{ID: "toy", Efforts: []string{"low"}}, Secrets: []string{"sk-secret"},
		Provider: odd(func(ctx context.Context, req llm.Request, yield func(llm.Event, error) bool) {
			asked = req
			m := llm.Message{Role: llm.RoleAssistant, Text: "the key is sk-secret", Truncated: true}
			switch req.Messages[len(req.Messages)-1].Text {
			case "panic":
				panic("in the provider")
			case "silence":
				return
			case "nothing":
				m.Text = ""
			case "broken":
				if yield(llm.Event{Kind: llm.TextDelta, Text: "half"}, nil) {
					yield(llm.Event{}, &llm.Error{Cause: llm.CauseServer, Message: "reset", Usage: &llm.Usage{Input: 7}})
				}
				return
			case "error":
				yield(llm.Event{}, llm.Errorf(llm.CauseQuota, "no credit"))
				return
			case "wait":
				<-ctx.Done()
				yield(llm.Event{}, ctx.Err())
				return
			}
			yield(llm.Event{Kind: llm.Completed, Message: &m, Usage: &llm.Usage{Input: 7, Output: 3}}, nil)
		}),
	}
	said := 0
	ask := func(ctx context.Context, q plug.Completion, text string) (plug.Completed, error) {
		q.Messages = []llm.Message{{Role: llm.RoleUser, Text: text}}
		done, n, err := c.Complete(ctx, q)
		said = n
		return done, err
	}
	ctx := context.Background()
	done, err := ask(ctx, plug.Completion{Instructions: "be brief", Effort: "low", MaxOutputTokens: 9}, "go")
	if want := (plug.Completed{Text: "the key is [redacted]", Model: "toy", Usage: llm.Usage{Input: 7, Output: 3}, Truncated: true}); err != nil || done != want {
		t.Errorf("got %+v, %v", done, err)
	}
	if asked.Model != "toy" || asked.Instructions != "be brief" || asked.Effort != "low" || asked.MaxOutputTokens != 9 || len(asked.Tools) != 0 {
		t.Errorf("asked %+v", asked)
	}
	// An effort that the model has not, and no bound.
	if _, err := ask(ctx, plug.Completion{Effort: "high"}, "go"); err != nil || asked.Effort != "" || asked.MaxOutputTokens != MaxCompletion {
		t.Errorf("asked %+v, %v", asked, err)
	}
	for text, want := range map[string]string{"panic": "panic: in the provider", "silence": "said nothing", "nothing": "said nothing", "error": "no credit"} {
		if done, err := ask(ctx, plug.Completion{}, text); err == nil || !strings.Contains(err.Error(), want) || done.Text != "" {
			t.Errorf("%s: got %+v, %v", text, done, err)
		}
	}
	// What came of one that breaks off is told, and what it took.
	if done, err := ask(ctx, plug.Completion{}, "broken"); err == nil || said != len("half") || done.Usage.Input != 7 || done.Text != "" {
		t.Errorf("got %+v, %d, %v", done, said, err)
	}
	if _, _ = ask(ctx, plug.Completion{}, "error"); said != -1 {
		t.Errorf("%d bytes came of nothing", said)
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := ask(stopped, plug.Completion{}, "wait"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
