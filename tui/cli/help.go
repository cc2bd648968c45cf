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
	topic := ""
	switch {
	case len(c.args) > 1 && c.verb == "help":
		return exitUsage, fmt.Errorf("alisio help takes one topic, found %q too", c.args[1])
	case c.verb == "help" && len(c.args) > 0:
		topic = c.args[0]
	case c.verb != "help":
		topic = c.verb
	}
	if topic == "" {
		return c.printed(usage())
	}
	text, err := page(topic)
	if err != nil && c.verb != "help" {
		return exitUsage, unknownVerb(topic)
	}
	if err != nil {
		return exitUsage, err
	}
	if own := flagLines(topic); own != "" {
		text += "\nFlags of this command:\n" + own
	}
	if topic == "run" {
		text += "\nFlags:\n" + flagLines("")
	}
	return c.printed(text)
}

// page is what the manual says on a topic; a command without a page of its own
// has its line of the usage.
func page(topic string) (string, error) {
	if text, err := manual.ReadFile("manual/" + topic + ".txt"); err == nil {
		return string(text), nil
	}
	for _, v := range verbs() {
		if v.name == topic {
			return fmt.Sprintf("%s\n\nalisio %s\n", v.help, strings.TrimSpace(v.name+" "+v.args)), nil
		}
	}
	return "", unknown("help topic", topic, topics())
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
	for _, v := range verbs() {
		fmt.Fprintf(&b, "  %-20s %s\n", strings.TrimSpace("alisio "+v.name+" "+v.args), v.help)
	}
	b.WriteString("\nFlags, before or after the command (-- ends them):\n" + flagLines(""))
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

// flagLines lists the flags of a command, or the global ones.
func flagLines(verb string) string {
	var b strings.Builder
	for _, f := range flags() {
		if f.verb != verb {
			continue
		}
		name := "--" + f.name
		if f.short != "" {
			name = "-" + f.short + ", " + name
		}
		fmt.Fprintf(&b, "  %-20s %s\n", strings.TrimSpace(name+" "+f.arg), f.help)
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
