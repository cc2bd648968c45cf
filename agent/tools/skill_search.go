package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"alisio/agent/text"
	"alisio/plug"
)

// maxHits bounds the skills that a search shows.
const maxHits = 20

// skillSearch finds skills by words in their names and descriptions.
type skillSearch struct{}

func (skillSearch) Spec() plug.ToolSpec {
	return plug.ToolSpec{
		Name:        "skill_search",
		Spare:       true,
		Description: "Find skills by words in their names and descriptions.",
		Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}},` +
			`"required":["query"],"additionalProperties":false}`),
		Effect: plug.EffectRead,
		Needs:  plug.NeedSkills,
	}
}

func (skillSearch) Prepare(_ context.Context, c *plug.Call) (plug.Plan, error) {
	a, _, err := asked(c)
	return readPlan(a.Query, err)
}

func (skillSearch) Execute(ctx context.Context, c *plug.Call, _ plug.Plan) (plug.Result, error) {
	a, has, err := asked(c)
	if err == nil && has.Search == nil {
		err = errNoSkills
	}
	if err != nil {
		return plug.Result{}, err
	}
	hits, err := has.Search(ctx, a.Query)
	if err != nil {
		return plug.Result{}, err
	}
	if len(hits) == 0 {
		return plug.Text("no skill matches; other words may, or none is needed").WithSummary("no matches"), nil
	}
	var b strings.Builder
	b.WriteString("load one with skill_load:")
	for _, s := range hits[:min(len(hits), maxHits)] {
		fmt.Fprintf(&b, "\n- %s: %s", text.OneLine(s.Name, maxWord), text.OneLine(s.Description, 1024))
	}
	if left := len(hits) - maxHits; left > 0 {
		fmt.Fprintf(&b, "\n(%d more match: further words find fewer)", left)
	}
	return plug.Text(b.String()).WithSummary("%s", count(len(hits), "match")), nil
}
