package cli

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"

	"alisio/agent"
	"alisio/agent/text"
	"alisio/plug"
	"alisio/tui/cli/args"
	"alisio/tui/cli/base"
)

// manual holds the topics of alisio help, a file each; the first line of a file
// says what it is about.
//
//go:embed manual/*.txt
var manual embed.FS

// runHelp prints the usage, a topic, or the page of a command.
func runHelp(_ context.Context, c *call) (int, error) {
	topic := c.Verb
	switch {
	case c.unknown != nil:
		return base.ExitUsage, c.unknown
	case c.Verb == "help" && len(c.Args) > 0:
		topic = strings.Join(c.Args, " ")
	case c.Verb == "help":
		topic = ""
	}
	if topic == "" {
		return c.Printed(usage())
	}
	text, err := page(topic)
	if err != nil {
		return base.ExitUsage, err
	}
	if topic == "tools" {
		text += c.toolTable()
	}
	return c.Printed(text)
}

// toolTable lists the tools of this program, by name.
func (c *call) toolTable() string {
	allowed := map[plug.Effect]string{
		plug.EffectRead: "always", plug.EffectInternal: "always", plug.EffectWrite: "--allow-write, --mode auto or full",
		plug.EffectProcess: "--allow-process, --mode full", plug.EffectExternal: "--allow-external, --mode full",
	}
	t := text.Table{{"  TOOL", "EFFECT", "ALLOWED BY"}}
	for _, tool := range c.tools {
		s := tool.Spec()
		t = append(t, []string{"  " + text.Line(s.Name), string(s.Effect), allowed[s.Effect]})
	}
	slices.SortFunc(t[1:], func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	return t.String()
}

// page is what the manual says on a topic. That of a command ends with its own
// commands or with its flags; without text in the manual it begins with its line
// of the usage.
func page(topic string) (string, error) {
	line := resolve(strings.Fields(topic))
	command := line.Unknown == nil && len(line.Words) == 0
	body, readErr := manual.ReadFile("manual/" + topic + ".txt")
	switch {
	case readErr != nil && !command:
		if pages := speakOf(topic); len(pages) > 0 {
			return "", fmt.Errorf("no help page is named %s; these speak of it: %s (alisio help %s)",
				args.Quote(topic), strings.Join(pages, ", "), pages[0])
		}
		return "", args.Unknown("help topic", topic, helpTopics())
	case !command:
		return string(body), nil
	}
	text := string(body)
	if readErr != nil {
		text = fmt.Sprintf("%s\n\nalisio %s\n", line.Command.Help, strings.TrimSpace(line.Name+" "+line.Command.Args))
	}
	if line.Command.Group() {
		return text + "\nCommands, each with --help:\n" + commandLine().CommandLines(line.Name, line.Command.Subs), nil
	}
	return text + "\nFlags:\n" + commandLine().FlagLines(line.Name), nil
}

// speakOf are the topics whose pages have a word, those that have it most often first.
func speakOf(word string) []string {
	const least = 3 // characters; shorter words stand in every page
	if len(word) < least {
		return nil
	}
	var pages []string
	times := map[string]int{}
	for _, t := range topics() {
		page, err := manual.ReadFile("manual/" + t + ".txt")
		if n := strings.Count(text.Fold(string(page)), text.Fold(word)); err == nil && n > 0 {
			pages = append(pages, t)
			times[t] = n
		}
	}
	slices.SortStableFunc(pages, func(a, b string) int { return times[b] - times[a] })
	return pages
}

// runVersion prints the version.
func runVersion(_ context.Context, c *call) (int, error) {
	if c.Verb == "version" {
		if err := c.None(); err != nil {
			return base.ExitUsage, err
		}
	}
	return c.Printed("alisio " + agent.Version + "\n")
}

// topics are the names of the manual's pages, sorted.
func topics() []string {
	var names []string
	entries, err := manual.ReadDir("manual")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".txt"))
	}
	slices.Sort(names)
	return names
}

// helpTopics are what alisio help has something to say on: the manual's pages, and
// the commands, since one without a page has its flags.
func helpTopics() []string {
	names := topics()
	for _, v := range verbs() {
		names = append(names, v.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// usage is the short help.
func usage() string {
	var b strings.Builder
	b.WriteString("alisio works on a task in a repository: a model decides, local tools act,\nnothing happens that was not allowed.\n\nUsage:\n")
	b.WriteString(commandLine().CommandLines("", append([]verb{{Args: "[PROMPT]", Help: "talk, on a terminal; else one run"}}, verbs()...)))
	b.WriteString("\nFlags of a task, before or after the command (-- ends them):\n" + commandLine().FlagLines("", "run"))
	b.WriteString("\nTopics of alisio help:\n")
	for _, t := range topics() {
		page, err := manual.ReadFile("manual/" + t + ".txt")
		if err != nil {
			continue
		}
		first, _, _ := strings.Cut(string(page), "\n")
		fmt.Fprintf(&b, "  %-20s %s\n", t, first)
	}
	return b.String()
}

// withNoColor is an environment in which NO_COLOR is set.
func withNoColor(getenv func(string) string) func(string) string {
	return func(name string) string {
		if name == "NO_COLOR" {
			return "1"
		}
		return getenv(name)
	}
}
