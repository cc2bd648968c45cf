package cli

import (
	"context"
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"alisio/agent"
	"alisio/tui/cli/args"
)

// manual holds the topics of alisio help, a file each; the first line of a file
// says what it is about.
//
//go:embed manual/*.txt
var manual embed.FS

// runHelp prints the usage, a topic, or the page of a command.
func runHelp(_ context.Context, c *call) (int, error) {
	topic := c.verb
	switch {
	case c.unknown != nil:
		return exitUsage, c.unknown
	case c.verb == "help" && len(c.args) > 0:
		topic = strings.Join(c.args, " ")
	case c.verb == "help":
		topic = ""
	}
	if topic == "" {
		return c.printed(usage())
	}
	text, err := page(topic)
	if err != nil {
		return exitUsage, err
	}
	return c.printed(text)
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
		return "", args.Unknown("help topic", topic, topics())
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

// runVersion prints the version.
func runVersion(_ context.Context, c *call) (int, error) {
	if c.verb == "version" && len(c.args) > 0 {
		return exitUsage, fmt.Errorf("alisio version takes no argument, found %s", clipped(c.args[0]))
	}
	return c.printed("alisio " + agent.Version + "\n")
}

func (c *call) printed(text string) (int, error) {
	if err := c.print(text); err != nil {
		return exitFailed, err
	}
	return exitDone, nil
}

// print writes to standard output; a reader that went away is no failure of
// ours.
func (c *call) print(text string) error { return unlessClosed(c.write(text)) }

// write writes to standard output.
func (c *call) write(text string) error {
	if _, err := io.WriteString(c.Stdout, text); err != nil {
		return fmt.Errorf("write the text: %w", err)
	}
	return nil
}

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
