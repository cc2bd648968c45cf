package tools

import (
	"context"
	"encoding/json"
	"strings"

	"alisio/agent/text"
	"alisio/plug"
)

// skillResource reads a text file of a skill. That it stays in the skill's directory
// is the part of Resources.File.
type skillResource struct{}

func (skillResource) Spec() plug.ToolSpec {
	return plug.ToolSpec{
		Name:        "skill_resource",
		Description: "Read a text file of a skill, by the name that skill_load listed.",
		Schema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","description":"the skill"},` +
			`"path":{"type":"string"}},"required":["name","path"],"additionalProperties":false}`),
		Effect: plug.EffectRead,
		Needs:  plug.NeedSkills,
	}
}

func (skillResource) Prepare(_ context.Context, c *plug.Call) (plug.Plan, error) {
	a, _, err := asked(c)
	return readPlan(strings.Trim(a.Name+": "+a.Path, ": "), err)
}

func (skillResource) Execute(ctx context.Context, c *plug.Call, _ plug.Plan) (plug.Result, error) {
	a, has, err := asked(c)
	if err == nil && has.File == nil {
		err = errNoSkills
	}
	if err != nil {
		return plug.Result{}, err
	}
	s, err := has.File(ctx, a.Name, a.Path)
	if err != nil {
		return plug.Result{}, err
	}
	if s = text.Plain(s); s == "" {
		return plug.Text("(the file is empty)").WithSummary("empty"), nil
	}
	return plug.Text(s).WithSummary("%s", linesText(s)), nil
}
