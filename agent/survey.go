package agent

import (
	"context"

	"alisio/agent/host"
	"alisio/agent/resource"
)

// The words of plugins and skills, for those who may not import them.
type (
	// PluginDiagnostic tells of a plugin, or a part of one, that could not be used; the
	// Err of an ExtensionConflict is a *PluginConflict.
	PluginDiagnostic = host.Diagnostic
	PluginConflict   = host.Conflict
	// Registration is one thing that a plugin registered.
	Registration = host.Registration
	// FoundSkill is a skill with its place, also one that is switched off.
	FoundSkill = resource.Skill
	// ResourceDiagnostic tells of a skill or a template that is not as it should be.
	ResourceDiagnostic = resource.Diagnostic
)

// What diagnostics can be of.
const (
	PluginFailed      = host.PluginFailed
	ExtensionConflict = host.ExtensionConflict
	ResourceError     = resource.Error
	ResourceWarning   = resource.Warning
)

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

// FoundSkills looks for skills, and returns those that are effective and those that are
// switched off, sorted by name, with what was said of them.
func (a *App) FoundSkills(ctx context.Context) ([]FoundSkill, []ResourceDiagnostic) {
	s := a.findSkills(ctx)
	return s.All, s.Problems
}

// ValidateSkills judges, by every rule of the format, all skills that are found, or
// those in and below directories, which are absolute. count is how many there were.
func (a *App) ValidateSkills(ctx context.Context, dirs ...string) (all []ResourceDiagnostic, count int) {
	if len(dirs) == 0 {
		return a.findSkills(ctx).Report(ctx)
	}
	return resource.FindSkills(ctx, resource.SkillOptions{Configured: dirs}).Report(ctx)
}

// FoundTemplates looks for templates, or for those in directories, which are absolute.
func (a *App) FoundTemplates(dirs ...string) *resource.Templates {
	if len(dirs) > 0 {
		return resource.FindTemplatesIn(dirs)
	}
	return a.templates()
}
