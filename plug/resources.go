package plug

import "context"

// Resources gives a call what stands in skills and instruction files.
type Resources struct {
	// Search finds the effective skills that have a word of query in their name or
	// description, the best first; all, sorted by name, for an empty query.
	Search func(ctx context.Context, query string) ([]Skill, error)
	// Load returns a skill's body; an unknown name is an error that names the
	// nearest.
	Load func(ctx context.Context, name string) (SkillBody, error)
	// File reads a file of a skill, confined to its directory.
	File func(ctx context.Context, name, path string) (string, error)
	// Explain says which instruction files hold for a path, and why.
	Explain func(ctx context.Context, path string) (string, error)
}

// Skill is what a model is told of a skill before it loads it.
type Skill struct {
	Name        string
	Description string
	// Source says where it comes from: project, user, configuration or a plugin.
	Source string
}

// SkillBody is a loaded skill.
type SkillBody struct {
	Skill
	// Dir is its directory, Body its text without frontmatter, Files the names of
	// its other files, at most 100, with slashes.
	Dir   string
	Body  string
	Files []string
	// More: there are further files.
	More bool
}
