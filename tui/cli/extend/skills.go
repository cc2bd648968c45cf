package extend

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"alisio/agent"
	"alisio/agent/text"
	"alisio/tui/cli/base"
	"alisio/tui/term"
)

const (
	// screen is how wide a list on a terminal is, in cells, where descriptions allow it.
	screen = 100
	// minDescription is what a narrow terminal leaves of one, in cells.
	minDescription = 30
	maxDescription = 200
)

// skill is a skill as --json prints it.
type skill struct {
	Kind        string `json:"kind"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Source      string `json:"source"`
	Dir         string `json:"dir"`
	Enabled     bool   `json:"enabled"`
}

// SkillsList prints the skills that a model is told of, and those that are switched off.
// What is wrong with others is told beside the list.
func SkillsList(ctx context.Context, c *Call) (int, error) {
	if err := c.None(); err != nil {
		return base.ExitUsage, err
	}
	return c.with(ctx, func(ctx context.Context, app *agent.App) (int, error) {
		found, remarks := app.FoundSkills(ctx)
		var t text.Table
		for _, s := range found {
			if c.JSON {
				if err := c.PrintJSON(json.Marshal(skill{"skill", s.Name, s.Description, s.Source, s.Dir, !s.Disabled})); err != nil {
					return base.ExitFailed, err
				}
				continue
			}
			row := []string{text.Line(s.Name), text.Line(s.Source), text.Clip(text.Line(s.Description), maxDescription)}
			if s.Disabled {
				row[1] += " (off)"
			}
			t = append(t, row)
		}
		if term.IsTerminal(c.Stdout) {
			t.Clip(2, screen, minDescription)
		}
		for _, r := range remarks {
			c.Notice("%s", text.Line(r.String()))
		}
		if len(found) == 0 {
			c.Notice("no skill was found; alisio help skills says where they are looked for")
		}
		return c.Printed(t.String())
	})
}

// SkillsValidate judges the skills in directories, or all that a run would find, by
// every rule of the format. Its lines are those of compilers: FILE:LINE: error: TEXT.
func SkillsValidate(ctx context.Context, c *Call) (int, error) {
	dirs, err := c.directories()
	if err != nil {
		return base.ExitUsage, err
	}
	return c.with(ctx, func(ctx context.Context, app *agent.App) (int, error) {
		all, count := app.ValidateSkills(ctx, dirs...)
		if ctx.Err() != nil {
			return base.ExitCancelled, ctx.Err()
		}
		if count == 0 && len(dirs) > 0 && len(all) == 0 {
			return base.ExitUsage, fmt.Errorf("no SKILL.md is in %s, or below", text.Line(strings.Join(c.Args, ", ")))
		}
		return c.judged("skills", count, all)
	})
}

// judged prints remarks, the lines of compilers, and how many there are of what kind.
func (c *Call) judged(what string, count int, all []agent.ResourceDiagnostic) (int, error) {
	errs, warnings := 0, 0
	for _, r := range all {
		switch r.Level {
		case agent.ResourceError:
			errs++
		case agent.ResourceWarning:
			warnings++
		}
		if err := c.Print(text.Line(r.String()) + "\n"); err != nil {
			return base.ExitFailed, err
		}
	}
	c.Notice("%s: %d, errors: %d, warnings: %d", what, count, errs, warnings)
	if errs > 0 {
		return base.ExitFailed, nil
	}
	return base.ExitDone, nil
}

// directories are the absolute names of those that are named, all of which are there.
func (c *Call) directories() ([]string, error) {
	var dirs []string
	for _, name := range c.Args {
		dir, err := c.Absolute(name)
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(dir)
		switch {
		case name == "":
			return nil, fmt.Errorf("alisio %s takes directories, and the name of one is empty", c.Verb)
		case err != nil:
			return nil, base.FileError(name, err)
		case !info.IsDir():
			return nil, fmt.Errorf("%s is no directory; name the one that holds it", name)
		}
		dirs = append(dirs, dir)
	}
	return dirs, nil
}
