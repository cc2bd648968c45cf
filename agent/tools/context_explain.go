package tools

import (
	"context"
	"encoding/json"

	"alisio/agent/text"
	"alisio/plug"
)

// contextExplain tells which instruction files hold for a path, and why.
type contextExplain struct{}

func (contextExplain) Spec() plug.ToolSpec {
	return plug.ToolSpec{
		Name:        "context_explain",
		Spare:       true,
		Description: "Which instruction files (AGENTS.md) hold for a path, and why.",
		Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},` +
			`"required":["path"],"additionalProperties":false}`),
		Effect: plug.EffectRead,
		Needs:  plug.NeedInstructions,
	}
}

func (contextExplain) Prepare(_ context.Context, c *plug.Call) (plug.Plan, error) {
	a, _, err := asked(c)
	return readPlan(a.Path, err)
}

func (contextExplain) Execute(ctx context.Context, c *plug.Call, _ plug.Plan) (plug.Result, error) {
	a, has, err := asked(c)
	if err == nil && has.Explain == nil {
		err = errNoFiles
	}
	if err != nil {
		return plug.Result{}, err
	}
	s, err := has.Explain(ctx, a.Path)
	if err != nil {
		return plug.Result{}, err
	}
	s = text.Plain(s)
	return plug.Text(s).WithSummary("%s", linesText(s)), nil
}
