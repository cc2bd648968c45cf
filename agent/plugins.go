package agent

import (
	"fmt"
	"slices"
	"strings"

	"alisio/agent/host"
	"alisio/agent/text"
)

// The words of plugins, for those who may not import them.
type (
	// PluginDiagnostic tells of a plugin, or a part of one, that could not be used; the
	// Err of an ExtensionConflict is a *PluginConflict.
	PluginDiagnostic = host.Diagnostic
	PluginConflict   = host.Conflict
	// Registration is one thing that a plugin registered.
	Registration = host.Registration
	// Status is what a plugin shows in the status bar, Panel a tree that it shows, and
	// Surface a screen that shows what plugins set.
	Status  = host.Status
	Panel   = host.Panel
	Surface = host.Surface
)

// What diagnostics of plugins can be of.
const (
	PluginFailed      = host.PluginFailed
	ExtensionConflict = host.ExtensionConflict
)

// Plugin is what people are shown of a plugin that is set up.
type Plugin struct {
	ID, Name, Version string
	// Registered says what: "1 command, 2 tools".
	Registered string
}

// Plugins lists the plugins that are set up, in the order of their setup.
func (a *App) Plugins() []Plugin {
	counts := make(map[string]map[string]int)
	for _, r := range a.host.Registrations() {
		if counts[r.Plugin] == nil {
			counts[r.Plugin] = make(map[string]int)
		}
		counts[r.Plugin][r.Kind]++
	}
	var all []Plugin
	for _, p := range a.host.Plugins() {
		var words []string
		for kind, n := range counts[p.ID] {
			words = append(words, numbered(n, kind))
		}
		slices.Sort(words)
		all = append(all, Plugin{ID: p.ID, Name: p.Name, Version: p.Version, Registered: strings.Join(words, ", ")})
	}
	return all
}

// numbered is how many there are of a kind, in words: "1 session hook".
func numbered(n int, kind string) string {
	word := strings.ReplaceAll(kind, "-", " ")
	switch {
	case n == 1:
	case strings.HasSuffix(word, "ch"):
		word += "es"
	default:
		word += "s"
	}
	return fmt.Sprintf("%d %s", n, word)
}

// DiagnosticLines tell, a line each, of plugins and parts of them that could not be used and
// of extensions in conflict, and how much is wrong with skills and templates.
func (a *App) DiagnosticLines() []string {
	var all []string
	for _, d := range a.host.Diagnostics() {
		line := string(d.Code)
		if d.Plugin != "" {
			line += ": " + d.Plugin
		}
		all = append(all, line+": "+d.Err.Error())
	}
	skills, templates := a.ResourceProblems()
	for _, of := range []struct {
		what string
		n    int
	}{{"skills", skills}, {"templates", templates}} {
		if of.n > 0 {
			all = append(all, fmt.Sprintf("%s: %s; alisio %[1]s validate tells of each", of.what, numbered(of.n, "problem")))
		}
	}
	for i, line := range all {
		all[i] = text.Line(line)
	}
	return all
}

// ResourceProblems counts what is wrong with the skills that were found last, and with
// templates; what was done as it is meant to be is no problem.
func (a *App) ResourceProblems() (skills, templates int) {
	count := func(all []ResourceDiagnostic) (n int) {
		for _, d := range all {
			if d.Level == ResourceError || d.Level == ResourceWarning {
				n++
			}
		}
		return n
	}
	return count(a.known().Problems), count(a.templates().Problems)
}

// Bind makes a screen the one that plugins show things on.
func (a *App) Bind(s Surface) (unbind func()) { return a.host.Bind(s) }

// Statuses are what plugins show in the status bar now, sorted by plugin.
func (a *App) Statuses() []Status { return a.host.Statuses() }

// Panels are the trees that plugins show now, sorted by plugin.
func (a *App) Panels() []Panel { return a.host.Panels() }

// Diagnostics tells of all plugins and parts of them that could not be used so far,
// oldest first, and then of the conflicts between extensions.
func (a *App) Diagnostics() []PluginDiagnostic { return a.host.Diagnostics() }

// Registrations lists what plugins registered, by its kind.
func (a *App) Registrations() []Registration {
	var all []Registration
	for _, o := range a.host.Registrations() {
		if o.Plugin != "" {
			all = append(all, o)
		}
	}
	return all
}
