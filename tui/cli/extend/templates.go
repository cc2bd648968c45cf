package extend

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"alisio/agent"
	"alisio/agent/text"
	"alisio/cmdcat"
	"alisio/tui/cli/base"
	"alisio/tui/term"
)

// template is a template as --json prints it. File is absent of one that is built in.
type template struct {
	Kind         string   `json:"kind"`
	Name         string   `json:"name"`
	Description  string   `json:"description"`
	ArgumentHint string   `json:"argumentHint,omitempty"`
	Requires     []string `json:"requires,omitempty"`
	Source       string   `json:"source"`
	File         string   `json:"file,omitempty"`
}

// TemplatesList prints the templates that can be called, and their sources. What is
// wrong with others is told beside the list.
func TemplatesList(ctx context.Context, c *Call) (int, error) {
	if err := c.None(); err != nil {
		return base.ExitUsage, err
	}
	return c.with(ctx, func(ctx context.Context, app *agent.App) (int, error) {
		found, catalog := app.FoundTemplates(), cmdcat.New(app)
		var t text.Table
		for _, p := range found.All {
			if by := catalog.Hides(ctx, p.Name); by != "" {
				found.Problems = append(found.Problems, uncalled(p.Name, p.File, by))
				continue
			}
			if c.JSON {
				if err := c.PrintJSON(json.Marshal(template{"template", p.Name, p.Description, p.ArgumentHint, p.Requires, p.Source, p.File})); err != nil {
					return base.ExitFailed, err
				}
				continue
			}
			t = append(t, []string{text.Line(p.Name), text.Line(p.Source), text.Clip(text.Line(p.Description), maxDescription)})
		}
		if term.IsTerminal(c.Stdout) {
			t.Clip(2, screen, minDescription)
		}
		for _, r := range found.Problems {
			c.Notice("%s", text.Line(r.String()))
		}
		return c.Printed(t.String())
	})
}

// TemplatesValidate judges the templates in directories, or all that a run would find,
// by every rule of the format: FILE:LINE: error: TEXT.
func TemplatesValidate(ctx context.Context, c *Call) (int, error) {
	dirs, err := c.directories()
	if err != nil {
		return base.ExitUsage, err
	}
	return c.with(ctx, func(ctx context.Context, app *agent.App) (int, error) {
		found := app.FoundTemplates(dirs...)
		all, count := found.Report()
		for _, p := range found.All {
			if by := cmdcat.New(app).Hides(ctx, p.Name); by != "" && p.File != "" {
				all = append(all, uncalled(p.Name, p.File, by))
			}
		}
		if ctx.Err() != nil {
			return base.ExitCancelled, ctx.Err()
		}
		if count == 0 && len(dirs) > 0 && len(all) == 0 {
			return base.ExitUsage, fmt.Errorf("no template, a file NAME.md, is in %s", text.Line(strings.Join(c.Args, ", ")))
		}
		return c.judged("templates", count, all)
	})
}

// uncalled tells of a template that nobody can call, whose name a command has.
func uncalled(name, file, by string) agent.ResourceDiagnostic {
	return agent.ResourceDiagnostic{
		Level: agent.ResourceWarning, File: text.Line(file),
		Text: fmt.Sprintf("template %s can not be called: /%[1]s is a command, %s; rename the file", name, by),
	}
}
