package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"alisio/agent/text"
	"alisio/plug"
)

// skillLoad gives the body of a skill and the names of its files. It is whole,
// whatever its size: what is too long for the model is cut by the engine, which
// keeps the rest within reach.
type skillLoad struct{}

func (skillLoad) Spec() plug.ToolSpec {
	return plug.ToolSpec{
		Name:        "skill_load",
		Description: "Load the instructions of a skill before doing what its description says.",
		Schema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},` +
			`"required":["name"],"additionalProperties":false}`),
		Effect: plug.EffectRead,
		Needs:  plug.NeedSkills,
	}
}

func (skillLoad) Prepare(_ context.Context, c *plug.Call) (plug.Plan, error) {
	a, _, err := asked(c)
	return readPlan(a.Name, err)
}

func (skillLoad) Execute(ctx context.Context, c *plug.Call, _ plug.Plan) (plug.Result, error) {
	a, has, err := asked(c)
	if err == nil && has.Load == nil {
		err = errNoSkills
	}
	if err != nil {
		return plug.Result{}, err
	}
	s, err := has.Load(ctx, a.Name)
	if err != nil {
		return plug.Result{}, err
	}
	out := fmt.Sprintf("<skill name=%s directory=%s>\n%s\n</skill>", attribute(s.Name), attribute(s.Dir), strings.TrimRight(text.Plain(s.Body), "\n"))
	return plug.Text(out+skillFiles(s)).WithSummary("%s", linesText(s.Body)), nil
}

// skillFiles lists the other files of a skill.
func skillFiles(s plug.SkillBody) string {
	if len(s.Files) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nIts files, which skill_resource reads and paths in the text mean:")
	for _, f := range s.Files {
		b.WriteString("\n- " + text.OneLine(f, maxTitle))
	}
	if s.More {
		b.WriteString("\n(there are others)")
	}
	return b.String()
}
