package agent

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"alisio/agent/config"
	"alisio/agent/ports"
	"alisio/agent/resource"
	"alisio/agent/run"
	"alisio/agent/session/child"
	"alisio/plug"
)

// Skill is what people are shown of a skill.
type Skill = plug.Skill

// Template is a prompt that a person calls by its name.
type Template = resource.Template

// The words of skills, for those who may not import them.
type (
	// FoundSkill is a skill with its place, also one that is switched off.
	FoundSkill = resource.Skill
	// ResourceDiagnostic tells of a skill or a template that is not as it should be.
	ResourceDiagnostic = resource.Diagnostic
)

// What diagnostics of resources can be.
const (
	ResourceError   = resource.Error
	ResourceWarning = resource.Warning
)

// projectFiles are the trusted files of the project, as they were hashed, and
// whether there are any.
func (a *App) projectFiles() (trusted bool, files []resource.File) {
	if a.o.Project == nil {
		return false, nil
	}
	files = make([]resource.File, len(a.o.Project.Files))
	for i, f := range a.o.Project.Files {
		files[i] = resource.File{Name: f.Name, Data: f.Data}
	}
	return true, files
}

// findSkills looks for skills anew; what was found stays until the next time.
func (a *App) findSkills(ctx context.Context) *resource.Skills {
	o := resource.SkillOptions{Root: a.root, Dir: realPath(a.o.Dir)}
	if !a.o.Hermetic {
		o.Trusted, o.Files = a.projectFiles()
		o.Enabled = a.o.Config.SkillOverrides
		if a.o.Config.OfProject("skills") {
			o.Named = a.belowRoot(a.o.Config.Skills)
		} else {
			o.Configured = a.o.Config.Skills
		}
		o.Home, o.ConfigHome = a.o.Getenv("HOME"), a.o.Dirs.Config
		o.Plugins = a.pluginDirs(func(d plug.ResourceDirs) []string { return d.Skills })
	}
	found := resource.FindSkills(ctx, o)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.skills = found
	return found
}

// belowRoot makes directories names below the workspace's root, with slashes; others
// are left out, as no project may name them.
func (a *App) belowRoot(dirs []string) []string {
	var names []string
	for _, dir := range dirs {
		if rel, err := filepath.Rel(a.root, dir); err == nil && filepath.IsLocal(rel) {
			names = append(names, filepath.ToSlash(rel))
		}
	}
	return names
}

// known are the skills as they were found last.
func (a *App) known() *resource.Skills {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.skills == nil {
		return &resource.Skills{}
	}
	return a.skills
}

func (a *App) hasSkills() bool { return len(a.known().Offered()) > 0 }

// pluginDirs are directories of one kind that plugins brought.
func (a *App) pluginDirs(of func(plug.ResourceDirs) []string) []resource.PluginDir {
	var all []resource.PluginDir
	for _, r := range a.host.Resources() {
		for _, dir := range of(r.Value) {
			all = append(all, resource.PluginDir{Plugin: r.Plugin, Dir: dir})
		}
	}
	return all
}

// Skills lists the effective skills, sorted by name.
func (a *App) Skills(ctx context.Context) ([]Skill, error) {
	return ports.Skills(a.findSkills(ctx).Offered()), ctx.Err()
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

// skillList is what the model is told of the skills before it loads one.
func (a *App) skillList() string {
	var b strings.Builder
	for _, s := range a.known().Offered() {
		if b.Len() == 0 {
			b.WriteString("Skills that skill_load brings, when a task is what one is for:\n")
		}
		fmt.Fprintf(&b, "- %s: %s\n", s.Name, s.Description)
	}
	return b.String()
}

// SkillPrompt is the prompt of /skill:name: the skill's text, and what is to be done.
func (a *App) SkillPrompt(ctx context.Context, name, args string) (string, error) {
	body, err := a.findSkills(ctx).Load(name)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Work with the skill %q (its directory: %s).\n\n%s", body.Name, body.Dir, strings.TrimSpace(body.Body))
	if len(body.Files) > 0 {
		fmt.Fprintf(&b, "\n\nIts other files, which skill_resource reads: %s", strings.Join(body.Files, ", "))
	}
	if args != "" {
		fmt.Fprintf(&b, "\n\nThe task: %s", args)
	}
	return b.String(), nil
}

// templates looks for templates. Names of commands go before them: the catalog sees
// to that.
func (a *App) templates() *resource.Templates {
	o := resource.TemplateOptions{Root: a.root}
	if !a.o.Hermetic {
		o.Trusted, o.Files = a.projectFiles()
		o.ConfigHome = a.o.Dirs.Config
		o.Plugins = a.pluginDirs(func(d plug.ResourceDirs) []string { return d.Prompts })
	}
	return resource.FindTemplates(o)
}

// Templates lists the prompt templates, sorted by name.
func (a *App) Templates() []Template { return a.templates().All }

// ExpandTemplate is the prompt of a template with arguments, for a session. One that
// requires what no call there could do is an error that names what would help.
func (a *App) ExpandTemplate(sessionID, name, args string) (string, error) {
	t, ok := a.templates().Get(name)
	if !ok {
		return "", fmt.Errorf("there is no template %q", name)
	}
	c := a.look(sessionID)
	agent, err := a.primary(c.chosen().agent)
	if err != nil {
		return "", err
	}
	policy := a.policyOf(c)
	for _, effect := range t.Requires {
		if !policy.Offers(effect, a.o.Asker != nil) {
			return "", &NeedsError{Template: name, Effect: effect, Remedy: policy.Remedy(effect)}
		}
		own := policy
		own.Ceiling = own.Ceiling.Meet(child.Ceiling(agent.Spec))
		if !own.Offers(effect, a.o.Asker != nil) {
			return "", &NeedsError{Template: name, Effect: effect, Remedy: "not with the agent " + agent.ID + "; --agent " + DefaultAgent + " or /agent:" + DefaultAgent}
		}
	}
	return t.Expand(args)
}

// NeedsError tells that a template requires an effect that is not open (exit code 4).
type NeedsError struct{ Template, Effect, Remedy string }

func (e *NeedsError) Error() string {
	return fmt.Sprintf("template %s requires %s: %s", e.Template, e.Effect, e.Remedy)
}

// nested finds instruction files below the working directory for paths that a call
// touches (run.Options.Nested).
func (a *App) nested(c *conversation) func(context.Context, []string) ([]run.Instruction, error) {
	if a.o.Hermetic {
		return nil
	}
	return func(_ context.Context, paths []string) ([]run.Instruction, error) {
		found, notices, err := resource.Nested(a.filesIn(c), paths...)
		for _, n := range notices {
			a.o.Log.Warn("instructions: " + n)
		}
		all := make([]run.Instruction, len(found))
		for i, f := range found {
			all[i] = run.Instruction{Name: f.Name, Text: f.Text, SHA256: f.SHA256}
		}
		return all, err
	}
}

// callParts completes what a call may use (run.Options.Call).
func (a *App) callParts(c *conversation) func(*plug.Call) {
	resources := ports.Resources(a.known, func(path string) (string, error) {
		o := a.o
		o.Dir = c.dir
		files, err := ExplainContext(o, path)
		return resource.Describe(path, files), err
	})
	return func(call *plug.Call) {
		call.Resources = resources
		call.State = a.ownState(c.id)
	}
}

// unknownName says what may have been meant.
func unknownName(what, name string, known []string) error {
	if near, ok := config.Nearest(name, known); ok {
		return fmt.Errorf("there is no %s %q; did you mean %q?", what, name, near)
	}
	return fmt.Errorf("there is no %s %q", what, name)
}
