// Package toy is a plugin that fills every place that a plugin can fill without a model:
// a command, a prompt template, a skill, a word in the status bar, a panel and a fact on
// the start screen. Tests show with it that one more line in the program's list of
// plugins is all that one needs.
package toy

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"alisio/plug"
)

// Plugin returns the plugin.
func Plugin() plug.Plugin {
	return plug.Plugin{ID: "toy", Name: "A toy", Version: "1.0.0", APIVersion: plug.APIVersion, Setup: setup}
}

const template = `---
description: says hello by the toy
argument-hint: NAME
---
The toy says hello to $1.
`

const skill = `---
name: toy-skill
description: Plays with the toy
---
Wind it up.
`

func setup(_ context.Context, api *plug.API) error {
	_, err := api.AddSlashCommand(plug.SlashCommand{
		Name: "toy", Description: "winds the toy up", ArgumentHint: "[TURNS]",
		Run: func(_ context.Context, args, _ string) (string, error) { return "the toy runs " + args, nil },
	})
	if err != nil {
		return err
	}
	if _, err := api.Extend.Facts(plug.Facts{ID: "turns", List: func(context.Context) ([]plug.Fact, error) {
		return []plug.Fact{{Label: "toy", Text: "wound up"}}, nil
	}}); err != nil {
		return err
	}
	api.UI.Status("toy ready")
	api.UI.Panel(plug.Panel{Title: "Toys", Nodes: []plug.PanelNode{{ID: "1", Label: "the toy", Status: "completed"}}})
	return resources(api)
}

// resources writes what the plugin brings in files into its own cache, of which a
// hermetic run has none.
func resources(api *plug.API) error {
	dir, err := api.Paths.Cache()
	if err != nil {
		return nil
	}
	for name, text := range map[string]string{"prompts/toy-template.md": template, "skills/toy-skill/SKILL.md": skill} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			return err
		}
	}
	_, err = api.AddResources(plug.ResourceDirs{Skills: []string{filepath.Join(dir, "skills")}, Prompts: []string{filepath.Join(dir, "prompts")}})
	return err
}
