package cmdcat

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"alisio/agent"
)

// entries reads all sources. The first that has a name wins it; a built-in one in
// every case.
func (c *Catalog) entries(ctx context.Context) ([]entry, []Shadowed, error) {
	t := table{taken: map[string]entry{}}
	for _, e := range builtIn() {
		t.add(e)
	}
	for _, s := range c.app.SlashCommands() {
		t.add(pluginEntry(s))
	}
	for _, p := range c.app.Templates() {
		t.add(templateEntry(p))
	}
	skills, err := c.app.Skills(ctx)
	for _, s := range skills {
		t.add(skillEntry(s))
	}
	for _, a := range c.app.Agents() {
		t.add(agentEntry(a))
	}
	return t.entries, t.hidden, err
}

// Bounds of what is shown of a command, in cells.
const (
	maxDescription = 200
	maxWhole       = 2000 // where one command is described
	maxHint        = 80
)

// table gives each name to the first that wants it.
type table struct {
	entries []entry
	taken   map[string]entry
	hidden  []Shadowed
}

func (t *table) add(e entry) {
	e.Description, e.ArgumentHint, e.Owner = clip(e.Description, maxWhole), clip(e.ArgumentHint, maxHint), clip(e.Owner, maxHint)
	if e.Source == FromPlugin && e.Name == agentsName { // not hidden: it gets the arguments
		i := slices.IndexFunc(t.entries, func(e entry) bool { return e.Name == agentsName })
		own := &t.entries[i]
		own.ArgumentHint, own.TakesText, own.InRun = e.ArgumentHint, true, ""
		return
	}
	key := strings.ToLower(e.Name)
	if w, ok := t.taken[key]; ok && w.answers(e.Name) {
		s := Shadowed{Name: e.Name, Winner: w.from(), Loser: e.from()}
		if e.Source == FromPlugin {
			s.Plugin = e.Owner
		}
		t.hidden = append(t.hidden, s)
		return
	}
	t.entries = append(t.entries, e)
	for _, name := range append([]string{e.Name}, e.Aliases...) {
		t.taken[strings.ToLower(name)] = e
	}
}

func (d Descriptor) from() string {
	if d.Owner == "" {
		return string(d.Source)
	}
	return string(d.Source) + " " + d.Owner
}

func pluginEntry(s agent.SlashCommand) entry {
	return entry{
		Descriptor: Descriptor{
			Name: s.Name, Description: s.Description, ArgumentHint: s.ArgumentHint, Source: FromPlugin, Owner: s.Owner,
			Execution: ByCore, TakesText: true,
		},
		run: func(ctx context.Context, c *Catalog, in Input) (Result, error) {
			text, err := c.app.RunSlashCommand(ctx, s.Name, in.Args, in.SessionID)
			return Result{Text: text}, err
		},
	}
}

func templateEntry(t agent.Template) entry {
	return entry{
		Descriptor: Descriptor{
			Name: t.Name, Description: t.Description, ArgumentHint: t.ArgumentHint, Source: FromTemplate, Owner: t.Source,
			Execution: AsPrompt, TakesText: true,
		},
		run: func(ctx context.Context, c *Catalog, in Input) (Result, error) {
			text, err := c.app.ExpandTemplate(in.SessionID, t.Name, in.Args)
			return Result{Prompt: prompt(text, t.Name, in.Args)}, err
		},
	}
}

// skillPrefix is in front of the name of a skill.
const skillPrefix = "skill:"

func skillEntry(s agent.Skill) entry {
	name := skillPrefix + s.Name
	return entry{
		Descriptor: Descriptor{
			Name: name, Description: s.Description, ArgumentHint: "[TASK]", Source: FromSkill, Owner: s.Source,
			Execution: AsPrompt, TakesText: true,
		},
		run: func(ctx context.Context, c *Catalog, in Input) (Result, error) {
			text, err := c.app.SkillPrompt(ctx, s.Name, in.Args)
			return Result{Prompt: prompt(text, name, in.Args)}, err
		},
	}
}

func agentEntry(a agent.PrimaryAgent) entry {
	return entry{
		Descriptor: Descriptor{
			Name: "agent:" + a.ID, Description: a.Description, ArgumentHint: "[PROMPT]", Source: FromAgent, Owner: a.Owner,
			Execution: ByCore, TakesText: true, InRun: "--agent " + a.ID, Bare: true,
		},
		run: func(ctx context.Context, c *Catalog, in Input) (Result, error) {
			if err := c.app.SetAgent(in.SessionID, a.ID); err != nil {
				return Result{}, err
			}
			r := Result{Text: "the agent is " + a.ID + " now: " + cmp.Or(a.Description, "no description")}
			if in.Args != "" {
				r.Prompt = &Prompt{Text: in.Args}
			}
			return r, nil
		},
	}
}

// prompt is a text that stands for what was typed.
func prompt(text, name, args string) *Prompt {
	return &Prompt{Text: text, Display: strings.TrimSpace("/" + name + " " + args)}
}
