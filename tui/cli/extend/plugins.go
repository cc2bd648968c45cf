package extend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"alisio/agent"
	"alisio/agent/text"
	"alisio/cmdcat"
	"alisio/plug"
	"alisio/tui/cli/base"
)

// entry is a plugin as --json prints it.
type entry struct {
	Kind    string `json:"kind"`
	ID      string `json:"id"`
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"`
	// State is on, off or failed; Why says so of the latter two.
	State         string         `json:"state"`
	Why           string         `json:"why,omitempty"`
	Registrations []registration `json:"offers,omitempty"`
}

// registration is one thing that a plugin offers.
type registration struct {
	Kind string `json:"kind"`
	Name string `json:"name,omitempty"`
}

// entries are all plugins in the order of the program's list.
func (c *Call) entries(app *agent.App) []entry {
	var all []entry
	for _, p := range c.Plugins {
		e := entry{Kind: "plugin", ID: p.ID, Name: p.Name, Version: p.Version, State: "on"}
		if why := c.off(p); why != "" {
			e.State, e.Why = "off", why
		}
		for _, d := range app.Diagnostics() {
			if d.Plugin == p.ID && d.Code == agent.PluginFailed {
				e.State, e.Why = "failed", d.Err.Error()
			}
		}
		for _, r := range app.Registrations() {
			if r.Plugin == p.ID {
				e.Registrations = append(e.Registrations, registration{r.Kind, r.Name})
			}
		}
		all = append(all, e)
	}
	return all
}

// off says what leaves a plugin out, empty for nothing.
func (c *Call) off(p plug.Plugin) string {
	cfg := c.Options.Config
	key := "builtinPlugins." + p.ID
	switch {
	case !slices.ContainsFunc(c.Options.Plugins, func(on plug.Plugin) bool { return on.ID == p.ID }):
		return "left out by --disable-plugin"
	case !cfg.Plugin(p.ID).Enabled:
		return key + ".enabled is false"
	}
	return ""
}

// registered says what a plugin registered, for people: "tool a b, session hook".
func (e entry) registered() string {
	var kinds []string
	names := make(map[string][]string)
	for _, r := range e.Registrations {
		if !slices.Contains(kinds, r.Kind) {
			kinds = append(kinds, r.Kind)
		}
		if r.Name != "" {
			names[r.Kind] = append(names[r.Kind], text.Line(r.Name))
		}
	}
	for i, k := range kinds {
		kinds[i] = strings.Join(append([]string{strings.ReplaceAll(k, "-", " ")}, names[k]...), " ")
	}
	return strings.Join(kinds, ", ")
}

// PluginsList prints the plugins that the program is built with, and what each offers.
func PluginsList(ctx context.Context, c *Call) (int, error) {
	if err := c.None(); err != nil {
		return base.ExitUsage, err
	}
	return c.with(ctx, func(_ context.Context, app *agent.App) (int, error) {
		var t text.Table
		for _, e := range c.entries(app) {
			if c.JSON {
				if err := c.PrintJSON(json.Marshal(e)); err != nil {
					return base.ExitFailed, err
				}
				continue
			}
			said := e.registered()
			if e.Why != "" {
				said = text.Line(e.Why)
			}
			t = append(t, []string{text.Line(e.ID), text.Line(e.Version), e.State, said})
		}
		if len(c.Plugins) == 0 {
			c.Notice("this program is built without plugins")
		}
		return c.Printed(t.String())
	})
}

// PluginsDoctor sets the plugins up, has their extensions drawn, looks for hooks that
// failed in the last sessions, and prints what is wrong, each with its remedy.
func PluginsDoctor(ctx context.Context, c *Call) (int, error) {
	if err := c.None(); err != nil {
		return base.ExitUsage, err
	}
	return c.with(ctx, func(ctx context.Context, app *agent.App) (int, error) {
		app.Startup(ctx, plug.ScreenContext{Terminal: plug.Terminal{Unicode: true, Columns: 80}}) // those that fail are noted
		var list []base.Finding
		for _, e := range c.entries(app) {
			list = append(list, e.finding())
		}
		for _, d := range app.Diagnostics() {
			if d.Code != agent.PluginFailed {
				list = append(list, ofPart(d))
			}
		}
		_, hidden, err := cmdcat.New(app).List(ctx)
		if err != nil {
			return base.ExitFailed, err
		}
		for _, s := range hidden {
			if s.Plugin != "" {
				list = append(list, ofCommand(s))
			}
		}
		hooks, code, err := c.failedHooks(ctx)
		if err != nil {
			return code, err
		}
		return c.PrintFindings(append(list, hooks...))
	})
}

// finding is what is to be said of a plugin as a whole.
func (e entry) finding() base.Finding {
	f := base.Finding{Name: "plugin " + e.ID, Text: strings.TrimSpace(e.Version + " " + e.State)}
	switch e.State {
	case "failed":
		f.Level, f.Text = agent.Problem, e.Why
		f.Remedy = fmt.Sprintf("look at builtinPlugins.%s in the configuration; --disable-plugin %[1]s, or enabled: false there, goes without it", e.ID)
	case "off":
		f.Level, f.Text = agent.Note, e.Why
	default:
		f.Level = agent.Good
		if said := e.registered(); said != "" {
			f.Text += ": " + said
		}
	}
	return f
}

// ofPart is what is to be said of a part of a plugin. With a conflict all goes on, but
// not as everybody meant it.
func ofPart(d agent.PluginDiagnostic) base.Finding {
	f := base.Finding{Level: agent.Problem, Name: string(d.Code), Text: d.Err.Error()}
	if d.Plugin != "" {
		f.Remedy = "it goes on without; --disable-plugin " + d.Plugin + " leaves the plugin out"
	}
	if c, ok := d.Err.(*agent.PluginConflict); ok {
		f.Level = agent.Note
		f.Text = fmt.Sprintf("%s: %s is used, and not %s, of the same priority", c.Point, c.Winner, strings.Join(c.Losers, ", "))
		winner, _, _ := strings.Cut(c.Winner, "/")
		f.Remedy = "to use another, leave the plugin out whose is used: --disable-plugin " + winner
	}
	return f
}

// ofCommand is what is to be said of a plugin's command that is hidden: commands of the
// program itself alone come before those of plugins.
func ofCommand(s cmdcat.Shadowed) base.Finding {
	return base.Finding{
		Level: agent.Note, Name: "command /" + s.Name, Text: "of plugin " + s.Plugin + " can not be called: the name is one of alisio's own",
		Remedy: "--disable-plugin " + s.Plugin + " leaves the plugin out",
	}
}

const (
	// lastSessions is in how many sessions hooks are looked for that failed, and
	// lastFailures how many of their failures are read in each.
	lastSessions = 20
	lastFailures = 200
)

// failedHooks tells of hooks that failed in the last sessions, each once. Those of the
// newest session of all are a problem, those that a later session got over are not.
func (c *Call) failedHooks(ctx context.Context) (list []base.Finding, code int, err error) {
	store, code, err := c.Look(ctx)
	switch {
	case err != nil && c.DB == "" && !errors.Is(err, agent.ErrNoPlace):
		return []base.Finding{{
			Level: agent.Note, Name: "hooks", Text: "the last sessions can not be looked through: " + err.Error(),
			Remedy: "alisio doctor --store",
		}}, base.ExitDone, nil
	case err != nil && c.DB != "":
		return nil, code, err
	case store == nil:
		return nil, base.ExitDone, nil
	}
	defer store.Close()
	sessions, err := store.List(ctx, agent.Query{All: true, Limit: lastSessions})
	if err != nil {
		return nil, base.ExitFailed, err
	}
	told := make(map[string]bool)
	for i, s := range sessions {
		failed, err := hooksOf(ctx, store, s.ID)
		if err != nil {
			return nil, base.ExitFailed, err
		}
		for _, h := range failed {
			name := "hook " + h.Hook + " of " + h.Source
			if told[name] {
				continue
			}
			told[name] = true
			f := base.Finding{
				Level: agent.Note, Name: name, Text: h.Error + " (session " + s.ID[:min(base.ShortID, len(s.ID))] + ", " + s.Updated.Local().Format("2006-01-02 15:04") + ")",
				Remedy: "sessions went on without it; pluginHooks gives hooks more time, and --disable-plugin " + h.Source + " leaves the plugin out",
			}
			if i == 0 {
				f.Level = agent.Problem
			}
			list = append(list, f)
		}
	}
	return list, base.ExitDone, nil
}

// hooksOf are the hooks that failed in a session, the newest failure of each, the oldest
// first.
func hooksOf(ctx context.Context, store *agent.Store, id string) ([]plug.PluginHookFailed, error) {
	events, err := store.EventsOf(ctx, id, plug.TypePluginHookFailed, lastFailures)
	var all []plug.PluginHookFailed
	for _, e := range events {
		d, ok := e.Data.(plug.PluginHookFailed)
		if ok && !slices.ContainsFunc(all, func(o plug.PluginHookFailed) bool { return o.Source == d.Source && o.Hook == d.Hook }) {
			all = append(all, d)
		}
	}
	slices.Reverse(all)
	return all, err
}
