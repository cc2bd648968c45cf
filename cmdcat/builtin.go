package cmdcat

import (
	"alisio/agent/text"
	"context"
)

// builtIn are the commands of this package. Those whose execution is Surface have no
// run: the screen does them.
func builtIn() []entry {
	core := func(name string, aliases []string, hint, description string, run runner) entry {
		return entry{Descriptor{
			Name: name, Aliases: aliases, Description: description, ArgumentHint: hint, Source: BuiltIn,
			Execution: Core, Surfaces: everywhere,
		}, run}
	}
	screen := func(name string, aliases []string, hint, description string) entry {
		return entry{Descriptor{
			Name: name, Aliases: aliases, Description: description, ArgumentHint: hint, Source: BuiltIn,
			Execution: Surface, Surfaces: onScreens,
		}, nil}
	}
	return []entry{
		core(agentsName, nil, "[ID]", "list the primary agents, or switch to one", runAgents),
		core("btw", nil, "QUESTION", "ask something beside the task; it is not kept", runBtw),
		core("changelog", nil, "", "what changed in this version", runChangelog),
		core("clear", []string{"new"}, "", "begin a new session; this one is kept", runClear),
		core("effort", nil, "[LEVEL]", "show or set the reasoning effort", runEffort),
		core("export", nil, "[markdown|jsonl] FILE", "write the session into a new file", runExport),
		core("model", []string{"models"}, "[NAME]", "list the models, or switch to one", runModel),
		core("permission", []string{"permissions"}, "", "what may happen without a question, and what was granted", runPermission),
		core("plugins", nil, "", "list the plugins and what they could not do", runPlugins),
		core("resume", nil, "[ID]", "go on with another session of this workspace", runResume),
		core("sessions", nil, "", "list the sessions of this workspace", runSessions),
		core("skills", nil, "", "list the skills", runSkills),
		core("stats", nil, "", "what this session used so far", runStats),
		core("tools", nil, "", "the tools, and what keeps one from being offered", runTools),
		screen("ask", nil, "TEXT", "have the agent put a question to you"),
		screen("exit", []string{"quit"}, "", "leave"),
		screen("help", nil, "", "list the commands"),
	}
}

// Help lists the commands for a person.
func (c *Catalog) Help(ctx context.Context) (string, error) {
	list, hidden, err := c.List(ctx)
	if err != nil {
		return "", err
	}
	rows := make(text.Table, len(list))
	for i, d := range list {
		name := "/" + d.Name
		if d.ArgumentHint != "" {
			name += " " + d.ArgumentHint
		}
		rows[i] = []string{name, d.Description}
	}
	out := rows.String()
	for _, h := range hidden {
		out += h.String() + "\n"
	}
	return out, nil
}
