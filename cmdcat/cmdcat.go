// Package cmdcat is the catalog of slash commands: it lists them, finds them by
// name and carries them out, for every surface alike.
//
//	"/name args" ─► Parse ─► Find ─┬─ refused ─► why, and what to do instead
//	                               └─ Execute ─► text, a prompt to be sent, a session
//	                                             to go on with, the end
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
	"alisio/agent/text"
	"alisio/llm"
)

// Source is where a command comes from.
type Source string

// The sources, in the order in which they win a name.
const (
	FromBuiltIn  Source = "built-in"
	FromPlugin   Source = "plugin"
	FromTemplate Source = "template"
	FromSkill    Source = "skill"
	FromAgent    Source = "agent"
)

// Execution says who carries a command out.
type Execution string

// The executions. Programs are told that templates and skills are done by the surface
// (spec commands-tui.md, "Catalog"); but what it does is to send a prompt, as every
// surface can.
const (
	ByCore    Execution = "core"
	BySurface Execution = "surface"
	AsPrompt  Execution = "prompt"
)

// Descriptor describes a command. It says all that a surface asks of one, so that none
// has to know a name.
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
	// TakesText: what is behind the name is a text for a model or a plugin, which can
	// have lines.
	TakesText bool
	// Leaves: it leaves the session, which plugins then end.
	Leaves bool
	// InRun is what a run is given instead of a command that changes what lasts as
	// long as a conversation, with the arguments behind it; empty: it is carried out
	// there too. Bare: the name alone changes something, else the arguments do.
	InRun string
	Bare  bool
}

// Surfaces are those that have it: tui, web, api.
func (d Descriptor) Surfaces() []string {
	if d.Execution == BySurface {
		return []string{"tui", "web"}
	}
	return []string{"tui", "web", "api"}
}

// Prompts reports whether a prompt for a model comes of it.
func (d Descriptor) Prompts(args string) bool {
	return d.Execution == AsPrompt || d.Source == FromAgent && args != ""
}

// Refuses says why a command is not carried out where it is given, and what does what
// it would do (CauseBadRequest); nil: it is.
func (d Descriptor) Refuses(in Input) error {
	switch {
	case strings.Contains(in.Args, "\n") && !d.TakesText:
		return llm.Errorf(llm.CauseBadRequest, "/%s takes one line, and this has several", d.Name)
	case in.Conversation:
		return nil
	case d.Execution == BySurface:
		return llm.Errorf(llm.CauseBadRequest, "/%s is done by the screen of a conversation, and this is none", d.Name).
			WithHint("alisio alone, on a terminal, is a conversation: alisio help talk")
	case d.InRun == "" || d.Bare != (in.Args == ""):
		return nil
	}
	instead := d.InRun
	if in.Args != "" {
		instead += " " + text.ShellWord(clip(in.Args, maxHint))
	}
	return llm.Errorf(llm.CauseBadRequest, "/%s changes a conversation, and a run is none: nothing of it would last", d.Name).
		WithHint("for a run: " + instead)
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
	// Conversation: it goes on after the command, and a person reads what is said.
	Conversation bool
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
	// Exit: the person leaves the program.
	Exit bool
}

// Prompt is what a template, a skill or an agent makes of a command.
type Prompt struct {
	// Text is what the model gets, Display what the person typed.
	Text, Display string
}

// List returns all commands, sorted by name, with the beginnings of their descriptions,
// and the names that are hidden.
func (c *Catalog) List(ctx context.Context) ([]Descriptor, []Shadowed, error) {
	entries, hidden, err := c.entries(ctx)
	list := make([]Descriptor, len(entries))
	for i, e := range entries {
		list[i] = e.Descriptor
		list[i].Description = clip(e.Description, maxDescription)
	}
	slices.SortFunc(list, func(a, b Descriptor) int { return strings.Compare(a.Name, b.Name) })
	return list, hidden, err
}

// UnknownError tells that no command has a name.
type UnknownError struct {
	Name string
	// Nearest is the one that may have been meant, empty for none.
	Nearest string
	// Problem says why one of that name was left out, or may have been; empty: nothing
	// is known.
	Problem string
}

func (e *UnknownError) Error() string {
	name := clip(e.Name, maxName)
	if e.Problem != "" {
		return fmt.Sprintf("unknown command /%s: %s", name, e.Problem)
	}
	if e.Nearest == "" && strings.HasPrefix(e.Name, skillPrefix) {
		return fmt.Sprintf("unknown command /%s; /skills lists the skills", name)
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

// Hides says whose command has the name of a template, "built-in" or "plugin ID", so
// that nobody can call the template; empty: none has.
func (c *Catalog) Hides(ctx context.Context, template string) string {
	d, err := c.Find(ctx, template)
	if err != nil || d.Source != FromBuiltIn && d.Source != FromPlugin {
		return ""
	}
	return d.from()
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
	unknown := &UnknownError{Name: name}
	why, sure := c.missing(name)
	if !sure {
		unknown.Nearest, _ = config.Nearest(name, names)
	}
	if unknown.Nearest == "" && !sure {
		unknown.Nearest = skillLike(name, names)
	}
	if unknown.Nearest == "" {
		unknown.Problem = clip(why, maxProblem)
	}
	return entry{}, unknown
}

// skillLike is the first skill whose name begins with what was typed of one; empty: none
// does.
func skillLike(name string, names []string) string {
	if !strings.HasPrefix(name, skillPrefix) || name == skillPrefix {
		return ""
	}
	i := slices.IndexFunc(names, func(n string) bool { return strings.HasPrefix(n, name) })
	if i < 0 {
		return ""
	}
	return names[i]
}

// missing is what is told of a name that was left out; not sure: it may have been. A
// plugin that is off or failed says nowhere what commands it would have.
func (c *Catalog) missing(name string) (why string, sure bool) {
	for _, p := range c.app.FoundTemplates().Problems {
		if strings.HasSuffix(p.File, "/"+name+".md") {
			return text.Line(p.String()), true
		}
	}
	for _, p := range c.app.Diagnostics() {
		if p.Code != agent.PluginFailed {
			continue
		}
		why = "it may be one of the plugin " + p.Plugin + ", which failed: " + p.Err.Error() + "; alisio plugins doctor tells more"
		if sure = p.Plugin == name; sure {
			return why, sure
		}
	}
	if left, sure := c.app.LeftOut(name); left != "" {
		return left, sure
	}
	return why, false
}

// maxProblem bounds what is told of one, in cells.
const maxProblem = 400

// answers reports whether a command has a name. Those of this package have it in
// every case, the others as their files are named.
func (e entry) answers(name string) bool {
	same := func(own string) bool {
		return own == name || e.Source == FromBuiltIn && strings.EqualFold(own, name)
	}
	return same(e.Name) || slices.ContainsFunc(e.Aliases, same)
}

// Execute carries a command out, or refuses to (Descriptor.Refuses).
func (c *Catalog) Execute(ctx context.Context, name string, in Input) (Result, error) {
	e, err := c.find(ctx, name)
	if err != nil {
		return Result{}, llm.Errorf(llm.CauseBadRequest, "%w", err)
	}
	if err := e.Refuses(in); err != nil {
		return Result{}, err
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
