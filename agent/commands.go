package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"alisio/agent/host"
	"alisio/plug"
)

// SlashCommand is a command of a plugin.
type SlashCommand struct {
	plug.SlashCommand
	Owner string
}

// SlashCommands lists the commands of plugins, sorted by name.
func (a *App) SlashCommands() []SlashCommand {
	var all []SlashCommand
	for _, c := range a.host.Commands() {
		all = append(all, SlashCommand{c.Value, c.Plugin})
	}
	slices.SortFunc(all, func(x, y SlashCommand) int { return strings.Compare(x.Name, y.Name) })
	return all
}

// RunSlashCommand runs a command of a plugin. Its panic is its failure. It takes as
// long as ctx lets it.
func (a *App) RunSlashCommand(ctx context.Context, name, args, sessionID string) (string, error) {
	all := a.host.Commands()
	i := slices.IndexFunc(all, func(c host.Owned[plug.SlashCommand]) bool { return c.Value.Name == name })
	if i < 0 {
		return "", fmt.Errorf("there is no command %q", name)
	}
	return all[i].Value.Run(ctx, args, sessionID)
}

// Tool is what people are shown of a tool.
type Tool struct {
	Name, Effect string
	// Owner is a plugin's id, empty for the program's own.
	Owner string
	// Why says what keeps it from being offered in a session; empty: it is.
	Why string
}

// Tools lists all tools for a session, sorted by name.
func (a *App) Tools(sessionID string) []Tool {
	c := a.look(sessionID)
	agent, err := a.agentOf(c)
	if err != nil {
		return nil
	}
	g := a.gateOf(c, agent)
	var all []Tool
	for _, t := range a.host.Tools() {
		s := t.Spec()
		why := a.lacks(c, agent, s)
		if why == "" && !g.Offers(s.Name, s.Effect) {
			if why = g.Remedy(s.Name, s.Effect); why == "" {
				why = "not of the agent " + agent.ID
			}
		}
		all = append(all, Tool{Name: s.Name, Effect: string(s.Effect), Owner: a.host.ToolOwner(s.Name), Why: why})
	}
	return all
}

// LeftOut is that of the options.
func (a *App) LeftOut(name string) (why string, sure bool) {
	if a.o.LeftOut == nil {
		return "", false
	}
	return a.o.LeftOut(name)
}

// Changelog is the program's own; empty: it was built without.
func (a *App) Changelog() string { return a.o.Changelog }
