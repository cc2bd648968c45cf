package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"alisio/agent/text"
	"alisio/plug"
)

// maxPlan bounds the text of a plan, in bytes.
const maxPlan = 48_000

// exitPlan puts a plan before the person. Its result begins with one of the words
// approved, skipped, feedback, unavailable (spec events.md, plan_decided), and says
// what to do next. Approval is the person's word on the text; it opens no
// permission.
type exitPlan struct{}

type planArgs struct {
	Plan  string `json:"plan"`
	Title string `json:"title"`
}

func (exitPlan) Spec() plug.ToolSpec {
	return plug.ToolSpec{
		Name:        "exit_plan",
		Description: "Put the finished plan before the person: the whole of it in Markdown, with files, steps and how it will be checked.",
		Schema: json.RawMessage(`{"type":"object","properties":{"plan":{"type":"string"},"title":{"type":"string"}},` +
			`"required":["plan"],"additionalProperties":false}`),
		Effect: plug.EffectRead,
		Needs:  plug.NeedAgent,
	}
}

// args reads the plan as it will be shown and hashed.
func (exitPlan) args(c *plug.Call) (planArgs, error) {
	var a planArgs
	if err := c.Decode(&a); err != nil {
		return a, err
	}
	a.Plan = strings.TrimSpace(text.Plain(a.Plan))
	switch {
	case a.Plan == "":
		return a, errors.New("the plan is empty")
	case len(a.Plan) > maxPlan:
		return a, fmt.Errorf("the plan has %s, more than %s: shorten it", bytesText(int64(len(a.Plan))), bytesText(maxPlan))
	}
	first, _, _ := strings.Cut(a.Plan, "\n")
	first = strings.TrimLeft(first, "# ")
	a.Title = cmp.Or(text.OneLine(a.Title, maxWord), text.OneLine(first, maxWord), "plan")
	return a, nil
}

func (t exitPlan) Prepare(_ context.Context, c *plug.Call) (plug.Plan, error) {
	a, err := t.args(c)
	return readPlan(a.Title, err)
}

func (t exitPlan) Execute(ctx context.Context, c *plug.Call, p plug.Plan) (plug.Result, error) {
	a, err := t.args(c)
	if err != nil {
		return plug.Result{}, err
	}
	q := plug.Question{Kind: plug.AskPlan, Tool: t.Spec().Name, Plan: p, Review: plug.Review{Title: a.Title, Text: a.Plan}}
	answer, err := ask(ctx, c, q)
	if err != nil && !errors.Is(err, plug.ErrNoSurface) {
		return plug.Result{}, err
	}
	word, next := decided(answer, err)
	return plug.Text(word+": "+next).WithSummary("%s", word), nil
}

// decided is the word for an answer and what the model does now.
func decided(a plug.Answer, err error) (word, next string) {
	reason := strings.TrimSpace(text.Short(text.Plain(a.Reason), maxWrittenText))
	switch {
	case err != nil:
		return "unavailable", "Nobody can review it in this session. Give the whole plan as your answer, in text, and stop."
	case a.Decision == plug.Once || a.Decision == plug.Session:
		return "approved", "Carry it out as it stands, if your tools allow it; else end your turn with one line that says so. " + said(reason)
	case a.Decision == plug.Feedback:
		return "feedback", "Change the plan as the person says, and call exit_plan again with the whole new text. " + said(reason)
	}
	return "skipped", "The person closed it without approving. Carry nothing out; end your turn and ask in a line how to go on. " + said(reason)
}

func said(reason string) string {
	if reason == "" {
		return "They added nothing."
	}
	return "They wrote:\n" + reason
}
