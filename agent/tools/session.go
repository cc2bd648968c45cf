package tools

import (
	"errors"
	"strings"

	"alisio/agent/text"
	"alisio/plug"
)

// Session returns the built-in tools that work on what belongs to a session: its
// skills and instruction files, the person behind it, its plan and its list of work.
// Each says in its spec what it needs, and the caller offers it where that is there.
func Session() []plug.Tool {
	return []plug.Tool{
		skillLoad{}, skillSearch{}, skillResource{}, contextExplain{}, askUserQuestion{}, exitPlan{}, todoWrite{},
	}
}

// maxWord bounds names and queries in titles and messages, in characters.
const maxWord = 200

// resourceArgs are the arguments of the tools for skills and instruction files; each
// schema has its own of them.
type resourceArgs struct {
	Name  string `json:"name"`
	Query string `json:"query"`
	Path  string `json:"path"`
}

// asked reads what a call wants of the resources of its session, and gives these,
// without functions where there are none.
func asked(c *plug.Call) (a resourceArgs, r plug.Resources, err error) {
	if c.Resources != nil {
		r = *c.Resources
	}
	err = c.Decode(&a)
	return a, r, err
}

// readPlan is the plan of a call that reads what the session has: it names no path
// of the workspace and no program.
func readPlan(title string, err error) (plug.Plan, error) {
	title = text.OneLine(title, maxTitle)
	if err == nil && title == "" {
		err = errors.New("the argument is empty")
	}
	return plug.Plan{Effect: plug.EffectRead, Title: title}, err
}

var (
	errNoSkills = errors.New("there are no skills in this session")
	errNoFiles  = errors.New("no instruction files are read in this session")
)

// linesText is a size for people: "12 lines".
func linesText(s string) string {
	if s == "" {
		return count(0, "line")
	}
	return count(strings.Count(strings.TrimSuffix(s, "\n"), "\n")+1, "line")
}

// attribute is a value in the opening tag around a text: no quote can end it.
func attribute(s string) string {
	return `"` + strings.ReplaceAll(text.Visible(text.Line(s)), `"`, "'") + `"`
}
