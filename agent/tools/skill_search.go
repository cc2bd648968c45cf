package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
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
	if err == nil && has.Skills == nil {
		err = errNoSkills
	}
	if err != nil {
		return plug.Result{}, err
	}
	all, err := has.Skills(ctx)
	if err != nil {
		return plug.Result{}, err
	}
	hits := matching(all, a.Query)
	if len(hits) == 0 {
		return plug.Text(fmt.Sprintf("none of %s matches; other words may, or none is needed", count(len(all), "skill"))).WithSummary("no matches"), nil
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

// matching keeps the skills that have one of the words, those with most first; a
// word in a name counts for more.
func matching(all []plug.Skill, query string) []plug.Skill {
	words := strings.Fields(strings.ToLower(query))
	points := make(map[string]int, len(all))
	var hits []plug.Skill
	for _, s := range all {
		name, about := strings.ToLower(s.Name), strings.ToLower(s.Description)
		for _, w := range words {
			switch {
			case strings.Contains(name, w):
				points[s.Name] += 5
			case strings.Contains(about, w):
				points[s.Name]++
			}
		}
		if points[s.Name] > 0 {
			hits = append(hits, s)
		}
	}
	slices.SortStableFunc(hits, func(a, b plug.Skill) int { return cmp.Compare(points[b.Name], points[a.Name]) })
	return hits
}
