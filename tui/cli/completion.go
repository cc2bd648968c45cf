package cli

import (
	"context"
	"fmt"
	"strings"

	"alisio/agent"
	"alisio/agent/config"
	"alisio/agent/text"
	"alisio/tui/cli/args"
	"alisio/tui/cli/base"
)

// runCompletion prints a shell's script or, for that script, the words that can
// stand at a place, each with a tab and its help.
func runCompletion(ctx context.Context, c *call) (int, error) {
	table := commandLine()
	if c.words {
		table.Values = func(arg string) []args.Candidate { return c.candidates(ctx, arg) }
		var b strings.Builder
		for _, w := range table.Complete(c.Args) {
			fmt.Fprintf(&b, "%s\t%s\n", w.Word, w.Help)
		}
		return c.Printed(b.String())
	}
	if len(c.Args) != 1 {
		return base.ExitUsage, fmt.Errorf("alisio completion needs the name of a shell: %s", strings.Join(args.Shells(), ", "))
	}
	script, err := table.Script(c.Args[0])
	if err != nil {
		return base.ExitUsage, err
	}
	return c.Printed(script)
}

// candidates are the words that can stand for one of the tables of commands and flags.
func (c *call) candidates(ctx context.Context, arg string) []args.Candidate {
	var list []args.Candidate
	switch arg {
	case "TOPIC":
		for _, name := range helpTopics() {
			list = append(list, args.Candidate{Word: name})
		}
	case "KEY":
		for _, k := range config.Keys() {
			if !strings.Contains(k.Name, "<") { // a name that the file chooses
				list = append(list, args.Candidate{Word: k.Name})
			}
		}
	case "AGENT":
		return c.completedAgents(ctx)
	case "PLUGIN":
		for _, p := range c.plugins {
			list = append(list, args.Candidate{Word: p.ID, Help: text.Line(p.Name)})
		}
	case "ID", "SESSION":
		return c.completedSessions(ctx)
	}
	return list
}

// completedAgents are the primary agents. Nothing is said of what can not be set up.
func (c *call) completedAgents(ctx context.Context) []args.Candidate {
	quiet := *c
	quiet.Quiet = true
	o, err := quiet.options()
	if err != nil {
		return nil
	}
	app, err := agent.NewSilent(ctx, o)
	if err != nil {
		return nil
	}
	defer base.CloseApp(&c.Call, app)
	var list []args.Candidate
	for _, a := range app.Agents() {
		list = append(list, args.Candidate{Word: a.ID, Help: text.Line(a.Description)})
	}
	return list
}

// completedSessions are the newest sessions, each with its title. A shell waits: what
// can not be read is not offered, and nothing is said of it.
func (c *call) completedSessions(ctx context.Context) []args.Candidate {
	const most = 50
	store, _, err := c.Look(ctx)
	if err != nil || store == nil {
		return nil
	}
	defer store.Close()
	sessions, err := store.List(ctx, agent.Query{Limit: most})
	if err != nil {
		return nil
	}
	var list []args.Candidate
	for _, s := range sessions {
		list = append(list, args.Candidate{Word: text.Line(s.ID), Help: text.Clip(base.Title(s.Session), base.MaxTitle)})
	}
	return list
}
