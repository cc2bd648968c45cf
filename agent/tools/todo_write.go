package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"alisio/agent/text"
	"alisio/plug"
)

const (
	// todoKey is where the list is kept in the state of the session, as a JSON array
	// of content and status.
	todoKey  = "todo"
	maxTodos = 50
	// maxTodo bounds one item, in characters: as JSON, of at most six bytes each, the
	// list is below the 64 KiB of a value.
	maxTodo = 200
)

// todoWrite keeps the visible list of what is to be done. Each call gives the whole
// list, so that nothing has to be matched. It changes nothing but that list.
type todoWrite struct{}

type todo struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

type todoArgs struct {
	Items []todo `json:"items"`
}

func (todoWrite) Spec() plug.ToolSpec {
	return plug.ToolSpec{
		Name:        "todo_write",
		Spare:       true,
		Description: "Keep the list of steps of a longer task, which the person sees. Give the whole list each time.",
		Schema: json.RawMessage(`{"type":"object","properties":{"items":{"type":"array","maxItems":50,"items":{"type":"object",` +
			`"properties":{"content":{"type":"string"},"status":{"type":"string","enum":["pending","in_progress","completed"]}},` +
			`"required":["content","status"],"additionalProperties":false}}},"required":["items"],"additionalProperties":false}`),
		Effect: plug.EffectInternal,
	}
}

func (todoWrite) items(c *plug.Call) ([]todo, error) {
	a := todoArgs{Items: []todo{}} // an empty list is kept as one
	if err := c.Decode(&a); err != nil {
		return nil, err
	}
	if len(a.Items) > maxTodos {
		return nil, fmt.Errorf("got %s, want at most %d: join small steps", count(len(a.Items), "item"), maxTodos)
	}
	for i := range a.Items {
		t := &a.Items[i]
		if t.Content = text.OneLine(t.Content, maxTodo); t.Content == "" {
			return nil, fmt.Errorf("item %d is empty", i+1)
		}
		if mark(t.Status) == "" {
			return nil, fmt.Errorf("item %d: found status %.40q, allowed: pending, in_progress, completed", i+1, t.Status)
		}
	}
	return a.Items, nil
}

// mark stands before an item in the list.
func mark(status string) string {
	switch status {
	case "pending":
		return "[ ]"
	case "in_progress":
		return "[>]"
	case "completed":
		return "[x]"
	}
	return ""
}

// progress is how far a list is: "3 of 7 done".
func progress(items []todo) string {
	done := 0
	for _, t := range items {
		if t.Status == "completed" {
			done++
		}
	}
	if len(items) == 0 {
		return "the list is empty"
	}
	return fmt.Sprintf("%d of %d done", done, len(items))
}

func (t todoWrite) Prepare(_ context.Context, c *plug.Call) (plug.Plan, error) {
	items, err := t.items(c)
	return plug.Plan{Effect: plug.EffectInternal, Title: progress(items)}, err
}

func (t todoWrite) Execute(ctx context.Context, c *plug.Call, _ plug.Plan) (plug.Result, error) {
	items, err := t.items(c)
	if err != nil {
		return plug.Result{}, err
	}
	raw, err := json.Marshal(items)
	if err == nil && c.State.Set != nil {
		err = c.State.Set(ctx, todoKey, raw)
	}
	if err != nil {
		return plug.Result{}, fmt.Errorf("keep the list: %w", err)
	}
	var list strings.Builder
	for _, t := range items {
		list.WriteString(mark(t.Status) + " " + t.Content + "\n")
	}
	r := plug.Text(strings.TrimSpace(progress(items)+"\n"+list.String())).WithSummary("%s", progress(items))
	if len(items) == 0 {
		return r, nil
	}
	return r.WithBlock(plug.Block{Kind: plug.BlockCode, Caption: progress(items), Code: strings.TrimSuffix(list.String(), "\n")}), nil
}
