// Package cmdcat is the catalog of slash commands: it lists them, finds them by
// name and carries them out, for every surface alike.
//
//	"/name args" ─► Parse ─► Find ─┬─ core ─────► Execute ─► text
//	                               ├─ prompt ───► Execute ─► a prompt to be sent
//	                               └─ surface ──► the surface does it, or says why not
//
// Five sources give names, and the first that has one wins: the commands of this
// package, those of plugins, prompt templates, skills ("skill:<id>"), primary
// agents ("agent:<id>"). They are read at each call, so that what changed is seen.
//
// It draws nothing and asks nobody: text comes in and goes out.
package cmdcat

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"alisio/agent"
	"alisio/agent/config"
	"alisio/llm"
)

// Source is where a command comes from.
type Source string

// The sources, in the order in which they win a name.
const (
	BuiltIn  Source = "built-in"
	Plugin   Source = "plugin"
	Template Source = "template"
	Skill    Source = "skill"
	Agent    Source = "agent"
)

// Execution says who carries a command out.
type Execution string

// The executions. Templates and skills are declared surface, as their text is sent
// by the surface; but they are prompts, which every surface can send.
const (
	Core    Execution = "core"
	Surface Execution = "surface"
)

// Descriptor describes a command.
type Descriptor struct {
	// Name without the slash. Those of this package are found whatever the case.
	Name         string
	Aliases      []string
	Description  string
	ArgumentHint string
	Source       Source
	// Owner is the plugin's id, or where a template or skill comes from; empty for
	// this package.
	Owner     string
	Execution Execution
	// Surfaces are those that have it: tui, web, api.
	Surfaces []string
	// Prompt: it becomes a prompt.
	Prompt bool
}

// Shadowed is a name that a later source has too.
type Shadowed struct {
	Name string
	// Winner and Loser are "source" or "source owner".
	Winner, Loser string
	// Plugin is the id of the plugin whose command is hidden; empty: it is none.
	Plugin string
}

func (s Shadowed) String() string {
	return fmt.Sprintf("/%s of %s is hidden by that of %s", s.Name, s.Loser, s.Winner)
}

// Catalog is the commands of an application. It is safe for concurrent use.
type Catalog struct{ app *agent.App }

// New makes the catalog of an application.
func New(app *agent.App) *Catalog { return &Catalog{app} }

// Parse takes a line apart that may be a command: a slash, a name of at most 100
// letters, and arguments after white space. "/usr/bin is missing" is none, since its
// name has a slash.
func Parse(line string) (name, args string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimLeft(line, " \t\r\n"), "/")
	if !ok {
		return "", "", false
	}
	end := strings.IndexAny(rest[:min(len(rest), maxName+1)], " \t\r\n")
	if end < 0 {
		end = len(rest)
	}
	name = rest[:min(end, maxName+1)]
	if name == "" || len(name) > maxName || strings.Trim(name, nameChars) != "" {
		return "", "", false
	}
	return name, strings.TrimSpace(rest[end:]), true
}

// maxName bounds a name, in bytes: the longest are of skills and agents.
const maxName = 100

const nameChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_:."

// entry is a command with what carries it out.
type entry struct {
	Descriptor
	run runner
}

// runner carries a command out.
type runner func(ctx context.Context, c *Catalog, in Input) (Result, error)

// Input is a command as it was given.
type Input struct {
	// Args is what stands behind the name.
	Args string
	// SessionID is the session that it is given in, empty while there is none.
	SessionID string
}

// Result is what a command gives.
type Result struct {
	// Text is for the person: plain text of lines, without control characters but
	// "\n" at their ends.
	Text string
	// Prompt, if set, is to be sent in the session.
	Prompt *Prompt
	// Switch, if set, is the session to go on with; an empty one is a new one.
	Switch *string
}

// Prompt is what a template, a skill or an agent makes of a command.
type Prompt struct {
	// Text is what the model gets, Display what the person typed.
	Text, Display string
}

// List returns all commands, sorted by name, and the names that are hidden.
func (c *Catalog) List(ctx context.Context) ([]Descriptor, []Shadowed, error) {
	entries, hidden, err := c.entries(ctx)
	list := make([]Descriptor, len(entries))
	for i, e := range entries {
		list[i] = e.Descriptor
	}
	slices.SortFunc(list, func(a, b Descriptor) int { return strings.Compare(a.Name, b.Name) })
	return list, hidden, err
}

// UnknownError tells that no command has a name.
type UnknownError struct {
	Name string
	// Nearest is the one that may have been meant, empty for none.
	Nearest string
	// Problem says why one of that name was left out; empty: there is none.
	Problem string
}

func (e *UnknownError) Error() string {
	name := clip(e.Name, maxName)
	if e.Problem != "" {
		return fmt.Sprintf("unknown command /%s: %s", name, e.Problem)
	}
	if e.Nearest == "" {
		return fmt.Sprintf("unknown command /%s", name)
	}
	return fmt.Sprintf("unknown command /%s; did you mean /%s?", name, e.Nearest)
}

// Find returns the command of a name or an alias.
func (c *Catalog) Find(ctx context.Context, name string) (Descriptor, error) {
	e, err := c.find(ctx, name)
	return e.Descriptor, err
}

func (c *Catalog) find(ctx context.Context, name string) (entry, error) {
	if len(name) > maxName {
		return entry{}, &UnknownError{Name: name}
	}
	entries, _, err := c.entries(ctx)
	if err != nil {
		return entry{}, err
	}
	var names []string
	for _, e := range entries {
		if e.answers(name) {
			return e, nil
		}
		names = append(append(names, e.Name), e.Aliases...)
	}
	nearest, _ := config.Nearest(name, names)
	return entry{}, &UnknownError{Name: name, Nearest: nearest, Problem: c.problem(name)}
}

// problem is what is told of a template or a plugin of a name that was left out.
func (c *Catalog) problem(name string) string {
	for _, p := range c.app.DiagnosticLines() {
		if strings.Contains(p, "/"+name+".md:") || strings.Contains(p, "plugin "+name+":") {
			return clip(p, maxProblem)
		}
	}
	return ""
}

// maxProblem bounds what is told of one, in cells.
const maxProblem = 400

// answers reports whether a command has a name. Those of this package have it in
// every case, the others as their files are named.
func (e entry) answers(name string) bool {
	same := func(own string) bool {
		return own == name || e.Source == BuiltIn && strings.EqualFold(own, name)
	}
	return same(e.Name) || slices.ContainsFunc(e.Aliases, same)
}

// SurfaceError tells that a command is one of a screen, which is not there.
type SurfaceError struct{ Name string }

func (e *SurfaceError) Error() string {
	return fmt.Sprintf("/%s is done by the screen of a conversation, and this is none", e.Name)
}

// Execute carries a command out. One that a surface does is a *SurfaceError: a
// surface looks at Descriptor.Execution first.
func (c *Catalog) Execute(ctx context.Context, name string, in Input) (Result, error) {
	e, err := c.find(ctx, name)
	switch {
	case err != nil:
		return Result{}, llm.Errorf(llm.CauseBadRequest, "%w", err)
	case e.run == nil:
		return Result{}, llm.Errorf(llm.CauseBadRequest, "%w", &SurfaceError{e.Name})
	}
	r, err := e.run(ctx, c, in)
	if err != nil {
		return Result{}, fmt.Errorf("/%s: %w", e.Name, err)
	}
	if r.Text = shown(r.Text); r.Text != "" {
		r.Text += "\n"
	}
	return r, nil
}
