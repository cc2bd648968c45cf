package ports

import (
	"context"

	"alisio/agent/resource"
	"alisio/plug"
)

// Resources gives the skills as they were found last, and what explains which
// instruction files hold for a path, the form that tools know.
func Resources(skills func() *resource.Skills, explain func(path string) (string, error)) *plug.Resources {
	return &plug.Resources{
		Search: func(_ context.Context, query string) ([]plug.Skill, error) {
			return Skills(skills().Search(query)), nil
		},
		Load: func(_ context.Context, name string) (plug.SkillBody, error) {
			b, err := skills().Load(name)
			return plug.SkillBody{
				Skill: plug.Skill{Name: b.Name, Description: b.Description, Source: b.Source},
				Dir:   b.Dir, Body: b.Body, Files: b.Files, More: b.More,
			}, err
		},
		File:    func(_ context.Context, name, path string) (string, error) { return skills().File(name, path) },
		Explain: func(_ context.Context, path string) (string, error) { return explain(path) },
	}
}

// Skills are what people and models are shown of skills.
func Skills(list []resource.Skill) []plug.Skill {
	all := make([]plug.Skill, len(list))
	for i, s := range list {
		all[i] = plug.Skill{Name: s.Name, Description: s.Description, Source: s.Source}
	}
	return all
}
