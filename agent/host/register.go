package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"alisio/plug"
)

// row is one registration.
type row[T any] struct {
	owner *entry
	// name is unique where the kind says so, and is for lists of people.
	name  string
	value T
}

// list is what is registered of one kind, in the order of registration.
type list[T any] struct {
	rows []*row[T]
}

// registry holds all that is registered. It belongs to Host.mu.
type registry struct {
	tools       list[plug.Tool]
	commands    list[plug.SlashCommand]
	agents      list[plug.Agent]
	providers   list[plug.ProviderRegistration]
	contexts    list[plug.ContextSource]
	resources   list[plug.ResourceDirs]
	observers   list[*observer]
	sessions    list[plug.SessionHooks]
	compactions list[plug.CompactionHooks]
	facts       list[plug.Facts]
	mascots     list[plug.Mascot]
	screens     list[plug.StartupScreen]
	searches    list[plug.WebSearch]
}

// Owned is something that is registered, with the id of the plugin that did;
// empty: the application.
type Owned[T any] struct {
	Plugin string
	Value  T
}

// Registration is a row of the list of all that is registered.
type Registration struct {
	Plugin string
	// Kind is tool, command, agent, provider, context, resource, observer,
	// session-hook, compaction-hook, fact-source, or an extension point.
	Kind string
	Name string
}

// scope says among whom a name is unique.
type scope int

const (
	anyName  scope = iota
	inPlugin       // the point of it is the plugin's: contexts, extensions
	overAll        // a model, a person or a provider calls it by that name
)

// add registers a value under the lock. end, if not nil, is called without it when
// the registration is undone. Who goes through a list has copied it before, or holds
// the lock.
func add[T any](h *Host, e *entry, l *list[T], unique scope, kind, name string, value T, end func()) (undo func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := e.mayRegister(); err != nil {
		return nil, refusal(kind, name, err)
	}
	for _, r := range l.rows {
		if r.name == name && (unique == overAll || unique == inPlugin && r.owner == e) {
			return nil, refusal(kind, name, errors.New("the name is taken"))
		}
	}
	r := &row[T]{owner: e, name: name, value: value}
	l.rows = append(l.rows, r)
	return h.keep(e, func() { l.remove(r) }, end), nil
}

// remove makes a new list, so that who goes through the old one is not disturbed.
func (l *list[T]) remove(r *row[T]) {
	l.rows = slices.DeleteFunc(slices.Clone(l.rows), func(other *row[T]) bool { return other == r })
}

// owned copies a list.
func owned[T any](h *Host, l *list[T]) []Owned[T] {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]Owned[T], len(l.rows))
	for i, r := range l.rows {
		all[i] = Owned[T]{r.owner.id(), r.value}
	}
	return all
}

// rowsOf copies the rows of a list, for calls that need the owner.
func rowsOf[T any](h *Host, l *list[T]) []*row[T] {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(l.rows)
}

// AddTool registers a tool of the application.
func (h *Host) AddTool(t plug.Tool) (undo func(), err error) { return h.addTool(h.own, t) }

// AddAgent registers an agent of the application.
func (h *Host) AddAgent(a plug.Agent) (undo func(), err error) { return h.addAgent(h.own, a) }

// fixed is a tool of a plugin whose spec stays what it was at registration, and whose
// panics are the plugin's.
type fixed struct {
	tool  plug.Tool
	owner *entry
	spec  plug.ToolSpec
}

func (f *fixed) Spec() plug.ToolSpec { return f.spec }

func (f *fixed) Prepare(ctx context.Context, c *plug.Call) (plan plug.Plan, err error) {
	defer func() { err = f.owner.named(err) }()
	defer caught(&err)
	return f.tool.Prepare(ctx, c)
}

func (f *fixed) Execute(ctx context.Context, c *plug.Call, p plug.Plan) (r plug.Result, err error) {
	defer func() { err = f.owner.named(err) }()
	defer caught(&err)
	return f.tool.Execute(ctx, c, p)
}

// addTool checks what the engine relies on. A plugin's spec is asked for once and
// stays, as the request's prefix and the gate go by it; an application's own tool is
// taken as it is.
func (h *Host) addTool(e *entry, t plug.Tool) (undo func(), err error) {
	if t == nil {
		return nil, errors.New("add tool: there is none")
	}
	spec := t.Spec()
	if err := refusal("tool", spec.Name, spec.Check()); err != nil {
		return nil, err
	}
	if e != h.own {
		if h.o.CheckTool != nil {
			if err := h.o.CheckTool(spec); err != nil {
				return nil, fmt.Errorf("add tool %s: schema: %w", spec.Name, err)
			}
		}
		spec.Schema = slices.Clone(spec.Schema)
		t = &fixed{t, e, spec}
	}
	return add(h, e, &h.r.tools, overAll, "tool", spec.Name, t, nil)
}

// refusal says what of a plugin's words was not registered, and why; nil: nothing.
func refusal(kind, name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("add %s: %w", strings.TrimSpace(kind+" "+tell(name)), err)
}

func (h *Host) addCommand(e *entry, c plug.SlashCommand) (undo func(), err error) {
	if err := refusal("command", c.Name, c.Check()); err != nil {
		return nil, err
	}
	c.Description, c.ArgumentHint = tell(c.Description), tell(c.ArgumentHint)
	c.Run = h.command(e, c.Run)
	return add(h, e, &h.r.commands, overAll, "command", c.Name, c, nil)
}

func (h *Host) addAgent(e *entry, a plug.Agent) (undo func(), err error) {
	if err := refusal("agent", a.ID, a.Check()); err != nil {
		return nil, err
	}
	a.Description, a.Persona = tell(a.Description), injected(a.Persona)
	a.Spec.Tools.Allow, a.Spec.Tools.Deny = slices.Clone(a.Spec.Tools.Allow), slices.Clone(a.Spec.Tools.Deny)
	return add(h, e, &h.r.agents, overAll, "agent", a.ID, a, nil)
}

// addProvider hands the registration on without the lock, as it goes to a part of the
// engine that has its own.
func (h *Host) addProvider(e *entry, p plug.ProviderRegistration) (undo func(), err error) {
	if h.o.Register == nil {
		return nil, errors.New("add provider: no provider can be registered here")
	}
	if err := h.present(e); err != nil {
		return nil, fmt.Errorf("add provider: %w", err)
	}
	remove, err := h.o.Register(p)
	if err != nil {
		return nil, err
	}
	undo, err = add(h, e, &h.r.providers, anyName, "provider", p.ID, p, remove)
	if err != nil {
		remove()
	}
	return undo, err
}

func (h *Host) addContext(e *entry, c plug.ContextSource) (undo func(), err error) {
	if err := refusal("context", c.Name, c.Check()); err != nil {
		return nil, err
	}
	return add(h, e, &h.r.contexts, inPlugin, "context", c.Name, c, nil)
}

func (h *Host) addResources(e *entry, d plug.ResourceDirs) (undo func(), err error) {
	if err := refusal("resources", "", d.Check()); err != nil {
		return nil, err
	}
	d = plug.ResourceDirs{Skills: given(d.Skills), Prompts: given(d.Prompts), Agents: given(d.Agents)}
	return add(h, e, &h.r.resources, anyName, "resources", "", d, nil)
}

// given is the directories that are not empty.
func given(dirs []string) []string {
	return slices.DeleteFunc(slices.Clone(dirs), func(d string) bool { return d == "" })
}

func (h *Host) addSession(e *entry, s plug.SessionHooks) (undo func(), err error) {
	if err := refusal("session hooks", "", s.Check()); err != nil {
		return nil, err
	}
	return add(h, e, &h.r.sessions, anyName, "session hooks", "", s, nil)
}

func (h *Host) addCompaction(e *entry, c plug.CompactionHooks) (undo func(), err error) {
	if err := refusal("compaction hooks", "", c.Check()); err != nil {
		return nil, err
	}
	return add(h, e, &h.r.compactions, anyName, "compaction hooks", "", c, nil)
}

// Tools returns all tools, sorted by name.
func (h *Host) Tools() []plug.Tool {
	h.mu.Lock()
	defer h.mu.Unlock()
	rows := slices.SortedFunc(slices.Values(h.r.tools.rows), func(a, b *row[plug.Tool]) int { return strings.Compare(a.name, b.name) })
	tools := make([]plug.Tool, len(rows))
	for i, r := range rows {
		tools[i] = r.value
	}
	return tools
}

// ToolOwner returns the plugin that registered a tool; empty for the
// application's own, and for a name that there is not.
func (h *Host) ToolOwner(name string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.r.tools.rows {
		if r.name == name {
			return r.owner.id()
		}
	}
	return ""
}

// Commands returns the slash commands in the order of registration. Their Run
// ends with its context, makes a panic an error and gives plain text.
func (h *Host) Commands() []Owned[plug.SlashCommand] { return owned(h, &h.r.commands) }

// Agents returns the primary agents in the order of registration.
func (h *Host) Agents() []Owned[plug.Agent] { return owned(h, &h.r.agents) }

// Resources returns directories of resources in the order of registration.
func (h *Host) Resources() []Owned[plug.ResourceDirs] { return owned(h, &h.r.resources) }

// Registrations lists all that is registered, by kind, in the order of
// registration.
func (h *Host) Registrations() []Registration {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []Registration
	r := &h.r
	all = told(all, "tool", &r.tools)
	all = told(all, "command", &r.commands)
	all = told(all, "agent", &r.agents)
	all = told(all, "provider", &r.providers)
	all = told(all, "context", &r.contexts)
	all = told(all, "resource", &r.resources)
	all = told(all, "observer", &r.observers)
	all = told(all, "session-hook", &r.sessions)
	all = told(all, "compaction-hook", &r.compactions)
	all = told(all, "fact-source", &r.facts)
	all = told(all, pointMascot, &r.mascots)
	all = told(all, pointScreen, &r.screens)
	return told(all, pointSearch, &r.searches)
}

func told[T any](all []Registration, kind string, l *list[T]) []Registration {
	for _, r := range l.rows {
		all = append(all, Registration{r.owner.id(), kind, r.name})
	}
	return all
}
