package cli

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"

	"alisio/agent"
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
	name, v, rest, err := resolve(strings.Fields(topic))
	command := err == nil && len(rest) == 0
	body, readErr := manual.ReadFile("manual/" + topic + ".txt")
	switch {
	case readErr != nil && !command:
		return "", unknown("help topic", topic, topics())
	case !command:
		return string(body), nil
	}
	text := string(body)
	if readErr != nil {
		text = fmt.Sprintf("%s\n\nalisio %s\n", v.help, strings.TrimSpace(name+" "+v.args))
	}
	if v.run == nil {
		return text + "\nCommands, each with --help:\n" + verbLines(name+" ", v.subs), nil
	}
	return text + "\nFlags:\n" + flagLines(name), nil
}

// runVersion prints the version.
func runVersion(_ context.Context, c *call) (int, error) {
	if c.verb == "version" && len(c.args) > 0 {
		return exitUsage, fmt.Errorf("alisio version takes no argument, found %q", c.args[0])
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
func (c *call) print(text string) error {
	_, err := io.WriteString(c.Stdout, text)
	if err == nil || errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return fmt.Errorf("write the text: %w", err)
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
	b.WriteString(verbLines("", verbs()))
	b.WriteString("\nFlags of alisio run, before or after it (-- ends them):\n" + flagLines("run"))
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

// verbLines lists commands, a line each; before stands in front of their names.
func verbLines(before string, list []verb) string {
	var b strings.Builder
	for _, v := range list {
		fmt.Fprintf(&b, "  %-32s %s\n", strings.TrimSpace("alisio "+before+v.name+" "+v.args), v.help)
	}
	return b.String()
}

// flagLines lists the flags that a command takes.
func flagLines(verb string) string {
	var b strings.Builder
	for _, f := range flags() {
		if !f.takenBy(verb) {
			continue
		}
		name := "--" + f.name
		if f.short != "" {
			name = "-" + f.short + ", " + name
		}
		fmt.Fprintf(&b, "  %-23s %s\n", strings.TrimSpace(name+" "+f.arg), f.help)
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
