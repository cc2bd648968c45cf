package cli

import (
	"cmp"
	"context"
	"encoding/json"

	"alisio/agent"
	"alisio/agent/text"
	"alisio/tui/cli/base"
)

func contextVerbs() []verb {
	return []verb{
		{Name: "explain", Args: "[PATH]", Help: "tell which instruction files apply, and why", Run: runContextExplain},
	}
}

// instruction is an instruction file as --json prints it.
type instruction struct {
	Path    string `json:"path"`
	Name    string `json:"name"`
	Kind    string `json:"kind,omitempty"`
	Applies bool   `json:"applies"`
	AtStart bool   `json:"atStart"`
	Size    int64  `json:"size"`
	Used    int    `json:"used"`
	Note    string `json:"note,omitempty"`
}

// runContextExplain tells what a run that works at a path, or in the working
// directory, is given to read.
func runContextExplain(_ context.Context, c *call) (int, error) {
	path, err := c.AtMostOne("one path")
	if err != nil {
		return base.ExitUsage, err
	}
	o, err := c.options()
	if err != nil {
		return base.ExitUsage, err
	}
	files, err := agent.ExplainContext(o, cmp.Or(path, "."))
	if err != nil {
		return base.ExitUsage, err
	}
	var t text.Table
	applies := false
	for _, f := range files {
		applies = applies || f.Applies
		if c.JSON {
			err := c.PrintJSON(json.Marshal(instruction{Path: f.Path, Name: f.Name, Kind: string(f.Kind), Applies: f.Applies, AtStart: f.AtStart,
				Size: f.Size, Used: f.Used, Note: f.Note}))
			if err != nil {
				return base.ExitFailed, err
			}
			continue
		}
		t = append(t, explained(f))
	}
	if !applies {
		c.Notice("no instruction file applies there: an AGENTS.md in the workspace would")
	}
	return c.Printed(t.String())
}

// explained is a file's row: what becomes of it, how much of it, its name, why.
func explained(f agent.Explained) []string {
	state, size, why := "passed over", "", text.Line(f.Note)
	switch {
	case f.Applies && f.AtStart:
		state = "applies"
	case f.Applies:
		state = "applies there"
	}
	if f.Applies {
		size = f.Share()
		if why = text.Line(f.Why); f.Note != "" {
			why += "; " + text.Line(f.Note)
		}
	}
	return []string{state, text.Line(f.Name), size, why}
}
